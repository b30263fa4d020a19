/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an iterative program repeats: each body with its elements, and a bar for each repetition, or for some in a row
 * the longest. A click on a bar shows this repetition in the time-line.
 */
const REPEATS_SHOWN = 8;
const STEP_ELEMENTS = 6;
const STEP_HEIGHT = 44;
/* The least repetitions, and part of the wall time, of a body that is shown. */
const STEP_LEAST = 3;
const STEP_LEAST_PART = 0.01;

/* "5 to 9 × [2 regions]" */
function step_times(app, element) {
	const times = element.least === element.most ? format_count(element.most) :
		`${format_count(element.least)} to ${format_count(element.most)}`;
	const inner = app.data.summary.sequences.repeats[element.repeat];
	const each = inner ? Math.round(inner.regions / inner.count) : null;

	return `${times} × [` + (each === null ? "…" : format_plural(each, inner.region ? "loop" : "region")) + "]";
}

function step_name(app, element) {
	return element.kind === "repeat" ? dom_node("span", { class: "place" }, step_times(app, element)) :
		place_node(element.source, app.place(app.definition_at(element.source)).func);
}

/* Where an odd repetition was longer. */
function step_where(app, repeat, odd) {
	const element = repeat.body.find((e) => e.element === odd.element);

	return element && element.kind === "repeat" ? step_times(app, element) :
		dom_node("bdi", { class: "mono" }, odd.source || "unknown");
}

/* The elements that take most, in the order of the program. */
function step_body(app, repeat) {
	const shown = repeat.body.slice().sort((a, b) => b.sum_ns - a.sum_ns).slice(0, STEP_ELEMENTS)
		.sort((a, b) => a.element - b.element), left = repeat.length - shown.length;

	return dom_node("ol", { class: "step-body" }, shown.map((element) => dom_node("li", {},
		step_name(app, element),
		dom_node("b", {}, format_percent(repeat.sum_ns ? 100 * element.sum_ns / repeat.sum_ns : null)))),
	left > 0 ? dom_node("li", { class: "muted" }, `${format_count(left)} more, each takes less`) : null);
}

/* Shows a time span in the time-line, with some room around it. */
function step_reveal(app, start_ns, length_ns) {
	if (!app.get("ready"))
		return;
	const start = start_ns - app.data.summary.start_ns, room = Math.max(length_ns * 0.25, 1);

	time_axis_of(app).show(start - room, start + length_ns + room);
	document.getElementById("timeline").scrollIntoView({ block: "center" });
}

function step_strip(app, repeat) {
	const { every, start_ns, longest_ns } = repeat.strip, most = Math.max(1, repeat.max_ns);
	const odd = new Set(repeat.odd_repetitions.map((o) => Math.floor((o.number - 1) / every)));
	const bars = longest_ns.map((length, i) => {
		const tall = Math.max(1, length / most * STEP_HEIGHT), from = i * every + 1;
		const to = Math.min(repeat.count, from + every - 1);
		const bar = svg_node("rect", { x: i, y: STEP_HEIGHT - tall, width: 1, height: tall,
			class: odd.has(i) ? "step-bar odd" : "step-bar",
			onclick: () => step_reveal(app, start_ns[i], length) },
		svg_node("title", {}, (from === to ? `number ${format_count(from)}: ` :
			`numbers ${format_count(from)} to ${format_count(to)}: up to `) + format_time(length)));

		return bar;
	});

	return svg_node("svg", { class: "step-strip", viewBox: `0 0 ${bars.length} ${STEP_HEIGHT}`,
		preserveAspectRatio: "none", role: "img",
		"aria-label": `how long each of ${format_plural(repeat.count, "repetition")} takes: ` +
			`${format_time(repeat.min_ns)} to ${format_time(repeat.max_ns)}` }, bars);
}

function step_odd(app, repeat) {
	const worst = repeat.odd_repetitions.slice().sort((a, b) => b.longer_ns - a.longer_ns).slice(0, 3);

	if (!worst.length)
		return null;
	return dom_node("ul", { class: "step-odd" }, worst.map((odd) => dom_node("li", {},
		dom_node("button", { class: "link", type: "button",
			title: "show it in the time-line",
			onclick: () => step_reveal(app, odd.start_ns, odd.length_ns) },
		`number ${format_count(odd.number)}`),
		` took ${format_time(odd.longer_ns)} longer: ${format_time(odd.element_longer_ns)} ` +
			(odd.after ? "after " : "in "),
		step_where(app, repeat, odd))),
	repeat.odd > worst.length ? dom_node("li", { class: "muted" },
		`${format_count(repeat.odd - worst.length)} more are odd`) : null);
}

function step_depth(repeats, repeat) {
	let depth = 0;

	for (let at = repeat; at.parent !== null && depth < 4; at = repeats[at.parent])
		depth++;
	return depth;
}

function step_node(app, repeat) {
	const s = app.data.summary, each = Math.round(repeat.regions / repeat.count);
	const depth = step_depth(s.sequences.repeats, repeat), part = (a, b) => format_percent(b ? 100 * a / b : null);
	const in_a_row = repeat.runs > 1 ?
		`, ${format_count(repeat.least)} to ${format_count(repeat.most)} in a row` : "";
	const item = dom_node("li", { class: "step" },
		dom_node("h3", {}, `${format_count(repeat.count)} × [`,
			format_plural(each, repeat.region ? "loop" : "region"), "]",
			dom_node("span", { class: "muted" }, depth ? " inside the above" : "", in_a_row)),
		dom_node("p", { class: "step-numbers" }, "each ", dom_node("b", {}, format_time(repeat.median_ns)),
			` (${format_time(repeat.min_ns)} to ${format_time(repeat.max_ns)}) · ` +
			`${part(repeat.outside_ns, repeat.sum_ns)} ` +
			(repeat.region ? "between loops" : "outside of regions") +
			` · ${part(repeat.sum_ns, s.sequences.wall_ns)} of the time`),
		step_strip(app, repeat), step_odd(app, repeat), step_body(app, repeat));

	item.style.marginLeft = depth * 12 + "px";
	return item;
}

function make_steps(app, el) {
	const known = app.data.summary.sequences;
	const shown = known ? known.repeats.filter((r) => r.count >= STEP_LEAST &&
		r.sum_ns >= STEP_LEAST_PART * known.wall_ns) : [];

	if (!shown.length) {
		el.remove();
		return;
	}
	el.append(panel_head("What is repeated", known.partial ? "in the part of the run that was kept" :
		`${format_plural(known.regions, "region")}, one after the other; click on a repetition to see it`),
	dom_node("ol", { class: "steps" }, shown.slice(0, REPEATS_SHOWN).map((repeat) => step_node(app, repeat))));
}
