/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The grain graph: groups or grains, views, filter, search, bread-crumbs, the viewer and its legend. Keys of
 * the app that belong to it: "mode" is "groups" or "grains". "group" is the key of the selected group; null
 * if a context or nothing is selected. app.show_where(context or group) ends the filter and goes to the
 * context or group.
 */
const GROUPS_FROM = 1500; /* with more grains than this, groups are shown first */
const READABLE = 0.75, UNREADABLE = 0.2; /* zoom */

class Graph_panel {
	constructor(app, el) {
		this.app = app;
		this.colours = new Colours(app);
		this.groups = Groups.of(app);
		this.where = new Graph_focus(app, this.groups);
		this.scene = null;
		this.words = new Graph_words(this);
		this.build(el);
		this.view = new Canvas_view(this.canvas, this.colours, {
			click: (node, x, y) => this.click(node, x, y), hover: (node, x, y) => this.hover(node, x, y),
			focus: (node) => this.say(node), key: (name, node) => this.key(name, node),
			marked: () => this.marked(),
			moved: () => this.words.draw_scale(),
		});
		app.show_where = (what) => this.show_where(what);
		app.set("group", null);
		this.where.start(() => this.is_readable());
		this.listen();
		this.start();
	}

	listen() {
		const { app } = this;

		app.on("colours", () => {
			this.words.draw_legend();
			this.view.repaint();
		});
		app.on("view", () => {
			this.choice.value = app.get("view");
			this.filter.disabled = !this.colours.is_problem();
			if (this.mode() === "groups")
				this.lay_out();
		});
		app.on("brush", () => this.view.repaint());
		app.on("filter", () => {
			this.filter.setAttribute("aria-pressed", String(app.get("filter")));
			if (app.get("filter"))
				app.set("mode", "groups");
			this.lay_out();
			this.words.draw_legend();
		});
		app.on("selected", () => this.selected());
		app.on("group", () => {
			this.words.draw_crumbs();
			this.view.wake();
		});
		app.on("hovered", () => this.view.wake());
		app.on("mode", () => this.set_mode());
		app.on("paint_now", () => this.view.paint_now());
	}

	mode() {
		return this.app.get("mode");
	}

	/* ---- the panel ----------------------------------------------------------- */

	build(el) {
		const { app } = this, button = (label, title, fn) =>
			dom_node("button", { class: "button", title, "aria-label": title, onclick: fn }, label);

		this.modes = ["groups", "grains"].map((mode) =>
			dom_node("button",
				{ "data-mode": mode, hidden: mode === "grains", onclick: () => app.set("mode", mode) },
				mode === "groups" ? "Groups" : "Grains"));
		this.choice = dom_node("select", {
			class: "select", "aria-label": "Colour by", onchange: () => app.set("view", this.choice.value),
		}, this.view_options());
		this.choice.value = app.get("view");
		this.filter = dom_node("button", {
			class: "button", title: "Only groups with the problem; the rest is skipped",
			"aria-pressed": String(app.get("filter")),
			onclick: () => app.set("filter", !app.get("filter")),
		}, "Filter");
		this.filter.disabled = !this.colours.is_problem();
		this.crumbs = dom_node("nav", { class: "graph-crumbs", "aria-label": "Groups around what is drawn" });
		this.canvas = dom_node("canvas", {
			class: "graph-canvas", tabindex: "0", role: "application", "aria-describedby": "graph-help",
			"aria-label": "Grain graph",
		});
		this.scale_bar = dom_node("span", { class: "graph-scale", "aria-hidden": "true" }, dom_node("i"),
			dom_node("span"));
		this.tip = dom_node("div", { class: "tooltip", hidden: true });
		this.said = dom_node("p", { class: "unseen", "aria-live": "polite" });
		this.legend = dom_node("div", { class: "legend" });
		el.replaceChildren(
			dom_node("div", { class: "panel-head graph-head" }, dom_node("h2", {}, "Grain graph"),
				dom_node("span", { class: "segments", role: "group", "aria-label": "What is drawn" },
					this.modes),
				dom_node("span", { class: "fill" }),
				make_search(app, (found) => this.go_to_found(found)),
				this.filter,
				dom_node("label", { class: "graph-choice" },
					dom_node("span", { class: "muted" }, "Colour"), this.choice)),
			this.crumbs,
			dom_node("div", { class: "graph-view" }, this.canvas,
				dom_node("div", { class: "graph-buttons" },
					button("+", "Zoom in", () => this.view.zoom(1.4)),
					button("−", "Zoom out", () => this.view.zoom(1 / 1.4)),
					button("Fit", "Show all of it", () => this.view.fit()))),
			this.legend, this.tip, this.said,
			dom_node("p", { class: "unseen", id: "graph-help" },
				"Tab goes through what is in view, Enter opens or closes a group, Escape goes up, " +
				"arrows move, plus and minus zoom, 0 shows all."));
	}

	view_options() {
		const { problems, numa } = this.app.data.summary;

		return VIEWS.map((name) => {
			const problem = name === "node" ? numa : problems[name];
			const absent = (PROBLEMS.includes(name) || name === "node") && !(problem && problem.available);

			return dom_node("option", { value: name, disabled: absent },
				problem_title(name) +
					(absent ?
						" (absent: " + (problem && problem.why || "not measured") + ")" : ""));
		});
	}

	async start() {
		const { app } = this, hash = new URLSearchParams(location.hash.slice(1));
		const grains = app.data.summary.grains.total, asked = hash.get("mode");
		/* If the summary's drawing is too folded for the graph, groups are shown first. */
		const usual = grains > GROUPS_FROM || app.get("filter") ? "groups" : "grains";
		const first = asked === "groups" || asked === "grains" ? asked : usual;

		if (app.get("selected") !== NONE)
			this.where.open_path(this.groups.of_context(app.get("selected")), app.get("selected"));
		if (first === "groups")
			this.begin(first);
		try {
			this.scene = await app.data.load_scene();
		} catch (error) {
			console.error("scene", error);
		}
		this.modes[1].hidden = !this.scene;
		if (!app.get("mode"))
			this.begin(this.scene ? first : "groups");
	}

	begin(mode) {
		this.app.set("mode", mode);
		if (this.app.get("selected") !== NONE)
			this.selected();
	}

	set_mode() {
		/* The user asked for grains before the drawing was decoded, or there is no drawing. */
		if (this.mode() === "grains" && !this.scene)
			return this.app.set("mode", "groups");
		const { app } = this, mode = this.mode(), hash = new URLSearchParams(location.hash.slice(1));

		hash.set("mode", mode);
		history.replaceState(null, "", "#" + hash);
		for (const b of this.modes)
			b.setAttribute("aria-pressed", String(b.dataset.mode === mode));
		if (mode === "grains") {
			app.set("filter", false);
			this.grains ||= scene_picture(this.app, this.scene);
			this.picture = this.grains;
			this.words.draw_crumbs();
			this.view.show(this.picture);
			this.view.fit();
			if (this.view.scale < UNREADABLE)
				this.look_at_worst();
		} else {
			this.lay_out();
			this.view.fit();
		}
		this.hover(NONE);
		this.words.draw_legend();
	}

	/*
	 * If the drawing is too large for the view, shows the part around the worst grain, or around the
	 * longest.
	 */
	look_at_worst() {
		const { groups, app, picture } = this, b = picture.bounds, view = app.get("view");
		const cover = Math.max(this.view.width / (b.right - b.left), this.view.height / (b.bottom - b.top));
		let node = this.colours.is_problem() ? picture.node_of(groups.worst(groups.root(), view)) : NONE;

		if (node === NONE)
			node = Math.max(0, picture.nodes.look.indexOf(LOOK_GRAIN));
		this.view.scale = Math.min(0.6, Math.max(0.3, cover));
		this.view.centre_on(...this.view.centre_of(node));
		this.view.keep_inside();
	}

	layout() {
		return new Box_layout(this.app, this.groups, {
			focus: this.where.focus, open: this.where.open, most: this.where.most, keep: this.where.keep,
			filter: this.app.get("filter") && this.colours.is_problem() ? this.app.get("view") : null,
		});
	}

	/* Whether the whole drawing would be large enough to read. */
	is_readable() {
		const box = this.layout().size({ group: this.where.focus });

		return box.w * READABLE <= this.view.width - 24 && box.h * READABLE <= this.view.height - 24;
	}

	/* Makes the groups anew. The node that shows `anchor` stays where it is. */
	lay_out(anchor) {
		if (this.mode() !== "groups") {
			this.view.repaint();
			return;
		}
		const old = this.picture, at = anchor && old ? old.node_of(anchor) : NONE;
		const place = at === NONE ? null : this.view.centre_of(at);

		this.picture = this.layout().picture();
		this.hover(NONE);
		this.view.show(this.picture);
		this.words.draw_crumbs();
		const now = place ? this.picture.node_of(anchor) : NONE;

		if (now === NONE || (this.view.is_fit && this.view.fitting_scale() >= READABLE))
			return this.view.fit();
		const n = this.picture.nodes, o = old.nodes;

		/* The middle of the anchor's top edge stays. */
		this.view.x += n.x[now] + n.w[now] / 2 - place[0];
		this.view.y += n.y[now] - o.y[at];
		this.view.reveal(now);
	}

	/* ---- actions of the user --------------------------------------------------- */

	subject(node) {
		return node === NONE ? null : this.picture.of(node);
	}

	click(node, x, y) {
		const subject = this.subject(node), { app } = this;

		this.tip.hidden = true;
		if (node === NONE) {
			app.set("group", null);
			app.set("selected", NONE);
			return;
		}
		if (!subject)
			return this.select_context(this.picture.nodes.context[node]);
		if (subject.skipped)
			return app.set("filter", false);
		if (subject.more)
			return this.show_more(subject);
		if (subject.folded !== undefined)
			return this.open_folded(subject.folded);
		this.select_group(subject);
		if (this.picture.nodes.look[node] === LOOK_CLOSED || this.picture.in_heading(node, x, y))
			this.toggle(subject);
	}

	select_context(context) {
		this.by_hand = true;
		this.app.set("group", null);
		this.app.set("selected", context);
		this.by_hand = false;
	}

	select_group(group) {
		this.app.set("selected", NONE);
		this.app.set("group", group.key);
	}

	toggle(group) {
		if (group === this.where.focus)
			return;
		this.where.toggle(group);
		this.lay_out(group.key);
	}

	show_more({ more, shown }) {
		this.where.most.set(more, shown * 4);
		this.lay_out(more);
	}

	/* This box of the drawing has grains that are not drawn. Shows them as groups. */
	open_folded(node) {
		const context = this.scene.nodes.context[node];

		if (context !== NONE)
			this.show_where(this.groups.of_context(context));
	}

	/* Something was selected, anywhere on the page. */
	selected() {
		const context = this.app.get("selected");

		this.view.wake();
		if (this.picture)
			this.words.draw_crumbs();
		if (context === NONE || !this.picture)
			return;
		this.app.set("group", null);
		if (this.by_hand)
			return;
		const node = this.picture.node_of(context);

		if (node !== NONE)
			return this.view.reveal(node);
		if (this.mode() === "groups")
			this.lead_to(this.groups.of_context(context), context);
	}

	lead_to(group, context) {
		this.where.open_path(group, context);
		this.lay_out();
		let node = context === NONE ? NONE : this.picture.node_of(context);

		node = node === NONE ? this.picture.node_of(group.key) : node;
		if (node === NONE)
			return;
		this.view.go_to(node, true);
	}

	show_where(what) {
		const { app } = this, is_context = typeof what === "number";

		app.set("filter", false);
		this.come_into_view();
		if (this.mode() === "grains" && is_context && this.scene.node_of[what] !== NONE) {
			this.view.go_to(this.scene.node_of[what], true);
			return;
		}
		app.set("mode", "groups");
		this.lead_to(is_context ? this.groups.of_context(what) : what, is_context ? what : NONE);
		if (!is_context)
			this.select_group(what);
	}

	come_into_view() {
		const box = this.canvas.getBoundingClientRect();

		if (box.top < 0 || box.top + box.height / 2 > innerHeight)
			this.canvas.scrollIntoView({ block: "center" });
	}

	go_to_found(found) {
		let context = found.context;

		if (found.definition !== NONE) {
			this.app.set("definition", found.definition);
			context = longest_of(this.app.data, found.definition);
		}
		if (context === NONE)
			return;
		this.select_context(context);
		const node = this.picture.node_of(context);

		if (node !== NONE)
			this.view.go_to(node, true);
		else
			this.show_where(context);
	}

	key(name, node) {
		const subject = this.subject(node);

		if (name === "Enter" && node !== NONE) {
			const key = subject && subject.key;

			if (subject && subject.kind && subject !== this.where.focus) {
				this.select_group(subject);
				this.toggle(subject);
			} else {
				this.click(node, NaN, NaN);
			}
			this.view.focus = key ? this.picture.node_of(key) : this.view.focus;
			return true;
		}
		if (name === "Escape" && this.mode() === "groups") {
			const was = this.where.focus;

			if (this.where.up()) {
				this.lay_out();
				this.view.fit();
				this.view.focus_on(this.picture.node_of(was.key));
			}
			return true;
		}
		return false;
	}

	focus_on(group) {
		this.where.set_focus(group);
		this.lay_out();
		this.view.fit();
	}

	/* ---- texts ------------------------------------------------------------------- */

	/* Returns the node of a context, or of the innermost group around it that is drawn. */
	node_around(context) {
		let node = this.picture.node_of(context);

		if (node !== NONE || this.mode() !== "groups")
			return node;
		for (let group = this.groups.of_context(context); group && node === NONE;
			group = this.groups.parent_of(group))
			node = this.picture.node_of(group.key);
		return node;
	}

	marked() {
		const { app, picture } = this, group = app.get("group"), marks = [];

		if (!picture)
			return marks;
		if (app.get("hovered") !== NONE)
			marks.push({ node: this.node_around(app.get("hovered")), kind: "hovered" });
		if (this.under !== undefined && this.under < picture.nodes.count)
			marks.push({ node: this.under, kind: "hovered" });
		if (app.get("selected") !== NONE)
			marks.push({ node: this.node_around(app.get("selected")), kind: "selected" });
		if (group)
			marks.push({ node: picture.node_of(group), kind: "selected" });
		return marks;
	}

	/*
	 * If the node is a group around others, shows a text only if its heading cannot be read; then at (x,
	 * y).
	 */
	hover(node, x, y) {
		const { app } = this,
			context = node === NONE || this.subject(node) ? NONE : this.picture.nodes.context[node];
		const box = this.canvas.getBoundingClientRect(), n = this.picture && this.picture.nodes;

		this.canvas.style.cursor = node === NONE ? "" : "pointer";
		this.under = node === NONE || n.look[node] <= LOOK_SIBLINGS ? undefined : node;
		app.set("hovered", context);
		this.view.wake();
		const around = node !== NONE && this.under === undefined &&
			heading_shown(n.w[node], this.view.scale) === 0;

		this.tip.hidden = this.under === undefined && !(around && x !== undefined);
		if (this.tip.hidden)
			return;
		const [first, second] = this.words.describe(node);

		this.place_tip(first, second,
			box.left + ((around ? x : n.x[node] + n.w[node] / 2) - this.view.x) * this.view.scale,
			box.top + ((around ? y : n.y[node] + n.h[node]) - this.view.y) * this.view.scale +
				(around ? 10 : 0));
	}

	/* Places the tip below (x, y) of the window, or above. */
	place_tip(first, second, x, y) {
		this.tip.replaceChildren(dom_node("bdi", { class: "mono" }, shorten(first, 80)), dom_node("br"),
			dom_node("bdi", {}, second || ""));
		this.tip.style.left = Math.max(8,
			Math.min(innerWidth - this.tip.offsetWidth - 8, x - this.tip.offsetWidth / 2)) + "px";
		this.tip.style.top = (y + 8 + this.tip.offsetHeight > innerHeight ? y - 60 : y + 8) + "px";
	}

	say(node) {
		if (node !== NONE)
			this.said.textContent = this.words.describe(node).filter(Boolean).join(", ");
	}
}

function make_graph(app, el) {
	app.graph = new Graph_panel(app, el);
}