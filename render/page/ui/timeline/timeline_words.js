/* SPDX-License-Identifier: BSD-2-Clause */
/* The texts of the time-line: the tool-tip, the text for screen readers, and a table of the rows. */

const KIND_WORDS = ["initial task", "team member", "task", "chunk"];

function context_place(app, context) {
	const profile = app.profile(app.data.definition[context]);

	return profile ? [profile.source || "unknown", profile.func || ""] : ["", ""];
}

/* The metrics that a grain has. That of the view comes first. */
function metric_words(app, context) {
	const { data } = app, view = app.get("view");

	return PROBLEMS.filter((name) => data.is_complete(context) && !is_absent(data.metric(name, context)))
		.sort((a, b) => (b === view) - (a === view))
		.map((name) => ({
			title: problem_title(name), value: format_value(name, data.metric(name, context)),
			is_problem: (data.problems[context] & 1 << PROBLEMS.indexOf(name)) !== 0,
		}));
}

function shown_words(neighbours) {
	return neighbours.length > MOST_NEIGHBOURS ? "the first " + format_count(MOST_NEIGHBOURS) + " are shown" : "";
}

function timeline_tooltip(app, classes, rows, place, neighbours) {
	const { data } = app, c = rows.context[place], [source, func] = context_place(app, c);
	const parts = rows.places_of(c).length, speed = classes.speed(c);
	const row = (name, value, more) => dom_node("div", { class: "tip-row" }, dom_node("span", {}, name),
		dom_node("b", {}, value), more ? dom_node("span", {}, more) : null);

	return [
		dom_node("div", { class: "tip-title" }, dom_node("bdi", { class: "mono" }, shorten(data.id(c), 48)),
			" " + KIND_WORDS[data.kind[c]] + (data.flags[c] & INCOMPLETE ? ", incomplete" : "")),
		source ? dom_node("div", {}, dom_node("bdi", { class: "mono" }, shorten(source, 48)), " ",
			dom_node("bdi", {}, shorten(func, 60))) : null,
		row("execution", format_time(data.exec[c]),
			Number.isNaN(speed) ? "" : format_ratio(speed) + " × median"),
		parts > 1 ? row("this fragment", format_time(rows.end[place] - rows.start[place]),
			"one of " + format_count(parts)) : null,
		row("from", format_time(rows.start[place]), "on " + rows.labels[rows.row_of_place[place]].name),
		data.create[c] > 0 ? row("creation", format_time(data.create[c])) : null,
		metric_words(app, c).slice(0, 4).map((m) =>
			row(m.title.toLowerCase(), m.value, m.is_problem ? "problem" : "")),
		row("waited for", format_count(neighbours.predecessors.length), shown_words(neighbours.predecessors)),
		row("waits for it", format_count(neighbours.successors.length), shown_words(neighbours.successors)),
	].flat().filter(Boolean);
}

/* One sentence for screen readers. */
function timeline_sentence(app, rows, place, neighbours) {
	const { data } = app, c = rows.context[place], [source] = context_place(app, c);

	return rows.labels[rows.row_of_place[place]].name + ": " + KIND_WORDS[data.kind[c]] + " " + data.id(c) +
		(source ? " of " + source : "") + ", from " + format_time(rows.start[place]) + " for " +
		format_time(rows.end[place] - rows.start[place]) + "; " +
		format_plural(neighbours.predecessors.length, "predecessor") + ", " +
		format_plural(neighbours.successors.length, "successor") + ".";
}

/* What rows did, as a table of at most `most` rows. */
function timeline_table(app, rows, most) {
	const last = time_axis_of(app).last, body = dom_node("tbody");

	for (let r = 0; r < Math.min(rows.rows, most); r++) {
		let busy = 0;

		for (let i = rows.first[r]; i < rows.first[r + 1]; i++)
			busy += rows.end[i] - rows.start[i];
		const n = rows.first[r + 1] - rows.first[r];

		body.append(dom_node("tr", {}, dom_node("th", { scope: "row", class: "text" }, rows.labels[r].name),
			dom_node("td", { class: "text" }, rows.labels[r].more), dom_node("td", {}, format_count(n)),
			dom_node("td", {}, format_time(busy)), dom_node("td", {}, format_percent(100 * busy / last)),
			dom_node("td", {}, n ? format_time(rows.start[rows.first[r]]) : ABSENT),
			dom_node("td", {}, n ? format_time(rows.end[rows.first[r + 1] - 1]) : ABSENT)));
	}
	return dom_node("div", { class: "scroll" }, dom_node("table", {},
		dom_node("thead", {}, dom_node("tr", {},
			["row", "", "fragments", "busy", "of all time", "first at", "last until"].map((text, i) =>
				dom_node("th", { scope: "col", class: i < 2 ? "text" : null }, text)))), body),
	rows.rows > most ? dom_node("p", { class: "note" }, format_count(rows.rows - most) + " more rows") : null);
}
