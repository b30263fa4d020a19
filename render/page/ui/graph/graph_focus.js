/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides which groups are drawn and open. Only `focus` is drawn, with what is open in it. At first this is
 * the largest family with the problem, not the whole program.
 */
const PATH_MOST = 7, OPENED_MOST = 24;

class Graph_focus {
	constructor(app, groups) {
		this.app = app;
		this.groups = groups;
		this.open = new Set();
		this.most = new Map();
		this.keep = NONE;
		this.focus = groups.root();
	}

	/* The weight of a group: its grains with the shown problem, or all its grains. */
	weight(group) {
		const view = this.app.get("view");

		return PROBLEMS.includes(view) && this.groups.flagged(this.groups.root(), view)
			? this.groups.flagged(group, view) : this.groups.sums(group).grains;
	}

	heaviest(group) {
		let best = null;

		for (const { group: inner } of this.groups.members(group))
			if (inner && (!best || this.weight(inner) > this.weight(best)))
				best = inner;
		return best && this.weight(best) > 0 ? best : null;
	}

	/*
	 * Goes down while nearly everything is in one member. Then opens the heaviest groups as long as the
	 * result `fits()`.
	 */
	start(fits) {
		const root = this.groups.root();
		let at = root, inner = this.heaviest(root);

		this.focus = root;
		for (let depth = 0; inner && depth < 200; depth++) {
			if (this.weight(inner) < 0.9 * this.weight(at))
				break;
			at = inner;
			if (at.kind === "family" || at.kind === "region")
				this.focus = at;
			inner = this.heaviest(at);
		}
		this.open.clear();
		this.open.add(this.focus.key);
		const closed = this.groups_in(this.focus);

		for (let tried = 0; tried < OPENED_MOST && closed.length; tried++) {
			closed.sort((a, b) => this.weight(b) - this.weight(a));
			const group = closed.shift();

			if (!this.weight(group))
				return;
			this.open.add(group.key);
			if (fits())
				closed.push(...this.groups_in(group));
			else
				this.open.delete(group.key);
		}
	}

	/* The groups directly in it, the heaviest first. */
	groups_in(group) {
		const inner = this.groups.members(group).filter((m) => m.group).map((m) =>
			({ group: m.group, weight: this.weight(m.group) }));

		return inner.sort((a, b) => b.weight - a.weight).slice(0, OPENED_MOST).map((x) => x.group);
	}

	toggle(group) {
		if (this.open.has(group.key) && group !== this.focus)
			this.open.delete(group.key);
		else
			this.open.add(group.key);
	}

	set_focus(group) {
		this.focus = group;
		this.open.add(group.key);
	}

	up() {
		const parent = this.groups.parent_of(this.focus);

		if (parent)
			this.set_focus(parent);
		return parent !== null;
	}

	/* Opens the groups around a group. If there are too many of them, moves the focus to one of the inner ones. */
	open_path(group, context) {
		const path = this.groups.path(group);
		let from = path.indexOf(this.focus);

		if (from < 0 || path.length - from > PATH_MOST) {
			from = Math.max(0, path.length - 4);
			while (from > 0 && path[from].kind !== "family")
				from--;
			this.focus = path[from];
		}
		for (const g of path.slice(from))
			this.open.add(g.key);
		this.keep = context;
	}
}
