/* SPDX-License-Identifier: BSD-2-Clause */
/* The texts of the graph's panel: bread-crumbs, legend, scale, and the text under the pointer. */
const SCALE_MOST = 21;

class Graph_words {
	constructor(panel) {
		this.panel = panel;
		this.app = panel.app;
		this.groups = panel.groups;
	}

	describe(node) {
		const subject = this.panel.subject(node), { data } = this.app,
			context = this.panel.picture.nodes.context[node];

		if (subject && subject.kind) {
			const { exec, grains } = this.groups.sums(subject), view = this.app.get("view");
			const flagged = this.panel.colours.is_problem() ? this.groups.flagged(subject, view) : 0;

			return [group_title(this.app, this.groups, subject),
				with_dot(format_plural(grains, "grain"), format_time(exec),
					flagged ? format_percent(100 * flagged / grains) + " with the problem" : "")];
		}
		if (subject && subject.skipped)
			return ["skipped: no problem in " + format_plural(subject.skipped.length, "member"),
				"click to leave the filter"];
		if (subject && subject.more)
			return [this.panel.picture.words(node)[0], "click to show more"];
		if (subject)
			return [with_dot(format_plural(this.panel.scene.nodes.grains[subject.folded], "grain"),
				format_time(this.panel.scene.nodes.time[subject.folded])),
			"not drawn here; click to open them as groups"];
		if (context === NONE)
			return [""];
		const value = this.panel.colours.is_problem() ? data.metric(this.app.get("view"), context) : NaN;

		return [data.id(context), with_dot(source_of(this.app, data.definition[context]),
			format_time(data.exec[context]), Number.isNaN(value) ? "" :
				problem_title(this.app.get("view")).toLowerCase() + " " +
				format_value(this.app.get("view"), value))];
	}

	/* The path from the root to the focus, and on to what is selected in it. */
	path(focus) {
		const key = this.app.get("group"), context = this.app.get("selected");
		const group = context !== NONE ? this.groups.of_context(context) : key ? this.groups.by_key(key) : null;
		const path = group ? this.groups.path(group) : [];

		return path.includes(focus) ? path : this.groups.path(focus);
	}

	draw_crumbs() {
		if (!this.panel.mode())
			return;
		if (this.panel.mode() === "grains") {
			const { scene } = this.panel, n = this.app.data.summary.grains.total;

			this.panel.crumbs.replaceChildren(dom_node("span", { class: "muted" }, scene.folded
				? "the heaviest of " + format_plural(n, "grain") + "; boxes with numbers hold the rest"
				: "all " + format_plural(n, "grain") +
					(scene.reduced ? ", one box each" : ", every fragment"),
			" · height is execution time · drag to move, " +
				(matchMedia("(pointer: coarse)").matches ? "pinch" : "wheel") + " to zoom"));
			return;
		}
		const { focus } = this.panel.where, path = this.path(focus), at = path.indexOf(focus), row = [];

		path.forEach((group, i) => {
			/*
			 * If the nesting is deep, shows the outermost groups, and those around the group that
			 * is drawn.
			 */
			if (path.length > 9 && i > 1 && (i < at - 3 || i > Math.max(at + 3, 7))) {
				if (row[row.length - 1].tagName === "BUTTON")
					row.push(dom_node("span", { class: "muted" }, "…"));
				return;
			}
			row.push(dom_node("button", {
				class: i === at ? "graph-crumb" : "graph-crumb link",
				"aria-current": i === at ? "true" : null,
				title: group_title(this.app, this.groups, group),
				onclick: () => this.panel.focus_on(group),
			}, this.crumb(group)));
		});
		this.panel.crumbs.replaceChildren(...row);
	}

	crumb(group) {
		const { data } = this.app, kind = data.kind[group.context];

		if (group.kind === "region")
			return "region";
		if (group.kind !== "family")
			return group_title(this.app, this.groups, group).split(" · ")[0];
		const id = data.id(group.context), dot = id.lastIndexOf(".");
		const last = [id, id.slice(dot + 1), id.slice(dot), id.slice(id.lastIndexOf("["))][kind];

		return ["initial task ", "member ", "task ", "chunk "][kind] + shorten(last, 16);
	}

	draw_legend() {
		const mark = (kind, label) =>
			dom_node("span", {}, dom_node("i", { class: "graph-mark " + kind }), label);
		const colours = this.panel.colours.legend().map((entry) => {
			const swatch = dom_node("i",
				{ class: "swatch" + (entry.mark === "flag" ? " graph-flag" : "") });

			swatch.style.background = entry.css;
			return dom_node("span", {}, swatch, entry.label);
		});
		const groups = this.panel.mode() === "groups";

		this.panel.legend.classList.toggle("dimmed", this.panel.colours.is_problem());
		const marks = [mark("fork", "fork"), mark("join", "join"), mark("critical", "critical path")];

		if (groups)
			marks.unshift(mark("family", "family"), mark("siblings", "siblings"));
		if (groups && this.app.get("filter"))
			marks.push(mark("skipped", "» grains skipped"));
		if (!groups && this.panel.scene && this.panel.scene.edges.kind.includes(EDGE_DEPENDENCE))
			marks.push(mark("depend", "dependence"));
		this.panel.legend.replaceChildren(dom_node("span", { class: "graph-what" },
			problem_title(this.app.get("view")) +
				(groups && this.panel.colours.is_problem() ? ", worst inside" : "")),
		...colours, ...marks, this.panel.scale_bar);
		this.draw_scale();
	}

	/* Draws a bar. Its height stands for a round time, and is at most SCALE_MOST pixels. */
	draw_scale() {
		const { picture, view, scale_bar } = this.panel, [bar, label] = scale_bar.children;
		const per_ns = picture && view ? picture.px_per_ns * view.scale : 0;
		let ns = 10 ** Math.floor(Math.log10(SCALE_MOST / per_ns));

		scale_bar.hidden = !(per_ns > 0) || !Number.isFinite(ns);
		if (scale_bar.hidden)
			return;
		ns *= ns * 5 * per_ns <= SCALE_MOST ? 5 : ns * 2 * per_ns <= SCALE_MOST ? 2 : 1;
		const height = (ns * per_ns).toFixed(1) + "px";

		/* This is called for every frame. The page changes only if something is different. */
		if (bar.style.height !== height)
			bar.style.height = height;
		if (this.scale_ns !== ns)
			label.textContent = format_time(this.scale_ns = ns);
	}
}
