/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes elements. Text is always inserted as text, so names from the observed program never become mark-up.
 */
const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

function fill_node(node, attributes, children) {
	for (const name in attributes) {
		const value = attributes[name];

		if (value === null || value === undefined || value === false)
			continue;
		if (name.startsWith("on"))
			node.addEventListener(name.slice(2), value);
		else
			node.setAttribute(name, value === true ? "" : value);
	}
	for (const child of children.flat(Infinity))
		if (child !== null && child !== undefined)
			node.append(child);
	return node;
}

/*
 * dom_node("button", { class: "quiet", onclick: fn }, "text", node, [more]). Attributes that are null,
 * undefined or false are left out.
 */
function dom_node(tag, attributes, ...children) {
	return fill_node(document.createElement(tag), attributes, children);
}

function svg_node(tag, attributes, ...children) {
	return fill_node(document.createElementNS(SVG_NAMESPACE, tag), attributes, children);
}

/* The head of a panel: title, a remark in muted ink, then controls at the right. */
function panel_head(title, remark, ...controls) {
	return dom_node("div", { class: "panel-head" },
		dom_node("h2", {}, title),
		remark ? dom_node("span", { class: "muted" }, remark) : null,
		dom_node("span", { class: "fill" }), controls);
}

/*
 * A bar of a table or tile: `part` is 0..1 of its width. Screen readers skip it, because the number is beside
 * it.
 */
function bar_node(part, colour) {
	const width = Math.max(0, Math.min(1, part || 0)) * 100;
	const inner = dom_node("i");

	inner.style.width = width + "%";
	if (colour)
		inner.style.background = colour;
	return dom_node("span", { class: "bar", "aria-hidden": "true" }, inner);
}

/* A source line in mono, then the function. The tool-tip has both in full length. */
function place_node(source, func) {
	return dom_node("span", { class: "place", title: [source, func].filter(Boolean).join(" ") },
		dom_node("bdi", { class: "mono" }, source || "unknown"),
		func ? dom_node("bdi", { class: "muted" }, func) : null);
}
