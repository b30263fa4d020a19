/* SPDX-License-Identifier: BSD-2-Clause */
/* The number of iterations of a loop's chunks, if their bounds are known. */
const SIZE_BINS = 24, SIZE_BARS_LEAST = 8;

/* Returns the sizes of the chunks of a definition, sorted. */
function chunk_sizes(report, definition) {
	const sizes = [];

	for (let c = 0; report.lower && c < report.count; c++)
		if (report.kind[c] === CHUNK && report.definition[c] === definition && !Number.isNaN(report.lower[c]))
			sizes.push(chunk_size(report, c));
	return Float64Array.from(sizes).sort();
}

/* Returns null if the definition has no such chunks. */
function sizes_node(app, profile) {
	const sorted = profile.kind === "loop" ? chunk_sizes(app.data, profile.definition) : [];

	if (!sorted.length)
		return null;
	if (sorted[0] === sorted[sorted.length - 1])
		return dom_node("div", { class: "dist-sizes dist-numbers" },
			"every chunk has " + format_plural(sorted[0], "iteration"));
	const bins = histogram_of(sorted, SIZE_BINS), most = Math.max(...bins.map((bin) => bin.count));
	/* A few bars stand in the middle. They do not become wide. */
	const width = 100 / Math.max(bins.length, SIZE_BARS_LEAST), left = (100 - width * bins.length) / 2;
	const name = (bin) => bin.from === bin.to ? format_count(bin.from)
		: format_count(bin.from) + "–" + format_count(bin.to);
	const bars = bins.map(({ count }, i) => {
		const height = count ? Math.max(2, count / most * (PLOT_HEIGHT - 10)) : 0;

		return svg_node("rect", {
			class: "dist-bar", x: left + (i + 0.08) * width, width: width * 0.84,
			y: PLOT_HEIGHT - 3 - height, height,
		}, svg_node("title", {}, name(bins[i]) + " iterations: " + format_plural(count, "chunk")));
	});
	const labels = [...new Set([0, Math.floor((bins.length - 1) / 2), bins.length - 1])];
	const plot = plot_node(...bars);

	plot.removeAttribute("aria-hidden");
	plot.setAttribute("role", "img");
	plot.setAttribute("aria-label", "Iterations of a chunk: from " + format_count(sorted[0]) + " to " +
		format_count(sorted[sorted.length - 1]) + ", median " + format_count(quantile(sorted, 0.5)));
	return dom_node("div", { class: "dist-sizes" },
		dom_node("div", { class: "dist-numbers" }, "iterations of a chunk · median " +
			format_count(quantile(sorted, 0.5)) + " · most " + format_count(sorted[sorted.length - 1])),
		dom_node("div", { class: "dist-plot still" }, plot),
		ticks_node(labels.map((i) => ({ part: (left + (i + 0.5) * width) / 100, label: name(bins[i]) }))));
}
