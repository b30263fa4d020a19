/* SPDX-License-Identifier: BSD-2-Clause */
/* Loops and sections: how they were divided, and how long and large their chunks are. */
const LOOP_BINS = 24;

/* Returns the contexts of each loop's chunks, by the loop's identifier. */
function chunks_by_loop(report) {
	const lists = new Map(), by_id = new Map();

	for (let c = 0; c < report.count; c++) {
		if (report.kind[c] !== CHUNK || report.loop[c] === NONE)
			continue;
		const list = lists.get(report.loop[c]);

		if (list)
			list.push(c);
		else
			lists.set(report.loop[c], [c]);
	}
	for (const [loop, chunks] of lists)
		by_id.set(report.loop_id(loop), chunks);
	return by_id;
}

/* Calls fn once, when the element comes into view or is printed. */
function when_seen(el, fn) {
	const once = () => {
		observer.disconnect();
		removeEventListener("beforeprint", once);
		fn();
	};
	const observer = new IntersectionObserver((entries) => {
		if (entries.some((entry) => entry.isIntersecting))
			once();
	}, { rootMargin: "400px" });

	observer.observe(el);
	addEventListener("beforeprint", once);
}

function histogram_node(values, show, what) {
	const sorted = Float64Array.from(values.filter((v) => !Number.isNaN(v))).sort();

	if (!sorted.length)
		return ABSENT;
	const bins = histogram_of(sorted, LOOP_BINS), most = Math.max(...bins.map((b) => b.count));
	const width = Math.max(3, Math.min(14, Math.floor(112 / bins.length))), height = 26;
	const svg = svg_node("svg", { class: "histogram", width: bins.length * width, height, role: "img",
		"aria-label": `${what}: ${show(sorted[0])} to ${show(sorted[sorted.length - 1])}, ` +
			`median ${show(quantile(sorted, 0.5))}` },
	svg_node("line", { x1: 0, x2: bins.length * width, y1: height - 0.5, y2: height - 0.5 }),
	bins.map((bin, i) => {
		const tall = bin.count ? Math.max(2, bin.count / most * (height - 2)) : 0;

		return svg_node("rect", { x: i * width, y: height - tall, width: width - 1, height: tall },
			svg_node("title", {},
				(bin.to > bin.from ? `${show(bin.from)} to ${show(bin.to)}` : show(bin.from)) +
					`: ${format_plural(bin.count, "chunk")}`));
	}));
	const ends = sorted[0] === sorted[sorted.length - 1] ? show(sorted[0]) :
		`${show(sorted[0])} – ${show(sorted[sorted.length - 1])}`;

	return dom_node("span", { class: "histogram-cell" }, svg, dom_node("small", { class: "muted" }, ends));
}

function loop_columns(of_loop) {
	const histogram = (loop, value, show, what) => {
		const chunks = of_loop(loop);

		/* The element is as high as its later content, so that nothing moves under the pointer. */
		if (chunks === null)
			return dom_node("span", { class: "histogram-cell" }, "…");
		return chunks ? histogram_node(chunks.map(value), show, what) : ABSENT;
	};

	return [
		{ title: "loop", text: true, value: (l) => l.id,
			show: (l) => dom_node("span", { class: "mono id", title: l.id }, l.id) },
		place_column("source"),
		{ title: "schedule", text: true, value: (l) => l.kind === "sections" ? "sections" : l.schedule || "",
			show: (l) => [l.kind === "sections" ? "sections" : l.schedule || ABSENT,
				l.ordered ? ", ordered" : "", l.doacross ? ", doacross" : "",
				l.incomplete ? ", partial" : ""].join("") },
		only_if_any(count_column("chunk", (l) => l.chunk, "asked for, in iterations")),
		count_column("chunks", (l) => l.chunks),
		only_if_any(count_column("iterations", (l) => l.iterations)),
		count_column("threads", (l) => l.members),
		time_column("wall", (l) => l.wall_ns),
		time_column("time", (l) => l.exec_ns, "of all chunks"),
		time_column("book-keeping", (l) => l.bookkeeping_ns, "dividing and handing out, all threads together"),
		{ title: "load balance",
			hint: "longest chunk / median of the threads' sums: above 1 one chunk is too long",
			value: (l) => l.load_balance, show: (l) => format_ratio(l.load_balance) },
		{ title: "minimum cores", hint: "the fewest on which the same chunks take no longer",
			value: (l) => l.minimum_cores,
			show: (l) => is_absent(l.minimum_cores) ? ABSENT : `${l.minimum_cores} of ${l.members}` },
		{ title: "chunk times", value: (l) => l.chunks ? l.exec_ns / l.chunks : null,
			show: (l) => histogram(l, of_loop.time, format_time, "times of chunks") },
		{ title: "chunk sizes", value: (l) => l.iterations && l.chunks ? l.iterations / l.chunks : null,
			show: (l) => histogram(l, of_loop.size, format_count, "iterations of chunks") },
	];
}

function make_loops(app, el) {
	const s = app.data.summary, rows = s.loops;

	if (!rows.length)
		return;
	let chunks = null;
	const of_loop = (loop) => chunks && (chunks.get(loop.id) || false);

	of_loop.time = (c) => app.data.exec[c];
	of_loop.size = (c) => chunk_size(app.data, c);
	const table = new SortedTable({ what: "loops", rows, columns: telling_columns(loop_columns(of_loop), rows) });

	el.append(panel_head("Loops", "how they were divided into chunks", dom_node("span", { class: "muted" },
		held_remark(s, "loops", "loops"))), table.node);
	app.on("ready", () => when_seen(el, () => {
		chunks = chunks_by_loop(app.data);
		table.show();
	}));
}
