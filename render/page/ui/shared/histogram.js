/* SPDX-License-Identifier: BSD-2-Clause */
/* Distributions of times and of sizes: sorted values, quantiles, densities, histograms. */

/* If the longest is at least this many times the shortest, the axis is logarithmic. */
const LOGARITHMIC_FROM = 30;

/* Per definition: the execution times of its complete grains, sorted. Computed once. */
function definition_times(report) {
	if (report.definition_times)
		return report.definition_times;
	const counts = [];

	for (const d of report.summary.definitions)
		if (d.definition !== null)
			counts[d.definition] = 0;
	for (let c = 0; c < report.count; c++)
		if (report.definition[c] !== NONE && report.is_complete(c))
			counts[report.definition[c]] = (counts[report.definition[c]] || 0) + 1;
	const times = Array.from(counts, (n) => new Float64Array(n || 0)), at = new Int32Array(counts.length);

	for (let c = 0; c < report.count; c++)
		if (report.definition[c] !== NONE && report.is_complete(c))
			times[report.definition[c]][at[report.definition[c]]++] = report.exec[c];
	for (const list of times)
		list.sort();
	report.definition_times = times;
	return times;
}

/* Returns a quantile of sorted values. A place between two values gives a value between them. */
function quantile(sorted, share) {
	const place = share * (sorted.length - 1), low = Math.floor(place);

	return low + 1 < sorted.length ? sorted[low] + (sorted[low + 1] - sorted[low]) * (place - low) : sorted[low];
}

/* Returns how many of the sorted values are below a value. With `also`, counts equal values, too. */
function count_below(sorted, value, also) {
	let low = 0, high = sorted.length;

	while (low < high) {
		const middle = (low + high) >> 1;

		if (sorted[middle] < value || (also && sorted[middle] === value))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Maps values to 0..1 and back. There is a little room at both ends, so that a single value is in the middle.
 */
class ValueScale {
	constructor(least, most) {
		this.logarithmic = least > 0 && most / least >= LOGARITHMIC_FROM;
		const low = this.forth(least), high = this.forth(most);
		/* Differences of a few percent must not look large. */
		const narrow = this.logarithmic ? 0 : Math.max(1, Math.abs(most) * 0.3) - (high - low);
		const room = Math.max((high - low) * 0.04, narrow / 2);

		this.low = low - room;
		this.high = high + room;
		if (!this.logarithmic && least >= 0)
			this.low = Math.max(0, this.low);
	}

	forth(value) {
		return this.logarithmic ? Math.log(value) : value;
	}

	part(value) {
		if (this.logarithmic && value <= 0)
			return 0;
		return (this.forth(value) - this.low) / (this.high - this.low);
	}

	value(part) {
		const at = this.low + part * (this.high - this.low);

		return this.logarithmic ? Math.exp(at) : at;
	}

	/* Returns [{ part, label }] of times, at most `most`. */
	ticks(most, unit) {
		const from = this.value(0), to = this.value(1), rounds = [];

		if (!this.logarithmic)
			return axis_ticks(from, to, most, unit).map(({ at, label }) =>
				({ part: this.part(at), label }));
		for (let power = Math.floor(Math.log10(from)); power <= Math.log10(to); power++)
			for (const n of [1, 2, 5])
				if (n * 10 ** power >= from && n * 10 ** power <= to)
					rounds.push({ at: n * 10 ** power, n });
		const decades = rounds.filter(({ n }) => n === 1);
		const chosen = rounds.length <= most || decades.length < 2 ? rounds : decades,
			skip = Math.ceil(chosen.length / most);

		return chosen.filter((t, i) => i % skip === 0).map(({ at }) =>
			({ part: this.part(at), label: format_tick(at) }));
	}
}

/* Ticks are round numbers, so they need no zeros: "5 µs" instead of "5.00 µs". */
function format_tick(value) {
	return format_time(value).replace(/(\.\d*?)0+(?=\s)/, "$1").replace(/\.(?=\s)/, "");
}

/*
 * Kernel density of sorted values at `points` places of a scale. The largest is 1. It is a histogram smoothed
 * by a Gaussian of Silverman's width.
 */
function density_of(sorted, scale, points) {
	const bins = new Float64Array(points), out = new Float64Array(points), n = sorted.length;

	if (!n)
		return out;
	let sum = 0, squares = 0;

	for (let i = 0; i < n; i++) {
		const part = scale.part(sorted[i]);

		bins[Math.max(0, Math.min(points - 1, Math.floor(part * points)))]++;
		sum += part;
		squares += part * part;
	}
	const deviation = Math.sqrt(Math.max(0, squares / n - (sum / n) ** 2));
	const middle = scale.part(quantile(sorted, 0.75)) - scale.part(quantile(sorted, 0.25));
	const spread = Math.min(deviation, middle > 0 ? middle / 1.34 : deviation);
	const width = Math.max(2.5, Math.min(points / 8, 0.9 * spread * Math.pow(n, -0.2) * points));
	const reach = Math.ceil(3 * width);
	let most = 0;

	for (let i = 0; i < points; i++) {
		if (!bins[i])
			continue;
		for (let k = Math.max(0, i - reach); k <= Math.min(points - 1, i + reach); k++)
			out[k] += bins[i] * Math.exp(-0.5 * ((k - i) / width) ** 2);
	}
	for (let i = 0; i < points; i++)
		most = Math.max(most, out[i]);
	return out.map((v) => v / most);
}

/*
 * Histogram of whole numbers: [{ from, to, count }]. If there are few different values, each has a bin. Else
 * bins have equal width, or equal ratio on a logarithmic scale.
 */
function histogram_of(sorted, most) {
	const least = sorted[0], largest = sorted[sorted.length - 1], bins = [];

	if (largest - least < most) {
		for (let v = least; v <= largest; v++)
			bins.push({ from: v, to: v, count: 0 });
	} else {
		const log = least > 0 && largest / least >= LOGARITHMIC_FROM;
		const edge = (i) => Math.ceil(log ? least * ((largest + 1) / least) ** (i / most)
			: least + (largest + 1 - least) * i / most);

		for (let i = 0; i < most; i++)
			if (edge(i + 1) > edge(i))
				bins.push({ from: edge(i), to: edge(i + 1) - 1, count: 0 });
	}
	let b = 0;

	for (const v of sorted) {
		while (b + 1 < bins.length && v > bins[b].to)
			b++;
		bins[b].count++;
	}
	return bins;
}
