/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The range of time that the time-line and the parallelism above it show, and
 * the ticks of an axis. Times are those of the report (ns or cycles).
 */

/* How far in: a screen shows at least this much. */
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

	/* The range asked for, moved and cut so that it lies in the recording. */
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

	/* `at` stays where it is; factor < 1: closer. */
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

	/* So that a span is to be seen: moved if it is outside, wider if it is too long, closer if it is tiny. */
	reveal(start, end) {
		const length = this.to - this.from, span = end - start;

		if (span > length)
			this.show(start - span * 0.1, end + span * 0.1);
		else if (start < this.from || end > this.to)
			this.show((start + end - length) / 2, (start + end + length) / 2);
	}
}

/* The one axis of the page. */
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

/* 1, 2 or 5 times a power of ten, so that at most `most` fit into length. */
function tick_step(length, most) {
	const least = length / Math.max(1, most), power = Math.pow(10, Math.floor(Math.log10(least)));

	return power * ([1, 2, 5].find((n) => n * power >= least) || 10);
}

const TICK_UNITS = {
	ns: [[1e9, " s"], [1e6, " ms"], [1e3, " µs"], [1, " ns"]],
	cycles: [[1e12, " Tcyc"], [1e9, " Gcyc"], [1e6, " Mcyc"], [1e3, " kcyc"], [1, " cyc"]],
};

/* [{ at, label }]: all in one unit, as many digits as the step needs. */
function axis_ticks(from, to, most, unit) {
	const step = tick_step(to - from, most), ticks = [];
	const largest = Math.max(Math.abs(from), Math.abs(to), step);
	const [size, name] = (TICK_UNITS[unit] || TICK_UNITS.ns).find(([n]) => largest >= n) || [1, ""];
	const digits = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9));

	for (let n = Math.ceil(from / step - 1e-9); n * step <= to * (1 + 1e-12); n++)
		ticks.push({ at: n * step, label: n === 0 ? "0" : (n * step / size).toFixed(digits) + name });
	return ticks;
}

/* Where an axis lies in a canvas: room for labels at the left; narrow on small screens. */
function axis_room(width) {
	const left = width < 560 ? 42 : 84;

	return { left, right: width - 14, width: Math.max(1, width - 14 - left) };
}

/* A canvas in its element's width and the screen's pixels; the context measures CSS pixels. */
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

/* fn at most once a frame. */
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
