/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report's data: two JSON documents and columns of numbers (render/page/PAGE.md,
 * "Columns"), as typed arrays. Indices are those of the analysis; NONE: none.
 * Times are nanoseconds from the start of the recording. They are multiples of
 * report.tick. Metrics are rounded to three digits, nothing else is rounded.
 *
 * Report.load() sets at once:
 *   .summary     as `grainctl summary --json` (analysis/FORMATS.md); a long list has only the worst or longest
 *                rows, and its length is in NAME_in_all
 *   .report      title, view, tids, excerpts, counts
 *   .count       contexts
 * load_columns(progress) sets, per context c:
 *   .kind[c] INITIAL ... CHUNK; .flags[c] UNDEFERRED | CRITICAL | ...; .depth[c] explicit tasks on its path
 *   .parent[c], .definition[c]; .region[c] of members; .loop[c] of chunks; .join[c] is the join that synchronizes c
 *   .thread[c] (index into report.tids) and .cpu[c] of its first fragment; NONE: it has none
 *   .start[c], .end[c] of its body; NaN: not seen
 *   .exec[c], .create[c], .wait[c], .bookkeeping[c], .lock[c]; .on_cpu[c]; .on_cpu is null if it is not known
 *   .cost[c]     time to create it and to wait for it; NaN: absent
 *   .problems[c] bits 1 << index into PROBLEMS; metric(name, c) is the value, NaN: absent
 *   .lower, .upper, .chunks, .stride: of iterations, NaN: not known (chunks: 1 or more); or null for all
 *   .counters    [{ name, exact, value: Float64Array, NaN: not known }]
 *   .children(c): array of indices in the order of the program; .fragments_of(c): in the order of time
 *   .id(c) and .find(id): NONE: there is no such context
 * and the columns
 *   .fragments   count, context, thread, cpu, start, end, critical; by thread, then by time: thread t has
 *                thread_first[t] up to thread_first[t + 1]; fragments of length 0 are left out
 *   .joins       count, kind (index into JOIN_KINDS), critical, waiter, region, definition, start, end; join_id(j)
 *   .regions     [{ parent, definition, threads, start, end }]; region_id(r); members(r): contexts
 *   .loops       [{ context, region, definition, join, sections, start, end }]; loop_id(l)
 *   .dependences count, from, to, is_join, critical: `from` is over before context `to` begins; with is_join,
 *                before the join `to` ends
 * data_links.js: what comes before and after a context; data_scene.js: the drawing.
 */
const NONE = -1;
const INITIAL = 0, IMPLICIT = 1, TASK = 2, CHUNK = 3;
const UNDEFERRED = 4, CRITICAL = 8, INCOMPLETE = 16, DISCARDED = 32, RUNTIME = 64, DETACHED = 128, BOUNDED = 256;
const JOIN_TASKWAIT = 0, JOIN_TASKGROUP = 1, JOIN_BARRIER = 2, JOIN_REGION_END = 3, JOIN_LOOP = 4;
const JOIN_KINDS = ["taskwait", "taskgroup", "barrier", "end of the region", "end of the loop"];

/* The bits of a context's `problems`, and the names in the JSON. */
const PROBLEMS = [
	"parallel_benefit", "load_balance", "work_deviation", "instantaneous_parallelism", "scatter",
	"memory_hierarchy_utilization", "cache_miss_ratio",
];
/* Metrics for which smaller values are worse. */
const LOW_IS_BAD = new Set(["parallel_benefit", "instantaneous_parallelism", "memory_hierarchy_utilization"]);

class Report {
	constructor(summary, report) {
		this.summary = summary;
		this.report = report;
		this.tick = report.tick_ns;
		this.count = report.contexts;
	}

	static async load() {
		const json = (id) => JSON.parse(document.getElementById(id).textContent);

		return new Report(json("summary"), json("report"));
	}

	/*
	 * Takes a while for a million grains. The page can react in between. progress(share) is called from
	 * time to time.
	 */
	async load_columns(progress) {
		const steps = [load_structure, load_fragments, load_times, load_metrics, load_names, load_others];

		for (let i = 0; i < steps.length; i++) {
			await steps[i](this);
			if (progress)
				progress((i + 1) / steps.length);
			await breathe();
		}
	}

	/* Returns null if the drawing is not in the file. See data_scene.js. */
	load_scene() {
		this.scene_promise ??= load_scene(this);
		return this.scene_promise;
	}

	id(context) {
		return this.names.of(context);
	}

	region_id(region) {
		return this.region_names.of(region);
	}

	loop_id(loop) {
		return this.loop_names.of(loop);
	}

	join_id(join) {
		const joins = this.joins, code = joins.ordinal[join], number = Math.floor(code / 2);

		if (joins.region[join] !== NONE)
			return this.region_id(joins.region[join]) + "/b" + number;
		return this.id(joins.waiter[join]) + (code % 2 ? "/y" : "/j") + number;
	}

	find(id) {
		this.name_index ??= new NameIndex(this.names);
		return this.name_index.find(id);
	}

	children(context) {
		this.child_lists ??= new Lists(this.count, this.count, (i) => this.parent[i]);
		return this.child_lists.of(context);
	}

	members(region) {
		this.member_lists ??= new Lists(this.regions.length, this.count, (i) => this.region[i]);
		return this.member_lists.of(region);
	}

	fragments_of(context) {
		return this.fragment_lists.of(context);
	}

	/* data_links.js */
	predecessors(context) {
		return this.links().before(context).contexts();
	}

	successors(context) {
		return this.links().after(context).contexts();
	}

	links_before(context) {
		return this.links().before(context).with_kinds();
	}

	links_after(context) {
		return this.links().after(context).with_kinds();
	}

	links() {
		this.link_lists ??= new Links(this);
		return this.link_lists;
	}

	is_grain(c) {
		return this.kind[c] === CHUNK || (this.kind[c] === TASK && !(this.flags[c] & RUNTIME));
	}

	is_complete(c) {
		return this.is_grain(c) && !(this.flags[c] & (INCOMPLETE | DISCARDED));
	}

	/* The value of a metric of PROBLEMS; NaN: absent. */
	metric(name, c) {
		return name in this.values ? this.values[name][c] : NaN;
	}
}
