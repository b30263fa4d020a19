/* SPDX-License-Identifier: BSD-2-Clause */
/* Parallel regions, where threads waited, locks, and what faster grains would save. */

const WAIT_PARTS = [["executing", "var(--chunk)", "tasks run"], ["management", "var(--h2)", "management"],
	["idle", "var(--implicit)", "idle"]];

/* How a time divides into running tasks, management and idle time, as one bar with its numbers. */
function split_node(total, parts) {
	if (!total)
		return ABSENT;
	const bar = dom_node("span", { class: "bar split", "aria-hidden": "true" });

	for (const [key, colour] of WAIT_PARTS) {
		const piece = dom_node("i");

		piece.style.width = 100 * parts[key] / total + "%";
		piece.style.background = colour;
		bar.append(piece);
	}
	return [WAIT_PARTS.map(([key]) => format_percent(100 * parts[key] / total)).join(" · "), bar];
}

function split_hint() {
	return "tasks run · management (tasks could be begun, or one was created) · idle";
}

function region_parts(region) {
	const b = region.barriers;

	return b && { executing: b.executing_ns, management: b.management_ns, idle: b.idle_ns };
}

function make_regions(app, el) {
	const s = app.data.summary, rows = s.regions;

	if (!rows.length)
		return;
	const table = new SortedTable({ what: "regions", rows, columns: telling_columns([
		{ title: "region", text: true, value: (r) => r.id,
			show: (r) => dom_node("span", { class: "mono id", title: r.id }, r.id) },
		place_column("source"),
		count_column("threads", (r) => r.threads),
		time_column("wall", (r) => r.wall_ns),
		count_column("tasks", (r) => r.tasks),
		{ title: "load balance", value: (r) => r.incomplete ? null : r.load_balance,
			show: (r) => r.incomplete ? "partial" : format_ratio(r.load_balance) },
		count_column("at once", (r) => r.max_active_tasks_per_thread,
			"most tasks begun and not over on one thread"),
		time_column("in barriers", (r) => r.barriers && r.barriers.time_ns, "of all threads"),
		only_if_any({ title: "of which tasks · mgmt · idle", hint: split_hint(),
			value: (r) => r.barriers && r.barriers.idle_ns,
			show: (r) => r.barriers ? split_node(r.barriers.time_ns, region_parts(r)) : ABSENT }),
	], rows) });

	el.append(panel_head("Parallel regions", null, dom_node("span", { class: "muted" },
		held_remark(s, "regions", "regions"))), table.node);
}

/* If a task runs inside a wait, its own waits are separate points. */
function make_waits(app, el) {
	const s = app.data.summary, rows = (s.scheduling_points || []).slice();

	if (!rows.length)
		return;
	const waited = (p) => p.management_ns + p.idle_ns,
		busiest = (p) => p.stubs && p.stubs.length ? p.stubs[0] : null;

	rows.sort((a, b) => waited(b) - waited(a));
	const table = new SortedTable({ what: "waits", rows, columns: [
		{ title: "waited in", text: true, value: (p) => p.kind,
			show: (p) => p.kind === "create" ? "creation" : p.kind.replaceAll("-", " ") },
		place_column("at"),
		{ title: "in task", text: true, value: (p) => p.in_task ? p.caller_source || "" : "",
			show: (p) => p.in_task ? place_node(p.caller_source) : ABSENT },
		count_column("visits", (p) => p.visits),
		time_column("waited", waited, "management and idle, all threads together"),
		time_column("time", (p) => p.time_ns - p.nested_ns, "waited, and in tasks run meanwhile"),
		{ title: "tasks · mgmt · idle", hint: split_hint(), value: (p) => p.idle_ns,
			show: (p) => split_node(p.time_ns - p.nested_ns,
				{ executing: p.executing_ns - p.nested_ns, management: p.management_ns,
					idle: p.idle_ns }) },
		{ title: "ran most", text: true, value: (p) => busiest(p) ? busiest(p).source || "" : "",
			show: (p) => busiest(p) ? place_node(busiest(p).source) : ABSENT },
	] });

	el.append(panel_head("Where threads waited", "and what they did meanwhile", dom_node("span", { class: "muted" },
		held_remark(s, "scheduling_points", "places"))), table.node);
}

function make_locks(app, el) {
	const rows = app.data.summary.locks || [];

	if (!rows.length)
		return;
	const table = new SortedTable({ what: "locks", rows, sort: 3, columns: [
		place_column("lock"),
		{ title: "kind", text: true, value: (l) => l.kind },
		count_column("waits", (l) => l.waits),
		time_column("waited", (l) => l.wait_ns, "all threads together"),
		time_column("mean", (l) => l.waits ? l.wait_ns / l.waits : null),
	] });

	el.append(panel_head("Locks and critical sections"), table.node);
}

function make_whatif(app, el) {
	const rows = app.data.summary.what_if || [];

	if (!rows.length)
		return;
	const first = rows[0];
	const table = new SortedTable({ what: "what-if answers", rows, columns: [
		place_column("what if the grains of"),
		{ title: "ran faster by", value: (w) => w.factor, show: (w) => "× " + format_plain(w.factor) },
		time_column("saves", (w) => w.saves_ns, "of the wall time, at most"),
		time_column("work", (w) => w.work_ns),
		time_column("span", (w) => w.span_ns),
		time_column("at least", (w) => w.least_ns, "no schedule on as many cores is shorter"),
		time_column("at most", (w) => w.most_ns, "no schedule that leaves no core idle is longer"),
	] });

	el.append(panel_head("What if", `on ${format_plural(first.cores, "core")}; as it is: at least ` +
		`${format_time(first.before_least_ns)}, at most ${format_time(first.before_most_ns)}`), table.node);
}
