/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads the columns of contexts, fragments and everything else, in the order of Report.load_columns. */

async function load_structure(report) {
	const n = report.count;
	const flags = await Numbers.of("flags"), parent = await Numbers.of("parent"),
		definition = await Numbers.of("definition"), region = await Numbers.of("member_region"),
		join = await Numbers.of("join"), loop = await Numbers.of("chunk_loop");
	let last_join = 0, last_loop = 0, last_parent = 0;

	report.kind = new Uint8Array(n);
	report.flags = new Uint16Array(n);
	report.parent = new Int32Array(n);
	report.definition = new Int32Array(n);
	report.region = new Int32Array(n).fill(NONE);
	report.join = new Int32Array(n);
	report.loop = new Int32Array(n).fill(NONE);
	report.depth = new Int32Array(n);
	for (let i = 0; i < n; i++) {
		const code = flags.next();

		report.kind[i] = code & 3;
		report.flags[i] = code & ~3;
		if (report.kind[i] === CHUNK) {
			const change = parent.next();

			report.parent[i] = change ? last_parent += unzigzag(change - 1) : NONE;
		} else {
			const up = parent.signed();

			report.parent[i] = up ? i - up : NONE;
		}
		report.definition[i] = definition.next() - 1;
		if (report.kind[i] === IMPLICIT)
			report.region[i] = region.next() - 1;
		report.join[i] = last_join += join.signed();
		if (report.kind[i] === CHUNK)
			report.loop[i] = last_loop += loop.signed();
	}
	await breathe();
	const depth = await Numbers.of("depth");

	for (let i = 0; i < n; i++) {
		const up = report.parent[i];

		report.depth[i] = (up === NONE ? 0 : report.depth[up]) + depth.signed();
	}
}

/* After this many steps, the page gets time to paint. */
const MANY = 100000;

/* Also sets exec to the sum of fragments. load_times corrects it. */
async function load_fragments(report) {
	const n = report.report.fragments, tick = report.tick, threads = report.report.tids.length;
	const counts = await Numbers.of("thread_fragments"), gaps = await Numbers.of("fragment_gap"),
		lengths = await Numbers.of("fragment_length"), contexts = await Numbers.of("fragment_context"),
		cpus = await Numbers.of("fragment_cpu");
	const f = report.fragments = {
		count: n, context: new Int32Array(n), thread: threads > 65535 ? new Int32Array(n) : new Uint16Array(n),
		cpu: new Uint16Array(n), start: new Float64Array(n), end: new Float64Array(n),
		critical: new Uint8Array(n),
	};

	report.thread_first = new Int32Array(threads + 1);
	report.exec = new Float64Array(report.count);
	report.start = new Float64Array(report.count).fill(NaN);
	report.end = new Float64Array(report.count).fill(NaN);
	report.thread = new Int32Array(report.count).fill(NONE);
	report.cpu = new Int32Array(report.count).fill(NONE);
	for (let t = 0, i = 0; t < threads; t++) {
		const past = i + counts.next();
		let at = 0, context = 0, cpu = 0;

		for (; i < past; i++) {
			const start = at + gaps.signed(), code = lengths.next(), length = half(code);

			at = start + length;
			f.context[i] = context += contexts.signed();
			f.thread[i] = t;
			f.cpu[i] = cpu += cpus.signed();
			f.start[i] = start * tick;
			f.end[i] = at * tick;
			f.critical[i] = code & 1;
			report.exec[context] += length * tick;
			if (!(report.start[context] <= start * tick)) {
				report.start[context] = start * tick;
				report.thread[context] = t;
				report.cpu[context] = cpu;
			}
			if (!(report.end[context] >= at * tick))
				report.end[context] = at * tick;
		}
		report.thread_first[t + 1] = past;
		if (past - report.thread_first[t] > MANY)
			await breathe();
	}
	await breathe();
	report.fragment_lists = new Lists(report.count, n, (i) => f.context[i]);
	/* So far the order is by thread. If a context changed threads, its fragments must be sorted. */
	for (let c = 0; c < report.count; c++) {
		const list = report.fragment_lists.of(c);

		if (list.length > 1 && f.thread[list[0]] !== f.thread[list[list.length - 1]])
			list.sort((a, b) => f.start[a] - f.start[b]);
	}
}

/* A 0 means that the body began or ended where its fragments do. */
async function put_right(name, times, tick) {
	const numbers = await Numbers.of(name);

	if (!numbers.bytes.length)
		return;
	let last = 0;

	for (let i = 0; i < times.length; i++) {
		const code = numbers.next(), base = Number.isNaN(times[i]) ? last : times[i];

		if (code)
			times[i] = base + unzigzag(code - 1) * tick;
		if (!Number.isNaN(times[i]))
			last = times[i];
	}
}

async function times_of(name, count, tick) {
	const numbers = await Numbers.of(name), out = new Float64Array(count);

	for (let i = 0; i < count; i++)
		out[i] = numbers.next() * tick;
	return out;
}

async function load_times(report) {
	const n = report.count, tick = report.tick, exec = await Numbers.of("exec");

	await put_right("begin", report.start, tick);
	await put_right("finish", report.end, tick);
	for (let i = 0; i < n; i++)
		report.exec[i] += exec.signed() * tick;
	await breathe();
	for (const name of ["create", "wait", "bookkeeping", "lock"])
		report[name] = await times_of(name, n, tick);
	report.on_cpu = null;
	if (report.report.cpu_known) {
		report.on_cpu = await times_of("off", n, tick);
		for (let i = 0; i < n; i++)
			report.on_cpu[i] = Math.max(0, report.exec[i] - report.on_cpu[i]);
	}
}

/*
 * Contexts that wait in the same join often share a value. It is written once as long as it does not change;
 * 0 means no change.
 */
async function by_join(name, report, each) {
	const numbers = await Numbers.of(name), of_join = new Int32Array(report.report.joins), joins = report.join;

	for (let i = 0; i < joins.length; i++) {
		let code = numbers.next();

		if (code === 0)
			code = of_join[joins[i]];
		else if (joins[i] !== NONE)
			of_join[joins[i]] = code;
		each(i, code - 1);
	}
}

async function load_metrics(report) {
	const n = report.count, values = report.values = {};

	values.load_balance = new Float64Array(n);
	await by_join("load_balance", report, (i, code) => {
		values.load_balance[i] = THREE_DIGITS[code];
	});
	await breathe();
	for (const name of report.report.metrics) {
		const numbers = await Numbers.of(name), out = values[name] = new Float64Array(n);

		for (let i = 0; i < n; i++)
			out[i] = THREE_DIGITS[numbers.next()];
		await breathe();
	}
	const problems = await Numbers.of("problems"), benefit = values.parallel_benefit;

	report.cost = new Float64Array(n).fill(NaN);
	for (let i = 0; benefit && i < n; i++)
		if (benefit[i] > 0)
			report.cost[i] = report.exec[i] / benefit[i];
	report.problems = new Uint8Array(n);
	for (let i = 0; i < n; i++)
		report.problems[i] = problems.next();
	report.counters = [];
	for (const [index, name] of report.report.counters.entries()) {
		const numbers = await Numbers.of("counter_" + index), value = new Float64Array(n);
		const exact = report.report.counters_exact;

		for (let i = 0; i < n; i++) {
			const code = numbers.next();

			value[i] = !exact ? THREE_DIGITS[code] : code ? code - 1 : NaN;
		}
		report.counters.push({ name, exact, value });
		await breathe();
	}
}

async function load_bounds(report) {
	const n = report.count, bounds = ["lower", "upper", "chunks", "stride"];

	for (const name of bounds)
		report[name] = null;
	if (!report.report.bounds)
		return;
	const lower = await Numbers.of("bounds_lower"), length = await Numbers.of("bounds_length"),
		chunks = await Numbers.of("bounds_chunks"), stride = await Numbers.of("bounds_stride");
	let last = 0;

	for (const name of bounds)
		report[name] = new Float64Array(n).fill(NaN);
	for (let i = 0; i < n; i++) {
		if (!(report.flags[i] & BOUNDED))
			continue;
		report.lower[i] = last + lower.signed();
		report.upper[i] = last = report.lower[i] + length.signed();
		report.chunks[i] = 1 + chunks.next();
		if (report.chunks[i] > 1)
			report.stride[i] = stride.signed() || NaN;
	}
}

/* Returns the names and the index of the element that a name continues. null: it continues nothing. */
function named(names, index) {
	return index === NONE ? null : { names, index };
}

async function load_names(report) {
	await load_bounds(report);
	const bounds = (c) => {
		const lower = report.lower[c], upper = report.upper[c];

		return lower === upper && report.loops[report.loop[c]].sections ? `[${lower}]` : `[${lower},${upper}]`;
	};

	report.names = await Names.read("name", report.count, (c) => report.loop[c] === NONE ?
		named(report.names, report.parent[c]) : named(report.loop_names, report.loop[c]), bounds,
		report.parent);
	report.region_names = await Names.read("region_name", report.report.regions,
		(r) => named(report.names, report.regions[r].parent));
	report.loop_names = await Names.read("loop_name", report.report.loops, (l) => report.loops[l].region === NONE ?
		named(report.names, report.loops[l].context) : named(report.region_names, report.loops[l].region));
}

/* Most joins lie between two fragments of their waiter. */
async function load_joins(report, joins) {
	const kind = await Numbers.of("join_kind"), waiter = await Numbers.of("join_waiter"),
		region = await Numbers.of("join_region"), definition = await Numbers.of("join_definition"),
		ordinal = await Numbers.of("join_ordinal"), after = await Numbers.of("join_after"),
		span = await Numbers.of("join_span"), f = report.fragments;
	let last = 0;

	for (let i = 0; i < joins.count; i++) {
		const code = kind.next();

		joins.kind[i] = code >> 1;
		joins.critical[i] = code & 1;
		joins.waiter[i] = last += waiter.signed();
		joins.region[i] = region.next() - 1;
		joins.definition[i] = definition.next() - 1;
		joins.ordinal[i] = ordinal.next();
		const place = after.next();

		if (place) {
			const around = report.fragments_of(last);

			joins.start[i] = f.end[around[place - 1]];
			joins.end[i] = f.start[around[place]];
		} else {
			joins.start[i] = span.next() * report.tick;
			joins.end[i] = joins.start[i] + span.next() * report.tick;
		}
	}
	await breathe();
}

async function load_others(report) {
	const tick = report.tick, about = report.report;
	const rows = async (name, count, each) => {
		const numbers = await Numbers.of(name);

		for (let i = 0; i < count; i++)
			each(numbers, i);
	};
	const span = (n) => {
		const start = n.next() * tick;

		return { start, end: start + n.next() * tick };
	};
	const joins = report.joins = {
		count: about.joins, kind: new Uint8Array(about.joins), critical: new Uint8Array(about.joins),
		waiter: new Int32Array(about.joins), region: new Int32Array(about.joins),
		definition: new Int32Array(about.joins), ordinal: new Int32Array(about.joins),
		start: new Float64Array(about.joins), end: new Float64Array(about.joins),
	};
	const dependences = report.dependences = {
		count: about.dependences, from: new Int32Array(about.dependences),
		to: new Int32Array(about.dependences),
		is_join: new Uint8Array(about.dependences), critical: new Uint8Array(about.dependences),
	};
	let from = 0, to = 0;

	await load_joins(report, joins);
	report.regions = [];
	await rows("regions", about.regions, (n) => report.regions.push({
		parent: n.next() - 1, definition: n.next() - 1, threads: n.next(), ...span(n),
	}));
	report.loops = [];
	await rows("loops", about.loops, (n) => report.loops.push({
		context: n.next() - 1, region: n.next() - 1, definition: n.next() - 1, join: n.next() - 1,
		sections: n.next() === 1, ...span(n),
	}));
	await rows("dependences", about.dependences, (n, i) => {
		const code = n.next();

		dependences.is_join[i] = code >> 1;
		dependences.critical[i] = code & 1;
		dependences.from[i] = from += n.signed();
		dependences.to[i] = to += n.signed();
	});
}
