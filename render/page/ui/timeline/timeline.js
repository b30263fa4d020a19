/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The time-line: rows of threads or CPUs, with fragments as boxes. The grain under the pointer, or the
 * selected grain, is shown with exactly its predecessors and successors. window.grain_timeline_neighbours
 * lists these.
 */
const TIMELINE_MODE_TITLES = { definition: "Definition", speed: "Speed", view: "View" };
const TABLE_ROWS_MOST = 256;

class Timeline {
	constructor(app, element) {
		this.app = app;
		this.report = app.data;
		this.axis = time_axis_of(app);
		this.classes = new TimelineClasses(app);
		this.gaps = new TimelineGaps(this.report);
		this.by = "thread";
		this.rows_by = {};
		this.neighbours = null;
		this.place = NONE; /* place of the fragment in focus */
		this.build(element);
		this.picture = new TimelineCanvas(this.classes, this.axis, this.canvas);
		this.picture.unit = this.report.summary.unit;
		this.repaint = once_a_frame(() => this.paint());
		this.set_rows("thread");
		this.listen();
	}

	build(element) {
		const canvas = this.canvas = dom_node("canvas", {
			class: "tl-canvas", tabindex: "0", role: "application", "aria-label": "Time-line: " +
				"left and right go through what a row ran, up and down change the row, " +
				"plus and minus zoom, 0 shows all",
		});

		this.modes = this.segments(TIMELINE_MODES.map((mode) => [mode, TIMELINE_MODE_TITLES[mode]]), "Colour",
			(mode) => this.set_mode(mode));
		this.bys = this.segments([["thread", "Threads"], ["cpu", "CPUs"]], "Rows", (by) => this.set_rows(by));
		const button = (text, label, fn) => dom_node("button", {
			class: "button", type: "button", "aria-label": label, title: label, onclick: fn,
		}, text);

		this.axis_canvas = dom_node("canvas", { class: "tl-axis", "aria-hidden": "true" });
		this.scroller = dom_node("div", { class: "tl-rows" }, this.spacer = dom_node("div", {}, canvas));
		this.tip = dom_node("div", { class: "tooltip tl-tip", role: "tooltip", hidden: true });
		this.legend = dom_node("div", { class: "legend" });
		this.said = dom_node("p", { class: "unseen", "aria-live": "polite" });
		this.table = dom_node("details", { class: "tl-table" }, dom_node("summary", {}, "The rows as a table"));
		element.append(panel_head("Time-line", "hover a grain: what it waited for, what waits for it",
			this.bys.node, this.modes.node, dom_node("span", { class: "tl-zoom" },
				button("−", "zoom out", () => this.zoom(2)),
				button("+", "zoom in", () => this.zoom(0.5)),
				button("Fit", "show all of the time", () => this.axis.fit()))),
		this.scroller, this.axis_canvas, this.legend, this.table, this.said, this.tip);
		this.element = element;
	}

	/* Buttons, one of which is pressed. */
	segments(entries, label, choose) {
		const buttons = new Map(entries.map(([key, text]) => [key, dom_node("button", {
			type: "button", "aria-pressed": "false", onclick: () => choose(key),
		}, text)]));

		return {
			node: dom_node("span", { class: "segments", role: "group", "aria-label": label },
				[...buttons.values()]),
			press: (key) =>
				buttons.forEach((node, k) => node.setAttribute("aria-pressed", String(k === key))),
		};
	}

	listen() {
		const { app, canvas } = this, recolour = () => {
			this.set_classes();
			this.repaint();
		};

		new TimelineInput(canvas, this.axis, (x) => this.picture.time(x), {
			hover: (x, y, event) => this.hover(x, y, event),
			leave: () => this.leave(),
			click: (x, y) => this.click(x, y),
		});
		canvas.addEventListener("keydown", (event) => this.key(event));
		this.scroller.addEventListener("scroll", () => {
			this.picture.top = this.scroller.scrollTop;
			this.stale();
		});
		this.axis.on(() => this.stale());
		new ResizeObserver(() => this.resize()).observe(this.element);
		app.on("colours", recolour);
		app.on("view", () => this.set_mode("view"));
		app.on("hovered", () => this.focus());
		app.on("selected", () => {
			this.focus();
			this.reveal();
		});
		app.on("time_cursor", () => this.repaint());
		app.on("paint_now", () => this.paint());
		this.table.addEventListener("toggle", () => this.fill_table());
		this.focus();
	}

	stale() {
		this.picture.stale = true;
		this.repaint();
	}

	zoom(factor) {
		this.axis.zoom((this.axis.from + this.axis.to) / 2, factor);
	}

	set_rows(by) {
		this.by = by;
		this.rows = this.rows_by[by] = this.rows_by[by] || new TimelineRows(this.report, by);
		this.bys.press(by);
		this.picture.set_rows(this.rows, by === "thread" ? this.gaps : null);
		this.spacer.style.height = this.picture.total + "px";
		this.set_classes();
		this.resize();
		this.focus();
		this.fill_table();
	}

	set_mode(mode) {
		this.classes.mode = mode;
		this.set_classes();
		this.repaint();
	}

	set_classes() {
		this.modes.press(this.classes.mode);
		this.rows.set_classes(this.classes.compute(), TIMELINE_CLASSES);
		this.picture.stale = true;
		this.fill_legend();
	}

	resize() {
		const width = this.element.clientWidth;

		if (!width)
			return;
		this.picture.resize(width);
		this.scroller.style.height = this.picture.height + "px";
		this.repaint();
	}

	paint() {
		if (!this.picture.width)
			return;
		const cursor = this.app.get("time_cursor");

		this.picture.paint(this.neighbours, cursor === undefined ? null : cursor);
		paint_time_axis(this.axis_canvas, this.picture.width, this.axis, this.classes.colours,
			this.picture.unit);
	}

	/* Finds the hovered grain, else the selected one, and its neighbours. */
	focus() {
		const hovered = this.app.get("hovered"),
			context = hovered !== NONE ? hovered : this.app.get("selected");

		if (context === NONE || context === undefined)
			this.neighbours = null;
		else if (!this.neighbours || this.neighbours.context !== context || this.neighbours.rows !== this.rows)
			this.neighbours = new TimelineNeighbours(this.rows, this.report, context);
		window.grain_timeline_neighbours = this.neighbours ? this.neighbours.published()
			: { context: NONE, predecessors: [], successors: [] };
		this.repaint();
	}

	/* Brings into view what was selected elsewhere. */
	reveal() {
		const { neighbours, picture } = this;

		if (!neighbours || !neighbours.places.length || neighbours.context !== this.app.get("selected"))
			return;
		if (this.place === NONE || this.rows.context[this.place] !== neighbours.context)
			this.place = neighbours.places[0];
		this.show_place();
		picture.stale = true;
	}

	show_place() {
		const { rows, place, picture } = this, y = rows.row_of_place[place] * picture.metrics.height;

		this.axis.reveal(rows.start[place], rows.end[place]);
		if (y < this.scroller.scrollTop ||
			y + picture.metrics.height > this.scroller.scrollTop + picture.height)
			this.scroller.scrollTop = y - picture.height / 2;
	}

	/* Returns the place at a point. Small boxes are found within two pixels. */
	place_at(x, y) {
		const row = this.picture.row_at(y), { room } = this.picture;

		if (row === NONE || x < room.left || x > room.right)
			return NONE;
		return this.rows.at(row, this.picture.time(x), 2 * (this.axis.to - this.axis.from) / room.width);
	}

	hover(x, y, event) {
		const place = this.place_at(x, y), { room } = this.picture;

		this.app.set("time_cursor", x >= room.left && x <= room.right ? this.picture.time(x) : null);
		this.app.set("hovered", place === NONE ? NONE : this.rows.context[place]);
		if (place !== NONE)
			this.show_tip(event,
				timeline_tooltip(this.app, this.classes, this.rows, place, this.neighbours));
		else
			this.show_tip(event, this.gap_words(x, y));
		this.canvas.classList.toggle("over", place !== NONE);
	}

	/* Describes the gap at a point. null: there is no row, or its thread runs something there. */
	gap_words(x, y) {
		const row = this.picture.row_at(y), { rows } = this, { room } = this.picture;

		if (row === NONE || this.by !== "thread" || x < room.left || x > room.right)
			return null;
		const time = this.picture.time(x), next = rows.after(row, time), last = next - 1;

		if (next >= rows.first[row + 1] || last < rows.first[row])
			return [rows.labels[row].name + ": nothing recorded here"];
		return [rows.labels[row].name + ": " +
			this.gaps.words(rows.context[last], rows.context[next], rows.end[last], rows.start[next]) +
			" for " + format_time(rows.start[next] - rows.end[last])];
	}

	show_tip(event, children) {
		this.tip.hidden = !children;
		if (!children)
			return;
		this.tip.replaceChildren(...children);
		const box = this.tip.getBoundingClientRect(), x = event.clientX + 14, y = event.clientY + 18;

		this.tip.style.left = Math.max(4, Math.min(x, innerWidth - box.width - 8)) + "px";
		this.tip.style.top = (y + box.height > innerHeight - 4 ?
			Math.max(4, event.clientY - box.height - 12) : y) + "px";
	}

	leave() {
		this.tip.hidden = true;
		this.app.set("time_cursor", null);
		this.app.set("hovered", NONE);
	}

	click(x, y) {
		const place = this.place_at(x, y);

		this.place = place;
		this.app.set("selected", place === NONE ? NONE : this.rows.context[place]);
	}

	key(event) {
		if (event.ctrlKey || event.metaKey || event.altKey)
			return;
		const step = (this.axis.to - this.axis.from) / 4, actions = {
			ArrowLeft: () => event.shiftKey ? this.axis.pan(-step) : this.step(-1),
			ArrowRight: () => event.shiftKey ? this.axis.pan(step) : this.step(1),
			ArrowUp: () => this.change_row(-1), ArrowDown: () => this.change_row(1),
			"+": () => this.zoom_at_place(0.5), "=": () => this.zoom_at_place(0.5),
			"-": () => this.zoom_at_place(2),
			0: () => this.axis.fit(), Home: () => this.axis.fit(), f: () => this.axis.fit(),
			PageUp: () => this.axis.pan(-4 * step), PageDown: () => this.axis.pan(4 * step),
			Escape: () => this.app.set("selected", NONE),
		};

		if (!actions[event.key])
			return;
		event.preventDefault();
		actions[event.key]();
	}

	zoom_at_place(factor) {
		const { rows, place } = this, middle = (this.axis.from + this.axis.to) / 2;
		const at = place === NONE ? middle : (rows.start[place] + rows.end[place]) / 2;

		this.axis.zoom(at >= this.axis.from && at <= this.axis.to ? at : middle, factor);
	}

	step(by) {
		const { rows, place } = this;

		if (place === NONE)
			this.go_to(rows.after(0, this.axis.from));
		else if (rows.row_of_place[place + by] === rows.row_of_place[place])
			this.go_to(place + by);
	}

	/* Goes to what the next row ran at that time, or ran next. */
	change_row(by) {
		const { rows, place } = this;

		if (place === NONE) {
			this.step(by);
			return;
		}
		for (let r = rows.row_of_place[place] + by; r >= 0 && r < rows.rows; r += by)
			if (rows.first[r + 1] > rows.first[r]) {
				this.go_to(Math.min(rows.after(r, rows.start[place]), rows.first[r + 1] - 1));
				return;
			}
	}

	go_to(place) {
		if (place < 0 || place >= this.rows.count)
			return;
		this.place = place;
		this.app.set("hovered", NONE);
		this.app.set("selected", this.rows.context[place]);
		this.show_place();
		this.said.textContent = timeline_sentence(this.app, this.rows, place, this.neighbours);
	}

	fill_legend() {
		const mark = (css, label, kind) => {
			const swatch = dom_node("i", { class: "swatch tl-" + kind });

			swatch.style.setProperty("--swatch", css);
			return dom_node("span", {}, swatch, dom_node("bdi", {}, label));
		};
		const variable = (name) => "var(--" + name + ")";

		this.legend.replaceChildren(
			...this.classes.legend().map(({ css, label, mark: kind }) => mark(css, label, kind)),
			...this.by === "thread" ? [mark(variable("line"), "waiting", "waiting"),
				mark(variable("fork"), "creating, getting a chunk", "line")] : [],
			mark(variable("critical"), "critical path", "line"),
			...[["fork", "created by"], ["depend", "depends on"], ["join", "joined by"]]
				.map(([name, label], i) =>
					mark(variable(name), label, ["line", "dashed", "dotted"][i])));
	}

	fill_table() {
		if (!this.table.open)
			return;
		while (this.table.children.length > 1)
			this.table.lastChild.remove();
		this.table.append(timeline_table(this.app, this.rows, TABLE_ROWS_MOST));
	}
}

function make_timeline(app, el) {
	if (!app.data.fragments.count) {
		el.append(panel_head("Time-line"), dom_node("p", { class: "note" }, "Nothing that ran was recorded."));
		window.grain_timeline_neighbours = { context: NONE, predecessors: [], successors: [] };
		return;
	}
	app.timeline = new Timeline(app, el);
}
