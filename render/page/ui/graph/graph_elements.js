/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contexts, then regions, then loops are *elements*. Each has an owner, as in analysis/groups/groups_build.c:
 * a task has its parent, an implicit task its region, a chunk its loop, a region the context that encountered
 * it, a loop its region or context. Columns over elements have sums over everything that an element owns at
 * any level, including itself. They are computed in linear passes over typed arrays, without an object for
 * each context.
 */
class Elements {
	constructor(data) {
		this.data = data;
		this.count = data.count + data.regions.length + data.loops.length;
		this.problem_columns = new Map();
		this.find_parents();
		this.find_owners();
		this.order_elements();
		this.exec = this.sum((c) => data.exec[c]);
		this.create = this.sum((c) => data.create[c]);
		this.grains = this.sum((c) => data.is_grain(c) ? 1 : 0);
		this.count_strength();
	}

	region_element(region) {
		return this.data.count + region;
	}

	loop_element(loop) {
		return this.data.count + this.data.regions.length + loop;
	}

	/* Returns the parent in the program. Tasks of the runtime count for no parent. */
	program_parent(context) {
		while (context !== NONE && this.data.flags[context] & RUNTIME)
			context = this.data.parent[context];
		return context;
	}

	/* Finds the children in the program, in its order: task[first[c]] up to task[first[c + 1]]. */
	find_parents() {
		const { data } = this, n = data.count;
		const first = new Int32Array(n + 2), task = new Int32Array(n), parent = new Int32Array(n);

		for (let c = 0; c < n; c++) {
			parent[c] = this.program_parent(data.parent[c]);
			if (data.kind[c] === TASK && parent[c] !== NONE)
				first[parent[c] + 2]++;
		}
		for (let c = 0; c < n; c++)
			first[c + 2] += first[c + 1];
		for (let c = 0; c < n; c++)
			if (data.kind[c] === TASK && parent[c] !== NONE)
				task[first[parent[c] + 1]++] = c;
		this.parent = parent;
		this.first = first.subarray(0, n + 1);
		this.task = task;
	}

	/* Sorts the indices 0..keys.length-1 by key: list[first[k]] up to list[first[k + 1]]. */
	static index(keys, count) {
		const first = new Int32Array(count + 2);

		for (let i = 0; i < keys.length; i++)
			if (keys[i] !== NONE)
				first[keys[i] + 2]++;
		for (let k = 0; k < count; k++)
			first[k + 2] += first[k + 1];
		const list = new Int32Array(first[count + 1]);

		for (let i = 0; i < keys.length; i++)
			if (keys[i] !== NONE)
				list[first[keys[i] + 1]++] = i;
		return { first, list, of: (key) => list.subarray(first[key], first[key + 1]) };
	}

	/* A region without members and a loop without chunks are left out. */
	find_owners() {
		const { data } = this, n = data.count, regions = data.regions.length, loops = data.loops.length;
		const owner = new Int32Array(this.count).fill(NONE), owns = new Uint8Array(this.count);
		const region_owner = new Int32Array(regions).fill(NONE),
			loop_context = new Int32Array(loops).fill(NONE),
			loop_region = new Int32Array(loops).fill(NONE);
		const own = (e, by) => {
			owner[e] = by;
			if (by !== NONE)
				owns[by] = 1;
		};

		this.tops = [];
		for (let c = 0; c < n; c++) {
			let by = this.parent[c];

			if (data.kind[c] === CHUNK && data.loop[c] !== NONE)
				by = this.loop_element(data.loop[c]);
			else if (data.kind[c] === IMPLICIT && data.region[c] !== NONE)
				by = this.region_element(data.region[c]);
			owner[c] = by;
			if (by === NONE)
				this.tops.push(c);
			else
				owns[by] = 1;
		}
		for (let r = 0; r < regions; r++) {
			const e = this.region_element(r);

			if (!owns[e])
				continue;
			own(e, region_owner[r] = this.program_parent(data.regions[r].parent));
			if (owner[e] === NONE)
				this.tops.push(e);
		}
		for (let l = 0; l < loops; l++) {
			const e = this.loop_element(l), loop = data.loops[l];

			if (!owns[e])
				continue;
			if (loop.region !== NONE)
				own(e, this.region_element(loop_region[l] = loop.region));
			else
				own(e, loop_context[l] = this.program_parent(loop.context));
			if (owner[e] === NONE)
				this.tops.push(e);
		}
		this.owner = owner;
		this.owns = owns;
		this.regions_of = Elements.index(region_owner, n);
		this.loops_of = Elements.index(loop_context, n);
		this.loops_of_region = Elements.index(loop_region, regions);
	}

	/* Orders elements so that everything that an element owns comes before it. */
	order_elements() {
		const order = new Int32Array(this.count), done = new Uint8Array(this.count - this.data.count);
		let at = 0;
		const put = (e) => {
			if (done[e - this.data.count])
				return;
			done[e - this.data.count] = 1;
			order[at++] = e;
		};
		const put_region = (r) => {
			for (const l of this.loops_of_region.of(r))
				put(this.loop_element(l));
			put(this.region_element(r));
		};

		const regions = this.regions_of, loops = this.loops_of;

		for (let c = this.data.count - 1; c >= 0; c--) {
			for (let i = regions.first[c]; i < regions.first[c + 1]; i++)
				put_region(regions.list[i]);
			for (let i = loops.first[c]; i < loops.first[c + 1]; i++)
				put(this.loop_element(loops.list[i]));
			order[at++] = c;
		}
		for (let r = 0; r < this.data.regions.length; r++)
			put_region(r);
		for (let l = 0; l < this.data.loops.length; l++)
			put(this.loop_element(l));
		this.order = order;
	}

	/* Returns for each element the sum over all contexts in it. */
	sum(of) {
		const total = new Float64Array(this.count), { order, owner } = this;

		for (let c = 0; c < this.data.count; c++)
			total[c] = of(c);
		for (let i = 0; i < order.length; i++) {
			const e = order[i], up = owner[e];

			if (up !== NONE)
				total[up] += total[e];
		}
		return total;
	}

	/*
	 * members: number in the element's own group. strength: members, plus the strengths of the groups
	 * among them.
	 */
	count_strength() {
		const { data, owner, order } = this, seen = new Int32Array(data.joins.count + 1).fill(NONE);
		const members = new Float64Array(this.count), strength = new Float64Array(this.count);

		for (let c = 0; c < data.count; c++) {
			let unjoined = 0;

			for (let i = this.first[c]; i < this.first[c + 1]; i++) {
				const join = data.join[this.task[i]];

				if (data.flags[this.task[i]] & RUNTIME)
					continue;
				if (join === NONE) {
					unjoined = 1;
				} else if (seen[join] !== c) {
					seen[join] = c;
					members[c]++;
				}
			}
			members[c] += unjoined;
			strength[c] = members[c];
			if (this.owns[c])
				members[c]++;
		}
		for (let i = 0; i < order.length; i++) {
			const e = order[i], up = owner[e];

			if (e < data.count && data.flags[e] & RUNTIME)
				continue;
			/*
			 * The head of a group counts, too: a family counts its context, which is a member of
			 * another group.
			 */
			if (e < data.count && this.owns[e])
				strength[e]++;
			if (up === NONE)
				continue;
			strength[up] += 1 + strength[e];
			if (up >= data.count || e >= data.count)
				members[up]++;
		}
		this.members_of = members;
		this.strength = strength;
	}

	/*
	 * Returns { flagged, worst } per element: number of grains with the problem, and the grain with the
	 * worst value.
	 */
	problem(name) {
		if (!this.problem_columns.has(name))
			this.problem_columns.set(name, this.find_problem(name));
		return this.problem_columns.get(name);
	}

	find_problem(name) {
		const { data, owner, order } = this, bit = 1 << PROBLEMS.indexOf(name),
			sign = LOW_IS_BAD.has(name) ? 1 : -1;
		const flagged = new Int32Array(this.count), worst = new Int32Array(this.count).fill(NONE);
		const value = new Float64Array(data.count).fill(NaN);

		const values = data.values[name];

		for (let c = 0; c < data.count; c++) {
			if (!data.is_complete(c))
				continue;
			value[c] = values ? sign * values[c] : NaN;
			if (value[c] === value[c]) /* not NaN */
				worst[c] = c;
			flagged[c] = data.problems[c] & bit ? 1 : 0;
		}
		for (let i = 0; i < order.length; i++) {
			const e = order[i], up = owner[e];

			if (up === NONE)
				continue;
			flagged[up] += flagged[e];
			if (worst[e] !== NONE && (worst[up] === NONE || value[worst[e]] <= value[worst[up]]))
				worst[up] = worst[e];
		}
		return { flagged, worst };
	}
}
