/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The picture of the time-line: rows, and above them one grain with its neighbours. The rows are kept as a
 * bitmap, so that hovering only draws a few boxes.
 */
const TIMELINE_ROW_LEAST = 6, TIMELINE_ROW_MOST = 36, TIMELINE_ROW_USUAL = 26, TIMELINE_FEW_ROWS = 4,
	TIMELINE_HEIGHT = 420, TIMELINE_HEIGHT_MOST = 520;
/* By kind of edge. */
const LINK_STYLES = {
	[EDGE_CREATION]: { variable: "fork", dash: [] },
	[EDGE_DEPENDENCE]: { variable: "depend", dash: [5, 3] },
	[EDGE_SYNCHRONIZATION]: { variable: "join", dash: [1.5, 3] },
};

class TimelineCanvas {
	constructor(classes, axis, canvas) {
		this.classes = classes;
		this.axis = axis;
		this.canvas = canvas;
		this.base = document.createElement("canvas");
		this.top = 0; /* first shown pixel of the rows */
		this.stale = true;
	}

	set_rows(rows, gaps) {
		this.rows = rows;
		this.painter = new TimelineRowPainter(rows, this.classes, gaps);
		const most = rows.rows <= TIMELINE_FEW_ROWS ? TIMELINE_ROW_MOST : TIMELINE_ROW_USUAL;
		const height = Math.max(TIMELINE_ROW_LEAST,
			Math.min(most, Math.floor(TIMELINE_HEIGHT / Math.max(1, rows.rows))));
		const pad = height >= 14 ? 2 : height >= 9 ? 1 : 0, lane = height >= 12 ? 2 : 1;

		this.metrics = { height, pad, lane, box: height - 2 * pad - lane };
		this.total = height * rows.rows;
		this.stale = true;
	}

	resize(width) {
		this.width = width;
		this.height = Math.max(TIMELINE_ROW_USUAL, Math.min(this.total, TIMELINE_HEIGHT_MOST));
		this.room = axis_room(width);
		this.stale = true;
	}

	x(time) {
		return this.room.left + (time - this.axis.from) / (this.axis.to - this.axis.from) * this.room.width;
	}

	time(x) {
		return this.axis.from + (x - this.room.left) / this.room.width * (this.axis.to - this.axis.from);
	}

	row_at(y) {
		const row = Math.floor((y + this.top) / this.metrics.height);

		return row >= 0 && row < this.rows.rows ? row : NONE;
	}

	y_of(row) {
		return row * this.metrics.height - this.top;
	}

	variable(name) {
		return this.classes.colours.variable(name);
	}

	/* Paints only the rows. */
	paint_base() {
		const context = canvas_size(this.base, this.width, this.height), { room, metrics } = this;
		const first = Math.floor(this.top / metrics.height);
		const past = Math.min(this.rows.rows, Math.ceil((this.top + this.height) / metrics.height));

		context.clearRect(0, 0, this.width, this.height);
		context.save();
		context.beginPath();
		context.rect(room.left, 0, room.width, this.height);
		context.clip();
		this.painter.prepare(context, room, this.axis.from, this.axis.to, metrics);
		for (let r = first; r < past; r++)
			this.painter.paint(r, this.y_of(r));
		context.restore();
		this.stale = false;
	}

	/* neighbours: those of the grain in focus, or null. cursor: a time, or null. */
	paint(neighbours, cursor) {
		if (this.stale)
			this.paint_base();
		const context = canvas_size(this.canvas, this.width, this.height), { room } = this;

		context.clearRect(0, 0, this.width, this.height);
		this.paint_grid(context);
		context.globalAlpha = neighbours ? 0.2 : 1;
		context.drawImage(this.base, 0, 0, this.width, this.height);
		context.globalAlpha = 1;
		context.save();
		context.beginPath();
		context.rect(room.left, 0, room.width, this.height);
		context.clip();
		if (cursor !== null) {
			context.fillStyle = this.variable("muted");
			context.fillRect(Math.round(this.x(cursor)), 0, 1, this.height);
		}
		if (neighbours)
			this.paint_neighbours(context, neighbours);
		context.restore();
		this.paint_labels(context, neighbours);
	}

	paint_grid(context) {
		const { room, metrics } = this;

		context.fillStyle = this.variable("hair");
		for (const { at } of axis_ticks(this.axis.from, this.axis.to, room.width / 110, this.unit))
			context.fillRect(Math.round(this.x(at)), 0, 1, this.height);
		if (metrics.height >= 10)
			for (let r = 0; r <= this.rows.rows; r++)
				context.fillRect(room.left, Math.round(this.y_of(r)) - (r ? 1 : 0), room.width, 1);
	}

	paint_labels(context, neighbours) {
		const { room, metrics, rows } = this, every = Math.ceil(13 / metrics.height);
		const shown = neighbours ? new Set(neighbours.places.map((p) => rows.row_of_place[p])) : null;

		context.font = "11px system-ui, sans-serif";
		context.textAlign = "right";
		context.textBaseline = "middle";
		for (let r = 0; r < rows.rows; r += every) {
			const y = this.y_of(r) + metrics.height / 2, label = rows.labels[r];

			if (y < 0 || y > this.height)
				continue;
			const inside = Math.max(7, Math.min(this.height - 7, y));

			context.fillStyle = this.variable(shown && shown.has(r) ? "ink" : "muted");
			context.fillText(room.left < 70 ? label.short : label.name, room.left - 8, inside);
		}
	}

	paint_neighbours(context, neighbours) {
		const { rows } = this, all = neighbours.before.concat(neighbours.after);

		for (const { places } of all)
			this.paint_places(context, places, false);
		this.paint_places(context, neighbours.places, true);
		for (const link of neighbours.before.slice(0, MOST_LINKS).concat(neighbours.after.slice(0, MOST_LINKS)))
			this.paint_link(context, link);
		if (!neighbours.places.length)
			return;
		const first = neighbours.places[0];

		/* Marks the place, even if it is smaller than a pixel. */
		context.fillStyle = this.variable("ink");
		context.beginPath();
		const x = this.x(rows.start[first]), y = this.y_of(rows.row_of_place[first]) + this.metrics.pad;

		context.moveTo(x - 4, y - 5);
		context.lineTo(x + 4, y - 5);
		context.lineTo(x, y);
		context.fill();
	}

	/* Boxes in full colour with a border, at least 3 pixels wide. */
	paint_places(context, places, focus) {
		const { rows, metrics } = this;
		let last = -Infinity;

		for (const p of places) {
			const x0 = this.x(rows.start[p]), x1 = Math.max(x0 + 3, this.x(rows.end[p]));

			if (x1 < this.room.left || x0 > this.room.right || x1 - last < 1)
				continue;
			last = x1;
			const y = this.y_of(rows.row_of_place[p]) + metrics.pad,
				colour = rows.class_of[rows.context[p]];

			context.fillStyle = this.classes.css(colour);
			context.fillRect(x0, y, x1 - x0, metrics.box);
			context.strokeStyle = this.variable("ink");
			context.lineWidth = focus ? 2 : 1;
			context.strokeRect(x0, y, x1 - x0, metrics.box);
		}
	}

	paint_link(context, { from, to, link }) {
		const middle = this.metrics.pad + this.metrics.box / 2;
		const x0 = this.x(from.time), y0 = this.y_of(from.row) + middle, x1 = this.x(to.time),
			y1 = this.y_of(to.row) + middle;
		/* A line within one row is curved, so that it is visible beside the row's boxes. */
		const same = from.row === to.row,
			bow = same ? Math.min(this.metrics.height, 10 + Math.abs(x1 - x0) / 8) : 0;
		const reach = Math.max(same ? 2 : 18, Math.min(90, Math.abs(x1 - x0) / 2));

		context.strokeStyle = context.fillStyle = this.variable(LINK_STYLES[link].variable);
		context.lineWidth = 1.8;
		context.setLineDash(LINK_STYLES[link].dash);
		context.beginPath();
		context.moveTo(x0, y0);
		context.bezierCurveTo(x0 + reach, y0 + bow, x1 - reach, y1 + bow, x1, y1);
		context.stroke();
		context.setLineDash([]);
		context.beginPath();
		context.arc(x0, y0, 2.2, 0, 7);
		context.fill();
		context.beginPath();
		context.moveTo(x1 + 1, y1);
		context.lineTo(x1 - 6, y1 - 3.5);
		context.lineTo(x1 - 6, y1 + 3.5);
		context.fill();
	}
}

/* The axis below the rows. */
function paint_time_axis(canvas, width, axis, colours, unit) {
	const context = canvas_size(canvas, width, 24), room = axis_room(width);

	context.clearRect(0, 0, width, 24);
	context.font = "11px system-ui, sans-serif";
	context.textBaseline = "middle";
	for (const { at, label } of axis_ticks(axis.from, axis.to, room.width / 110, unit)) {
		const x = room.left + (at - axis.from) / (axis.to - axis.from) * room.width;
		const half = context.measureText(label).width / 2;

		context.fillStyle = colours.variable("line");
		context.fillRect(Math.round(x), 0, 1, 4);
		context.fillStyle = colours.variable("muted");
		context.textAlign = "left";
		context.fillText(label, Math.max(room.left - half, Math.min(width - 2 * half - 2, x - half)), 14);
	}
}
