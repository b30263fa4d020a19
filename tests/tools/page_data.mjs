/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * node page_data.mjs RENDER_PAGE REPORT.html GRAINS.jsonl: reads a report with
 * the page's own scripts (RENDER_PAGE is the folder) and compares with the
 * lines of --format json. Prints the differences; exit 1 when there are any.
 */
import fs from "node:fs";
import vm from "node:vm";

const [folder, report_file, grains_file] = process.argv.slice(2);
const MOST_SHOWN = 20, MANY = 100000;
const html = fs.readFileSync(report_file, "utf8");
const elements = new Map();

for (const [, id, text] of html.matchAll(/<script type="[a-z/]+" id="([^"]+)">([^<]*)<\/script>/g))
	elements.set(id, { textContent: text });
const scope = vm.createContext({
	document: { getElementById: (id) => elements.get(id) ?? null }, console, setTimeout, atob, Blob, Response,
	DecompressionStream, TextDecoder,
});
const scripts = fs.readdirSync(folder).filter((name) => /^data.*\.js$/.test(name)).sort();
const source = scripts.map((name) => fs.readFileSync(folder + "/" + name, "utf8")).join("\n");
const page = vm.runInContext(`(() => {"use strict";${source}
return { Report, NONE, INITIAL, IMPLICIT, TASK, CHUNK, UNDEFERRED, CRITICAL, INCOMPLETE, DISCARDED, RUNTIME, PROBLEMS,
	LOW_IS_BAD, SCENE_FORK, SCENE_JOIN, SCENE_GROUP, SCENE_IDLE, SCENE_FRAGMENT, SCENE_CHUNK, ` +
	"SCENE_BOOKKEEPING }; })()", scope);

let failures = 0, compared = 0;

function fail(...words) {
	if (failures++ < MOST_SHOWN)
		console.log(...words);
}

function same(what, got, expected) {
	compared++;
	if (!Object.is(got, expected))
		fail(what, "is", got, "not", expected);
}

function near(what, got, expected, within) {
	compared++;
	if (!(Math.abs(got - expected) <= within))
		fail(what, "is", got, "not", expected, "within", within);
}

/* Three significant digits; null: absent. */
function metric(what, got, expected) {
	if (expected === null)
		same(what, got, NaN);
	else if (Math.abs(expected) < 1e-6)
		same(what, got, 0);
	else
		near(what, got, expected, Math.abs(expected) * 0.00501 + 1e-12);
}

function check_times(report, c, grain, start_ns) {
	const half = report.tick / 2, id = grain.id;

	for (const [name, array] of [["exec_ns", report.exec], ["create_ns", report.create], ["wait_ns", report.wait],
		["bookkeeping_ns", report.bookkeeping]])
		near(`${id} ${name}`, array[c], grain[name], half);
	near(`${id} lock_ns`, report.lock[c], grain.lock_ns ?? 0, half);
	if (grain.cpu_ns === null)
		same(`${id} on_cpu`, report.on_cpu, null);
	else
		near(`${id} cpu_ns`, report.on_cpu[c], grain.cpu_ns, 2 * half);
	if (grain.start_ns >= start_ns)
		near(`${id} start_ns`, report.start[c], grain.start_ns - start_ns, half);
	else
		same(`${id} start_ns`, report.start[c], NaN);
	if (grain.end_ns >= start_ns)
		near(`${id} end_ns`, report.end[c], grain.end_ns - start_ns, half);
}

function check_fragments(report, c, grain, start_ns) {
	const f = report.fragments, list = report.fragments_of(c), half = report.tick / 2;
	const expected = grain.fragments.filter((x) => x.end_ns > x.start_ns);

	same(`${grain.id} number of fragments`, list.length, expected.length);
	for (let k = 0; k < Math.min(list.length, expected.length); k++) {
		const what = `${grain.id} fragment ${k}`, i = list[k];

		near(`${what} start`, f.start[i], expected[k].start_ns - start_ns, half);
		near(`${what} end`, f.end[i], expected[k].end_ns - start_ns, half);
		same(`${what} tid`, report.report.tids[f.thread[i]], expected[k].tid);
		same(`${what} cpu`, f.cpu[i], expected[k].cpu);
		same(`${what} context`, f.context[i], c);
	}
}

function check_bounds(report, c, grain) {
	if (grain.lower === null || grain.lower === undefined) {
		if (report.lower)
			same(`${grain.id} lower`, report.lower[c], NaN);
		return;
	}
	if (Math.abs(grain.lower) >= 2 ** 53 || Math.abs(grain.upper) >= 2 ** 53)
		return;
	same(`${grain.id} lower`, report.lower[c], grain.lower);
	same(`${grain.id} upper`, report.upper[c], grain.upper);
	if (grain.chunks !== undefined)
		same(`${grain.id} chunks`, report.chunks[c], grain.chunks);
	if (grain.chunks > 1)
		same(`${grain.id} stride`, report.stride[c], grain.stride ?? NaN);
}

function check_problems(report, c, grain) {
	const summary = report.summary.problems;

	for (const [index, name] of page.PROBLEMS.entries()) {
		const value = grain[name], flagged = Boolean(report.problems[c] >> index & 1);

		metric(`${grain.id} ${name}`, report.metric(name, c), value);
		if (value === null || summary[name].threshold === null || !report.is_complete(c))
			continue;
		if (Math.abs(value - summary[name].threshold) > 1e-9 && name !== "instantaneous_parallelism" &&
			name !== "scatter")
			same(`${grain.id} has the problem ${name}`, flagged, page.LOW_IS_BAD.has(name) ?
				value < summary[name].threshold : value > summary[name].threshold);
	}
}

function check_counters(report, c, grain) {
	for (const { name, exact, value } of report.counters) {
		const expected = grain.counters?.[name] ?? null;

		if (expected === null)
			same(`${grain.id} ${name}`, value[c], NaN);
		else if (exact)
			same(`${grain.id} ${name}`, value[c], expected);
		else
			metric(`${grain.id} ${name}`, value[c], expected);
	}
}

function check_context(report, c, grain, start_ns) {
	const kinds = ["initial", "implicit", "task", "chunk"], { NONE } = page,
		flag = (bit) => Boolean(report.flags[c] & bit);
	let parent = report.parent[c];

	same(`context ${c} id`, report.id(c), grain.id);
	same(`${grain.id} found`, report.find(grain.id), c);
	same(`${grain.id} kind`, kinds[report.kind[c]], grain.kind);
	while (parent !== NONE && report.flags[parent] & page.RUNTIME)
		parent = report.parent[parent];
	same(`${grain.id} parent`, parent === NONE ? null : report.id(parent), grain.parent);
	same(`${grain.id} definition`, report.definition[c], grain.definition ?? NONE);
	if (grain.definition !== null)
		same(`${grain.id} source`, report.report.definitions[grain.definition].source, grain.source);
	same(`${grain.id} depth`, report.depth[c], grain.depth);
	same(`${grain.id} join`, report.join[c] === NONE ? null : report.join_id(report.join[c]), grain.join);
	if (grain.kind === "chunk")
		same(`${grain.id} loop`, report.loop[c] === NONE ? null : report.loop_id(report.loop[c]), grain.loop);
	same(`${grain.id} critical`, flag(page.CRITICAL), grain.critical);
	same(`${grain.id} incomplete`, flag(page.INCOMPLETE), grain.incomplete);
	same(`${grain.id} discarded`, flag(page.DISCARDED), grain.discarded ?? false);
	same(`${grain.id} runtime`, flag(page.RUNTIME), grain.runtime ?? false);
	check_times(report, c, grain, start_ns);
	check_fragments(report, c, grain, start_ns);
	check_bounds(report, c, grain);
	check_problems(report, c, grain);
	check_counters(report, c, grain);
}

/* Both ways, and as the lines have it. */
function check_links(report, grains) {
	const by_id = new Map(grains.map((grain, c) => [grain.id, c])), { NONE } = page;
	const after = grains.map(() => new Set()), before = grains.map(() => new Set());
	const link = (from, to) => {
		after[from].add(to);
		before[to].add(from);
	};
	const members = new Map();
	const region_of = (join) => join.slice(0, join.lastIndexOf("/"));

	grains.forEach((grain, c) => {
		if (grain.kind !== "implicit")
			return;
		const region = grain.id.slice(0, grain.id.lastIndexOf("."));

		members.set(region, [...members.get(region) ?? [], c]);
	});
	const waiters = (join) => {
		const place = region_of(join);

		if (!/\/b\d+$/.test(join))
			return [by_id.get(place)];
		return members.get(place) ?? [];
	};

	grains.forEach((grain, c) => {
		if (report.parent[c] !== NONE)
			link(report.parent[c], c);
		for (const id of grain.depends_on)
			link(by_id.get(id), c);
		for (const wait of grain.depend_waits ?? [])
			for (const id of wait.depends_on)
				for (const waiter of waiters(wait.join))
					link(by_id.get(id), waiter);
		if (grain.join === null)
			return;
		/* What ends a region goes on in what met it. */
		if (report.joins.kind[report.join[c]] === 3) {
			const parent = report.regions[report.joins.region[report.join[c]]]?.parent ?? NONE;

			if (parent !== NONE)
				link(c, parent);
			return;
		}
		for (const waiter of waiters(grain.join))
			if (waiter !== c && waiter !== undefined)
				link(c, waiter);
	});
	grains.forEach((grain, c) => {
		const ids = (list) => [...list].sort((a, b) => a - b).map((x) => report.id(x)).join(" ");

		same(`${grain.id} successors`, ids(report.successors(c)), ids(after[c]));
		same(`${grain.id} predecessors`, ids(report.predecessors(c)), ids(before[c]));
	});
}

async function check_scene(report) {
	const scene = await report.load_scene(), { nodes, edges } = scene;
	const held = new Float64Array(nodes.count);

	for (let i = 0; i < nodes.count; i++) {
		const inside = nodes.x[i] - nodes.w[i] / 2 >= scene.left - 0.2 &&
			nodes.x[i] + nodes.w[i] / 2 <= scene.right + 0.2 &&
			nodes.y[i] >= scene.top - 0.2 && nodes.y[i] + nodes.h[i] <= scene.bottom + 0.2;

		same(`node ${i} is inside the bounds`, inside, true);
		if (nodes.fragment[i] !== page.NONE)
			same(`node ${i} context`, report.fragments.context[nodes.fragment[i]], nodes.context[i]);
	}
	for (let i = 0; i < edges.count; i++) {
		const points = edges.first[i + 1] - edges.first[i];

		same(`edge ${i} has points`, points >= 2 && (!edges.curved[i] || points % 3 === 1), true);
		same(`edge ${i} ends`, edges.from[i] < nodes.count && edges.to[i] < nodes.count, true);
	}
	for (let c = 0; c < report.count; c++) {
		const node = scene.node_of[c];

		if (node !== page.NONE && report.is_grain(c))
			held[node]++;
		if (node === page.NONE && report.is_grain(c) && report.parent[c] !== page.NONE)
			fail(`${report.id(c)} is not in the drawing`);
	}
	for (let i = 0; i < nodes.count; i++)
		if (nodes.shape[i] === page.SCENE_GROUP)
			same(`grains in the group ${i}`, held[i], nodes.grains[i]);
}

async function main() {
	const report = await page.Report.load(), shares = [];
	const grains = fs.readFileSync(grains_file, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));

	await report.load_columns((share) => shares.push(share));
	same("the last share done", shares.at(-1), 1);
	same("contexts", report.count, grains.length);
	/* Of very many, some. */
	const step = report.count > MANY ? 13 : 1;

	for (let c = 0; c < Math.min(report.count, grains.length); c += step)
		check_context(report, c, grains[c], report.report.start_ns);
	same("an unknown id", report.find("0.p999999"), page.NONE);
	grains.forEach((grain, c) => {
		for (const child of report.children(c))
			same(`${grain.id}'s child's parent`, report.parent[child], c);
	});
	if (report.count === grains.length && report.count <= MANY)
		check_links(report, grains);
	await check_scene(report);
	console.log(`${compared} values, ${failures} differences`);
	process.exit(failures ? 1 : 0);
}
await main();
