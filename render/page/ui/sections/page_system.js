/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel saw: hot functions and lines, who took the CPUs, counters. If something is absent, the text
 * says why.
 */

const SYSTEM_PARTS = [["grains", "in tasks and chunks"], ["members", "elsewhere in parallel regions"],
	["runtime", "in the runtime: waiting, creating"], ["outside", "outside of parallel regions"]];

function share_column(title, value, all, hint) {
	return { title, hint, value,
		show: (row) => [format_percent(all ? 100 * value(row) / all : null),
			bar_node(all ? value(row) / all : 0)] };
}

function function_columns(all, total) {
	return [
		{ title: "function", text: true, value: (f) => f.function,
			show: (f) => place_node(f.function, f.file) },
		share_column("self", (f) => f.self, all, "part of the samples that were in it"),
		...(total ? [share_column("with callees", (f) => f.total, all,
			"part of the samples with it anywhere on the stack")] : []),
		count_column("samples", (f) => f.self),
	];
}

function line_columns(all) {
	return [
		{ title: "line", text: true, value: (l) => l.file ? `${l.file}:${l.line}` : "",
			show: (l) => place_node(l.line ? `${l.file}:${l.line}` : l.file, l.function) },
		share_column("samples", (l) => l.samples, all,
			"part of the samples in this line; " +
				"what the kernel and libraries do is the line's that called them"),
		count_column("number", (l) => l.samples),
	];
}

/* Hot functions and lines for the chosen part: everything, a definition, or the grains with a problem. */
function samples_choice(s) {
	const all = { title: "the whole program", part: s, samples: s.samples };
	const definitions = s.definitions.map((d) =>
		({ title: `${d.source || "unknown"} (${d.kind})`, part: d, samples: d.samples }));
	const problems = s.problems.map((p) =>
		({ title: "grains with " + problem_title(p.problem).toLowerCase(), part: p, samples: p.samples }));

	return [all, ...definitions, ...problems];
}

function make_samples(app, el) {
	const s = app.data.summary.sampling;

	if (!s || (!s.available && s.why === "it was not asked for"))
		return;
	if (!s.available) {
		el.append(panel_head("Samples"), dom_node("p", { class: "muted" }, `Not sampled: ${s.why}.`));
		return;
	}
	const choices = samples_choice(s), tables = dom_node("div", { class: "pair" });
	const select = dom_node("select",
		{ class: "select", "aria-label": "samples of", onchange: () => show(choices[select.selectedIndex]) },
		choices.map((c) => dom_node("option", {}, c.title)));
	const show = (choice) => tables.replaceChildren(
		new SortedTable({ what: "hot functions", rows: choice.part.functions,
			columns: function_columns(choice.samples, true) }).node,
		new SortedTable({ what: "hot lines", rows: choice.part.lines,
			columns: line_columns(choice.samples) }).node);
	const parts = SYSTEM_PARTS.map(([key, title]) =>
		`${format_percent(s.samples ? 100 * s[key] / s.samples : null)} ${title}`);

	el.append(panel_head("Samples",
		`${format_plural(s.samples, "sample")}, ${format_count(s.hz)} a second of each CPU (${s.clock}): ` +
			parts.join(", "), select), tables);
	if (s.lost)
		el.append(dom_node("p", { class: "note" },
			`${format_count(s.lost)} more were lost, or a part of their stacks.`));
	show(choices[0]);
}

function make_scheduler(app, el) {
	const s = app.data.summary.scheduler;

	if (!s || (!s.available && !app.data.summary.grains.total))
		return;
	if (!s.available) {
		el.append(panel_head("Scheduler"), dom_node("p", { class: "muted" }, `Not known: ${s.why}.`));
		return;
	}
	const seen = (t) => t.last_ns - t.first_ns;

	el.append(panel_head("Scheduler", "what threads wanted to do and what they could"), new SortedTable({
		what: "threads", rows: s.threads,
		columns: [
			{ ...count_column("thread", (t) => t.tid), text: true, show: (t) => String(t.tid) },
			time_column("seen", seen, "from its first event to its last"),
			share_of("on a CPU", (t) => t.cpu_ns, seen),
			share_of("waited for one", (t) => t.ready_ns, seen, "it could have run"),
			share_of("of that preempted", (t) => t.preempted_ns, seen,
				"taken off although it could have gone on"),
			share_of("blocked", (t) => t.off_ns - t.ready_ns, seen, "waited for something else than a CPU"),
			count_column("switches", (t) => t.switches),
			count_column("preemptions", (t) => t.preemptions),
			count_column("moves", (t) => t.migrations, "to another CPU"),
		] }).node);
	if (!s.neighbours.length)
		return;
	el.append(panel_head("Who took the CPU", "while grains could have gone on"), new SortedTable({
		what: "neighbours", rows: s.neighbours,
		columns: [
			{ title: "command", text: true, value: (n) => n.command || "",
				show: (n) => place_node(n.command || "unknown", n.cgroup) },
			{ title: "", text: true, value: (n) => n.own ? "own thread" : "" },
			count_column("processes", (n) => n.processes),
			count_column("times", (n) => n.preemptions),
			time_column("took", (n) => n.taken_ns),
		] }).node);
}

/* A time, and its share of another time. */
function share_of(title, value, all, hint) {
	return { title, hint, value,
		show: (row) => [format_time(value(row)), bar_node(all(row) ? value(row) / all(row) : 0)] };
}

function make_counters(app, el) {
	const rows = app.data.summary.counters || [];

	if (!rows.length)
		return;
	el.append(panel_head("Counters", "sums of tasks and chunks; each grain's are in its details"), new SortedTable({
		what: "counters", rows, columns: [
			{ title: "counter", text: true, value: (c) => c.name },
			{ title: "sum", value: (c) => c.sum, show: (c) => c.available ? format_count(c.sum) : ABSENT },
			{ title: "of grains", value: (c) => c.grains,
				show: (c) => c.available ? format_count(c.grains) : ABSENT },
			{ title: "", text: true, value: counter_remark },
		] }).node);
}

function counter_remark(c) {
	if (!c.available)
		return c.why;
	return [c.share < 1 ? `counted ${format_percent(100 * c.share)} of the time, the rest estimated` : "",
		c.unknown ? `unknown of ${format_count(c.unknown)} others` : ""].filter(Boolean).join("; ");
}
