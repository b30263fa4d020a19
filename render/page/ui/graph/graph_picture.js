/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the viewer shows: nodes and edges in columns. A container comes before
 * its content. All lengths are in points at zoom 1.
 *
 * nodes: count, look[i] (LOOK_...), x, y (left, top), w, h, context[i],
 *        flags[i] (NODE_... of data_scene.js, NODE_STACKED)
 * edges: count, kind[i], critical[i], curved[i], first[i], and `points`, as in
 *        data_scene.js
 * of(i)      what node i stands for: a group, { more }, or null
 * words(i)   lines of text in node i, or its heading
 * colour(i)  class of colour of node i
 */
const LOOK_FAMILY = 0, LOOK_SIBLINGS = 1, LOOK_CLOSED = 2, LOOK_GRAIN = 3, LOOK_FORK = 4, LOOK_JOIN = 5, LOOK_BOOK = 6,
	LOOK_MORE = 7, LOOK_SKIPPED = 8, LOOK_IDLE = 9;
const NODE_STACKED = 32;
const CELLS_MOST = 64;
/* The looks of the nodes that a click, the pointer and the keyboard find. */
const LOOKS_FOUND = new Set([LOOK_FAMILY, LOOK_SIBLINGS, LOOK_CLOSED, LOOK_GRAIN, LOOK_MORE, LOOK_SKIPPED]);

/* Boxes by the cells of a grid that they touch. Boxes that touch many cells are in a separate list. */
class Grid {
	/* boxes: a Float32Array with left, top, right, bottom of each box in turn. */
	constructor(boxes, bounds) {
		const area = Math.max(1, (bounds.right - bounds.left) * (bounds.bottom - bounds.top)),
			count = boxes.length / 4;

		this.boxes = boxes;
		this.count = count;
		this.left = bounds.left;
		this.top = bounds.top;
		this.cell = Math.max(8, Math.sqrt(area / Math.max(1, count)) * 2);
		this.columns = Math.min(4096, Math.ceil((bounds.right - bounds.left) / this.cell) + 1);
		this.rows = Math.min(4096, Math.ceil((bounds.bottom - bounds.top) / this.cell) + 1);
		this.large = [];
		this.first = null; /* the cells are filled when they are first needed */
	}

	fill() {
		const { boxes, count, columns } = this;

		this.first = new Int32Array(columns * this.rows + 2);
		this.seen = new Uint32Array(count);
		this.stamp = 0;
		for (const pass of ["count", "place"]) {
			for (let i = 0; i < count; i++) {
				const l = this.column(boxes[4 * i]), t = this.row(boxes[4 * i + 1]),
					r = this.column(boxes[4 * i + 2]),
					b = this.row(boxes[4 * i + 3]);

				if ((r - l + 1) * (b - t + 1) > CELLS_MOST) {
					if (pass === "count")
						this.large.push(i);
					continue;
				}
				for (let y = t; y <= b; y++)
					for (let x = l; x <= r; x++)
						if (pass === "count")
							this.first[y * columns + x + 2]++;
						else
							this.list[this.first[y * columns + x + 1]++] = i;
			}
			if (pass === "place")
				return;
			for (let k = 2; k < this.first.length; k++)
				this.first[k] += this.first[k - 1];
			this.list = new Int32Array(this.first[this.first.length - 1]);
		}
	}

	column(x) {
		return Math.max(0, Math.min(this.columns - 1, Math.floor((x - this.left) / this.cell)));
	}

	row(y) {
		return Math.max(0, Math.min(this.rows - 1, Math.floor((y - this.top) / this.cell)));
	}

	touches(i, left, top, right, bottom) {
		const b = this.boxes;

		return b[4 * i + 2] >= left && b[4 * i] <= right && b[4 * i + 3] >= top && b[4 * i + 1] <= bottom;
	}

	/* Returns the indices of boxes that touch the rectangle, in order. */
	find(left, top, right, bottom) {
		const l = this.column(left), t = this.row(top), r = this.column(right),
			b = this.row(bottom), found = [];

		if ((r - l + 1) * (b - t + 1) > this.columns * this.rows / 4) {
			for (let i = 0; i < this.count; i++)
				if (this.touches(i, left, top, right, bottom))
					found.push(i);
			return found;
		}
		if (!this.first)
			this.fill();
		for (const i of this.large)
			if (this.touches(i, left, top, right, bottom))
				found.push(i);
		this.stamp++;
		for (let y = t; y <= b; y++)
			for (let x = l; x <= r; x++)
				for (let k = this.first[y * this.columns + x];
					k < this.first[y * this.columns + x + 1]; k++) {
					const i = this.list[k];

					if (this.seen[i] !== this.stamp && this.touches(i, left, top, right, bottom))
						found.push(i);
					this.seen[i] = this.stamp;
				}
		return found.sort((a, c) => a - c);
	}
}

class Picture {
	/* bounds: { left, top, right, bottom } */
	constructor(nodes, edges, points, bounds, meaning) {
		this.nodes = nodes;
		this.edges = edges;
		this.points = points;
		this.bounds = bounds;
		this.of = meaning.of;
		this.words = meaning.words;
		this.colour = meaning.colour;
		this.px_per_ns = meaning.px_per_ns;
		this.node_of = meaning.node_of; /* per context: the node that shows it, or NONE */
		const { x, y, w, h } = nodes, { first } = edges, node_boxes = new Float32Array(4 * nodes.count);

		/* The box includes a stack's shadow. */
		for (let i = 0; i < nodes.count; i++) {
			node_boxes[4 * i] = x[i];
			node_boxes[4 * i + 1] = y[i] - 4;
			node_boxes[4 * i + 2] = x[i] + w[i] + 4;
			node_boxes[4 * i + 3] = y[i] + h[i];
		}
		this.node_grid = new Grid(node_boxes, bounds);
		this.edge_boxes = new Float32Array(4 * edges.count);
		for (let e = 0; e < edges.count; e++) {
			let l = Infinity, t = Infinity, r = -Infinity, b = -Infinity;

			for (let k = first[e]; k < first[e + 1]; k++) {
				l = Math.min(l, points[2 * k]);
				r = Math.max(r, points[2 * k]);
				t = Math.min(t, points[2 * k + 1]);
				b = Math.max(b, points[2 * k + 1]);
			}
			this.edge_boxes[4 * e] = l;
			this.edge_boxes[4 * e + 1] = t;
			this.edge_boxes[4 * e + 2] = r;
			this.edge_boxes[4 * e + 3] = b;
		}
		this.edge_grid = new Grid(this.edge_boxes, bounds);
	}

	/* Returns the innermost node at a point, within `slack`. NONE: there is none. */
	at(x, y, slack) {
		const n = this.nodes;
		let best = NONE, least = Infinity;

		for (const i of this.node_grid.find(x - slack, y - slack, x + slack, y + slack)) {
			const area = n.w[i] * n.h[i];

			if (!LOOKS_FOUND.has(n.look[i]) || area > least)
				continue;
			least = area;
			best = i;
		}
		return best;
	}

	/* Whether the point is in the heading of a container. A click there closes the container. */
	in_heading(i, x, y) {
		return this.nodes.look[i] <= LOOK_SIBLINGS && y < this.nodes.y[i] + heading_height(this.nodes.w[i]) &&
			y >= this.nodes.y[i];
	}
}
