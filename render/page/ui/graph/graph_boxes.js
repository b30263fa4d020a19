/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Draws groups as nested boxes. It computes sizes from the inside out, then places from the outside in. This takes
 * linear time in what is open. `what` says what to draw:
 *   focus   the outermost group
 *   open    the keys of the groups that are open
 *   most    a Map from keys to the number of members that are drawn; MEMBERS_SHOWN for others
 *   keep    a context that is drawn in any case, or NONE
 *   filter  a problem: members without it are left out; or null
 */
const BOX_WIDE = 92, BOX_HIGH = 40, BOX_PAD = 12, BOX_GAP = 14, BOX_HEAD = 20, GRAIN_WIDE = 24;
const ROUND = 9, STEP = 11, SKIP = 30, ROW_MOST = 860, COLUMN_MOST = 540, COLUMN_GAP = 26;
const MEMBERS_SHOWN = 40, STEPS_SHOWN = 12;
/* Heights of grains */
const HEIGHT_USUAL = 22, HEIGHT_LEAST = 3, HEIGHT_MOST = 96, HEAD_MOST = 44;
/* The sizes of letters in headings. Wide boxes have larger ones, which can be read when the whole box is in view. */
const HEADING_LEAST = 10.5, HEADING_MOST = 56, HEADING_SHARE = 1 / 88;

function heading_letters(width) {
	return Math.max(HEADING_LEAST, Math.min(HEADING_MOST, width * HEADING_SHARE));
}

function heading_height(width) {
	return BOX_HEAD * heading_letters(width) / HEADING_LEAST;
}

/* Nine of ten grains are drawn no higher than HEIGHT_USUAL. */
function height_of_time(data) {
	const sample = [], step = Math.max(1, Math.floor(data.count / 4096));

	for (let c = 0; c < data.count; c += step)
		if (data.is_grain(c) && data.exec[c] > 0)
			sample.push(data.exec[c]);
	sample.sort((a, b) => a - b);
	return HEIGHT_USUAL / (sample[Math.floor(sample.length * 0.9)] || 1e6);
}

/* The source that all these contexts have, such as "fib.c:24". "": their sources differ. */
function common_source(app, contexts) {
	const { definition } = app.data, d = definition[contexts[0]];

	for (let i = 0; i < Math.min(contexts.length, 200); i++)
		if (definition[contexts[i]] !== d)
			return "";
	return source_of(app, d);
}

function source_of(app, definition) {
	const profile = definition === NONE ? null : app.profile(definition);

	return profile ? shorten(profile.source || "", 40) : "";
}

function with_dot(...parts) {
	return parts.filter(Boolean).join(" · ");
}

/* The name of a group, for the heading of its open box, the bread-crumbs and the title of its details. */
function group_title(app, groups, group) {
	const { data } = app;

	if (group.kind === "family")
		return with_dot("family of " + shorten(data.id(group.context), 34),
			source_of(app, data.definition[group.context]));
	if (group.kind === "program")
		return "program";
	if (group.kind === "region") {
		const region = data.regions[group.region], listed = data.summary.regions[group.region];

		return with_dot("parallel region", listed ? shorten(listed.source || "", 40) : "",
			format_plural(region.threads, "thread"));
	}
	if (group.loop !== NONE) {
		const n = groups.strength_of(group)[0], loop = data.loops[group.loop];

		return with_dot(loop.sections ? "sections" : "loop", source_of(app, loop.definition),
			format_plural(n, loop.sections ? "section" : "chunk"));
	}
	return with_dot(group.tasks.length === 1 ? "lone child" : format_count(group.tasks.length) + " siblings",
		common_source(app, group.tasks));
}

class Box_layout {
	constructor(app, groups, what) {
		this.app = app;
		this.data = app.data;
		this.groups = groups;
		this.what = what;
		this.colours = app.colours;
		this.px_per_ns = app.px_per_ns ||= height_of_time(app.data);
		this.nodes = { look: [], x: [], y: [], w: [], h: [], context: [], flags: [] };
		this.subjects = [];
		this.all_words = [];
		this.edges = { kind: [], critical: [], curved: [], first: [0] };
		this.points = [];
		this.node_of = new Map();
	}

	/* ---- what is drawn ---------------------------------------------------- */

	flagged(member) {
		const problem = this.problem();

		if (!problem)
			return 0;
		return member.group ? this.groups.flagged(member.group, problem)
			: this.groups.problem(problem).flagged[member.context];
	}

	problem() {
		return this.colours.is_problem() ? this.app.get("view") : null;
	}

	exec(member) {
		return member.group ? this.groups.sums(member.group).exec : this.data.exec[member.context];
	}

	/*
	 * All open groups and the kept context are drawn. Then members with the problem follow, the longest
	 * first.
	 */
	rank(member) {
		if (member.group ? this.what.open.has(member.group.key) : member.context === this.what.keep)
			return Infinity;
		return this.exec(member) + (this.flagged(member) ? 1e18 : 0);
	}

	/* Returns a set of at most `most` members, the first ones by rank. If there are few, returns all. */
	foremost(members, most) {
		if (members.length <= most + 2)
			return new Set(members);
		const ranks = Float64Array.from(members, (m) => this.rank(m)), sorted = ranks.slice().sort();
		const least = sorted[members.length - most], out = new Set(members.filter((m, i) => ranks[i] > least));

		/* Of members with equal rank, takes the first. */
		for (let i = 0; out.size < most; i++)
			if (ranks[i] === least)
				out.add(members[i]);
		return out;
	}

	/*
	 * Returns [{ member }, { skipped: [members], why: "filter" | "more" }], in order. There are at most
	 * `most` members.
	 */
	choose(members, most) {
		const filtered = this.what.filter ?
			members.filter((m) => this.flagged(m) > 0 || this.rank(m) === Infinity) : members;
		const shown = this.foremost(filtered, most), kept = new Set(filtered), out = [];

		for (const member of members) {
			const why = shown.has(member) ? null : kept.has(member) ? "more" : "filter",
				last = out[out.length - 1];

			if (!why)
				out.push({ member });
			else if (last && last.why === why)
				last.skipped.push(member);
			else
				out.push({ skipped: [member], why });
		}
		return out;
	}

	/* ---- sizes -------------------------------------------------------------- */

	grain_height(context, most) {
		return Math.max(HEIGHT_LEAST, Math.min(most || HEIGHT_MOST, this.data.exec[context] * this.px_per_ns));
	}

	size(member) {
		const { group } = member;

		if (!group)
			return { context: member.context, w: GRAIN_WIDE, h: this.grain_height(member.context) };
		if (!this.what.open.has(group.key) && group !== this.what.focus)
			return { group, w: BOX_WIDE, h: BOX_HIGH };
		if (group.kind === "family")
			return this.headed(this.size_steps(group,
				{ context: group.context, w: 18, h: this.grain_height(group.context, HEAD_MOST) },
				this.groups.members(group).slice(1)));
		if (group.kind === "region")
			return this.headed(this.size_region(group));
		return this.headed(this.size_rows(group, this.groups.members(group)));
	}

	/* Makes room for the heading of an open box. */
	headed(box) {
		box.h += heading_height(box.w);
		return box;
	}

	most(group, usual) {
		return this.what.most.get(group.key) || usual;
	}

	size_skipped(item, group, members) {
		const { skipped, why } = item;
		let grains = 0;

		for (const m of skipped)
			grains += m.group ? this.groups.sums(m.group).grains : this.data.is_grain(m.context) ? 1 : 0;
		if (why === "more")
			return { more: group, shown: members, words: ["+ " + format_count(skipped.length) + " more"],
				w: BOX_WIDE, h: 26 };
		return { skipped, words: ["» " + format_count_short(grains || skipped.length)], w: 58, h: 20 };
	}

	heading_width(group) {
		return Math.min(280, 44 + 5.8 * group_title(this.app, this.groups, group).length);
	}

	/* The head comes first. The groups that it creates are below it, one after the other. */
	size_steps(group, head, members) {
		const steps = this.size_columns(group, members);

		return {
			group, head, steps, open: true,
			w: Math.max(this.heading_width(group), head.w, steps.w + 2 * BOX_PAD),
			h: 6 + head.h + steps.h + BOX_PAD,
		};
	}

	/* If there are many steps, they are in several columns of about the same height. */
	size_columns(group, members) {
		const most = this.most(group, STEPS_SHOWN), columns = [{ steps: [], w: 0, h: 0 }];
		const steps = this.choose(members, most)
			.map((item) => item.member ? this.size(item.member) : this.size_skipped(item, group, most));
		const high = (s) => s.skipped ? SKIP : s.more ? s.h + 2 * STEP : 3 * STEP + 2 * ROUND + s.h;
		const total = steps.reduce((sum, s) => sum + high(s), 0);
		const limit = total > COLUMN_MOST ?
			Math.max(COLUMN_MOST * 0.8, total / Math.ceil(total / COLUMN_MOST)) : Infinity;

		for (const s of steps) {
			let column = columns[columns.length - 1];

			if (column.steps.length && column.h + high(s) > limit * 1.05)
				columns.push(column = { steps: [], w: 0, h: 0 });
			column.steps.push(s);
			column.w = Math.max(column.w, s.w);
			column.h += high(s);
		}
		return {
			columns, w: columns.reduce((sum, c) => sum + c.w + COLUMN_GAP, -COLUMN_GAP),
			h: Math.max(...columns.map((c) => c.h)) + (columns.length > 1 ? 3 * STEP : 0),
		};
	}

	/* Puts members side by side, in rows. Members that are left out come last. */
	size_rows(group, members) {
		const most = this.most(group, MEMBERS_SHOWN), chosen = this.choose(members, most), boxes = [];

		for (const item of chosen)
			if (item.member)
				boxes.push(this.size(item.member));
		for (const why of ["more", "filter"]) {
			const skipped = chosen.filter((item) => item.why === why).flatMap((item) => item.skipped);

			if (skipped.length)
				boxes.push(this.size_skipped({ skipped, why }, group, most));
		}
		const rows = this.fill_rows(boxes);
		const w = Math.max(0, ...rows.map((r) => r.w)),
			h = rows.reduce((sum, r) => sum + r.h + BOX_GAP, -BOX_GAP);

		return { group, rows, open: true, w: Math.max(this.heading_width(group), w + 2 * BOX_PAD),
			h: 4 + h + BOX_PAD };
	}

	fill_rows(boxes) {
		const rows = [], area = boxes.reduce((sum, b) => sum + (b.w + BOX_GAP) * (b.h + BOX_GAP), 0);
		/* The box is not much wider than high, but small boxes fill a row. */
		const limit = Math.max(ROW_MOST, 1.7 * Math.sqrt(area));
		let row = null;

		for (const box of boxes) {
			if (!row || row.w + BOX_GAP + box.w > limit) {
				row = { boxes: [], w: -BOX_GAP, h: 0 };
				rows.push(row);
			}
			row.boxes.push(box);
			row.w += BOX_GAP + box.w;
			row.h = Math.max(row.h, box.h);
		}
		return rows;
	}

	/* The team, with idle members folded. Below it are the loops that the team shares. */
	size_region(group) {
		const members = this.groups.members(group),
			loops = members.filter((m) => m.group && m.group.loop !== NONE);
		const team = members.filter((m) => !loops.includes(m)),
			longest = Math.max(...team.map((m) => this.exec(m)));
		const busy = team.filter((m) => m.group || this.exec(m) > 0.02 * longest || team.length <= 4);
		const idle = team.length - busy.length, rows = this.size_rows(group, busy);

		if (idle) {
			const box = { idle, words: [format_count(idle) + " idle"], w: 56, h: 12 },
				last = rows.rows[rows.rows.length - 1];

			last.boxes.push(box);
			last.w += BOX_GAP + box.w;
			last.h = Math.max(last.h, box.h);
			rows.w = Math.max(rows.w, last.w + 2 * BOX_PAD);
		}
		if (loops.length) {
			rows.loops = this.size_columns(group, loops);
			rows.w = Math.max(rows.w, rows.loops.w + 2 * BOX_PAD);
			rows.h += rows.loops.h;
		}
		return rows;
	}

	/* ---- places ------------------------------------------------------------- */

	put(look, x, y, box, more) {
		const n = this.nodes;

		n.look.push(look);
		n.x.push(x);
		n.y.push(y);
		n.w.push(box.w);
		n.h.push(box.h);
		n.context.push(more && more.context !== undefined ? more.context : NONE);
		n.flags.push(more && more.flags || 0);
		this.subjects.push(more && more.subject || null);
		this.all_words.push(more && more.words || null);
		return n.look.length - 1;
	}

	line(kind, critical, x, y, height) {
		const e = this.edges;

		e.kind.push(kind);
		e.critical.push(critical ? 1 : 0);
		e.curved.push(0);
		this.points.push(x, y, x, y + height);
		e.first.push(this.points.length / 2);
	}

	round(look, x, y, critical) {
		this.put(look, x - ROUND / 2, y, { w: ROUND, h: ROUND }, { flags: critical ? NODE_CRITICAL : 0 });
	}

	place(box, x, y) {
		if (box.skipped)
			this.put(LOOK_SKIPPED, x, y, box, { words: box.words, subject: { skipped: box.skipped } });
		else if (box.more)
			this.put(LOOK_MORE, x, y, box,
				{ words: box.words, subject: { more: box.more.key, shown: box.shown } });
		else if (box.idle)
			this.put(LOOK_IDLE, x, y, { w: 14, h: box.h }, { words: box.words });
		else if (!box.group)
			this.place_grain(box, x, y);
		else if (!box.open)
			this.place_closed(box, x, y);
		else
			this.place_open(box, x, y);
	}

	place_grain(box, x, y) {
		const c = box.context, f = this.data.flags[c];
		const flags = (f & CRITICAL ? NODE_CRITICAL : 0) | (f & INCOMPLETE ? NODE_INCOMPLETE : 0) |
			(f & DISCARDED ? NODE_DISCARDED : 0) |
			(this.data.exec[c] * this.px_per_ns > box.h + 1 ? NODE_CAPPED : 0);

		this.node_of.set(c, this.put(LOOK_GRAIN, x, y, box, { context: c, flags }));
	}

	place_closed(box, x, y) {
		const { group } = box, stacked = group.kind === "siblings" || group.kind === "region";

		this.node_of.set(group.key, this.put(LOOK_CLOSED, x, y, box, {
			subject: group, words: this.closed_words(group),
			context: group.kind === "family" ? group.context : NONE,
			flags: (this.groups.critical(group) ? NODE_CRITICAL : 0) | (stacked ? NODE_STACKED : 0),
		}));
	}

	closed_words(group) {
		const { exec, grains } = this.groups.sums(group), flagged = this.flagged({ group });

		return [
			format_count_short(this.groups.strength_of(group)[0]) + " · " + format_count_short(grains),
			with_dot(format_time(exec), flagged ? format_percent(100 * flagged / grains) : ""),
		];
	}

	place_open(box, x, y) {
		const { group } = box,
			look = group.kind === "siblings" || group.kind === "program" ? LOOK_SIBLINGS : LOOK_FAMILY;
		const middle = x + box.w / 2, below = y + heading_height(box.w);

		this.node_of.set(group.key, this.put(look, x, y, box, {
			subject: group, words: [group_title(this.app, this.groups, group)],
			context: group.kind === "family" ? group.context : NONE,
		}));
		if (box.head) {
			this.place_grain(box.head, middle - box.head.w / 2, below + 6);
			this.place_columns(box.steps, middle, below + 6 + box.head.h,
				this.data.flags[box.head.context] & CRITICAL);
			return;
		}
		const widest = Math.max(...box.rows.map((row) => row.w));
		let at = below + 4;

		for (const row of box.rows) {
			const all_grains = row.boxes.every((b) => b.context !== undefined || b.idle);
			let left = x + (box.w - widest) / 2;

			for (const b of row.boxes) {
				this.place(b, left, at + (all_grains ? 0 : (row.h - b.h) / 2));
				left += b.w + BOX_GAP;
			}
			at += row.h + BOX_GAP;
		}
		if (box.loops)
			this.place_columns(box.loops, middle, at - BOX_GAP, false);
	}

	/* Goes down each column in turn, starting at (x, y). */
	place_columns({ columns, w }, x, y, critical) {
		let left = x - w / 2, at = y, last = null;

		columns.forEach((column, i) => {
			const middle = left + column.w / 2;

			if (columns.length > 1)
				this.turn(i ? last : [x, y], middle, y + 2 * STEP,
					i ? left - COLUMN_GAP / 2 : NONE, critical);
			at = this.place_steps(column.steps, middle, columns.length > 1 ? y + 2 * STEP : y, critical);
			last = [middle, at];
			left += column.w + COLUMN_GAP;
		});
	}

	/*
	 * Draws a continuation to the begin of a column: from the head, or from the column before, through
	 * the gap between them.
	 */
	turn([from_x, from_y], x, y, gap, critical) {
		const e = this.edges;

		e.kind.push(EDGE_CONTINUATION);
		e.critical.push(critical ? 1 : 0);
		e.curved.push(0);
		if (gap === NONE)
			this.points.push(from_x, from_y, from_x, from_y + STEP / 2, x, from_y + STEP / 2, x, y);
		else
			this.points.push(from_x, from_y, from_x, from_y + STEP / 2, gap, from_y + STEP / 2, gap,
				y - STEP / 2, x, y - STEP / 2, x, y);
		e.first.push(this.points.length / 2);
	}

	/* Returns the place where the steps end. */
	place_steps(steps, x, y, critical) {
		for (const s of steps) {
			if (s.skipped) {
				this.place({ ...s, w: 60, h: SKIP - 4 }, x - 4, y + 2);
				y += SKIP;
				continue;
			}
			if (s.more) {
				this.line(EDGE_CONTINUATION, false, x, y, STEP);
				this.place(s, x - s.w / 2, y + STEP);
				this.line(EDGE_CONTINUATION, false, x, y + STEP + s.h, STEP);
				y += s.h + 2 * STEP;
				continue;
			}
			const inside = s.group && this.groups.critical(s.group),
				loop = s.group && s.group.loop !== NONE;

			this.line(EDGE_CONTINUATION, critical && inside, x, y, STEP);
			this.round(loop ? LOOK_BOOK : LOOK_FORK, x, y + STEP, critical && inside);
			this.line(EDGE_CREATION, inside, x, y + STEP + ROUND, STEP);
			y += 2 * STEP + ROUND;
			this.place(s, x - s.w / 2, y);
			y += s.h;
			if (s.group && s.group.kind === "siblings" && !loop && s.group.join === NONE) {
				y += STEP + ROUND;
				continue;
			}
			this.line(EDGE_SYNCHRONIZATION, inside, x, y, STEP);
			this.round(LOOK_JOIN, x, y + STEP, critical && inside);
			y += STEP + ROUND;
		}
		return y;
	}

	/* ---- the picture ---------------------------------------------------------- */

	colour(i) {
		const subject = this.subjects[i], { colours } = this;

		if (!subject || !subject.kind)
			return colours.of(this.nodes_done.context[i]);
		const brush = this.app.get("brush"), problem = this.problem(), view = this.app.get("view");

		if (brush && !this.groups.value(subject, this.inside(brush)))
			return COLOUR_DIM;
		if (problem)
			return this.groups.flagged(subject, problem)
				? colours.of_severity(problem,
					this.data.metric(problem, this.groups.worst(subject, problem)))
				: COLOUR_DIM;
		if (view === "definition")
			return colours.of_definition(this.groups.definition(subject));
		const { exec, grains } = this.groups.sums(subject);

		return view === "time" && grains ? colours.of_time(exec / grains) : COLOUR_DIM;
	}

	/* Returns for each element how many of its contexts are inside the brush. */
	inside(brush) {
		if (this.groups.brushed !== brush) {
			this.groups.brushed = brush;
			this.groups.in_brush = this.groups.sum((c) => this.colours.is_inside(brush, c) ? 1 : 0);
		}
		return this.groups.in_brush;
	}

	picture() {
		const box = this.size({ group: this.what.focus });

		this.place(box, 0, 0);
		const n = this.nodes, e = this.edges, nodes = {
			count: n.look.length, look: Uint8Array.from(n.look), x: Float32Array.from(n.x),
			y: Float32Array.from(n.y),
			w: Float32Array.from(n.w), h: Float32Array.from(n.h), context: Int32Array.from(n.context),
			flags: Uint8Array.from(n.flags),
		};

		this.nodes_done = nodes;
		return new Picture(nodes, {
			count: e.kind.length, kind: Uint8Array.from(e.kind), critical: Uint8Array.from(e.critical),
			curved: Uint8Array.from(e.curved), first: Int32Array.from(e.first),
		}, Float32Array.from(this.points), { left: 0, top: -4, right: box.w + 4, bottom: box.h }, {
			of: (i) => this.subjects[i], words: (i) => this.all_words[i] || [""],
			colour: (i) => this.colour(i),
			px_per_ns: this.px_per_ns, node_of: (key) => this.node_of.get(key) ?? NONE,
		});
	}
}
