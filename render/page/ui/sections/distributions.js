/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long the grains of each definition take: a density with marks for median and 95 %. The user can draw
 * the brush over a range; grains outside of it are dimmed in all views. For loops it also shows the number of
 * iterations of chunks.
 */
const DISTRIBUTIONS_AT_FIRST = 12, DENSITY_POINTS = 320, PLOT_HEIGHT = 100;
/* If there are few values, each has a mark. If there are even fewer, there is no density. */
const RUG_MOST = 40, DENSITY_LEAST = 5;
/* The distance that an arrow key moves the brush. */
const BRUSH_STEP = 1 / 40;

function path_of(density, closed) {
	const points = Array.from(density,
		(v, i) => (i + 0.5) / density.length * 100 + "," + (PLOT_HEIGHT - 3 - v * (PLOT_HEIGHT - 16)));
	const line = "M" + points.join("L");

	return closed ? line + "L" + (100 - 50 / density.length) + "," + (PLOT_HEIGHT - 3) + "L" +
		50 / density.length + "," + (PLOT_HEIGHT - 3) + "Z" : line;
}

function plot_node(...children) {
	return svg_node("svg",
		{ viewBox: "0 0 100 " + PLOT_HEIGHT, preserveAspectRatio: "none", "aria-hidden": "true" },
		...children,
		svg_node("line", { class: "dist-base", x1: 0, x2: 100, y1: PLOT_HEIGHT - 3, y2: PLOT_HEIGHT - 3 }));
}

/* A vertical line at a part of the width, with a label on the side where there is room. */
function mark_node(part, kind, label) {
	const node = dom_node("div", { class: "dist-mark " + kind + (part > 0.6 ? " left" : "") },
		label ? dom_node("span", {}, label) : null);

	node.style.left = 100 * Math.max(0, Math.min(1, part)) + "%";
	return node;
}

/* Labels below a plot. Labels at the ends stay inside the plot. */
function ticks_node(entries) {
	return dom_node("div", { class: "dist-ticks", "aria-hidden": "true" }, entries.map(({ part, label }) => {
		const node = dom_node("span", {}, label);

		node.style.left = 100 * part + "%";
		if (part < 0.12 || part > 0.88)
			node.style.transform = part < 0.12 ? "translateX(-" + 100 * part / 0.24 + "%)"
				: "translateX(-" + (50 + 50 * (part - 0.88) / 0.12) + "%)";
		return node;
	}));
}

class Distribution {
	constructor(app, profile, sorted) {
		this.app = app;
		this.profile = profile;
		this.definition = profile.definition;
		this.sorted = sorted;
		this.scale = new ValueScale(sorted[0], sorted[sorted.length - 1]);
		this.sums = null;
		this.build();
		this.listen();
		this.show_brush();
	}

	build() {
		const { sorted, scale, profile } = this, few = sorted.length < DENSITY_LEAST;
		const density = few ? null : density_of(sorted, scale, DENSITY_POINTS);
		const median = quantile(sorted, 0.5), p95 = quantile(sorted, 0.95),
			kind = profile.kind === "task" ? "task" : "chunk";
		const rug = sorted.length > RUG_MOST ? [] : Array.from(sorted, (v) => svg_node("line", {
			class: "dist-rug", x1: 100 * scale.part(v), x2: 100 * scale.part(v), y1: PLOT_HEIGHT - 3,
			y2: few ? PLOT_HEIGHT * 0.4 : PLOT_HEIGHT - 16,
		}));

		this.brush = dom_node("div", { class: "dist-brush", hidden: true });
		this.chosen = mark_node(0, "chosen");
		this.chosen.hidden = true;
		const apart = Math.abs(scale.part(p95) - scale.part(median)) > 0.16;

		this.plot = dom_node("div", {
			class: "dist-plot", tabindex: "0", role: "group",
			"aria-label": "Execution times of " + (profile.source || "unknown") + ": " +
				format_plural(sorted.length, kind) + ", from " + format_time(sorted[0]) + " to " +
				format_time(sorted[sorted.length - 1]) + ", median " + format_time(median) +
				", 95 % take at most " + format_time(p95) +
				". Shift and arrows choose a range, arrows move it, Escape clears it.",
		}, this.brush, plot_node(...few ? [] : [
			svg_node("path", { class: "dist-area", d: path_of(density, true) }),
			svg_node("path", { class: "dist-line", d: path_of(density, false) })], ...rug),
		!few ? mark_node(scale.part(median), "median", "median") : null,
		sorted.length > 19 ? mark_node(scale.part(p95), "p95", apart ? "95 %" : "") : null, this.chosen);
		this.cell = dom_node("div", { class: "dist-cell" },
			dom_node("div", { class: "dist-head" }, dom_node("i", { class: "swatch tl-box" }),
				place_node(profile.source, profile.func),
				dom_node("span", { class: "muted" }, format_plural(sorted.length, kind))),
			dom_node("div", { class: "dist-numbers" }, few ?
				[...new Set([sorted[0], sorted[sorted.length - 1]].map(format_time))].join(" to ")
				: "median " + format_time(median) + " · 95 % within " + format_time(p95) +
					(scale.logarithmic ? " · logarithmic" : "")),
			this.plot, ticks_node(scale.ticks(4, this.app.data.summary.unit)),
			sizes_node(this.app, profile));
		this.recolour();
	}

	recolour() {
		const colours = new Colours(this.app);

		this.cell.style.setProperty("--swatch", colours.css(colours.of_definition(this.definition)));
	}

	listen() {
		const { plot, app } = this;

		plot.addEventListener("pointerdown", (event) => {
			if (event.button)
				return;
			this.from = this.part_at(event);
			this.moved = false;
			plot.setPointerCapture(event.pointerId);
		});
		plot.addEventListener("pointermove", (event) => {
			if (this.from === undefined || !plot.hasPointerCapture(event.pointerId))
				return;
			const to = this.part_at(event);

			if (!this.moved && Math.abs(to - this.from) * plot.clientWidth < 4)
				return;
			this.moved = true;
			this.place_brush(Math.min(this.from, to), Math.max(this.from, to));
			this.set_brush(this.from, to);
		});
		const end = () => {
			if (this.from !== undefined && !this.moved)
				app.set("brush", null);
			this.from = undefined;
		};

		plot.addEventListener("pointerup", end);
		plot.addEventListener("pointercancel", () => {
			this.from = undefined;
		});
		plot.addEventListener("keydown", (event) => this.key(event));
		app.on("brush", () => this.show_brush());
		app.on("selected", () => this.show_chosen());
		app.on("hovered", () => this.show_chosen());
		app.on("colours", () => this.recolour());
		app.on("definition", () => this.show_definition());
		this.show_definition();
		this.show_chosen();
	}

	part_at(event) {
		const box = this.plot.getBoundingClientRect();

		return Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
	}

	/* The colours of a million grains follow as fast as possible, but do not delay the pointer. */
	set_brush(a, b) {
		this.wanted = [Math.min(a, b), Math.max(a, b)];
		if (this.asked)
			return;
		this.asked = true;
		setTimeout(() => {
			const [from, to] = this.wanted,
				value = (part) => Number(Math.max(0, this.scale.value(part)).toPrecision(6));
			const before = performance.now();

			this.asked = false;
			this.app.set("brush", { definition: this.definition, from: value(from), to: value(to) });
			this.rest = Math.min(300, 1.5 * (performance.now() - before));
		}, this.rest || 0);
	}

	key(event) {
		if (event.key === "Escape") {
			this.app.set("brush", null);
			return;
		}
		if (event.key !== "ArrowLeft" && event.key !== "ArrowRight")
			return;
		event.preventDefault();
		const by = event.key === "ArrowLeft" ? -BRUSH_STEP : BRUSH_STEP, brush = this.own_brush();
		const limit = (part) => Math.max(0, Math.min(1, part));
		/* The end that the last key moved moves on. If nothing is chosen, starts at the median. */
		const middle = this.scale.part(quantile(this.sorted, 0.5));
		let [from, to] = brush ? this.caret || [this.scale.part(brush.from), this.scale.part(brush.to)] :
			[middle, middle];

		to = limit(to + by);
		if (!event.shiftKey)
			from = limit(from + by);
		this.caret = [from, to];
		this.set_brush(from, to);
	}

	own_brush() {
		const brush = this.app.get("brush");

		return brush && brush.definition === this.definition ? brush : null;
	}

	show_brush() {
		const brush = this.own_brush();

		this.brush.hidden = !brush;
		if (!brush)
			this.caret = null;
		else if (!this.moved || this.from === undefined)
			this.place_brush(this.scale.part(brush.from), this.scale.part(brush.to));
	}

	place_brush(from, to) {
		const a = Math.max(0, Math.min(1, from)), b = Math.max(0, Math.min(1, to));

		this.brush.hidden = false;
		this.brush.style.left = 100 * a + "%";
		this.brush.style.width = 100 * (b - a) + "%";
	}

	show_definition() {
		this.cell.classList.toggle("chosen", this.app.get("definition") === this.definition);
	}

	/* Shows the grain that is hovered or selected in its distribution. */
	show_chosen() {
		const { data } = this.app, hovered = this.app.get("hovered");
		const c = hovered !== NONE ? hovered : this.app.get("selected");
		const mine = c !== NONE && data.definition[c] === this.definition && data.is_grain(c);

		this.chosen.hidden = !mine;
		if (mine)
			this.chosen.style.left = 100 * Math.max(0, Math.min(1, this.scale.part(data.exec[c]))) + "%";
	}

	/* Returns how many grains are in a range, and their time. */
	inside(from, to) {
		if (!this.sums) {
			this.sums = new Float64Array(this.sorted.length + 1);
			for (let i = 0; i < this.sorted.length; i++)
				this.sums[i + 1] = this.sums[i] + this.sorted[i];
		}
		const first = count_below(this.sorted, from, false),
			past = Math.max(first, count_below(this.sorted, to, true));

		return { count: past - first, time: this.sums[past] - this.sums[first],
			all: this.sums[this.sorted.length] };
	}
}

class Distributions {
	constructor(app, element) {
		this.app = app;
		const times = definition_times(app.data);

		/* Sorted by time, as in the summary. */
		this.profiles = app.data.summary.definitions.filter((d) =>
			d.definition !== null && times[d.definition].length);
		this.times = times;
		this.made = new Map();
		this.grid = dom_node("div", { class: "dist-grid" });
		this.words = dom_node("span", { "aria-live": "polite" });
		this.clear = dom_node("button",
			{ class: "button", type: "button", onclick: () => app.set("brush", null) }, "Clear");
		this.said = dom_node("div", { class: "dist-said" }, this.words, this.clear);
		this.more = dom_node("button",
			{ class: "button", type: "button", onclick: () => this.show(this.profiles.length) });
		this.more_line = dom_node("div", { class: "dist-more" }, this.more);
		element.append(panel_head("How long the grains of a definition take",
			"what is chosen stays bright in all pictures"),
			this.said, this.grid, this.more_line);
		this.show(DISTRIBUTIONS_AT_FIRST);
		app.on("brush", () => this.say());
		this.say();
	}

	show(most) {
		const wanted = this.profiles.slice(0, most), brush = this.app.get("brush");

		for (const profile of this.profiles)
			if (brush && profile.definition === brush.definition && !wanted.includes(profile))
				wanted.push(profile);
		for (const profile of wanted) {
			if (this.made.has(profile.definition))
				continue;
			const made = new Distribution(this.app, profile, this.times[profile.definition]);

			this.made.set(profile.definition, made);
			this.grid.append(made.cell);
		}
		const left = this.profiles.length - this.made.size;

		this.more_line.hidden = left <= 0;
		this.more.textContent = "Show " + format_plural(left, "more definition");
	}

	say() {
		const brush = this.app.get("brush"), made = brush && this.made.get(brush.definition);

		this.clear.style.visibility = brush ? "" : "hidden";
		if (!brush) {
			this.words.textContent = "Drag over a range of times to choose the grains in it; " +
				"with the keyboard, shift and arrows.";
			return;
		}
		if (!made) {
			this.words.textContent = "The chosen definition has no complete grains.";
			return;
		}
		const { count, time, all } = made.inside(brush.from, brush.to),
			{ work_ns: work } = this.app.data.summary;
		const n = made.sorted.length;

		this.words.textContent = format_plural(count, "grain") + " of " +
			(made.profile.source || "unknown") + " (" + format_percent(100 * count / n) + ") take " +
			format_time(brush.from) + " to " + format_time(brush.to) + ": together " +
			format_time(time) + ", " + format_percent(all ? 100 * time / all : 0) + " of its time" +
			(work ? " and " + format_percent(100 * time / work) + " of all work." : ".");
	}
}

function make_distributions(app, el) {
	const times = definition_times(app.data);

	if (times.some((list) => list.length))
		app.distributions = new Distributions(app, el);
}
