/* SPDX-License-Identifier: BSD-2-Clause */
/* A tile for each problem: how many grains have it. A click shows the problem everywhere. */
const PROBLEM_MEANINGS = {
	parallel_benefit: "cost more than they give",
	load_balance: "of unevenly divided work",
	work_deviation: "take longer than with one thread",
	instantaneous_parallelism: "ran beside too few others",
	scatter: "ran far from their siblings",
	memory_hierarchy_utilization: "wait for memory",
	cache_miss_ratio: "miss the cache",
};

function problem_threshold(name, problem) {
	return (LOW_IS_BAD.has(name) ? "< " : "> ") + format_plain(problem.threshold);
}

/* The source line where the problem is worst: by time at stake, else by the number of grains. */
function worst_source(app, name) {
	const { advice, definitions } = app.data.summary;
	const costly = advice.find((a) => a.problem === name && app.profile(app.definition_at(a.source)));
	let most = null;

	if (costly)
		return costly.source;
	for (const d of definitions)
		if (d.problems[name] && d.problems[name].grains &&
			(!most || d.problems[name].grains > most.problems[name].grains))
			most = d;
	return most && most.source;
}

function problem_tile(app, name) {
	const problem = app.data.summary.problems[name], worst = worst_source(app, name);

	return dom_node("button", {
		class: "tile", type: "button", "data-problem": name,
		title: "Show " + problem_title(name).toLowerCase() + " everywhere",
		onclick: () => app.set("view", name),
	},
	dom_node("span", { class: "tile-title" }, problem_title(name)),
	dom_node("span", { class: "tile-number" }, format_count(problem.grains),
		dom_node("small", {}, format_percent(problem.percent) + "  " + problem_threshold(name, problem))),
	bar_node(problem.percent / 100, "var(--h1)"),
	dom_node("span", { class: "tile-meaning" }, PROBLEM_MEANINGS[name]),
	dom_node("span", { class: "tile-worst" }, worst ? ["worst ", dom_node("bdi", { class: "mono" }, worst)] :
		problem.grains ? "of no known line" : "no grain"));
}

function absent_tile(name, why) {
	return dom_node("div", { class: "tile absent", "data-problem": name, title: why },
		dom_node("span", { class: "tile-title" }, problem_title(name)),
		dom_node("span", { class: "tile-why" }, "absent: " + (why || "not known")));
}

function make_tiles(app, el) {
	const problems = app.data.summary.problems, ranked = app.ranked_problems();
	const absent = PROBLEMS.filter((name) => !ranked.includes(name));
	const tiles = ranked.map((name) => problem_tile(app, name));
	const show = () => {
		for (const tile of tiles)
			tile.setAttribute("aria-pressed", String(tile.dataset.problem === app.get("view")));
	};

	el.append(...tiles, ...absent.map((name) => absent_tile(name, problems[name] && problems[name].why)));
	app.on("view", show);
	show();
}
