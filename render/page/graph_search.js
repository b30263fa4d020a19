/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds definitions by source line or function, and grains by identifier.
 * The list is a listbox of its input: arrows choose, Enter takes (the first).
 */
const SEARCH_MOST = 50;

/* [{ label, remark, definition, context }]: definitions first; a definition leads to its longest grain. */
function search_report(app, text) {
	const { data } = app, wanted = text.trim().toLowerCase(), found = [];

	if (!wanted)
		return found;
	for (const d of data.summary.definitions) {
		if (d.definition === null || !((d.source || "") + " " + (d.func || "")).toLowerCase().includes(wanted))
			continue;
		found.push({
			label: with_dot(d.source || "unknown", d.func), definition: d.definition, context: NONE,
			remark: format_plural(d.instances, d.kind === "task" ? "task" : "chunk"),
		});
	}
	/* Only what looks like an identifier is looked for among up to a million of them. */
	if (/^[\d?][\w.?/[\],;:-]*$/.test(wanted)) {
		const exact = data.find(wanted);

		if (exact !== NONE)
			found.push(grain_found(app, exact));
		for (const c of ids_beginning(data, wanted, exact, SEARCH_MOST - found.length))
			found.push(grain_found(app, c));
	}
	return found.slice(0, SEARCH_MOST);
}

function grain_found(app, c) {
	return {
		label: app.data.id(c), definition: NONE, context: c,
		remark: with_dot(source_of(app, app.data.definition[c]), format_time(app.data.exec[c])),
	};
}

/* In the order of the program; of a large report what is below the exact match, else the first. */
function ids_beginning(data, wanted, exact, most) {
	const found = [];

	if (exact !== NONE)
		return Array.from(data.children(exact).slice(0, most));
	for (let c = 0; c < Math.min(data.count, 200000) && found.length < most; c++)
		if (data.id(c).startsWith(wanted))
			found.push(c);
	return found;
}

/* The grain of a definition that took longest; NONE. */
function longest_of(data, definition) {
	let best = NONE;

	for (let c = 0; c < data.count; c++)
		if (data.definition[c] === definition && (best === NONE || data.exec[c] > data.exec[best]))
			best = c;
	return best;
}

/* `go(result)` is called with what was chosen. */
function make_search(app, go) {
	const list = dom_node("ul", { class: "graph-found", role: "listbox", id: "graph-found", hidden: true, "aria-label": "Matches" });
	const input = dom_node("input", {
		class: "select graph-search", type: "search", placeholder: "Find line, function, id",
		"aria-label": "Find a source line, a function or a grain",
		role: "combobox", "aria-expanded": "false", "aria-controls": "graph-found", autocomplete: "off", spellcheck: "false",
	});
	let found = [], chosen = 0, timer = 0;

	const close = () => {
		list.hidden = true;
		input.setAttribute("aria-expanded", "false");
		input.removeAttribute("aria-activedescendant");
	};
	const choose = (n) => {
		chosen = n;
		[...list.children].forEach((row, i) => row.setAttribute("aria-selected", String(i === n)));
		const row = list.children[n];

		if (row && row.id) {
			row.scrollIntoView({ block: "nearest" });
			input.setAttribute("aria-activedescendant", row.id);
		}
	};
	const take = (n) => {
		if (!found[n])
			return;
		close();
		go(found[n]);
	};
	const look = () => {
		clearTimeout(timer);
		found = search_report(app, input.value);
		list.replaceChildren(...found.map((f, i) => dom_node("li", {
			role: "option", id: "graph-found-" + i, onpointerdown: (event) => {
				event.preventDefault();
				take(i);
			},
		}, dom_node("bdi", { class: "mono" }, shorten(f.label, 60)), dom_node("bdi", { class: "muted" }, f.remark))));
		if (!found.length && input.value.trim())
			list.append(dom_node("li", { class: "muted" }, "nothing found"));
		list.hidden = !list.children.length;
		input.setAttribute("aria-expanded", String(!list.hidden));
		choose(0);
	};

	input.addEventListener("input", () => {
		clearTimeout(timer);
		timer = setTimeout(look, 120);
	});
	input.addEventListener("blur", close);
	input.addEventListener("keydown", (event) => {
		if (event.key === "Enter") {
			look();
			take(chosen);
		} else if (event.key === "Escape") {
			close();
		} else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
			event.preventDefault();
			if (list.hidden)
				look();
			choose(Math.max(0, Math.min(found.length - 1, chosen + (event.key === "ArrowDown" ? 1 : -1))));
		}
	});
	return dom_node("div", { class: "graph-searching" }, input, list);
}
