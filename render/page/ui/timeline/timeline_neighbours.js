/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the time-line shows for one grain: the grain itself, what had to be over before it, and what waits for
 * it. Each comes with the places of its boxes in the rows, and with the ends of the line that connects it.
 * Nothing else is shown.
 */
/* Limits of what is drawn: neighbours, lines, and boxes of one neighbour. */
const MOST_NEIGHBOURS = 5000, MOST_LINKS = 200, MOST_BOXES = 5000;

class TimelineNeighbours {
	constructor(rows, report, context) {
		this.rows = rows;
		this.report = report;
		this.context = context;
		this.places = rows.places_of(context);
		const before = report.links_before(context), after = report.links_after(context);

		this.predecessors = Array.from(report.predecessors(context));
		this.successors = Array.from(report.successors(context));
		/* [{ context, places, from: { time, row }, to: { time, row }, link }] */
		this.before = Array.from(before.contexts.subarray(0, MOST_NEIGHBOURS),
			(c, i) => this.link_of(c, context, c, before.kinds[i])).filter(Boolean);
		this.after = Array.from(after.contexts.subarray(0, MOST_NEIGHBOURS),
			(c, i) => this.link_of(context, c, c, after.kinds[i])).filter(Boolean);
	}

	/* Returns null if one of the two never ran. */
	link_of(from, to, shown, link) {
		const { rows, report } = this;
		const of_from = from === this.context ? this.places : rows.places_of(from);
		const of_to = to === this.context ? this.places : rows.places_of(to);

		if (!of_from.length || !of_to.length)
			return null;
		let a = of_from[of_from.length - 1], b = of_to[0], places = shown === from ? of_from : of_to;

		if (link === EDGE_CREATION) {
			a = this.creator(of_from, to);
			if (shown === from)
				places = [a];
		} else if (link === EDGE_SYNCHRONIZATION || report.parent[from] === to) {
			b = this.continuation(of_to, link === EDGE_SYNCHRONIZATION ?
				report.joins.end[report.join[from]] : rows.end[a]);
			if (shown === to)
				places = [b];
		}
		return {
			context: shown, link, places: places.slice(0, MOST_BOXES),
			/*
			 * Fragments without length are missing in the rows. Still no line may lead back in
			 * time.
			 */
			from: { time: Math.min(rows.end[a], rows.start[b]), row: rows.row_of_place[a] },
			to: { time: rows.start[b], row: rows.row_of_place[b] },
		};
	}

	/*
	 * Returns the parent's fragment that ended with the creation of the child. It is not after the start
	 * of the child, nor after the start of a sibling that was created later.
	 */
	creator(places, child) {
		const latest = this.latest_creation(child);

		return this.last_over(places, (p) => this.rows.end[p] <= latest);
	}

	latest_creation(child) {
		const { report } = this, parent = report.parent[child];

		if (this.parent !== parent) {
			const children = report.children(parent), latest = new Float64Array(children.length);
			let least = Infinity;

			for (let k = children.length - 1; k >= 0; k--) {
				if (report.start[children[k]] < least)
					least = report.start[children[k]];
				latest[k] = least;
			}
			Object.assign(this, { parent, children, latest });
		}
		return this.latest[count_below(this.children, child, false)];
	}

	continuation(places, time) {
		const next = places.find((p) => this.rows.start[p] >= time);

		return next === undefined ? places[places.length - 1] : next;
	}

	last_over(places, is_over) {
		let low = 0, high = places.length;

		while (low < high) {
			const middle = (low + high) >> 1;

			if (is_over(places[middle]))
				low = middle + 1;
			else
				high = middle;
		}
		return places[Math.max(0, low - 1)];
	}

	/* For tests and other scripts. */
	published() {
		return { context: this.context, predecessors: this.predecessors, successors: this.successors };
	}
}
