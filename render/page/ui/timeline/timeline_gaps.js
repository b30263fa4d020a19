/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a thread does between two fragments: it waits; or it is in the runtime for the context that it
 * continues with (creating a task, starting a region, getting its next chunk); or nothing parallel happens.
 */
const GAP_OUTSIDE = 0, GAP_RUNTIME = 1, GAP_WAITING = 2;
const GAP_WORDS = ["outside of parallel regions", "in the runtime: creating a task or getting a chunk", "waiting"];

class TimelineGaps {
	constructor(report) {
		this.report = report;
		const { joins, regions } = report;

		this.joins = joins;
		this.joins_of = new Lists(report.count, joins.count,
			(i) => joins.region[i] === NONE ? joins.waiter[i] : NONE);
		/* The joins that all members of a region wait in. */
		this.joins_in = new Lists(regions.length, joins.count, (i) => joins.region[i]);
		this.sort(this.joins_of, report.count);
		this.sort(this.joins_in, regions.length);
		this.unite_regions();
	}

	sort(lists, owners) {
		for (let i = 0; i < owners; i++)
			if (lists.first[i + 1] - lists.first[i] > 1)
				lists.of(i).sort((a, b) => this.joins.start[a] - this.joins.start[b]);
	}

	/* The times in which there was a parallel region: from[i] to to[i]. */
	unite_regions() {
		const spans = this.report.regions.slice().sort((a, b) => a.start - b.start);

		this.from = [];
		this.to = [];
		for (const { start, end } of spans) {
			if (this.to.length && start <= this.to[this.to.length - 1]) {
				this.to[this.to.length - 1] = Math.max(this.to[this.to.length - 1], end);
			} else {
				this.from.push(start);
				this.to.push(end);
			}
		}
	}

	in_region(start, end) {
		const i = count_below(this.from, end, false) - 1;

		return i >= 0 && this.to[i] > start;
	}

	/* Returns the join in which a context waits at some time of a span. NONE: there is none. */
	wait_of(context, start, end) {
		const own = this.overlapping(this.joins_of.of(context), start, end),
			region = this.report.region[context];

		return own !== NONE || region === NONE ? own : this.overlapping(this.joins_in.of(region), start, end);
	}

	overlapping(list, start, end) {
		let low = 0, high = list.length;

		while (low < high) {
			const middle = (low + high) >> 1;

			if (this.joins.start[list[middle]] < end)
				low = middle + 1;
			else
				high = middle;
		}
		/* A context waits in only one join at a time, so this is the last join that began. */
		return low && this.joins.end[list[low - 1]] > start ? list[low - 1] : NONE;
	}

	kind(before, after, start, end) {
		if (before === after && this.wait_of(before, start, end) === NONE)
			return GAP_RUNTIME;
		return this.in_region(start, end) ? GAP_WAITING : GAP_OUTSIDE;
	}

	/* A text such as "waiting (taskwait)". */
	words(before, after, start, end) {
		const kind = this.kind(before, after, start, end);
		const own = this.wait_of(after, start, end),
			wait = own === NONE ? this.wait_of(before, start, end) : own;

		return GAP_WORDS[kind] +
			(kind === GAP_WAITING && wait !== NONE ? " (" + JOIN_KINDS[this.joins.kind[wait]] + ")" : "");
	}
}
