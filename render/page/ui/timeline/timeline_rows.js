/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fragments in rows, one for each thread or CPU, in the order of time. Row r has the places first[r] up to
 * first[r + 1]. Place i has the fragment order[i], from start[i] to end[i], of context[i]. place[] is the
 * inverse of order[]. Above each row are blocks of fragments with sums of their time by class of colour. So
 * the code can draw a row without looking at each fragment.
 */
const BLOCK_BITS = 4, BLOCK_STEP = 1 << BLOCK_BITS;
const BLOCK_LEVELS = 4;

class TimelineRows {
	constructor(report, by) {
		const f = report.fragments;

		this.report = report;
		this.by = by;
		this.count = f.count;
		if (by === "cpu")
			this.order_by_cpu(f);
		else
			this.keep_by_thread(report, f);
		this.rows = this.labels.length;
		this.row_of_place = new Int32Array(this.count);
		for (let r = 0; r < this.rows; r++)
			this.row_of_place.fill(r, this.first[r], this.first[r + 1]);
		this.build_blocks();
	}

	/* Keeps the order of the report. */
	keep_by_thread(report, f) {
		this.labels = report.report.tids.map((tid, t) =>
			({ name: "thread " + t, short: "T" + t, more: "tid " + tid }));
		this.first = report.thread_first;
		this.order = this.place = new Int32Array(f.count);
		for (let i = 0; i < f.count; i++)
			this.order[i] = i;
		this.start = f.start;
		this.end = f.end;
		this.context = f.context;
	}

	order_by_cpu(f) {
		const counts = new Map();

		for (let i = 0; i < f.count; i++)
			counts.set(f.cpu[i], (counts.get(f.cpu[i]) || 0) + 1);
		const cpus = [...counts.keys()].sort((a, b) => a - b), at = new Map();

		this.labels = cpus.map((cpu) => ({ name: "CPU " + cpu, short: "C" + cpu, more: "" }));
		this.first = new Int32Array(cpus.length + 1);
		cpus.forEach((cpu, r) => {
			this.first[r + 1] = this.first[r] + counts.get(cpu);
			at.set(cpu, this.first[r]);
		});
		this.order = new Int32Array(f.count);
		for (let i = 0; i < f.count; i++) {
			const place = at.get(f.cpu[i]);

			this.order[place] = i;
			at.set(f.cpu[i], place + 1);
		}
		for (let r = 0; r < cpus.length; r++) {
			const row = this.order.subarray(this.first[r], this.first[r + 1]);

			/* The fragments of one thread are already in order. */
			if (row.some((x, i) => i > 0 && f.start[x] < f.start[row[i - 1]]))
				row.sort((a, b) => f.start[a] - f.start[b] || a - b);
		}
		this.place = new Int32Array(f.count);
		this.start = new Float64Array(f.count);
		this.end = new Float64Array(f.count);
		this.context = new Int32Array(f.count);
		for (let i = 0; i < f.count; i++) {
			const x = this.order[i];

			this.place[x] = i;
			this.start[i] = f.start[x];
			this.end[i] = f.end[x];
			this.context[i] = f.context[x];
		}
	}

	/*
	 * levels[0] has blocks of BLOCK_STEP fragments. levels[1] has blocks of BLOCK_STEP blocks of
	 * levels[0].
	 */
	build_blocks() {
		this.levels = [];
		for (let l = 0; l < BLOCK_LEVELS; l++) {
			const size = Math.pow(BLOCK_STEP, l + 1), first = new Int32Array(this.rows + 1);

			for (let r = 0; r < this.rows; r++)
				first[r + 1] = first[r] + Math.ceil((this.first[r + 1] - this.first[r]) / size);
			const level = { size, first, end: new Float64Array(first[this.rows]), sums: null };

			for (let r = 0; r < this.rows; r++)
				for (let i = this.first[r]; i < this.first[r + 1]; i++) {
					const b = first[r] + Math.floor((i - this.first[r]) / size);

					if (this.end[i] > level.end[b])
						level.end[b] = this.end[i];
				}
			this.levels.push(level);
			if (size * BLOCK_STEP > this.count)
				break;
		}
	}

	/*
	 * Computes the sums again after a change of colours. The last plane has the sums of what is on the
	 * critical path.
	 */
	set_classes(class_of, classes) {
		const critical = this.report.fragments.critical, planes = classes + 1;

		this.class_of = class_of;
		this.planes = planes;
		this.levels.forEach((level, l) => {
			level.sums = new Float32Array(level.end.length * planes);
			for (let r = 0; r < this.rows; r++) {
				if (l === 0)
					this.sum_fragments(level, r, class_of, critical);
				else
					this.sum_blocks(level, this.levels[l - 1], r);
			}
		});
	}

	sum_fragments(level, r, class_of, critical) {
		const { sums } = level, planes = this.planes;

		for (let i = this.first[r]; i < this.first[r + 1]; i++) {
			const b = (level.first[r] + (i - this.first[r] >> BLOCK_BITS)) * planes;
			const length = this.end[i] - this.start[i];

			sums[b + class_of[this.context[i]]] += length;
			if (critical[this.order[i]])
				sums[b + planes - 1] += length;
		}
	}

	sum_blocks(level, below, r) {
		const planes = this.planes;

		for (let i = below.first[r]; i < below.first[r + 1]; i++) {
			const b = (level.first[r] + (i - below.first[r] >> BLOCK_BITS)) * planes;

			for (let k = 0; k < planes; k++)
				level.sums[b + k] += below.sums[i * planes + k];
		}
	}

	/*
	 * Returns the first place of a row that ends after `time`. If there is none, returns the end of the
	 * row.
	 */
	after(row, time) {
		let low = this.first[row], high = this.first[row + 1];

		while (low < high) {
			const middle = (low + high) >> 1;

			if (this.end[middle] <= time)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}

	/* Returns the place that a row runs at `time`, within `slack` of it. NONE: there is none. */
	at(row, time, slack) {
		let best = NONE, distance = slack;

		for (let i = Math.max(this.first[row], this.after(row, time - slack) - 1);
			i < this.first[row + 1] && this.start[i] <= time + slack; i++) {
			const away = time < this.start[i] ? this.start[i] - time :
				time >= this.end[i] ? time - this.end[i] : 0;

			if (away === 0 && this.end[i] > time)
				return i;
			if (away < distance) {
				distance = away;
				best = i;
			}
		}
		return best;
	}

	/* Returns the places of a context's fragments, in the order of time. */
	places_of(context) {
		return Array.from(this.report.fragments_of(context), (x) => this.place[x]);
	}
}
