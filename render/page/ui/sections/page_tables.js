/* SPDX-License-Identifier: BSD-2-Clause */
/* Definitions and depths, with all their numbers. */

function mean_of(stat) {
	return stat ? stat.mean : null;
}

function time_column(title, value, hint) {
	return { title, hint, value, show: (row) => format_time(value(row)) };
}

function count_column(title, value, hint) {
	return { title, hint, value, show: (row) => format_count(value(row)) };
}

function place_column(title = "definition") {
	return { title, text: true, value: (row) => row.source || "", show: (row) => place_node(row.source, row.func) };
}

/* The columns that have a value in some row. */
function telling_columns(columns, rows) {
	return columns.filter((column) => !column.only_if_any ||
		rows.some((row) => column.value(row) && !is_absent(column.value(row))));
}

function only_if_any(column) {
	return { ...column, only_if_any: true };
}

function definition_columns(app) {
	const s = app.data.summary, rows = s.definitions;
	const work = rows.reduce((sum, d) => sum + d.exec_ns.sum, 0);
	const counters = [...new Set(rows.flatMap((d) => Object.keys(d.counters || {})))];
	const columns = [
		{ title: "definition", text: true, value: (d) => d.source || "",
			show: (d) => d.definition === null ? place_node(d.source, d.func) : definition_button(app, d) },
		{ title: "kind", text: true, value: (d) => d.kind },
		count_column("grains", (d) => d.instances),
		{ title: "time", value: (d) => d.exec_ns.sum, hint: "execution time of all of them, and their share",
			show: (d) => [format_time(d.exec_ns.sum), bar_node(work ? d.exec_ns.sum / work : 0)] },
		time_column("mean", (d) => d.exec_ns.mean),
		time_column("shortest", (d) => d.exec_ns.min),
		time_column("longest", (d) => d.exec_ns.max),
		time_column("deviation", (d) => d.exec_ns.stddev, "standard deviation"),
		time_column("inclusive", (d) => mean_of(d.inclusive_ns), "mean with all descendants"),
		time_column("created in", (d) => d.create_ns.mean, "mean time to create one"),
		only_if_any(time_column("creates", (d) => mean_of(d.creating_ns),
			"mean time in which one creates others")),
		only_if_any(time_column("waits", (d) => mean_of(d.taskwait_ns),
			"mean time in which one waits for others")),
		only_if_any(time_column("manages", (d) => mean_of(d.management_ns),
			"mean time in which one creates, or waits while tasks could be begun")),
		time_column("critical", (d) => d.critical_path_ns, "on the critical path, of all of them"),
		only_if_any(count_column("leaves", (d) => d.leaves, "that created none")),
		only_if_any(count_column("undeferred", (d) => d.undeferred, "that ran inside their creation")),
		only_if_any(count_column("incomplete", (d) => d.incomplete)),
		only_if_any(count_column("discarded", (d) => d.discarded, "cancelled before they began")),
		only_if_any(count_column("switches", (d) => d.switches, "fragments begun by resuming")),
		only_if_any(count_column("at once", (d) => d.max_concurrent, "most begun and not over on one thread")),
		only_if_any({ title: "off CPU", hint: "part of the time in which the thread was not scheduled",
			value: (d) => d.preemption_share, show: (d) => format_percent(100 * d.preemption_share) }),
		only_if_any({ title: "inflation", hint: "times as long as with one thread",
			value: (d) => d.work_deviation, show: (d) => format_ratio(d.work_deviation) }),
	];

	for (const name of app.ranked_problems())
		columns.push({ title: problem_title(name).toLowerCase(), hint: "part of the grains with this problem",
			value: (d) => d.problems[name] ? d.problems[name].percent : null,
			show: (d) => format_percent(d.problems[name] ? d.problems[name].percent : null) });
	for (const name of counters)
		columns.push({ title: clean_strings(name), hint: "sum of this counter",
			value: (d) => (d.counters[name] || {}).sum,
			show: (d) => format_count_short((d.counters[name] || {}).sum) });
	return telling_columns(columns, rows);
}

function make_definitions(app, el) {
	const rows = app.data.summary.definitions;

	if (!rows.length)
		return;
	const mark = () => {
		for (const row of el.querySelectorAll("tbody tr")) {
			const selected = row.dataset.definition === String(app.get("definition"));

			row.classList.toggle("selected", selected);
			row.querySelector(".row-button")?.setAttribute("aria-pressed", String(selected));
		}
	};
	const table = new SortedTable({
		what: "definitions", columns: definition_columns(app), rows, sort: 3,
		row_attributes: (d) => ({ "data-definition": d.definition }), on_rows: () => queueMicrotask(mark),
	});

	el.append(panel_head("Definitions", "where grains come from; a click on a head sorts",
		dom_node("span", { class: "muted" }, held_remark(app.data.summary, "definitions", "definitions"))),
	table.node);
	app.on("definition", mark);
	mark();
}

/* summary.task_depths has a row for each depth and definition. This adds up all definitions of a depth. */
function gathered_depths(s) {
	const levels = new Map();

	for (const row of s.task_depths || []) {
		const to = levels.get(row.depth) || { inclusive: 0, creating: 0, taskwait: 0, tasks: 0 };

		to.tasks += row.instances;
		to.inclusive += row.inclusive_ns.sum;
		to.creating += row.creating_ns.sum;
		to.taskwait += row.taskwait_ns.sum;
		levels.set(row.depth, to);
	}
	return levels;
}

function make_depths(app, el) {
	const s = app.data.summary, rows = s.depths, levels = gathered_depths(s);

	if (!rows.length)
		return;
	const most = Math.max(...rows.map((d) => d.grains)), longest = Math.max(...rows.map((d) => d.exec_ns.sum));
	const per_task = (key) => (d) => {
		const level = levels.get(d.depth);

		return level && level.tasks ? level[key] / level.tasks : null;
	};
	const columns = [
		{ ...count_column("depth", (d) => d.depth, "tasks around it, and itself"), text: true },
		{ title: "grains", value: (d) => d.grains,
			show: (d) => [format_count(d.grains), bar_node(d.grains / most, "var(--d0)")] },
		{ title: "time", value: (d) => d.exec_ns.sum,
			show: (d) => [format_time(d.exec_ns.sum), bar_node(longest ? d.exec_ns.sum / longest : 0)] },
		time_column("mean", (d) => d.exec_ns.mean),
		time_column("shortest", (d) => d.exec_ns.min),
		time_column("longest", (d) => d.exec_ns.max),
		only_if_any(time_column("inclusive", per_task("inclusive"), "mean of a task with all its descendants")),
		only_if_any(time_column("creates", per_task("creating"), "mean time in which a task creates others")),
		only_if_any(time_column("waits", per_task("taskwait"), "mean time in which a task waits for others")),
	];
	const table = new SortedTable({ what: "depths", columns: telling_columns(columns, rows), rows });

	el.append(panel_head("Depths", "how deep grains are nested", dom_node("span", { class: "muted" },
		held_remark(s, "depths", "depths"))), table.node);
}
