/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Draws one row of the time-line at a time. A fragment with enough room is a box. Smaller fragments are added
 * up in columns of one pixel. A column has the colour of the class with the most time in it. Its height is
 * the part of its time in which fragments ran. The work depends on the width, not on the number of fragments.
 */
const BOX_LEAST = 1.5, GAP_LEAST = 4, GAP_HEIGHT_LEAST = 8, FLAG_LEAST = 5;

class TimelineRowPainter {
	constructor(rows, classes, gaps) {
		this.rows = rows;
		this.classes = classes;
		this.gaps = gaps;
	}

	/* room: { left, width }. Times are from..to. metrics has row_height and what is in a row. */
	prepare(context, room, from, to, metrics) {
		const width = Math.ceil(room.width);

		this.context = context;
		this.left = room.left;
		this.width = width;
		this.from = from;
		this.scale = room.width / (to - from);
		this.metrics = metrics;
		if (!this.sums || this.sums.length !== width * this.rows.planes) {
			this.sums = new Float64Array(width * this.rows.planes);
			this.critical = new Uint8Array(width);
		}
		this.styles = Array.from({ length: TIMELINE_CLASSES }, (unused, k) => this.classes.css(k));
		this.ink = this.classes.colours.variable("ink");
		this.red = this.classes.colours.variable("critical");
		this.waiting = this.classes.colours.variable("line");
		this.creating = this.classes.colours.variable("fork");
	}

	paint(row, y) {
		const { rows } = this, top = rows.levels.length - 1;

		this.y = y + this.metrics.pad;
		this.height = this.metrics.box;
		this.sums.fill(0);
		this.critical.fill(0);
		this.used = false;
		this.last = NONE;
		if (top >= 0) {
			const level = rows.levels[top];

			for (let b = level.first[row]; b < level.first[row + 1]; b++)
				this.visit(row, top, b);
		}
		if (this.used)
			this.paint_columns();
		this.paint_critical(y + this.metrics.height - this.metrics.lane);
	}

	visit(row, l, block) {
		const { rows } = this, level = rows.levels[l];
		const first = rows.first[row] + (block - level.first[row]) * level.size;
		const x0 = (rows.start[first] - this.from) * this.scale,
			x1 = (level.end[block] - this.from) * this.scale;

		if (x1 <= 0 || x0 >= this.width) {
			if (x0 >= this.width)
				this.gap_before(first, x0);
			this.last = Math.min(first + level.size, rows.first[row + 1]) - 1;
			return;
		}
		if (x0 >= 0 && Math.floor(x0) === Math.floor(x1)) {
			this.gap_before(first, x0);
			this.add(level.sums, block * rows.planes, Math.floor(x0));
			this.last = Math.min(first + level.size, rows.first[row + 1]) - 1;
			return;
		}
		if (l === 0) {
			for (let i = first, past = Math.min(first + level.size, rows.first[row + 1]); i < past; i++)
				this.fragment(i);
			return;
		}
		const below = rows.levels[l - 1], child = below.first[row] + (block - level.first[row]) * BLOCK_STEP;

		for (let b = child, past = Math.min(child + BLOCK_STEP, below.first[row + 1]); b < past; b++)
			this.visit(row, l - 1, b);
	}

	add(sums, at, column) {
		const { planes } = this.rows, to = column * planes;

		for (let k = 0; k < planes - 1; k++)
			this.sums[to + k] += sums[at + k];
		if (sums[at + planes - 1] > 0)
			this.critical[column] = 1;
		this.used = true;
	}

	fragment(i) {
		const { rows } = this, x0 = (rows.start[i] - this.from) * this.scale,
			x1 = (rows.end[i] - this.from) * this.scale;

		if (x1 > 0)
			this.gap_before(i, x0);
		this.last = i;
		if (x1 <= 0 || x0 >= this.width)
			return;
		const colour = rows.class_of[rows.context[i]];

		if (rows.report.fragments.critical[rows.order[i]])
			this.critical.fill(1, Math.max(0, Math.floor(x0)), Math.min(this.width, Math.ceil(x1)));
		if (x1 - x0 >= BOX_LEAST)
			this.box(Math.max(-2, x0), Math.min(this.width + 2, x1), colour);
		else
			this.spread(Math.max(0, x0), Math.min(this.width, x1), colour);
	}

	box(x0, x1, colour) {
		const { context } = this, width = x1 - x0 >= 4 ? x1 - x0 - 1 : x1 - x0;

		context.fillStyle = this.styles[colour];
		context.fillRect(this.left + x0, this.y, width, this.height);
		if (width >= FLAG_LEAST && this.height >= 6 && this.classes.is_flagged(colour)) {
			context.strokeStyle = this.ink;
			context.lineWidth = 1;
			context.strokeRect(this.left + x0 + 0.5, this.y + 0.5, width - 1, this.height - 1);
		}
	}

	/* Adds the time to the columns that it touches, at most three. */
	spread(x0, x1, colour) {
		const { planes } = this.rows;

		for (let column = Math.floor(x0); column < x1; column++)
			this.sums[column * planes + colour] +=
				(Math.min(x1, column + 1) - Math.max(x0, column)) / this.scale;
		this.used = true;
	}

	paint_columns() {
		const { context, sums, scale } = this, { planes } = this.rows;
		let run = 0, run_class = NONE, run_height = 0;
		const flush = (past) => {
			if (run_class === NONE)
				return;
			context.fillStyle = this.styles[run_class];
			context.fillRect(this.left + run, this.y + this.height - run_height, past - run, run_height);
		};

		for (let x = 0; x < this.width; x++) {
			let best = NONE, most = 0, total = 0;

			for (let k = 0, at = x * planes; k < planes - 1; k++) {
				const time = sums[at + k];

				if (time > most) {
					most = time;
					best = k;
				}
				total += time;
			}
			const height = best === NONE ? 0
				: Math.max(1.5, Math.round(2 * Math.min(1, total * scale) * this.height) / 2);

			if (best !== run_class || height !== run_height) {
				flush(x);
				run = x;
				run_class = best;
				run_height = height;
			}
		}
		flush(this.width);
	}

	paint_critical(y) {
		const { context, critical, width } = this;

		context.fillStyle = this.red;
		for (let x = 0; x < width; x++) {
			const from = x;

			while (x < width && critical[x])
				x++;
			if (x > from)
				context.fillRect(this.left + from, y, Math.max(1.5, x - from), this.metrics.lane);
		}
	}

	/* Draws what the thread did between two fragments, if there is room for it. */
	gap_before(i, x1) {
		const { rows, context } = this;

		if (this.last === NONE || !this.gaps || this.height < GAP_HEIGHT_LEAST)
			return;
		const x0 = (rows.end[this.last] - this.from) * this.scale;

		if (Math.min(this.width, x1) - Math.max(0, x0) < GAP_LEAST)
			return;
		const kind = this.gaps.kind(rows.context[this.last], rows.context[i], rows.end[this.last],
			rows.start[i]);

		if (kind === GAP_OUTSIDE)
			return;
		const from = Math.max(0, x0) + 1, to = Math.min(this.width, x1) - 1,
			y = Math.round(this.y + this.height / 2);

		context.fillStyle = kind === GAP_WAITING ? this.waiting : this.creating;
		if (kind === GAP_RUNTIME)
			context.fillRect(this.left + from, y, to - from, this.height >= 10 ? 2 : 1);
		else
			for (let x = from; x < to; x += 4)
				context.fillRect(this.left + x, y, Math.min(2, to - x), this.height >= 10 ? 2 : 1);
	}
}
