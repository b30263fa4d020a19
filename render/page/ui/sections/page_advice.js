/* SPDX-License-Identifier: BSD-2-Clause */
/* The advice. The one with the most time at stake comes first. */

/* Selects the grain that shows the problem most clearly, and goes to the graph. */
function worst_link(app, id) {
	const button = dom_node("button", { class: "link", type: "button", disabled: true, title: id,
		onclick: () => {
			app.set("selected", app.find(id));
			document.getElementById("graph").scrollIntoView();
		} }, "show the worst grain");

	app.on("ready", () => {
		button.disabled = false;
	});
	return button;
}

function advice_node(app, advice) {
	const definition = app.definition_at(advice.source);
	const name = problem_title(advice.problem && advice.kind !== "small_chunks" ? advice.problem : advice.kind);
	const place = advice.source ? place_node(advice.source, app.place(definition).func) : "the whole program";
	const wall = graph_wall(app), share = wall ? ` (${format_percent(100 * advice.saves_ns / wall)} of wall)` : "";

	return dom_node("li", {},
		dom_node("h3", {}, definition === NONE ? place : dom_node("button", { class: "link", type: "button",
			onclick: () => {
				app.set("definition", definition);
				document.getElementById("lines").scrollIntoView({ block: "nearest" });
			} }, place)),
		dom_node("p", { class: "muted" }, name + ", saves up to ",
			dom_node("b", {}, format_time(advice.saves_ns)), share),
		dom_node("p", {}, dom_node("bdi", {}, format_sentence(advice.finding)), "."),
		dom_node("p", { class: "todo" }, dom_node("bdi", {}, format_sentence(advice.text)), "."),
		advice.evidence.worst ? worst_link(app, advice.evidence.worst) : null);
}

function make_advice(app, el) {
	const advice = app.data.summary.advice;

	el.append(panel_head("What to do", advice.length ? "most time first" : null));
	if (advice.length)
		el.append(dom_node("ol", { class: "advice" }, advice.map((a) => advice_node(app, a))));
	else
		el.append(dom_node("p", { class: "waiting" }, app.data.summary.grains.total ?
			"Nothing: no problem was found that costs noticeable time." :
			"Observe the program while it runs its parallel part."));
}
