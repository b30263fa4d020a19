/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answer in one sentence, what the problem costs, and what to do. Then the facts behind it, and how far
 * they can be trusted. The texts are as in summary.c.
 */

/* "demo.c:68 in add_up" as nodes. The line is the part that people look for. */
function verdict_place(app, advice) {
	const { func } = app.place(app.definition_at(advice.source));

	if (!advice.source)
		return ["the program"];
	return [dom_node("bdi", { title: advice.source }, shorten(advice.source, 60)),
		func ? [" in ", dom_node("bdi", { title: func }, shorten(func, 60))] : []].flat();
}

/* Returns words such as "; most of them come from ", by the part of the flagged grains at the advice's line. */
function verdict_origin(app, advice) {
	const definitions = app.data.summary.definitions;
	const flagged = (d) => d.problems[advice.problem] ? d.problems[advice.problem].grains : 0;
	const all = definitions.reduce((sum, d) => sum + flagged(d), 0);
	const profile = app.profile(app.definition_at(advice.source));

	if (!profile)
		return "";
	if (flagged(profile) === all)
		return all === 1 ? "; it comes from " : "; all of them come from ";
	return flagged(profile) * 2 > all ? "; most of them come from " : "; those that cost most come from ";
}

const VERDICTS = {
	small_tasks(app, advice, place) {
		const problem = app.data.summary.problems.parallel_benefit;
		const origin = verdict_origin(app, advice);

		return [format_percent(problem.percent),
			" of the grains cost more to create and join than they compute",
			origin ? [origin, place] : "", "."];
	},
	small_chunks(app, advice, place) {
		const { grains, of } = advice.evidence;

		return ["The loop at ", place, " is cut too small: ", format_percent(of ? 100 * grains / of : NaN),
			" of its chunks take longer to hand out than to compute."];
	},
	little_parallelism(app, advice, place) {
		return ["The threads have nothing to run for ", format_percent(advice.evidence.idle_percent),
			" of their time in ", place, ": too little is ready at a time."];
	},
	few_grains(app, advice, place) {
		return ["Too few and too large grains: the threads of ", place, " have nothing to run for ",
			format_percent(advice.evidence.idle_percent), " of their time."];
	},
	creation_bottleneck(app, advice, place) {
		return ["One thread creates the tasks of ", place, " and cannot keep up: the others wait ",
			format_percent(advice.evidence.idle_percent), " of their time."];
	},
	imbalance(app, advice, place) {
		const { minimum_cores, threads } = advice.evidence;

		return ["The work of ", place, " is divided unevenly: threads wait for the longest share",
			minimum_cores && minimum_cores < threads ?
				`; ${minimum_cores} of ${threads} would be as fast` : "", "."];
	},
	work_inflation(app, advice, place) {
		const times = advice.evidence.deviation;

		return ["The grains of ", place, " take ", is_absent(times) ? "longer than" :
			format_ratio(times) + " times as long as", " with one thread."];
	},
	memory_stalls(app, advice, place) {
		return ["Cores wait for memory during ", format_percent(advice.evidence.stalled_percent),
			" of the time of ", place, "."];
	},
	lock_waiting(app, advice, place) {
		return ["Threads wait ", format_time(advice.evidence.wait_ns), " for the lock or critical section at ",
			place, "."];
	},
	serial_code(app, advice) {
		const name = advice.evidence.function;

		return [format_percent(advice.evidence.idle_percent), " of the threads' time is lost to serial code",
			...name ? [", most of it in ", dom_node("span", { title: advice.evidence.function_source },
				name), "."] : [": one works, the others have nothing to do."]];
	},
	small_regions(app, advice, place) {
		return ["The regions of ", place, " are too small: each needs ",
			format_time(advice.evidence.median_cost_ns), " to begin and end."];
	},
	oversubscription(app, advice) {
		return ["There are more threads than CPUs: they wait for each other for ",
			format_percent(advice.evidence.off_cpu_percent), " of their time."];
	},
	other_programs(app, advice) {
		return ["Other programs have its CPUs: its threads wait for them for ",
			format_percent(advice.evidence.off_cpu_percent), " of their time."];
	},
	first_touch(app, advice, place) {
		return ["Memory that ", place, " uses lies on one NUMA node, while ",
			format_percent(advice.evidence.elsewhere_percent), " of the teams' time is on others."];
	},
};

function verdict_worst(app, advice) {
	const s = app.data.summary, say = VERDICTS[advice.kind], place = verdict_place(app, advice);
	/* Advice is about the graph's part of the run. */
	const wall = graph_wall(app);
	const share = wall ? ", " + format_percent(100 * advice.saves_ns / wall) + " of the wall time" : "";

	return [
		dom_node("h1", {},
			(say ? say(app, advice, place) : [...place, ": ", problem_title(advice.kind), "."]).flat(3)),
		dom_node("p", { class: "cure" },
			dom_node("b", {}, "Costs up to " + format_time(advice.saves_ns)), share,
			". ", dom_node("b", {}, "To do: "), dom_node("bdi", {}, format_sentence(advice.text)), "."),
	];
}

function verdict_none(s) {
	if (!s.grains.total)
		return [
			dom_node("h1", {}, "No grains: no explicit task, loop or sections were seen."),
			dom_node("p", { class: "cure" },
				"The program created none while it was observed, or it was observed too late. ",
				dom_node("b", {}, "To do: "), "observe it while it runs its parallel part."),
		];
	const flagged = Object.values(s.problems).reduce((sum, p) => sum + (p.available ? p.grains : 0), 0);

	return [
		dom_node("h1", {}, "No problem found that costs noticeable time."),
		dom_node("p", { class: "cure" }, flagged ?
			format_plural(flagged, "value is", "values are") +
				" beyond a threshold, but cost next to nothing. " :
			"No metric is beyond its threshold. ", dom_node("b", {}, "To do: "),
		"nothing here; look for time outside of the parallel parts."),
	];
}

function facts_node(s) {
	const busy = s.threads && s.wall_ns ? 100 * s.work_ns / (s.threads * s.wall_ns) : NaN;
	const fact = (name, value, hint) => dom_node("span", { title: hint }, name + " ", dom_node("b", {}, value));

	return [
		fact("wall", format_time(s.wall_ns), "from the first event to the last"),
		fact("work", format_time(s.work_ns), "execution time of everything, on all threads together"),
		fact("span", format_time(s.span_ns),
			"the longest path from begin to end: no number of threads is faster"),
		fact("average parallelism", format_ratio(s.average_parallelism), "work / span"),
		s.threads ? fact(format_plural(s.threads, "thread") + " busy", format_percent(busy),
			"work / (wall × threads)") : null,
		fact("", format_plural(s.grains.total, "grain"),
			`${format_count(s.grains.tasks)} tasks, ${format_count(s.grains.chunks)} chunks`),
	];
}

/* Whether the graph has only a part of a long job. */
function is_partial(app) {
	const { coverage } = app.data.summary;

	return !!coverage && !coverage.whole;
}

/* Returns the part of the run's time that the graph has. */
function graph_wall(app) {
	const s = app.data.summary;

	return is_partial(app) ? s.coverage.graph_wall_ns : s.wall_ns;
}

/* "and 9 parallel regions after it (the slowest, the last, every 64th)", as in coverage.c. */
function kept_text(kept) {
	const every = kept.reduce((most, region) => Math.max(most, region.every || 0), 0);
	const ending = every % 100 > 10 && every % 100 < 14 ? "th" : ["th", "st", "nd", "rd"][every % 10] || "th";
	const which = [kept.some(region => region.slowest) ? "the slowest" : "",
		kept.some(region => region.last) ? "the last" : "",
		every > 1 ? `every ${format_count(every)}${ending}` : ""].filter(word => word);

	return ` and ${format_plural(kept.length, "parallel region")} after it ` +
		`(${every === 1 ? "all of them" : which.join(", ")})`;
}

/* Says which part of the run the page shows, if it is not the whole run. The text is as in coverage.c. */
function part_node(app) {
	const s = app.data.summary, r = s.recording, c = s.coverage, parts = [];

	if (r && r.mode === "windows") {
		const work = r.estimated.work_ns, known = !is_absent(work.value) && work.value > 0;

		parts.push(["Recorded in ", format_plural(r.windows, "window"), ": ",
			dom_node("b", {}, format_percent(100 * r.recorded_ns / Math.max(1, r.whole_ns))),
			" of ", format_time(r.whole_ns),
			", to cost no more than was allowed. " +
				"All that is shown is of these, nothing is known of the time between",
			known ? ["; about ", format_time(work.value), " of work in all",
				is_absent(work.error) ? "" :
					` (± ${format_percent(100 * work.error / work.value)})`] : "", "."]);
	}
	if (is_partial(app))
		parts.push([`${parts.length ? " " : ""}Graph, time-line and problems are of the first `,
			dom_node("b", {}, format_time(c.graph_first_ns)),
			c.kept_regions.length ? kept_text(c.kept_regions) : "",
			`, ${format_count(c.graph_grains)} of ${format_plural(s.grains.total, "grain")}; `,
			"grains, wall, work and the sums of source lines are of the whole run",
			c.why ? [", but not all of it: ", dom_node("bdi", {}, clean_strings(c.why))] : "", "."]);
	return parts.length ? dom_node("p", { class: "part", role: "note" },
		dom_node("i", { class: "dot", "aria-hidden": "true" }),
		dom_node("span", {}, dom_node("b", {}, "Part of the run. "), parts.flat(4))) : null;
}

/* What was lost or does not match, by cause. */
function losses_of(s) {
	const e = s.events, rows = [
		["events lost", e.lost], ["bodies without creation", e.unmatched_begins],
		["ends without begin", e.unmatched_ends], ["created, body not seen", e.never_begun],
		["begun, end not seen", e.never_ended], ["waits, end not seen", e.unclosed_waits],
		["incomplete grains", s.grains.incomplete], ["incomplete regions", s.incomplete_regions],
		["read faults", e.read_faults], ["grains too short to measure", s.grains.below_resolution],
		["threads whose times do not add up", s.conservation.violations], ...Object.entries(e.losses),
	];

	return rows.filter(([, count]) => count);
}

/* If measuring takes more than this share, times do not show the program as it is. As in summary.c. */
const SLOWED_PERCENT = 10;

function truth_node(s) {
	const wrong = s.damaged || s.conservation.violations > 0;
	const whole = !wrong && !s.events.lost && !s.grains.incomplete;
	const state = wrong ? ["bad", "not to be trusted"] : !whole ? ["warn", "partly to be trusted"] :
		s.overhead.percent > SLOWED_PERCENT ? ["warn", "the graph is exact, its times are not"] :
			["ok", "to be trusted"];
	const parts = [
		format_plural(s.events.lost, "event") + " lost",
		format_plural(s.grains.incomplete, "grain") + " incomplete",
		s.grains.discarded ? format_count(s.grains.discarded) + " discarded" : null,
		s.conservation.claimed ? s.conservation.violations ?
			"times do not add up on " + format_plural(s.conservation.violations, "thread") :
			"times add up" : null,
		"measuring cost " + (is_absent(s.overhead.percent) ? "unknown" : format_percent(s.overhead.percent)),
		s.damaged ? "damaged file" : null,
		s.late ? "attached late" : null,
		s.unit === "cycles" ? "times in processor cycles" : null,
		s.times === "derived" ? "begins derived, not measured" : null,
	].filter(Boolean);
	const losses = losses_of(s);

	return [
		dom_node("span", { class: "truth " + state[0] }, dom_node("i", { class: "dot", "aria-hidden": "true" }),
			dom_node("span", {}, dom_node("b", {}, state[1]), ": " + parts.join(" · "))),
		losses.length || s.conservation.first ? dom_node("details", { class: "losses" },
			dom_node("summary", {}, "what was not seen"),
			losses.length ? dom_node("ul", {}, losses.map(([name, count]) => dom_node("li", {},
				dom_node("b", {}, format_count(count)), " ",
				dom_node("bdi", {}, clean_strings(name))))) : null,
			s.conservation.first ?
				dom_node("p", {}, dom_node("bdi", {}, s.conservation.first)) : null) : null,
	];
}

function make_verdict(app, el) {
	const s = app.data.summary;
	const says = s.verdict === "advice" ? verdict_worst(app, s.advice[0]) :
		s.verdict === "lost" ? verdict_lost(s) : verdict_none(s);

	el.append(...says,
		part_node(app) || "", dom_node("div", { class: "facts" }, facts_node(s), truth_node(s)));
}
