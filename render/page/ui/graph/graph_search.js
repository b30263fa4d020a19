/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds definitions by source line or function, and grains by identifier.
 * The list is a listbox of its input: arrows choose, Enter takes (the first).
 */
const SEARCH_MOST = 50;

/*
 * Returns [{ label, remark, definition, context }]. Definitions come first. A definition leads to its longest
 * grain.
 */
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
	/*
	 * Only a text that looks like an identifier is searched among the identifiers, of which there may be
	 * a million.
	 */
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

/*
 * Returns contexts in the order of the program: the children of the exact match, if there is one. Else those
 * whose identifier begins with the text; in a large report only the first contexts are searched.
 */
function ids_beginning(data, wanted, exact, most) {
	const found = [];

	if (exact !== NONE)
		return Array.from(data.children(exact).slice(0, most));
	for (let c = 0; c < Math.min(data.count, 200000) && found.length < most; c++)
		if (data.id(c).startsWith(wanted))
			found.push(c);
	return found;
}

/* Returns the longest grain of a definition. NONE: there is none. */
function longest_of(data, definition) {
	let best = NONE;

	for (let c = 0; c < data.count; c++)
		if (data.definition[c] === definition && (best === NONE || data.exec[c] > data.exec[best]))
			best = c;
	return best;
}

function search_list() {
	return dom_node("ul",
		{ class: "graph-found", role: "listbox", id: "graph-found", hidden: true, "aria-label": "Matches" });
}

function search_input() {
	return dom_node("input", {
		class: "select graph-search", type: "search", placeholder: "Find line, function, id",
		"aria-label": "Find a source line, a function or a grain",
		role: "combobox", "aria-expanded": "false", "aria-controls": "graph-found", autocomplete: "off",
		spellcheck: "false",
	});
}

/* The row of a match in the list. Calls `take` when the row is pressed. */
function search_row(match, number, take) {
	return dom_node("li", {
		role: "option", id: "graph-found-" + number, onpointerdown: (event) => {
			event.preventDefault();
			take();
		},
	}, dom_node("bdi", { class: "mono" }, shorten(match.label, 60)),
	dom_node("bdi", { class: "muted" }, match.remark));
}

/* Calls `go(result)` with the chosen match. */
function make_search(app, go) {
	const list = search_list(), input = search_input();
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
		list.replaceChildren(...found.map((f, i) => search_row(f, i, () => take(i))));
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
