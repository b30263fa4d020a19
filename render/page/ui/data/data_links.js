/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What comes before and after a context, by the graph's edges:
 *   EDGE_CREATION         from the context that creates or encounters c; for a chunk, that executes c
 *   EDGE_DEPENDENCE       from a task that is over before c begins, or before a wait of c ends
 *   EDGE_SYNCHRONIZATION  from a context that a wait joins to the contexts that wait: the waiter; all members of
 *                         a team at a barrier or the end of a loop; the encountering context at a region's end
 * report.predecessors(c), report.successors(c): Int32Array of contexts, each once. report.links_before(c),
 * links_after(c): { contexts, kinds }; a context occurs once for each kind. If a is a predecessor of b, then b
 * is a successor of a.
 */

class Links {
	constructor(report) {
		const { joins, dependences } = report;

		this.report = report;
		this.of_join = new Lists(joins.count, report.count, (i) => report.join[i]);
		this.by_to = new Lists(report.count, dependences.count,
			(i) => dependences.is_join[i] ? NONE : dependences.to[i]);
		this.by_wait = new Lists(joins.count, dependences.count,
			(i) => dependences.is_join[i] ? dependences.to[i] : NONE);
		this.by_from = new Lists(report.count, dependences.count, (i) => dependences.from[i]);
		this.ends = new Lists(report.count, joins.count, (i) => joins.kind[i] === JOIN_REGION_END &&
			joins.region[i] !== NONE ? report.regions[joins.region[i]].parent : NONE);
		this.waits = new Lists(report.count, joins.count,
			(i) => joins.region[i] === NONE ? joins.waiter[i] : NONE);
		this.barriers = new Lists(report.regions.length, joins.count,
			(i) => joins.kind[i] === JOIN_REGION_END ? NONE : joins.region[i]);
	}

	/* The joins after which the context continues. */
	joins_of(context) {
		const own = [...this.waits.of(context), ...this.ends.of(context)], region = this.report.region[context];

		return region === NONE ? own : own.concat(...this.barriers.of(region));
	}

	/* The contexts that continue after a join. */
	waiters(join) {
		const { joins, regions } = this.report, region = joins.region[join];

		if (region === NONE)
			return joins.waiter[join] === NONE ? [] : [joins.waiter[join]];
		if (joins.kind[join] !== JOIN_REGION_END)
			return this.report.members(region);
		return regions[region].parent === NONE ? [] : [regions[region].parent];
	}

	before(context) {
		const { report } = this, found = new Found(context);

		found.add(report.parent[context], EDGE_CREATION);
		for (const d of this.by_to.of(context))
			found.add(report.dependences.from[d], EDGE_DEPENDENCE);
		for (const join of this.joins_of(context)) {
			for (const joined of this.of_join.of(join))
				found.add(joined, EDGE_SYNCHRONIZATION);
			for (const d of this.by_wait.of(join))
				found.add(report.dependences.from[d], EDGE_DEPENDENCE);
		}
		return found;
	}

	after(context) {
		const { report } = this, { dependences } = report, found = new Found(context);

		for (const child of report.children(context))
			found.add(child, EDGE_CREATION);
		for (const d of this.by_from.of(context)) {
			for (const to of dependences.is_join[d] ? this.waiters(dependences.to[d]) : [dependences.to[d]])
				found.add(to, EDGE_DEPENDENCE);
		}
		if (report.join[context] !== NONE)
			for (const waiter of this.waiters(report.join[context]))
				found.add(waiter, EDGE_SYNCHRONIZATION);
		return found;
	}
}

class Found {
	constructor(context) {
		this.context = context;
		this.sets = new Map([EDGE_CREATION, EDGE_DEPENDENCE, EDGE_SYNCHRONIZATION].map((kind) =>
			[kind, new Set()]));
	}

	add(context, kind) {
		if (context !== NONE && context !== this.context)
			this.sets.get(kind).add(context);
	}

	contexts() {
		const all = new Set();

		for (const set of this.sets.values())
			for (const context of set)
				all.add(context);
		return Int32Array.from(all);
	}

	with_kinds() {
		const contexts = [], kinds = [];

		for (const [kind, set] of this.sets)
			for (const context of set) {
				contexts.push(context);
				kinds.push(kind);
			}
		return { contexts: Int32Array.from(contexts), kinds: Uint8Array.from(kinds) };
	}
}
