/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers and names for people. An absent value (null, NaN) is an en dash. */
const ABSENT = "–";

/* The names of all views: what colours can stand for. */
const VIEWS = [...PROBLEMS, "definition", "thread", "node", "time"];

const PROBLEM_TITLES = {
	parallel_benefit: "Parallel benefit",
	load_balance: "Load balance",
	work_deviation: "Work deviation",
	instantaneous_parallelism: "Instantaneous parallelism",
	scatter: "Scatter",
	memory_hierarchy_utilization: "Memory hierarchy",
	cache_miss_ratio: "Cache misses",
	definition: "Definition",
	thread: "Thread",
	node: "NUMA node",
	time: "Execution time",
};

/* "cycles" for recordings whose times are processor cycles. */
let format_unit = "ns";

function format_use_unit(unit) {
	format_unit = unit;
}

function is_absent(value) {
	return value === null || value === undefined || Number.isNaN(value);
}

function three_significant(value) {
	return value < 9.995 ? value.toFixed(2) : value < 99.95 ? value.toFixed(1) : value.toFixed(0);
}

function format_cycles(cycles) {
	const units = ["", "k", "M", "G", "T"];
	let u = 0;

	for (; cycles >= 999.5 && u < units.length - 1; u++)
		cycles /= 1000;
	return (u ? three_significant(cycles) : cycles.toFixed(0)) + " " + units[u] + "cyc";
}

function format_bytes(bytes) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
	let u = 0;

	if (is_absent(bytes))
		return ABSENT;
	for (; bytes >= (u ? 999.5 : 1024) && u < units.length - 1; u++)
		bytes /= 1024;
	return (u ? three_significant(bytes) : bytes.toFixed(0)) + " " + units[u];
}

/* A time with three significant digits and its unit. */
function format_time(ns) {
	if (is_absent(ns))
		return ABSENT;
	if (ns < 0)
		return "−" + format_time(-ns);
	if (format_unit === "cycles")
		return format_cycles(ns);
	if (ns < 999.5)
		return ns.toFixed(0) + " ns";
	if (ns < 999.5e3)
		return three_significant(ns / 1e3) + " µs";
	if (ns < 999.5e6)
		return three_significant(ns / 1e6) + " ms";
	if (ns < 600e9)
		return three_significant(ns / 1e9) + " s";
	const minutes = Math.floor(ns / 60e9);

	return Math.floor(minutes / 60) + " h " + String(minutes % 60).padStart(2, "0") + " min";
}

/* A whole number, with commas. */
function format_count(count) {
	return is_absent(count) ? ABSENT : String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/* "1.2 M": for narrow places. */
function format_count_short(count) {
	const units = ["", " k", " M", " G", " T", " P"];
	let u = 0;

	if (is_absent(count))
		return ABSENT;
	for (; count >= (u ? 999.5 : 1000) && u < units.length - 1; u++)
		count /= 1000;
	return (u && count < 9.95 ? count.toFixed(1) : count.toFixed(0)) + units[u];
}

/* "34 %". */
function format_percent(percent) {
	if (is_absent(percent))
		return ABSENT;
	if (percent > 0 && percent < 0.1)
		return "<0.1 %";
	return (percent < 9.95 ? percent.toFixed(percent ? 1 : 0) : percent.toFixed(0)) + " %";
}

function format_ratio(value) {
	if (is_absent(value))
		return ABSENT;
	if (!Number.isFinite(value))
		return "infinite";
	if (value > 0 && value < 0.9995)
		return String(Number(value.toPrecision(3)));
	return value >= 1e6 ? value.toExponential(1) : value >= 999.5 ? format_count(value) : three_significant(value);
}

/* A threshold: "1", "0.5", "12". */
function format_plain(value) {
	return is_absent(value) ? ABSENT : String(Number(value.toPrecision(4)));
}

/* The value of a metric of PROBLEMS, or of "time". */
function format_value(metric, value) {
	if (is_absent(value))
		return ABSENT;
	if (metric === "time")
		return format_time(value);
	if (metric === "instantaneous_parallelism" || metric === "scatter")
		return format_plain(value);
	return format_ratio(value);
}

/* "Parallel benefit". Other names get blanks. */
function problem_title(name) {
	if (name in PROBLEM_TITLES)
		return PROBLEM_TITLES[name];
	const words = String(name).replaceAll("_", " ");

	return words.charAt(0).toUpperCase() + words.slice(1);
}

/* Sentences of the analysis are ASCII. This writes their "us" as "µs". */
function format_sentence(text) {
	return String(text || "").replace(/(\d) us\b/g, "$1 µs");
}

/* "1 grain", "3,093 grains". */
function format_plural(count, one, many) {
	return format_count(count) + " " + (count === 1 ? one : many || one + "s");
}

/* Shortens a name that is too long in the middle. */
function shorten(text, most) {
	const letters = Array.from(text);

	if (letters.length <= most)
		return text;
	const head = Math.ceil((most - 1) * 0.6);

	return letters.slice(0, head).join("") + "…" + letters.slice(letters.length - (most - 1 - head)).join("");
}

/*
 * Changes strings in place. Replaces characters that change the direction of writing or are no text, because
 * they could rearrange the text beside them.
 */
function clean_strings(value) {
	const harmful = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/g;

	if (typeof value === "string")
		return value.replace(harmful, "\ufffd");
	if (value && typeof value === "object")
		for (const key of Object.keys(value))
			value[key] = clean_strings(value[key]);
	return value;
}
