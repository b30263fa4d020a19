/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paints a picture. `paint_picture` is a generator that yields between small steps, so that a large picture
 * does not block the page. Marks smaller than a pixel are painted once per pixel.
 */
const PAINT_BATCH = 400;
const EDGE_COLOURS = ["fork", "line", "join", "join", "depend"];
const EDGE_FAINT = 5; /* in problem views */
/* Sizes of letters on the screen. Smaller ones are left out: of headings, and of short labels. */
const LEGIBLE = 8.5, LEGIBLE_NUMBER = 6.5;
const HEADING_FILLS = 0.75; /* letters fill at most this part of the heading's height */

/*
 * Returns the size of the letters in a box's heading: large enough to read, if there is room for that; else
 * 0.
 */
function heading_shown(width, scale) {
	const letters = Math.min(heading_height(width) * HEADING_FILLS,
		Math.max(heading_letters(width), LEGIBLE / scale));

	return scale * letters < LEGIBLE ? 0 : letters;
}

/* Tells whether something is already at a position with this size, in pixels. */
class Pixels_taken {
	constructor(enabled) {
		this.table = enabled ? new Int32Array(1 << 17) : null;
	}

	take(a, b, c, d) {
		if (!this.table)
			return true;
		const key = (Math.imul(a, 73856093) ^ Math.imul(b, 19349663) ^ Math.imul(c, 83492791) ^
			Math.imul(d, 49979687)) | 1;
		const slot = (key >>> 8 ^ key) & this.table.length - 1;

		if (this.table[slot] === key)
			return false;
		this.table[slot] = key;
		return true;
	}
}

/* Draws a box. Its corners are round if this can be seen. */
function trace_box(g, x, y, w, h, radius, scale) {
	if (radius * scale < 1.5)
		g.rect(x, y, w, h);
	else
		g.roundRect(x, y, w, h, Math.min(radius, w / 2, h / 2));
}

function trace_edge(g, picture, e, scale) {
	const { first, curved } = picture.edges, p = picture.points, end = first[e + 1];
	let k = first[e];

	g.moveTo(p[2 * k], p[2 * k + 1]);
	if (curved[e] && scale > 0.08) {
		for (k++; k + 2 < end; k += 3)
			g.bezierCurveTo(p[2 * k], p[2 * k + 1], p[2 * k + 2], p[2 * k + 3], p[2 * k + 4], p[2 * k + 5]);
		return;
	}
	for (k++; k < end; k++) {
		if (k + 1 < end && scale > 0.35 && !curved[e])
			g.arcTo(p[2 * k], p[2 * k + 1], p[2 * k + 2], p[2 * k + 3],
				Math.min(6, corner_room(p, k - 1), corner_room(p, k)));
		else
			g.lineTo(p[2 * k], p[2 * k + 1]);
	}
}

/* Half of the distance from point k to the next. */
function corner_room(p, k) {
	return (Math.abs(p[2 * k + 2] - p[2 * k]) + Math.abs(p[2 * k + 3] - p[2 * k + 1])) / 2;
}

class Painter {
	/*
	 * target: { g, left, top, right, bottom, scale, ratio }. scale does not include the screen's ratio of
	 * pixels.
	 */
	constructor(picture, colours, target) {
		this.picture = picture;
		this.colours = colours;
		this.g = target.g;
		this.target = target;
		this.scale = target.scale;
		this.problem = colours.is_problem();
		this.painted = 0;
		this.hair = 0.7 / target.scale;
		this.taken = new Pixels_taken(target.scale < 0.5);
		this.pixel = target.scale * target.ratio;
	}

	*paint() {
		const { g, target: t, picture } = this;

		g.setTransform(this.pixel, 0, 0, this.pixel, -t.left * this.pixel, -t.top * this.pixel);
		const nodes = picture.node_grid.find(t.left, t.top, t.right, t.bottom);

		yield;
		const edges = picture.edge_grid.find(t.left, t.top, t.right, t.bottom);

		yield;
		const looks = Array.from({ length: LOOK_IDLE + 1 }, () => []);

		for (const i of nodes)
			looks[picture.nodes.look[i]].push(i);
		yield* this.containers(nodes);
		yield* this.edges(edges);
		yield* this.circles(looks[LOOK_FORK], "fork");
		yield* this.circles(looks[LOOK_JOIN], "join");
		yield* this.books(looks[LOOK_BOOK]);
		yield* this.grains(looks[LOOK_GRAIN]);
		for (const i of looks[LOOK_IDLE])
			this.idle(i);
		let n = 0;

		for (const look of [LOOK_CLOSED, LOOK_MORE, LOOK_SKIPPED])
			for (const i of looks[look]) {
				this.small_box(i, look) || this.box(i, look);
				if (++n % 50 === 0)
					yield;
			}
	}

	ink(name) {
		return this.colours.variable(name);
	}

	font(size, weight) {
		return (weight || "") + " " + size + "px " + this.ink("sans");
	}

	/* In the order of nesting. */
	*containers(nodes) {
		const { g, pixel } = this, { x, y, w, h, look } = this.picture.nodes;
		let n = 0;

		for (const i of nodes) {
			if (look[i] > LOOK_SIBLINGS)
				continue;
			if (h[i] * pixel > 10 && w[i] * pixel > 10) {
				this.container(i);
			} else if (h[i] * pixel > 2 &&
				this.taken.take(Math.round(x[i] * pixel), Math.round(y[i] * pixel),
					Math.round(w[i] * pixel), look[i])) {
				g.fillStyle = this.ink(look[i] === LOOK_SIBLINGS ? "hair" : "panel");
				g.fillRect(x[i], y[i], w[i], h[i]);
				this.painted++;
			} else {
				continue;
			}
			if (++n % 100 === 0)
				yield;
		}
		yield;
	}

	container(i) {
		const { g, hair } = this, { x, y, w, h, look } = this.picture.nodes;

		g.beginPath();
		trace_box(g, x[i], y[i], w[i], h[i], 12, this.scale);
		g.fillStyle = this.ink(look[i] === LOOK_SIBLINGS ? "sunk" : "panel");
		g.fill();
		g.strokeStyle = this.ink("line");
		g.lineWidth = Math.max(1.1, hair);
		g.setLineDash(look[i] === LOOK_SIBLINGS && this.scale > 0.2 ? [4, 3] : []);
		g.stroke();
		g.setLineDash([]);
		this.painted++;
		this.heading(i);
	}

	heading(i) {
		const { g } = this, { x, y, w } = this.picture.nodes, high = heading_height(w[i]);
		const letters = heading_shown(w[i], this.scale);

		if (!letters)
			return;
		g.font = this.font(letters);
		g.fillStyle = this.ink("muted");
		g.textAlign = "left";
		g.save();
		g.beginPath();
		g.rect(x[i], y[i], w[i] - 2 * letters, high + 2);
		g.clip();
		g.fillText(this.picture.words(i)[0], x[i] + 10, y[i] + high / 2 + 0.4 * letters);
		g.restore();
		g.fillText("–", x[i] + w[i] - 1.5 * letters, y[i] + high / 2 + 0.35 * letters);
	}

	*edges(list) {
		const { picture, g, scale, pixel } = this, { kind, critical } = picture.edges, box = picture.edge_boxes;
		const rows = Array.from({ length: 12 }, () => []);
		let looked = 0;

		for (const e of list) {
			if (++looked % 5000 === 0)
				yield;
			const at = 4 * e, w = (box[at + 2] - box[at]) * pixel, h = (box[at + 3] - box[at + 1]) * pixel;

			if (w < 1 && h < 1 && scale < 0.5)
				continue;
			const over = kind[e] >= EDGE_ANCESTOR ? kind[e] : this.problem ? EDGE_FAINT : kind[e];
			const row = critical[e] ? 6 + (kind[e] >= EDGE_ANCESTOR ? 1 : 0) : over;

			if (this.taken.take(Math.round(box[at] * pixel), Math.round(box[at + 1] * pixel) ^ row << 24,
				Math.round(w), Math.round(h)))
				rows[row].push(e);
		}
		for (const row of [EDGE_FAINT, 1, 0, 2, 3, 4, 6, 7]) {
			const dashed = row === 3 || row === 4 || row === 7;

			if (!rows[row].length)
				continue;
			g.strokeStyle = row >= 6 ? this.ink("critical") :
				this.ink(row === EDGE_FAINT ? "line" : EDGE_COLOURS[row]);
			g.lineWidth = row >= 6 ? Math.max(2.2, 1.2 / scale) : Math.max(1.1, this.hair);
			g.globalAlpha = row === EDGE_FAINT ? 0.7 : dashed && this.problem && row < 6 ? 0.5 : 1;
			g.setLineDash(dashed && scale > 0.2 ? [5, 4] : []);
			for (let at = 0; at < rows[row].length; at += PAINT_BATCH) {
				g.beginPath();
				for (const e of rows[row].slice(at, at + PAINT_BATCH))
					trace_edge(g, picture, e, scale);
				g.stroke();
				yield;
			}
			this.painted += rows[row].length;
			g.globalAlpha = 1;
			g.setLineDash([]);
		}
	}

	*circles(list, name) {
		const { g, scale, pixel } = this, { x, y, w, h, flags } = this.picture.nodes;
		const shown = scale * 9 > 1.2 ? list : [];
		const fill = this.ink(this.problem ? "other" : name);

		for (let at = 0; at < shown.length; at += PAINT_BATCH) {
			const part = shown.slice(at, at + PAINT_BATCH);

			for (const hollow of [0, NODE_UNDEFERRED]) {
				g.beginPath();
				for (const i of part) {
					if ((flags[i] & NODE_UNDEFERRED) !== hollow)
						continue;
					if (!this.taken.take(Math.round(x[i] * pixel), Math.round(y[i] * pixel), 3, 3))
						continue;
					if (scale * w[i] < 3) {
						g.rect(x[i], y[i], w[i], h[i]);
						continue;
					}
					g.moveTo(x[i] + w[i], y[i] + h[i] / 2);
					g.arc(x[i] + w[i] / 2, y[i] + h[i] / 2, w[i] / 2, 0, 2 * Math.PI);
				}
				g.fillStyle = hollow ? this.ink("panel") : fill;
				g.fill();
				if (hollow) {
					g.strokeStyle = fill;
					g.lineWidth = 1.5;
					g.stroke();
				}
			}
			this.outline_critical(part, true);
			this.painted += part.length;
			yield;
		}
	}

	outline_critical(list, round) {
		const { g } = this, { x, y, w, h, flags } = this.picture.nodes;

		if (this.scale < 0.15)
			return;
		g.beginPath();
		for (const i of list) {
			if (!(flags[i] & NODE_CRITICAL))
				continue;
			if (round) {
				g.moveTo(x[i] + w[i], y[i] + h[i] / 2);
				g.arc(x[i] + w[i] / 2, y[i] + h[i] / 2, w[i] / 2, 0, 2 * Math.PI);
			} else {
				trace_box(g, x[i], y[i], w[i], h[i], 3, this.scale);
			}
		}
		g.strokeStyle = this.ink("critical");
		g.lineWidth = Math.max(round ? 1.4 : 1.8, this.hair);
		g.stroke();
	}

	*books(list) {
		const { g, pixel } = this, { x, y, w, h } = this.picture.nodes;

		g.fillStyle = this.ink(this.problem ? "other" : "book");
		for (let n = 0; n < list.length; n++) {
			const i = list[n];

			if (this.taken.take(Math.round(x[i] * pixel), Math.round(y[i] * pixel), 5, 5)) {
				g.fillRect(x[i], y[i], w[i], h[i]);
				this.painted++;
			}
			if (n % (2 * PAINT_BATCH) === 0) {
				yield;
				g.fillStyle = this.ink(this.problem ? "other" : "book");
			}
		}
	}

	*grains(list) {
		const { picture, g, scale, pixel } = this, { x, y, w, h, flags, context } = picture.nodes;
		const by_colour = Array.from({ length: COLOUR_COUNT }, () => []);

		for (let n = 0; n < list.length; n++) {
			by_colour[picture.colour(list[n])].push(list[n]);
			if (n % 5000 === 0)
				yield;
		}
		/*
		 * Dim nodes come first and the worst last, so that the worst stay visible if many share a
		 * pixel.
		 */
		const order = [COLOUR_IMPLICIT, COLOUR_DIM];

		for (let c = COLOUR_COUNT - 1; c > COLOUR_DIM; c--)
			if (c !== COLOUR_IMPLICIT)
				order.push(c);
		for (const colour of order) {
			/* Nodes with the problem are visible from afar. */
			const all = by_colour[colour],
				heat = colour >= COLOUR_HEAT && colour < COLOUR_HEAT + HEAT_STEPS;

			for (let at = 0; at < all.length; at += PAINT_BATCH) {
				const part = [], least = (heat ? 2.5 : 1) / pixel;
				let bordered = false;

				g.fillStyle = this.colours.css(colour);
				for (const i of all.slice(at, at + PAINT_BATCH)) {
					const small = h[i] < 1.5 * least || w[i] < 1.5 * least;

					if (!this.taken.take(Math.round(x[i] * pixel), Math.round(y[i] * pixel), colour,
						Math.round(h[i] * pixel)))
						continue;
					if (small)
						g.fillRect(x[i], y[i], Math.max(w[i], least), Math.max(h[i], least));
					else
						part.push(i);
				}
				g.beginPath();
				for (const i of part)
					if (!(flags[i] & NODE_DISCARDED)) {
						trace_box(g, x[i], y[i], w[i], h[i], 3, scale);
						bordered ||= scale * w[i] > 5;
					}
				g.fill();
				if (bordered && (heat || colour === COLOUR_DIM)) {
					g.strokeStyle = this.ink(heat ? "ink" : "line");
					g.lineWidth = heat ? 0.9 : 0.8;
					g.stroke();
				}
				this.outline_critical(part, false);
				if (scale > 0.3)
					for (const i of part)
						this.marks(i, context[i]);
				this.painted += part.length;
				yield;
			}
		}
	}

	/* Marks capped heights, and what was not seen completely or never began. */
	marks(i) {
		const { g } = this, { x, y, w, h, flags } = this.picture.nodes;

		if (flags[i] & (NODE_INCOMPLETE | NODE_DISCARDED)) {
			g.beginPath();
			trace_box(g, x[i], y[i], w[i], h[i], 3, this.scale);
			g.setLineDash(flags[i] & NODE_DISCARDED ? [1.5, 2] : [3, 2]);
			g.strokeStyle = this.ink("ink");
			g.lineWidth = 1.2;
			g.stroke();
			g.setLineDash([]);
		}
		if (!(flags[i] & NODE_CAPPED))
			return;
		const middle = y[i] + h[i] / 2;

		g.strokeStyle = this.ink("panel");
		g.lineWidth = 2;
		g.beginPath();
		for (const dy of [-2.5, 2.5]) {
			g.moveTo(x[i] - 2, middle + dy + 2);
			g.lineTo(x[i] + w[i] + 2, middle + dy - 2);
		}
		g.stroke();
	}

	idle(i) {
		const { g } = this, { x, y, w, h } = this.picture.nodes;

		g.fillStyle = this.ink("dim");
		g.fillRect(x[i], y[i], w[i], h[i]);
		this.label(this.picture.words(i)[0], x[i] + w[i] + 5, y[i] + Math.min(h[i], 12), "left", 9.5);
	}

	label(text, x, y, align, size, weight, ink) {
		const { g } = this;

		if (!text || this.scale * size < LEGIBLE_NUMBER)
			return;
		g.font = this.font(size, weight);
		g.fillStyle = ink || this.ink("muted");
		g.textAlign = align;
		g.fillText(text, x, y);
	}

	/* Paints a box that is too small for words. Returns false if the box is large enough for words. */
	small_box(i, look) {
		const { g, picture, pixel } = this, { x, y, w, h, flags } = picture.nodes;

		if (h[i] * pixel > 12 || look === LOOK_SKIPPED)
			return false;
		const colour = look === LOOK_MORE ? COLOUR_DIM : picture.colour(i);

		if (!this.taken.take(Math.round(x[i] * pixel), Math.round(y[i] * pixel), colour,
			Math.round(w[i] * pixel)))
			return true;
		this.painted++;
		g.fillStyle = this.colours.css(colour);
		g.fillRect(x[i], y[i], Math.max(w[i], 1 / pixel), Math.max(h[i], 1 / pixel));
		if (flags[i] & NODE_CRITICAL && h[i] * pixel > 4) {
			g.strokeStyle = this.ink("critical");
			g.lineWidth = 1.2 / this.scale;
			g.strokeRect(x[i], y[i], w[i], h[i]);
		}
		return true;
	}

	box(i, look) {
		const { g, picture } = this, { x, y, w, h, flags } = picture.nodes, words = picture.words(i);
		const middle = x[i] + w[i] / 2;

		this.painted++;
		if (look === LOOK_SKIPPED)
			return this.skipped(i, words);
		const critical = flags[i] & NODE_CRITICAL, colour = picture.colour(i);
		const plain = look === LOOK_MORE || colour === COLOUR_DIM;

		g.lineWidth = Math.max(critical ? 1.8 : 1.1, this.hair);
		g.strokeStyle = this.ink(critical ? "critical" : "line");
		if (flags[i] & NODE_STACKED) {
			g.beginPath();
			trace_box(g, x[i] + 4, y[i] - 4, w[i], h[i], 9, this.scale);
			g.fillStyle = this.ink("sunk");
			g.fill();
			g.stroke();
		}
		g.beginPath();
		trace_box(g, x[i], y[i], w[i], h[i], 9, this.scale);
		g.fillStyle = plain ? this.ink("panel") : this.colours.css(colour);
		g.fill();
		if (!plain && !critical)
			g.strokeStyle = this.ink("ink");
		g.setLineDash(look === LOOK_MORE ? [3, 3] : []);
		g.stroke();
		g.setLineDash([]);
		const ink = plain ? this.ink("ink") : this.colours.ink_on(colour);

		if (words.length === 1)
			return this.label(words[0], middle, y[i] + h[i] / 2 + 4, "center", 11, "",
				look === LOOK_MORE ? this.ink("link") : ink);
		this.label(words[0], middle, y[i] + h[i] / 2 - 3, "center", 12, "600", ink);
		this.label(words[1], middle, y[i] + h[i] / 2 + 12, "center", 10.5, "", plain ? this.ink("muted") : ink);
	}

	/* Fast-forward: a broad dashed line with a text about what it leaves out. */
	skipped(i, words) {
		const { g } = this, { x, y, w, h } = this.picture.nodes, upright = h[i] > w[i] || h[i] > 24;

		g.beginPath();
		g.strokeStyle = this.ink("line");
		g.lineWidth = 5;
		g.setLineDash([5, 3]);
		if (upright) {
			g.moveTo(x[i] + 4, y[i] + 1);
			g.lineTo(x[i] + 4, y[i] + h[i] - 1);
		} else {
			g.moveTo(x[i], y[i] + h[i] / 2);
			g.lineTo(x[i] + 14, y[i] + h[i] / 2);
		}
		g.stroke();
		g.setLineDash([]);
		this.label(words[0], x[i] + (upright ? 13 : 19), y[i] + h[i] / 2 + 4, "left", 10.5);
	}
}
