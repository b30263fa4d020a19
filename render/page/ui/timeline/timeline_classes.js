/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the colours of the boxes stand for: a definition, the speed of a grain compared with the median of its
 * definition, or the page's view. The classes are those of Colours, followed by those of the speed.
 */
const TIMELINE_MODES = ["definition", "speed", "view"];
const SPEED_CLASS = COLOUR_COUNT;
/* Steps of execution time / median of the definition. A step begins at `least`. Slowest first. */
const SPEED_STEPS = [
	{ least: 4, variable: "h0", label: "4 × the median or more", slow: true },
	{ least: 2, variable: "h1", label: "2 × or more", slow: true },
	{ least: 4 / 3, variable: "h2", label: "1.3 × or more" },
	{ least: 3 / 4, variable: "other", label: "about the median" },
	{ least: 1 / 2, variable: "q2", label: "below 0.75 ×" },
	{ least: 0, variable: "q3", label: "below 0.5 ×" },
];
const TIMELINE_CLASSES = COLOUR_COUNT + SPEED_STEPS.length;

class TimelineClasses {
	constructor(app) {
		this.app = app;
		this.report = app.data;
		this.colours = new Colours(app);
		this.mode = "definition";
		this.medians = null;
		this.classes = new Uint8Array(this.report.count);
	}

	is_member(context) {
		return this.report.kind[context] === INITIAL || this.report.kind[context] === IMPLICIT;
	}

	/* Computes the class of each context. */
	compute() {
		const { report, classes, colours } = this, brush = this.app.get("brush");

		if (this.mode === "view") {
			for (let c = 0; c < report.count; c++)
				classes[c] = colours.of(c);
			return classes;
		}
		for (let c = 0; c < report.count; c++) {
			if (brush && !colours.is_inside(brush, c))
				classes[c] = COLOUR_DIM;
			else if (this.is_member(c))
				classes[c] = COLOUR_IMPLICIT;
			else
				classes[c] = this.mode === "speed" ? this.speed_class(c) :
					colours.of_definition(report.definition[c]);
		}
		return classes;
	}

	/* exec / median of its definition. NaN: one of the two is unknown. */
	speed(context) {
		if (!this.medians)
			this.medians = definition_times(this.report).map((times) =>
				times.length ? quantile(times, 0.5) : NaN);
		return this.report.is_complete(context) && this.report.definition[context] !== NONE
			? this.report.exec[context] / this.medians[this.report.definition[context]] : NaN;
	}

	speed_class(context) {
		const speed = this.speed(context);

		if (Number.isNaN(speed))
			return COLOUR_DIM;
		return SPEED_CLASS + SPEED_STEPS.findIndex((step) => speed >= step.least);
	}

	css(colour) {
		return colour < SPEED_CLASS ? this.colours.css(colour)
			: this.colours.variable(SPEED_STEPS[colour - SPEED_CLASS].variable);
	}

	/* Whether it has a mark in addition to its colour. */
	is_flagged(colour) {
		if (colour >= SPEED_CLASS)
			return SPEED_STEPS[colour - SPEED_CLASS].slow === true;
		return colour >= COLOUR_HEAT && colour < COLOUR_HEAT + HEAT_STEPS;
	}

	/* [{ css, label, mark }] */
	legend() {
		if (this.mode === "view")
			return this.colours.legend();
		if (this.mode === "speed")
			return SPEED_STEPS.map((step) => ({
				css: this.colours.variable(step.variable), label: step.label,
				mark: step.slow ? "flag" : "box",
			})).concat({ css: this.colours.css(COLOUR_IMPLICIT), label: "outside of grains", mark: "box" });
		const all = this.report.summary.definitions, entries = all.slice(0, COLOUR_RANKS).map((d) => ({
			css: this.colours.css(this.colours.of_definition(d.definition)),
			label: shorten(d.source || "unknown", 32),
			mark: "box",
		}));

		if (all.length > COLOUR_RANKS)
			entries.push({
				css: this.colours.css(COLOUR_OTHER),
				label: format_count(all.length - COLOUR_RANKS) + " others", mark: "box",
			});
		return entries.concat({ css: this.colours.css(COLOUR_IMPLICIT), label: "outside of grains",
			mark: "box" });
	}
}
