/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What colours mean in the view that is shown: `new Colours(app)`, one for the whole page. Every context has
 * a class of colour. `.css(class)` is the colour of a class in the present theme. Listeners of the app's key
 * "colours" are called when classes or the theme have changed.
 *
 * Problem views give heat to the grains with the problem, by how far they are beyond the threshold, and dim
 * everything else. The brush dims what is outside of it. The steps are those of view.c.
 */
const COLOUR_DIM = 0, COLOUR_HEAT = 1, COLOUR_DEFINITION = 5, COLOUR_OTHER = 15, COLOUR_TIME = 16, COLOUR_IMPLICIT = 21,
	COLOUR_CHUNK = 22, COLOUR_COUNT = 23;
const HEAT_STEPS = 4, TIME_STEPS = 5, COLOUR_RANKS = 10;
/* The variables of base.css, by class. */
const COLOUR_VARIABLES = [
	"dim", "h0", "h1", "h2", "h3", "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9", "other",
	"q0", "q1", "q2", "q3", "q4", "implicit", "chunk",
];

/* #RRGGBB as 0..1, linear light. */
function luminance(css) {
	const part = (at) => {
		const v = parseInt(css.slice(at, at + 2), 16) / 255;

		return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
	};

	return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
}

class Colours {
	constructor(app) {
		if (app.colours)
			return app.colours;
		app.colours = this;
		this.app = app;
		this.data = app.data;
		this.cache = new Map();
		this.version = 0;
		this.classes = null;
		for (const key of ["view", "brush", "ready"])
			app.on(key, () => this.recompute());
		app.on("theme", () => {
			this.cache.clear();
			this.changed();
		});
	}

	changed() {
		this.app.set("colours", ++this.version);
	}

	/* Is this a view of a problem? */
	is_problem() {
		return PROBLEMS.includes(this.app.get("view"));
	}

	/* The bit of the view's problem; 0 in views of a property. */
	problem_bit() {
		const p = PROBLEMS.indexOf(this.app.get("view"));

		return p < 0 ? 0 : 1 << p;
	}

	of(context) {
		return context === NONE || !this.classes ? COLOUR_DIM : this.classes[context];
	}

	/* Whether the context has the shown problem. The brush does not matter. */
	has_problem(context) {
		return context !== NONE && (this.data.problems[context] & this.problem_bit()) !== 0;
	}

	css(colour) {
		return this.variable(COLOUR_VARIABLES[colour]);
	}

	/* The value of a variable of base.css, in the present theme. */
	variable(name) {
		let value = this.cache.get(name);

		if (value === undefined) {
			value = getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
			this.cache.set(name, value);
		}
		return value;
	}

	/* Dark or light text, whichever reads better on a class of colour. */
	ink_on(colour) {
		const key = "ink " + colour;

		if (!this.cache.has(key))
			this.cache.set(key, luminance(this.css(colour)) > 0.18 ? "#0a0703" : "#ffffff");
		return this.cache.get(key);
	}

	/* The class of a definition. From the eleventh on, all definitions share one class. */
	of_definition(definition) {
		if (!this.ranks)
			this.rank_definitions();
		const rank = this.ranks.get(definition);

		return rank === undefined || rank >= COLOUR_RANKS ? COLOUR_OTHER : COLOUR_DEFINITION + rank;
	}

	of_thread(thread) {
		return thread >= 0 && thread < COLOUR_RANKS ? COLOUR_DEFINITION + thread : COLOUR_OTHER;
	}

	/* The ranks of NUMA nodes, by CPU. */
	node_ranks() {
		if (!this.nodes) {
			this.nodes = new Map();
			(this.data.summary.numa || { nodes: [] }).nodes.forEach((node, i) =>
				node.cpu_list.forEach((cpu) => this.nodes.set(cpu, i)));
		}
		return this.nodes;
	}

	of_node(cpu) {
		const rank = this.node_ranks().get(cpu);

		return rank === undefined || rank >= COLOUR_RANKS ? COLOUR_OTHER : COLOUR_DEFINITION + rank;
	}

	/* The class of an execution time, between the shortest and the longest of all grains. */
	of_time(exec) {
		const { shortest, longest } = this.range_of_times();
		const share = Math.log(Math.max(1, exec) / shortest) / Math.log(longest / shortest);

		return COLOUR_TIME + Math.max(0, Math.min(TIME_STEPS - 1, Math.floor(share * TIME_STEPS)));
	}

	/* The class of a value that is beyond the threshold. */
	of_severity(problem, value) {
		if (this.scale_of !== problem) {
			this.scale_of = problem;
			this.threshold = this.data.summary.problems[problem].threshold;
			this.low_is_bad = LOW_IS_BAD.has(problem);
		}
		const ratio = this.low_is_bad ? value / this.threshold : this.threshold / value;

		/* If the ratio is unknown, the value gets the last step, which is the mildest. */
		return ratio <= 0.25 ? COLOUR_HEAT : ratio <= 0.5 ? COLOUR_HEAT + 1 : ratio <= 0.75 ? COLOUR_HEAT + 2 :
			COLOUR_HEAT + 3;
	}

	rank_definitions() {
		this.ranks = new Map();
		this.data.summary.definitions.forEach((d, i) => {
			if (d.definition !== null && !this.ranks.has(d.definition))
				this.ranks.set(d.definition, i);
		});
	}

	range_of_times() {
		if (!this.times) {
			let shortest = Infinity, longest = 1;

			for (const d of this.data.summary.definitions) {
				shortest = Math.min(shortest, d.exec_ns.min);
				longest = Math.max(longest, d.exec_ns.max);
			}
			shortest = Math.max(1, Math.min(shortest, longest));
			this.times = { shortest, longest: Math.max(longest, 2 * shortest) };
		}
		return this.times;
	}

	recompute() {
		if (!this.app.get("ready"))
			return;
		const view = this.app.get("view");

		if (!this.classes)
			this.classes = new Uint8Array(this.data.count);
		if (this.is_problem())
			this.classify_problem(view);
		else
			this.classify_property(view);
		this.dim_outside(this.app.get("brush"));
		this.changed();
	}

	classify_problem(view) {
		const { kind, problems, count } = this.data, classes = this.classes, bit = this.problem_bit();
		const values = this.data.values[view];

		for (let c = 0; c < count; c++) {
			if (problems[c] & bit)
				classes[c] = this.of_severity(view, values[c]);
			else
				classes[c] = kind[c] === INITIAL || kind[c] === IMPLICIT ? COLOUR_IMPLICIT : COLOUR_DIM;
		}
	}

	classify_property(view) {
		const { kind, definition, exec, thread, cpu, count } = this.data, classes = this.classes;
		const { shortest, longest } = this.range_of_times();
		const limits = [1, 2, 3, 4].map((i) => shortest * (longest / shortest) ** (i / TIME_STEPS));
		let last = NONE - 1, colour = 0;

		for (let c = 0; c < count; c++) {
			if (view === "thread") {
				classes[c] = this.of_thread(thread[c]);
			} else if (view === "node") {
				classes[c] = this.of_node(cpu[c]);
			} else if (kind[c] === INITIAL || kind[c] === IMPLICIT) {
				classes[c] = COLOUR_IMPLICIT;
			} else if (view === "time") {
				const t = exec[c];

				classes[c] = COLOUR_TIME + (t >= limits[0]) + (t >= limits[1]) + (t >= limits[2]) +
					(t >= limits[3]);
			} else if (definition[c] === NONE && kind[c] === CHUNK) {
				classes[c] = COLOUR_CHUNK;
			} else {
				if (definition[c] !== last)
					colour = this.of_definition(last = definition[c]);
				classes[c] = colour;
			}
		}
	}

	is_inside(brush, context) {
		return this.data.definition[context] === brush.definition && this.data.exec[context] >= brush.from &&
			this.data.exec[context] <= brush.to;
	}

	dim_outside(brush) {
		if (!brush)
			return;
		const { definition, exec, count } = this.data;

		for (let c = 0; c < count; c++)
			if (definition[c] !== brush.definition || !(exec[c] >= brush.from && exec[c] <= brush.to))
				this.classes[c] = COLOUR_DIM;
	}

	/*
	 * Returns [{ css, label, mark }], sorted by worst or most first. mark: "box", or "flag" if a dark
	 * border has the same meaning.
	 */
	legend() {
		const view = this.app.get("view"), entries = [];
		const add = (colour, label, mark) =>
			entries.push({ css: this.css(colour), label, mark: mark || "box" });

		if (this.is_problem()) {
			const { available, threshold, why } = this.data.summary.problems[view] || {},
				low = LOW_IS_BAD.has(view);

			if (!available) {
				add(COLOUR_DIM, "absent: " + (why || "not measured"));
				return entries;
			}
			for (let i = 0; i < HEAT_STEPS; i++) {
				const share = (i + 1) / HEAT_STEPS;

				add(COLOUR_HEAT + i, (low ? "below " : "above ") + format_plain(
					Number((low ? threshold * share : threshold / share).toPrecision(3))), "flag");
			}
			add(COLOUR_DIM, "no problem");
			return entries;
		}
		if (view === "thread") {
			const { tids } = this.data.report;

			tids.slice(0, COLOUR_RANKS).forEach((tid, i) => add(COLOUR_DEFINITION + i, "thread " + i));
			if (tids.length > COLOUR_RANKS)
				add(COLOUR_OTHER, format_count(tids.length - COLOUR_RANKS) + " others");
		} else if (view === "node") {
			const { nodes } = this.data.summary.numa;

			nodes.slice(0, COLOUR_RANKS).forEach((node, i) =>
				add(COLOUR_DEFINITION + i, "node " + node.node));
			if (nodes.length > COLOUR_RANKS)
				add(COLOUR_OTHER, format_count(nodes.length - COLOUR_RANKS) + " others");
			return entries;
		} else if (view === "time") {
			const { shortest, longest } = this.range_of_times();

			for (let i = 0; i < TIME_STEPS; i++)
				add(COLOUR_TIME + i, "up to " +
					format_time(shortest * (longest / shortest) ** ((i + 1) / TIME_STEPS)));
		} else {
			const all = this.data.summary.definitions;

			all.slice(0, COLOUR_RANKS).forEach((d, i) =>
				add(COLOUR_DEFINITION + i, shorten(d.source || "unknown", 32)));
			if (all.length > COLOUR_RANKS)
				add(COLOUR_OTHER, format_count(all.length - COLOUR_RANKS) + " others");
		}
		add(COLOUR_IMPLICIT, "outside of grains");
		return entries;
	}
}
