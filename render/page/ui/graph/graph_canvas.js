/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A viewer of pictures. A drag moves the picture; wheel and pinch zoom around the
 * pointer; keys work, too. During a move, it shows a bitmap that is larger than
 * the view, moved and scaled. At the same time it paints a new bitmap in slices,
 * so that no frame waits for a large picture.
 *
 * new Canvas_view(element, colours, {
 *   click(node, x, y), hover(node, x, y), focus(node), key(name, node) -> true if it was used,
 *   moved(), marked() -> [{ node, kind: "selected" | "hovered" }] })
 * node: index into the picture's nodes, or NONE. x, y: in points of the picture.
 */
const VIEW_MARGIN = 0.25; /* part of the view's width and height that the bitmap adds at each side */
const SLICE_MS = 6, QUICK_MS = 12, FLASH_MS = 1600;
const ZOOM_MOST = 6;

class Canvas_view {
	constructor(element, colours, answers) {
		this.colours = colours;
		this.answers = answers;
		this.canvas = element;
		this.g = element.getContext("2d");
		this.x = 0; /* left and top of the view, in points of the picture */
		this.y = 0;
		this.scale = 1;
		this.width = 0;
		this.height = 0;
		this.front = null;
		this.whole = null; /* a bitmap of the whole picture */
		this.spare = [];
		this.job = null;
		this.focus = NONE;
		this.flash = null;
		this.pointers = new Map();
		this.stats = window.grain_view_stats = { frames: 0, elements: 0, redraws: 0, redraw_ms: 0,
			longest_slice_ms: 0 };
		this.watch();
		new ResizeObserver(() => this.resize()).observe(element);
		this.resize();
	}

	/* ---- what is shown ------------------------------------------------------ */

	show(picture) {
		this.picture = picture;
		this.focus = NONE;
		this.whole = null;
		this.repaint();
	}

	/* Call it when colours or words have changed. */
	repaint() {
		this.job = null;
		this.stale = true;
		this.whole = null;
		this.wake();
	}

	resize() {
		const box = this.canvas.getBoundingClientRect();

		if (!box.width || !box.height)
			return;
		const was = this.width ?
			[this.x + this.width / this.scale / 2, this.y + this.height / this.scale / 2] : null;

		this.ratio = Math.min(3, window.devicePixelRatio || 1);
		this.width = box.width;
		this.height = box.height;
		this.canvas.width = Math.round(box.width * this.ratio);
		this.canvas.height = Math.round(box.height * this.ratio);
		this.spare = [];
		if (was && !this.is_fit)
			this.centre_on(was[0], was[1]);
		else if (this.picture)
			this.fit();
		this.repaint();
	}

	fitting_scale() {
		const b = this.picture.bounds;

		return Math.min((this.width - 24) / (b.right - b.left), (this.height - 24) / (b.bottom - b.top));
	}

	/* Shows the whole picture, but not larger than its normal size. */
	fit() {
		const b = this.picture.bounds;

		this.scale = Math.min(1.1, this.fitting_scale());
		this.centre_on((b.left + b.right) / 2, (b.top + b.bottom) / 2);
		this.is_fit = true;
		this.wake();
	}

	centre_on(x, y) {
		this.x = x - this.width / this.scale / 2;
		this.y = y - this.height / this.scale / 2;
		this.is_fit = false;
		this.wake();
	}

	/* Leaves no more empty space than needed at the sides of the picture. */
	keep_inside() {
		const b = this.picture.bounds, w = this.width / this.scale, h = this.height / this.scale,
			edge = 16 / this.scale;
		const axis = (at, room, low, high) => high - low + 2 * edge < room ? (low + high - room) / 2
			: Math.max(low - edge, Math.min(high + edge - room, at));

		this.x = axis(this.x, w, b.left, b.right);
		this.y = axis(this.y, h, b.top, b.bottom);
		this.wake();
	}

	centre_of(node) {
		const n = this.picture.nodes;

		return [n.x[node] + n.w[node] / 2, n.y[node] + n.h[node] / 2];
	}

	/* Brings a node to the middle, large enough to read, and flashes it. */
	go_to(node, flash) {
		const n = this.picture.nodes, least = Math.min(1, 0.8 * this.width / Math.max(1, n.w[node]),
			0.8 * this.height / Math.max(1, n.h[node]));

		this.scale = Math.max(this.scale, least);
		this.centre_on(...this.centre_of(node));
		this.keep_inside();
		if (flash)
			this.flash = { node, since: performance.now() };
		this.wake();
	}

	/* Moves only as far as needed to show the node. */
	reveal(node) {
		const n = this.picture.nodes, w = this.width / this.scale, h = this.height / this.scale;
		const axis = (at, size, from, room, edge) => {
			if (size > room - 2 * edge)
				return at - edge;
			return at < from + edge ? at - edge : at + size > from + room - edge ?
				at + size + edge - room : from;
		};

		this.x = axis(n.x[node], n.w[node], this.x, w, 16 / this.scale);
		this.y = axis(n.y[node], n.h[node], this.y, h, 16 / this.scale);
		this.is_fit = false;
		this.wake();
	}

	zoom(factor, at_x, at_y) {
		const least = Math.min(0.05, this.fitting_scale() / 2), x = at_x ?? this.width / 2,
			y = at_y ?? this.height / 2;
		const scale = Math.max(least, Math.min(ZOOM_MOST, this.scale * factor));

		this.x += x / this.scale - x / scale;
		this.y += y / this.scale - y / scale;
		this.scale = scale;
		this.is_fit = false;
		this.stay_near();
		this.wake();
	}

	move(dx, dy) {
		this.x -= dx / this.scale;
		this.y -= dy / this.scale;
		this.is_fit = false;
		this.stay_near();
		this.wake();
	}

	/* Keeps a part of the picture in view. */
	stay_near() {
		const b = this.picture.bounds, w = this.width / this.scale, h = this.height / this.scale;

		this.x = Math.max(b.left - 0.8 * w, Math.min(b.right - 0.2 * w, this.x));
		this.y = Math.max(b.top - 0.8 * h, Math.min(b.bottom - 0.2 * h, this.y));
	}

	/* ---- frames ------------------------------------------------------------- */

	wake() {
		if (!this.frame)
			this.frame = requestAnimationFrame((now) => {
				this.frame = 0;
				this.step(now);
			});
	}

	/* Whether the bitmap shows the whole view sharply. */
	is_sharp(bitmap) {
		return bitmap && !this.stale && bitmap.scale === this.scale && this.covers(bitmap);
	}

	/* Whether the bitmap has the whole part of the picture that is in view. */
	covers(bitmap) {
		const b = this.picture.bounds, slack = 0.5 / this.scale;
		const along = (from, to, low, high, at, past) =>
			from <= Math.max(at, low) + slack && to >= Math.min(past, high) - slack;

		return along(bitmap.left, bitmap.right, b.left, b.right, this.x, this.x + this.width / this.scale) &&
			along(bitmap.top, bitmap.bottom, b.top, b.bottom, this.y, this.y + this.height / this.scale);
	}

	begin_job() {
		const bitmap = this.spare.pop() || { canvas: document.createElement("canvas") };
		const dx = this.width * VIEW_MARGIN, dy = this.height * VIEW_MARGIN;
		const wide = Math.round((this.width + 2 * dx) * this.ratio),
			high = Math.round((this.height + 2 * dy) * this.ratio);

		if (bitmap.canvas.width !== wide || bitmap.canvas.height !== high) {
			bitmap.canvas.width = wide;
			bitmap.canvas.height = high;
		}
		const g = bitmap.canvas.getContext("2d");

		g.setTransform(1, 0, 0, 1, 0, 0);
		g.clearRect(0, 0, wide, high);
		g.setLineDash([]);
		g.globalAlpha = 1;
		bitmap.scale = this.scale;
		bitmap.left = this.x - dx / this.scale;
		bitmap.top = this.y - dy / this.scale;
		bitmap.right = bitmap.left + wide / this.ratio / this.scale;
		bitmap.bottom = bitmap.top + high / this.ratio / this.scale;
		const painter = new Painter(this.picture, this.colours, { g, ...bitmap, ratio: this.ratio });

		this.job = { bitmap, painter, steps: painter.paint(), ms: 0 };
		this.stale = false;
	}

	/* Paints until the time `until`. */
	advance(until) {
		const { job } = this, began = performance.now();
		let done = false;

		while (!done && performance.now() < until)
			done = job.steps.next().done;
		const took = performance.now() - began;

		job.ms += took;
		this.stats.longest_slice_ms = Math.max(this.stats.longest_slice_ms, took);
		if (!done)
			return;
		if (this.front && this.front !== this.whole)
			this.spare.push(this.front);
		this.front = job.bitmap;
		this.job = null;
		this.stats.redraws++;
		this.stats.redraw_ms = job.ms;
		this.stats.elements = job.painter.painted;
		const b = this.picture.bounds;

		if (this.front.left <= b.left && this.front.right >= b.right && this.front.top <= b.top &&
			this.front.bottom >= b.bottom)
			this.whole = this.front;
	}

	step(now) {
		if (!this.picture || !this.width)
			return;
		if (!this.job && !this.is_sharp(this.front))
			this.begin_job();
		if (this.job)
			this.advance(performance.now() + (this.stats.redraw_ms < QUICK_MS ? 2 * QUICK_MS : SLICE_MS));
		this.compose(now);
		this.answers.moved();
		this.stats.frames++;
		if (this.job || !this.is_sharp(this.front) || this.flash)
			this.wake();
	}

	/* Paints everything at once, however long this takes. */
	paint_now() {
		if (!this.picture || !this.width)
			return;
		if (!this.is_sharp(this.front))
			this.begin_job();
		if (this.job)
			this.advance(Infinity);
		this.compose(performance.now());
	}

	compose(now) {
		const { g, ratio } = this;

		g.setTransform(1, 0, 0, 1, 0, 0);
		g.fillStyle = this.colours.variable("panel");
		g.fillRect(0, 0, this.canvas.width, this.canvas.height);
		if (this.whole && this.whole !== this.front && !this.covers(this.front))
			this.put(this.whole);
		if (this.front)
			this.put(this.front);
		g.setTransform(this.scale * ratio, 0, 0, this.scale * ratio, -this.x * this.scale * ratio,
			-this.y * this.scale * ratio);
		for (const mark of this.answers.marked())
			this.outline(mark.node, this.colours.variable(mark.kind === "selected" ? "accent" : "muted"),
				mark.kind === "selected" ? 2.5 : 1.5, 2);
		if (this.focus !== NONE)
			this.outline(this.focus, this.colours.variable("ink"), 2, 5);
		if (this.flash)
			this.paint_flash(now);
	}

	put(bitmap) {
		const { g, ratio, scale } = this, factor = scale / bitmap.scale;

		g.setTransform(1, 0, 0, 1, 0, 0);
		g.imageSmoothingEnabled = factor !== 1;
		const x = (bitmap.left - this.x) * scale * ratio, y = (bitmap.top - this.y) * scale * ratio;
		const w = bitmap.canvas.width * factor, h = bitmap.canvas.height * factor;

		g.fillStyle = this.colours.variable("panel");
		g.fillRect(x, y, w, h);
		if (factor === 1)
			g.drawImage(bitmap.canvas, Math.round(x), Math.round(y));
		else
			g.drawImage(bitmap.canvas, x, y, w, h);
	}

	outline(node, css, width, gap) {
		const { g } = this, n = this.picture.nodes, d = gap / this.scale;

		if (node === NONE || node >= n.count)
			return;
		g.strokeStyle = css;
		g.lineWidth = width / this.scale;
		g.beginPath();
		g.roundRect(n.x[node] - d, n.y[node] - d, n.w[node] + 2 * d, n.h[node] + 2 * d, 6 / this.scale);
		g.stroke();
	}

	paint_flash(now) {
		const age = (now - this.flash.since) / FLASH_MS;

		if (age >= 1) {
			this.flash = null;
			return;
		}
		const wave = Math.max(0, age) * 3 % 1;

		this.g.globalAlpha = 1 - wave;
		this.outline(this.flash.node, this.colours.variable("accent"), 3, 3 + 18 * wave);
		this.g.globalAlpha = 1;
	}

	/* ---- pointer and keys ----------------------------------------------------- */

	node_at(event) {
		const box = this.canvas.getBoundingClientRect();
		const x = this.x + (event.clientX - box.left) / this.scale,
			y = this.y + (event.clientY - box.top) / this.scale;

		return [this.picture ? this.picture.at(x, y, 3 / this.scale) : NONE, x, y];
	}

	watch() {
		const on = (name, fn, options) => this.canvas.addEventListener(name, fn, options);

		on("pointerdown", (event) => this.press(event));
		on("pointermove", (event) => this.drag(event));
		on("pointerup", (event) => this.release(event));
		on("pointercancel", (event) => this.pointers.delete(event.pointerId));
		on("pointerleave", () => this.pointers.size || this.answers.hover(NONE));
		on("keydown", (event) => this.key(event));
		on("blur", () => {
			this.focus = NONE;
			this.wake();
		});
		/* If the graph comes under the pointer while the page is being scrolled, the page scrolls on. */
		let scrolled = -Infinity;

		addEventListener("scroll", () => scrolled = performance.now(), { passive: true });
		on("wheel", (event) => {
			if (!event.ctrlKey && performance.now() - scrolled < 250)
				return;
			event.preventDefault();
			const lines = event.deltaMode === 1 ? 20 : event.deltaMode === 2 ? 400 : 1;

			this.zoom(
				Math.exp(-Math.max(-300, Math.min(300, event.deltaY * lines)) *
					(event.ctrlKey ? 0.01 : 0.0018)),
				event.offsetX, event.offsetY);
		}, { passive: false });
	}

	press(event) {
		if (event.button)
			return;
		this.canvas.setPointerCapture(event.pointerId);
		this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
		this.dragged = this.pointers.size > 1;
		this.pressed = { x: event.clientX, y: event.clientY };
	}

	drag(event) {
		const was = this.pointers.get(event.pointerId);

		if (!was)
			return this.answers.hover(...this.node_at(event));
		const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, p]) => p);

		if (others.length) {
			const [o] = others, box = this.canvas.getBoundingClientRect();
			const before = Math.hypot(was.x - o.x, was.y - o.y),
				after = Math.hypot(event.clientX - o.x, event.clientY - o.y);

			this.move((event.clientX - was.x) / 2, (event.clientY - was.y) / 2);
			if (before > 8)
				this.zoom(after / before, (event.clientX + o.x) / 2 - box.left,
					(event.clientY + o.y) / 2 - box.top);
		} else if (this.dragged ||
			Math.hypot(event.clientX - this.pressed.x, event.clientY - this.pressed.y) > 4) {
			if (!this.dragged)
				this.canvas.classList.add("moving");
			this.dragged = true;
			this.move(event.clientX - was.x, event.clientY - was.y);
		} else {
			return;
		}
		was.x = event.clientX;
		was.y = event.clientY;
	}

	release(event) {
		this.canvas.classList.remove("moving");
		if (!this.pointers.delete(event.pointerId) || this.dragged)
			return;
		this.answers.click(...this.node_at(event));
	}

	/* The nodes that Tab goes through. They can be found, are in view, and are large enough to see. */
	in_view() {
		const { picture, scale } = this, n = picture.nodes;

		return picture.node_grid.find(this.x, this.y, this.x + this.width / scale, this.y + this.height / scale)
			.filter((i) => LOOKS_FOUND.has(n.look[i]) && n.w[i] * scale > 4 && n.h[i] * scale > 1);
	}

	focus_on(node) {
		this.focus = node;
		this.answers.focus(node);
		this.wake();
	}

	key(event) {
		const name = event.key,
			step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60],
				ArrowDown: [0, -60] }[name];

		if (!this.picture || event.ctrlKey || event.metaKey || event.altKey)
			return;
		if (name === "Tab") {
			const all = this.in_view(), at = all.indexOf(this.focus) + (event.shiftKey ? -1 : 1);
			const next = this.focus === NONE && event.shiftKey ? -1 : at;

			if (next < 0 || next >= all.length) {
				this.focus = NONE;
				return this.wake();
			}
			this.focus_on(all[next]);
		} else if (step) {
			this.move(...step);
		} else if (name === "+" || name === "=") {
			this.zoom(1.3);
		} else if (name === "-") {
			this.zoom(1 / 1.3);
		} else if (name === "0") {
			this.fit();
		} else if (!this.answers.key(name, this.focus)) {
			return;
		}
		event.preventDefault();
	}
}
