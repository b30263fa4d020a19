/* SPDX-License-Identifier: BSD-2-Clause */
/* The source lines, sorted by the view, worst first. Also the source text around the selected line. */
const LINES_SHOWN = 8;
/* EXCERPTS_MAX in page_excerpts.c. */
const EXCERPTS_HELD = 100;

/*
 * The problem that the table is about. In views of a property, the table stays with the problem that costs
 * most.
 */
function problem_in_view(app) {
	const view = app.get("view"), ranked = app.ranked_problems();

	return ranked.includes(view) ? view : ranked[0] || null;
}

function lines_in_order(app) {
	const view = app.get("view"), definitions = app.data.summary.definitions.slice();
	const flagged = (d) => d.problems[view] ? d.problems[view].grains : 0;

	return definitions.sort((a, b) => flagged(b) - flagged(a) || b.exec_ns.sum - a.exec_ns.sum);
}

/* Returns --d0.. by the place in summary.definitions, as in the definition view. */
function definition_colour(app, definition) {
	const rank = app.data.summary.definitions.findIndex((d) => d.definition === definition);

	return rank >= 0 && rank < 10 ? `var(--d${rank})` : "var(--other)";
}

/* Selects the definition. If it is already selected, selects none. */
function definition_button(app, profile) {
	const swatch = dom_node("i", { class: "swatch" });

	swatch.style.background = definition_colour(app, profile.definition);
	return dom_node("button", { class: "link row-button", type: "button",
		onclick: (event) => {
			event.stopPropagation();
			app.set("definition", app.get("definition") === profile.definition ? NONE : profile.definition);
		} }, swatch, place_node(profile.source, profile.func));
}

function line_row(app, profile, problem, longest) {
	const has = problem && profile.problems[problem];
	const row = dom_node("tr", { "data-definition": profile.definition,
		onclick: () => app.set("definition", profile.definition) },
	dom_node("th", { scope: "row", class: "text" }, profile.definition === null ?
		place_node(profile.source, profile.func) : definition_button(app, profile)),
	dom_node("td", {}, format_count(profile.instances)),
	dom_node("td", { title: has ? format_plural(has.grains, "grain") : null },
		has ? [format_percent(has.percent), bar_node(has.percent / 100, "var(--h1)")] : ABSENT),
	dom_node("td", {}, format_time(profile.exec_ns.sum), bar_node(longest ? profile.exec_ns.sum / longest : 0)),
	dom_node("td", {}, format_time(profile.exec_ns.mean)),
	dom_node("td", {}, format_time(profile.critical_path_ns)));

	return row;
}

function line_table(app) {
	const problem = problem_in_view(app), lines = lines_in_order(app);
	const longest = Math.max(...lines.map((d) => d.exec_ns.sum), 0);
	const heads = ["definition", "grains", "with problem", "time", "mean", "critical path"];
	const table = dom_node("table", { class: "lines" },
		dom_node("thead", {}, dom_node("tr", {}, heads.map((name, i) =>
			dom_node("th", { scope: "col", class: i ? null : "text" }, name)))),
		dom_node("tbody", {}, lines.slice(0, LINES_SHOWN).map((d) => line_row(app, d, problem, longest))));

	return [dom_node("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "source lines" }, table),
		lines.length > LINES_SHOWN ? dom_node("p", { class: "note" }, dom_node("a", { href: "#definitions",
			onclick: (event) => {
				event.preventDefault();
				document.getElementById("definitions").scrollIntoView();
			} }, `all ${format_count(lines.length)} definitions`)) : null];
}

/*
 * The definition that the excerpt shows: the selected line, which may be that of a region. If none is
 * selected, the worst line.
 */
function shown_definition(app) {
	const selected = app.get("definition"), place = app.place(selected);

	if (place.source)
		return { definition: selected, problems: {}, ...place };
	return lines_in_order(app)[0] || null;
}

function excerpt_remark(app, profile) {
	const problem = problem_in_view(app), has = problem && profile.problems[problem];

	if (!has)
		return profile.instances ? format_plural(profile.instances, "grain") : null;
	/* Problems are counted in the graph, instances in the whole run. */
	return `${format_count(has.grains)} ` +
		`${is_partial(app) ? "in the graph" : "of " + format_count(profile.instances)} ` +
		(LOW_IS_BAD.has(problem) ? "below " : "above ") +
		format_plain(app.data.summary.problems[problem].threshold);
}

/* Tabs arrive as 8 blanks. 4 blanks leave more room for the text. */
function narrow_tabs(lines) {
	const tabs = lines.every((text) => !text.trim() || /^ */.exec(text)[0].length % 8 === 0);

	return tabs ? lines.map((text) => text.replace(/^ +/, (blanks) => " ".repeat(blanks.length / 2))) : lines;
}

function source_line(number, text, marked) {
	const looks = ["line", marked ? "marked" : "", /^\s*#\s*pragma\b/.test(text) ? "pragma" : ""];

	return dom_node("span", { class: looks.join(" "), "aria-current": marked ? "true" : null },
	dom_node("i", {}, String(number)), dom_node("bdi", { dir: "ltr" }, text), "\n");
}

function excerpt_node(app, profile) {
	const excerpt = app.data.report.excerpts.find((e) => e.definition === profile.definition);
	const line = Number((/:(\d+)$/.exec(profile.source || "") || [])[1]);

	if (excerpt)
		return dom_node("pre", { class: "excerpt", tabindex: "0", "aria-label": "source text" },
			narrow_tabs(excerpt.lines).map((text, i) =>
				source_line(excerpt.first + i, text, excerpt.first + i === line)));
	return dom_node("div", { class: "no-source" },
		dom_node("p", {}, place_node(profile.source, profile.func)),
		dom_node("p", { class: "muted" }, !line ?
			"Its line is not known: the program has no debug information there (compile with -g)." :
			app.data.report.excerpts.length >= EXCERPTS_HELD ?
				"Its text is not here: this report holds that of " +
				`${EXCERPTS_HELD} lines at most.` :
				"Its text is not here: the source was not readable when the report was made."));
}

function make_lines(app, el) {
	const left = dom_node("div", { class: "half" }), right = dom_node("div", { class: "half" });
	const show_table = () => {
		const view = app.get("view"), ranked = app.ranked_problems();

		left.replaceChildren(panel_head("Source lines", "worst first by " +
			(ranked.includes(view) ? problem_title(view).toLowerCase() : "execution time")),
		...line_table(app).filter(Boolean));
		if (!app.data.summary.definitions.length)
			left.replaceChildren(panel_head("Source lines"),
				dom_node("p", { class: "waiting" }, "No grains were seen."));
	};
	const show_selected = () => {
		const profile = shown_definition(app);

		for (const row of left.querySelectorAll("tbody tr"))
			row.classList.toggle("selected",
				!!profile && row.dataset.definition === String(profile.definition));
		for (const button of left.querySelectorAll(".row-button"))
			button.setAttribute("aria-pressed",
				String(button.closest("tr").classList.contains("selected")));
		right.replaceChildren(...profile ? [
			panel_head(dom_node("bdi", { class: "mono", title: profile.source },
				shorten(profile.source || "unknown", 50)),
				null, dom_node("span", { class: "muted" }, excerpt_remark(app, profile))),
			excerpt_node(app, profile)] : []);
	};

	el.append(...app.data.summary.definitions.length ? [left, right] : [left]);
	app.on("view", () => {
		show_table();
		show_selected();
	});
	app.on("definition", show_selected);
	show_table();
	show_selected();
}
