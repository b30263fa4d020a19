/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parts of the page share. Keys:
 *   view        a name of PROBLEMS, "definition", "thread" or "time"
 *   selected    a context or NONE
 *   hovered     a context or NONE
 *   definition  the selected definition or NONE
 *   brush       null, or { definition, from, to } in ns of exec
 *   filter      only grains with the view's problem
 *   theme       "light" or "dark"
 *   ready       the columns are loaded
 *   paint_now   grows when pictures must be painted before the listener returns, because printing does not wait
 * Parts also use keys of their own. Listeners are called when a value changes.
 * Values that a link can contain are also in location.hash.
 */
class App {
	constructor(data) {
		this.data = data;
		this.values = new Map();
		this.listeners = new Map();
		this.dark = matchMedia("(prefers-color-scheme: dark)");
		this.theme_chosen = null;
		this.on_paper = false;
		for (const [key, value] of Object.entries({
			view: this.first_view(), selected: NONE, hovered: NONE, definition: NONE, brush: null,
			filter: false, ready: false, theme: this.dark.matches ? "dark" : "light",
		}))
			this.values.set(key, value);
		this.dark.addEventListener("change", () => this.show_theme());
		this.hash_written = -Infinity;
		this.read_hash();
		addEventListener("hashchange", () => this.read_hash());
		this.on("ready", () => this.read_hash());
		this.watch_paper();
		for (const key of ["view", "selected", "definition", "brush", "filter", "theme"])
			this.on(key, () => this.write_hash_soon());
	}

	get(key) {
		return this.values.get(key);
	}

	set(key, value) {
		if (this.values.get(key) === value)
			return;
		this.values.set(key, value);
		for (const fn of this.listeners.get(key) || []) {
			try {
				fn(value);
			} catch (error) {
				console.error(key, error);
			}
		}
	}

	/* Calls fn on every change. For `ready`, calls it at once if it is already set. */
	on(key, fn) {
		if (key === "ready" && this.get("ready"))
			fn(true);
		if (!this.listeners.has(key))
			this.listeners.set(key, []);
		this.listeners.get(key).push(fn);
	}

	choose_theme(theme) {
		this.theme_chosen = theme;
		this.show_theme();
	}

	/* On paper, the theme is always light. */
	show_theme() {
		const chosen = this.on_paper ? "light" : this.theme_chosen;

		if (chosen)
			document.documentElement.dataset.theme = chosen;
		else
			delete document.documentElement.dataset.theme;
		this.set("theme", chosen || (this.dark.matches ? "dark" : "light"));
	}

	/*
	 * Styles follow the medium by themselves, but pictures are painted for one medium. Some browsers
	 * report a change by an event, some by the medium.
	 */
	watch_paper() {
		const paper = matchMedia("print"), turn = (on_paper) => {
			this.on_paper = on_paper;
			this.show_theme();
			this.set("paint_now", (this.get("paint_now") || 0) + 1);
		};

		addEventListener("beforeprint", () => turn(true));
		addEventListener("afterprint", () => turn(paper.matches));
		paper.addEventListener("change", () => turn(paper.matches));
		if (paper.matches)
			turn(true);
	}

	/* Returns the context with this identifier. NONE: there is none (yet). */
	find(id) {
		return this.get("ready") ? this.data.find(id) : NONE;
	}

	/* Returns the definition's entry in summary.definitions. */
	profile(definition) {
		return this.data.summary.definitions.find((d) => d.definition === definition) || null;
	}

	/* Returns { source, func } of a definition, whether it has grains or not. */
	place(definition) {
		const { source, function: func } = this.data.report.definitions[definition] || {};

		return this.profile(definition) || { source, func };
	}

	/*
	 * Returns the definition at a source line. Prefers the definition of grains with the most time. NONE:
	 * there is none.
	 */
	definition_at(source) {
		const found = source && this.data.summary.definitions.find((d) => d.source === source);

		if (found && found.definition !== null)
			return found.definition;
		return source ? this.data.report.definitions.findIndex((d) => d.source === source) : NONE;
	}

	/* The problems whose values are known. Sorted by time at stake, then by number of grains. */
	ranked_problems() {
		const { problems, advice } = this.data.summary;
		const stake = (name) => {
			const first = advice.findIndex((a) => a.problem === name);

			return first < 0 ? advice.length : first;
		};

		return PROBLEMS.filter((name) => problems[name] && problems[name].available)
			.sort((a, b) => stake(a) - stake(b));
	}

	/* The first view, as in view.c: by time at stake, or the first view that has something to show. */
	first_view() {
		const { problems, advice } = this.data.summary, asked = this.data.report.view;

		if (VIEWS.includes(asked))
			return asked;
		const at_stake = advice.find((a) => a.problem && problems[a.problem] && problems[a.problem].available);

		if (at_stake)
			return at_stake.problem;
		return PROBLEMS.find((name) => problems[name] && problems[name].available && problems[name].grains) ||
			"definition";
	}

	read_hash() {
		const hash = new URLSearchParams(location.hash.slice(1));
		const number = (text) => /^\d+$/.test(text) ? Number(text) : NONE;

		if (VIEWS.includes(hash.get("view")))
			this.set("view", hash.get("view"));
		if (hash.get("theme") === "light" || hash.get("theme") === "dark")
			this.choose_theme(hash.get("theme"));
		if (hash.has("filter"))
			this.set("filter", hash.get("filter") === "1");
		if (hash.has("definition"))
			this.set("definition", number(hash.get("definition")));
		if (hash.has("brush")) {
			const [, definition, from, to] = /^(\d+):([\d.]+)-([\d.]+)$/.exec(hash.get("brush")) || [];
			const old = this.get("brush");

			if (definition && !(old && this.hash_of_brush(old) === hash.get("brush")))
				this.set("brush",
					{ definition: Number(definition), from: Number(from), to: Number(to) });
		}
		if (hash.has("selected") && this.get("ready"))
			this.set("selected", this.find(hash.get("selected")));
	}

	hash_of_brush(brush) {
		return brush.definition + ":" + brush.from + "-" + brush.to;
	}

	/* Writes soon, but not more often than browsers allow: not for each step of a drag. */
	write_hash_soon() {
		const wait = this.hash_written + 200 - performance.now();

		clearTimeout(this.hash_timer);
		if (wait > 0)
			this.hash_timer = setTimeout(() => this.write_hash(), wait);
		else
			this.write_hash();
	}

	write_hash() {
		const hash = new URLSearchParams(location.hash.slice(1));
		const put = (key, value) => value === null ? hash.delete(key) : hash.set(key, value);
		const selected = this.get("selected"), definition = this.get("definition"), brush = this.get("brush");

		put("view", this.get("view"));
		put("theme", this.theme_chosen);
		put("filter", this.get("filter") ? "1" : null);
		put("definition", definition === NONE ? null : definition);
		put("brush", brush ? this.hash_of_brush(brush) : null);
		if (this.get("ready"))
			put("selected", selected === NONE ? null : this.data.id(selected));
		this.hash_written = performance.now();
		history.replaceState(null, "", "#" + hash);
	}
}
