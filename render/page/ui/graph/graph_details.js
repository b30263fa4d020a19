/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All numbers of what is selected: `make_details(app, el)`. The app's key "selected" is a context, its key
 * "group" a group.
 */
const DETAILS_WORST = 5;

class Details_panel {
	constructor(app, el) {
		this.app = app;
		this.data = app.data;
		this.groups = Groups.of(app);
		this.el = el;
		for (const key of ["selected", "group"])
			app.on(key, () => this.draw());
		this.draw();
	}

	draw() {
		const key = this.app.get("group"), context = this.app.get("selected");

		if (context !== NONE)
			this.draw_context(context);
		else if (key)
			this.draw_group(this.groups.by_key(key));
		else
			this.el.replaceChildren(panel_head("Details"),
				dom_node("p", { class: "details-hint" },
					"Select a grain or a group in the graph or the time-line: " +
						"all its numbers are shown here."));
	}

	show(...parts) {
		this.el.replaceChildren(...parts.filter(Boolean));
	}

	row(name, ...value) {
		return dom_node("div", {}, dom_node("dt", {}, name), dom_node("dd", {}, value));
	}

	absent(name, why) {
		return dom_node("div", {}, dom_node("dt", {}, name),
			dom_node("dd", { class: "absent" }, "absent: " + why));
	}

	link(context, label) {
		return dom_node("button", { class: "link mono", title: this.data.id(context),
			onclick: () => this.app.set("selected", context) },
			dom_node("bdi", {}, shorten(label || this.data.id(context), 30)));
	}

	group_link(group) {
		return dom_node("button", { class: "link", onclick: () => this.app.show_where(group) },
			group_title(this.app, this.groups, group));
	}

	tag(is_problem) {
		return is_problem ? [" ", dom_node("span", { class: "tag bad" }, "problem")] : null;
	}

	source(definition) {
		const profile = definition === NONE ? null : this.app.profile(definition);

		if (!profile)
			return null;
		return dom_node("button", {
			class: "link", title: "Show the source line",
			onclick: () => this.app.set("definition", definition),
		}, dom_node("bdi", { class: "mono" }, profile.source || "unknown"),
		profile.func ? dom_node("bdi", { class: "muted" }, " " + profile.func) : null);
	}

	/* ---- a context ------------------------------------------------------------ */

	kind(c) {
		const { data } = this, flags = data.flags[c], words = [
			["initial task", "implicit task", "task", "chunk"][data.kind[c]],
			flags & UNDEFERRED ? "undeferred" : "", flags & RUNTIME ? "made by the runtime" : "",
			flags & INCOMPLETE ? "incomplete" : "", flags & DISCARDED ? "discarded" : "",
		];

		return with_dot(...words);
	}

	threads(c) {
		const { fragments } = this.data, all = this.data.fragments_of(c), count = all.length;
		const list = [...new Set(Array.from(all, (i) => fragments.thread[i]))].sort((a, b) => a - b);
		const names = list.slice(0, 6).join(", ");

		if (!count)
			return format_count(0);
		return format_count(count) + " on thread" + (list.length > 1 ? "s " : " ") + names +
			(list.length > 6 ? ", …" : "");
	}

	execution(c) {
		const { data } = this, profile = this.app.profile(data.definition[c]);
		const mean = profile && data.is_grain(c) && profile.exec_ns ? profile.exec_ns.mean : 0;

		return [format_time(data.exec[c]), mean > 0 ? dom_node("span", { class: "muted" },
			" " + format_ratio(data.exec[c] / mean) + " × mean") : null];
	}

	on_core(c) {
		const { on_cpu, exec } = this.data;

		return on_cpu && exec[c] ? this.row("on its core", format_time(on_cpu[c]),
			dom_node("span", { class: "muted" }, " " + format_percent(100 * on_cpu[c] / exec[c]))) : null;
	}

	when(c) {
		const { start, end } = this.data;

		return Number.isNaN(start[c]) ? this.absent("from, to", "not seen")
			: this.row("from, to", format_time(start[c]) + ", " + format_time(end[c]));
	}

	counter_rows(c) {
		return (this.data.counters || []).map((counter) => Number.isNaN(counter.value[c])
			? this.absent(counter.name, "not known of this grain")
			: this.row(counter.name, format_count(counter.value[c])));
	}

	metric_rows(c) {
		const { problems } = this.data.summary;

		return PROBLEMS.map((name) => {
			const about = problems[name], value = this.data.metric(name, c),
				title = problem_title(name).toLowerCase();

			if (!about || !about.available)
				return this.absent(title, about && about.why || "not measured");
			if (Number.isNaN(value))
				return this.absent(title,
					this.data.is_grain(c) ? "not known of this grain" : "of grains only");
			return this.row(title, format_value(name, value),
				this.tag(this.data.problems[c] & 1 << PROBLEMS.indexOf(name)));
		});
	}

	join_row(c) {
		const { joins } = this.data, join = this.data.join[c];

		if (join === NONE)
			return null;
		const waiter = joins.waiter[join] === NONE ? null : [" of ", this.link(joins.waiter[join])];

		return this.row("joined by", JOIN_KINDS[joins.kind[join]], waiter);
	}

	iterations(c) {
		const id = this.data.id(c), inside = id.slice(id.lastIndexOf("[") + 1, -1);

		if (this.data.kind[c] !== CHUNK || !id.endsWith("]"))
			return null;
		if (inside[0] === "t")
			return this.row("iterations", "the share of member " + inside.slice(1));
		const sections = this.data.loop[c] !== NONE && this.data.loops[this.data.loop[c]].sections;
		const [lower, upper] = inside.split(","), step = loop_step(this.data, this.data.loop[c]);

		return this.row(sections ? "section" : "iterations",
			upper === undefined || lower === upper ? lower : lower + " to " + upper,
			step > 1 ? " in steps of " + format_count(step) : null);
	}

	draw_context(c) {
		const { data, app } = this, children = data.children(c).length, definition = data.definition[c];
		const source = this.source(definition), family = this.groups.of_element(c),
			chunk = data.kind[c] === CHUNK;

		this.show(
			dom_node("div", { class: "panel-head" },
				dom_node("h2", { class: "details-id" }, dom_node("bdi", {}, data.id(c))),
				data.flags[c] & CRITICAL ?
					dom_node("span", { class: "tag critical" }, "critical path") : null),
			dom_node("dl", { class: "details-rows" },
				source ? this.row("definition", source) : null,
				this.row("kind", this.kind(c)), this.iterations(c),
				this.row("execution", this.execution(c)),
				this.on_core(c),
				data.kind[c] === TASK ? this.row("creation", format_time(data.create[c])) : null,
				chunk ? this.row("book-keeping", format_time(data.bookkeeping[c])) : null,
				this.row("waiting", format_time(data.wait[c])),
				data.lock[c] ? this.row("for locks", format_time(data.lock[c])) : null,
				this.row("fragments", this.threads(c)), this.when(c), this.metric_rows(c),
				this.counter_rows(c),
				this.row("children", format_count(children)),
				data.parent[c] === NONE ? null : this.row("parent", this.link(data.parent[c])),
				this.join_row(c),
				family ? this.row("with all it made",
					format_plural(this.groups.sums(family).grains, "grain") + ", " +
						format_time(this.groups.sums(family).exec)) : null),
			this.buttons(() => app.show_where(c), family), ...this.advice(definition));
	}

	buttons(show, family) {
		const { app } = this;

		return dom_node("div", { class: "details-buttons" },
			dom_node("button", { class: "button details-where", onclick: show }, "Show where this is"),
			family ? dom_node("button", { class: "button", onclick: () => {
				app.set("mode", "groups");
				app.graph.focus_on(family);
			} }, "Draw only this " + (family.kind === "siblings" ? "group" : family.kind)) : null);
	}

	/* ---- a group --------------------------------------------------------------- */

	group_metrics(group) {
		const { problems } = this.data.summary, { grains } = this.groups.sums(group);

		return PROBLEMS.map((name) => {
			const about = problems[name], title = problem_title(name).toLowerCase();

			if (!about || !about.available)
				return this.absent(title, about && about.why || "not measured");
			const worst = this.groups.worst(group, name), flagged = this.groups.flagged(group, name);

			if (worst === NONE)
				return this.absent(title, "not known of any grain in it");
			return this.row(title, dom_node("span", { class: "muted" },
				flagged ? format_percent(100 * flagged / grains) + ", worst " : "worst "),
			format_value(name, this.data.metric(name, worst)), this.tag(flagged));
		});
	}

	/* The worst grains for the view's problem; without a problem the longest. */
	worst_grains(group) {
		const { data, app } = this, view = app.get("view"), problem = PROBLEMS.includes(view) ? view : null;
		const sign = problem && LOW_IS_BAD.has(problem) ? 1 : -1, best = [];

		this.groups.each_context(group, (c) => {
			if (!data.is_complete(c))
				return;
			const value = problem ? sign * data.metric(problem, c) : -data.exec[c];

			if (Number.isNaN(value) ||
				(best.length === DETAILS_WORST && value >= best[best.length - 1].value))
				return;
			best.push({ c, value });
			best.sort((a, b) => a.value - b.value);
			best.length = Math.min(best.length, DETAILS_WORST);
		});
		return best.map(({ c }) => this.row(this.link(c),
			problem ? format_value(problem, data.metric(problem, c)) : format_time(data.exec[c])));
	}

	draw_group(group) {
		const { groups, data, app } = this, { exec, create, grains } = groups.sums(group),
			[members, all] = groups.strength_of(group);
		const definition = groups.definition(group), parent = groups.parent_of(group),
			source = this.source(definition);
		const worst = this.worst_grains(group),
			[title, ...rest] = group_title(app, groups, group).split(" · ");

		this.show(
			dom_node("div", { class: "panel-head" }, dom_node("h2", {}, dom_node("bdi", {}, title)),
				rest.length ? dom_node("bdi", { class: "muted" }, rest.join(" · ")) : null,
				groups.critical(group) ?
					dom_node("span", { class: "tag critical" }, "critical path") : null),
			dom_node("dl", { class: "details-rows" },
				source ? this.row("most time in", source) : null,
				group.context !== NONE ? this.row("made by", this.link(group.context)) : null,
				this.row("members", format_count(members)),
				this.row("strength", format_count(members) + ", " + format_count(all)),
				this.row("grains", format_count(grains)), this.row("execution", format_time(exec)),
				group.loop === NONE ? this.row("creation", format_time(create))
					: this.row("book-keeping", format_time(groups.bookkeeping(group))),
				this.group_metrics(group),
				group.join === NONE ? null :
					this.row("joined by", JOIN_KINDS[data.joins.kind[group.join]]),
				parent ? this.row("in", this.group_link(parent)) : null),
			worst.length ? dom_node("div", { class: "panel-head" }, dom_node("h3", {},
				PROBLEMS.includes(app.get("view")) ?
					"Worst by " + problem_title(app.get("view")).toLowerCase() :
					"Longest grains")) : null,
			worst.length ? dom_node("dl", { class: "details-rows" }, worst) : null,
			this.buttons(() => app.show_where(group), group === app.graph.where.focus ? null : group),
			...this.advice(definition));
	}

	/* The advice about this definition's source line. */
	advice(definition) {
		const profile = definition === NONE ? null : this.app.profile(definition);

		if (!profile)
			return [];
		return this.data.summary.advice.filter((a) => a.source && a.source === profile.source).slice(0, 2)
			.map((a) => dom_node("p", { class: "details-note" }, a.text));
	}
}

function make_details(app, el) {
	app.details = new Details_panel(app, el);
}
