/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups of grains (MCC16), as analysis/include/grain_groups.h defines them: families,
 * siblings, regions, the program. The object of a group is made
 * when it is first needed:
 *   key      "f<context>", "s<first member>", "r<region>", "l<loop>", "p"
 *   kind, context, join, region, loop   as in struct grain_group; NONE: it has none
 *   element  the element whose columns have its sums; NONE: sums are added up
 * A member is { group } or { context }.
 */
class Groups extends Elements {
	constructor(data) {
		super(data);
		this.cache = new Map();
	}

	static of(app) {
		if (!app.groups)
			app.groups = new Groups(app.data);
		return app.groups;
	}

	root() {
		const [top] = this.tops;

		if (this.tops.length === 1 && this.owns[top])
			return this.of_element(top);
		return this.keep("p", () => ({ kind: "program", parent: null }));
	}

	keep(key, make) {
		let group = this.cache.get(key);

		if (!group) {
			group = { key, context: NONE, join: NONE, region: NONE, loop: NONE, element: NONE, ...make() };
			this.cache.set(key, group);
		}
		return group;
	}

	/* Returns the group that an element is the head of. null: a context that creates nothing. */
	of_element(e) {
		const { data } = this, regions = data.regions.length;

		if (!this.owns[e])
			return null;
		if (e < data.count)
			return this.keep("f" + e, () => ({ kind: "family", context: e, element: e }));
		if (e < data.count + regions)
			return this.keep("r" + (e - data.count), () => ({
				kind: "region", region: e - data.count, context: this.owner[e], element: e,
			}));
		const loop = e - data.count - regions, region = data.loops[loop].region;

		return this.keep("l" + loop, () => ({
			kind: "siblings", loop, join: data.loops[loop].join, element: e,
			context: region === NONE ? data.loops[loop].context :
				this.program_parent(data.regions[region].parent),
		}));
	}

	/* Returns the group that has an element as immediate member. null: the element is the root itself. */
	around(e) {
		const { data } = this, up = this.owner[e];

		if (up === NONE) {
			const root = this.root();

			return root.element === e ? null : root;
		}
		if (e < data.count && data.kind[e] === TASK && !(data.flags[e] & RUNTIME))
			return this.members(this.of_element(up))
				.find((m) => m.group && m.group.kind === "siblings" && m.group.loop === NONE &&
					m.group.join === data.join[e]).group;
		return this.of_element(up);
	}

	/* Returns the innermost group that a context is in. For a parent, this is its family. */
	of_context(context) {
		return this.of_element(context) || this.around(context);
	}

	parent_of(group) {
		if (group.parent === undefined)
			group.parent = group.element === NONE ? this.of_element(group.context) :
				this.around(group.element);
		return group.parent;
	}

	/* Returns the groups from the root to the group itself. */
	path(group) {
		const path = [];

		for (let up = group; up; up = this.parent_of(up))
			path.push(up);
		return path.reverse();
	}

	by_key(key) {
		const number = Number(key.slice(1));

		if (key === "p")
			return this.root();
		if (key[0] === "s")
			return this.around(number);
		return this.of_element(key[0] === "r" ? this.region_element(number)
			: key[0] === "l" ? this.loop_element(number) : number);
	}

	member_of(e) {
		const group = this.of_element(e);

		return group ? { group } : { context: e };
	}

	/* Returns the members in the order of the program. */
	members(group) {
		if (!group.list)
			group.list = this.list_members(group);
		return group.list;
	}

	list_members(group) {
		if (group.kind === "program")
			return this.tops.filter((e) => e >= this.data.count || !(this.data.flags[e] & RUNTIME))
				.map((e) => this.member_of(e));
		if (group.kind === "family")
			return this.list_family(group.context);
		if (group.kind === "region") {
			const loops = Array.from(this.loops_of_region.of(group.region), (l) => this.loop_element(l));

			return this.in_order(this.contexts_by(IMPLICIT, group.region), ".").concat(loops)
				.map((e) => this.member_of(e));
		}
		if (group.loop !== NONE)
			return this.in_order(this.contexts_by(CHUNK, group.loop), "[").map((e) => this.member_of(e));
		return Array.from(group.tasks, (c) => this.member_of(c));
	}

	/* Returns the members of a region, or the chunks of a loop. */
	contexts_by(kind, owner) {
		const { data } = this;

		if (kind === IMPLICIT) {
			this.team ||= Elements.index(data.region, data.regions.length);
			return Array.from(this.team.of(owner)).filter((c) => data.kind[c] === IMPLICIT);
		}
		this.chunks ||= Elements.index(data.loop, data.loops.length);
		return Array.from(this.chunks.of(owner)).filter((c) => data.kind[c] === CHUNK);
	}

	/*
	 * Sorts by the number after `mark` in the name: member, or lower bound. If there are very many
	 * chunks, they stay in the order of time.
	 */
	in_order(contexts, mark) {
		if (contexts.length > 50000)
			return contexts;
		const number = new Map(contexts.map((c) => {
			const id = this.data.id(c);

			return [c, Number.parseFloat(id.slice(id.lastIndexOf(mark) + 1).replace("t", ""))];
		}));

		return contexts.sort((a, b) => number.get(a) - number.get(b));
	}

	list_family(context) {
		const { data } = this, slots = new Map(), entries = [];
		const started = (e) => e < data.count ? data.start[e]
			: e < data.count + data.regions.length ? data.regions[e - data.count].start
				: data.loops[e - data.count - data.regions.length].start;

		for (let i = this.first[context]; i < this.first[context + 1]; i++) {
			const c = this.task[i], join = data.join[c];

			if (data.flags[c] & RUNTIME)
				continue;
			if (!slots.has(join))
				slots.set(join, []);
			slots.get(join).push(c);
		}
		for (const [join, tasks] of slots)
			entries.push({
				start: Math.min(Infinity,
					...tasks.slice(0, 64).map((c) => started(c)).filter((t) => t >= 0)),
				member: { group: this.keep("s" + tasks[0],
					() => ({ kind: "siblings", context, join, tasks })) },
			});
		/*
		 * Sibling groups stay in the order in which they were made. Regions and loops go between them
		 * by time.
		 */
		const others = [...this.regions_of.of(context)].map((r) => this.region_element(r))
			.concat([...this.loops_of.of(context)].map((l) => this.loop_element(l)))
			.sort((a, b) => started(a) - started(b));

		const members = [{ context }];
		let next = 0;

		for (const entry of entries) {
			while (next < others.length && started(others[next]) < entry.start)
				members.push(this.member_of(others[next++]));
			members.push(entry.member);
		}
		while (next < others.length)
			members.push(this.member_of(others[next++]));
		return members;
	}

	/* ---- values of groups ---------------------------------------------------- */

	/* Returns the sum of a column over elements. */
	value(group, column) {
		if (group.element !== NONE)
			return column[group.element];
		let total = 0;

		for (const e of group.kind === "program" ? this.tops : group.tasks)
			total += column[e];
		return total;
	}

	/* Returns the columns that a closed group shows. */
	sums(group) {
		group.totals ||= {
			exec: this.value(group, this.exec), create: this.value(group, this.create),
			grains: this.value(group, this.grains),
		};
		return group.totals;
	}

	/*
	 * Returns (x, y): the number of immediate members; that number plus the strengths of the groups among
	 * them.
	 */
	strength_of(group) {
		if (group.element !== NONE)
			return [this.members_of[group.element], this.strength[group.element]];
		const elements = group.kind === "program" ? this.members(group).length : group.tasks.length;

		return [elements, elements + this.value(group, this.strength)];
	}

	flagged(group, name) {
		group.flagged ||= {};
		group.flagged[name] ??= this.value(group, this.problem(name).flagged);
		return group.flagged[name];
	}

	worst(group, name) {
		const { worst } = this.problem(name);

		if (group.element !== NONE)
			return worst[group.element];
		group.worst ||= {};
		group.worst[name] ??= this.worst_of(name, group.kind === "program" ? this.tops : group.tasks, worst);
		return group.worst[name];
	}

	worst_of(name, elements, worst) {
		const sign = LOW_IS_BAD.has(name) ? 1 : -1;
		let found = NONE;

		for (const e of elements)
			if (worst[e] !== NONE && (found === NONE ||
				sign * this.data.metric(name, worst[e]) < sign * this.data.metric(name, found)))
				found = worst[e];
		return found;
	}

	/* Calls each(context) for all contexts in the group, until it returns true. */
	each_context(group, each) {
		const elements = group.element !== NONE ? [group.element]
			: Array.from(group.kind === "program" ? this.tops : group.tasks);

		this.owned ||= Elements.index(this.owner, this.count);
		while (elements.length) {
			const e = elements.pop();

			if (e < this.data.count && each(e))
				return true;
			for (const below of this.owned.of(e))
				elements.push(below);
		}
		return false;
	}

	/*
	 * Returns the definition with the most execution time in the group. If several are equal, returns the
	 * first.
	 */
	definition(group) {
		if (group.definition === undefined) {
			const time = new Map();
			let best = NONE;

			this.each_context(group, (c) => {
				const d = this.data.definition[c];

				if (d !== NONE)
					time.set(d, (time.get(d) || 0) + this.data.exec[c]);
			});
			for (const [d, t] of time)
				if (best === NONE || t > time.get(best) || (t === time.get(best) && d < best))
					best = d;
			group.definition = best;
		}
		return group.definition;
	}

	bookkeeping(group) {
		this.bookkeeping_column ||= this.sum((c) => this.data.bookkeeping[c]);
		return this.value(group, this.bookkeeping_column);
	}

	/* Whether something in the group is on the critical path. */
	critical(group) {
		this.critical_columns ||= this.sum((c) => this.data.flags[c] & CRITICAL ? 1 : 0);
		return this.value(group, this.critical_columns) > 0;
	}
}
