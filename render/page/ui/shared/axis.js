/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The range of time that the time-line and the parallelism above it show, and the ticks of an axis. Times are
 * as in the report (ns or cycles).
 */

/* The closest zoom: the screen shows at least this much time. */
const AXIS_CLOSEST = 20;

class TimeAxis {
	constructor(last) {
		this.last = last > 0 ? last : 1;
		this.from = 0;
		this.to = this.last;
		this.listeners = [];
	}

	on(fn) {
		this.listeners.push(fn);
	}

	/* Shows this range, moved and cut so that it lies in the recording. */
	show(from, to) {
		const length = Math.min(this.last, Math.max(to - from, Math.min(AXIS_CLOSEST, this.last)));
		const start = Math.max(0, Math.min(this.last - length, from + (to - from - length) / 2));

		if (start === this.from && start + length === this.to)
			return;
		this.from = start;
		this.to = start + length;
		for (const fn of this.listeners)
			fn();
	}

	/* The time `at` stays at its place. factor < 1 zooms in. */
	zoom(at, factor) {
		this.show(at - (at - this.from) * factor, at + (this.to - at) * factor);
	}

	pan(by) {
		const length = this.to - this.from, from = Math.max(0, Math.min(this.last - length, this.from + by));

		this.show(from, from + length);
	}

	fit() {
		this.show(0, this.last);
	}

	is_whole() {
		return this.from <= 0 && this.to >= this.last;
	}

	/*
	 * Makes a time span visible: moves if it is outside, zooms out if it is too long, zooms in if it is
	 * tiny.
	 */
	reveal(start, end) {
		const length = this.to - this.from, span = end - start;

		if (span > length)
			this.show(start - span * 0.1, end + span * 0.1);
		else if (start < this.from || end > this.to)
			this.show((start + end - length) / 2, (start + end + length) / 2);
	}
}

/* The whole page has one axis. */
function time_axis_of(app) {
	if (!app.get("time_axis")) {
		const { end } = app.data.fragments;
		let last = app.data.summary.wall_ns || 0;

		for (let i = 0; i < end.length; i++)
			if (end[i] > last)
				last = end[i];
		app.set("time_axis", new TimeAxis(last));
	}
	return app.get("time_axis");
}

/* The smallest step of 1, 2 or 5 times a power of ten that divides `length` into at most `most` parts. */
function tick_step(length, most) {
	const least = length / Math.max(1, most), power = Math.pow(10, Math.floor(Math.log10(least)));

	return power * ([1, 2, 5].find((n) => n * power >= least) || 10);
}

const TICK_UNITS = {
	ns: [[1e9, " s"], [1e6, " ms"], [1e3, " µs"], [1, " ns"]],
	cycles: [[1e12, " Tcyc"], [1e9, " Gcyc"], [1e6, " Mcyc"], [1e3, " kcyc"], [1, " cyc"]],
};

/* Returns [{ at, label }]. All labels have the same unit, and as many digits as the step needs. */
function axis_ticks(from, to, most, unit) {
	const step = tick_step(to - from, most), ticks = [];
	const largest = Math.max(Math.abs(from), Math.abs(to), step);
	const [size, name] = (TICK_UNITS[unit] || TICK_UNITS.ns).find(([n]) => largest >= n) || [1, ""];
	const digits = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9));

	for (let n = Math.ceil(from / step - 1e-9); n * step <= to * (1 + 1e-12); n++)
		ticks.push({ at: n * step, label: n === 0 ? "0" : (n * step / size).toFixed(digits) + name });
	return ticks;
}

/* The place of an axis in a canvas. The room for labels is at the left; small screens have less. */
function axis_room(width) {
	const left = width < 560 ? 42 : 84;

	return { left, right: width - 14, width: Math.max(1, width - 14 - left) };
}

/* Gives the canvas the width of its element, in the screen's pixels. Its context counts CSS pixels. */
function canvas_size(canvas, width, height) {
	const ratio = window.devicePixelRatio || 1, w = Math.max(1, Math.round(width * ratio)),
		h = Math.max(1, Math.round(height * ratio));

	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
	}
	canvas.style.height = height + "px";
	const context = canvas.getContext("2d");

	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	return context;
}

/* Calls fn at most once a frame. */
function once_a_frame(fn) {
	let asked = false;

	return () => {
		if (asked)
			return;
		asked = true;
		requestAnimationFrame(() => {
			asked = false;
			fn();
		});
	};
}
