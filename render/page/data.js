/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report's data: two JSON documents and columns of numbers (../README.md,
 * "Columns"), as typed arrays. Indices are those of the analysis; -1: none.
 * Times are nanoseconds from the start of the recording, multiples of
 * report.tick_ns.
 */
const NONE = -1;
const INITIAL = 0, IMPLICIT = 1, TASK = 2, CHUNK = 3;
const UNDEFERRED = 4, CRITICAL = 8, INCOMPLETE = 16, DISCARDED = 32, RUNTIME = 64;
const JOIN_KINDS = ["taskwait", "taskgroup", "barrier", "end of the region", "end of the loop"];

/* The bits of a context's `problems`, and the names in the JSON. */
const PROBLEMS = [
	"parallel_benefit", "load_balance", "work_deviation", "instantaneous_parallelism", "scatter",
	"memory_hierarchy_utilization", "cache_miss_ratio",
];
/* Smaller values are worse. */
const LOW_IS_BAD = new Set(["parallel_benefit", "instantaneous_parallelism", "memory_hierarchy_utilization"]);

/* LEB128 numbers of a column, one after the other. */
class Numbers {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}

	next() {
		const bytes = this.bytes;
		let byte = bytes[this.at++];

		if (byte < 0x80)
			return byte;
		let value = byte & 0x7f, factor = 0x80;
		do {
			byte = bytes[this.at++];
			value += (byte & 0x7f) * factor;
			factor *= 0x80;
		} while (byte >= 0x80);
		return value;
	}

	signed() {
		const n = this.next();

		return n % 2 ? -(n + 1) / 2 : n / 2;
	}
}

/* page_columns.c: three_digits. NaN: absent. */
function three_digits(code) {
	if (code < 2)
		return code ? 0 : NaN;
	const e = Math.floor((code - 2) / 900) - 6;

	/* Written and read again: 0.3, not 0.30000000000000004. */
	return Number(((code - 2) % 900 + 100) + "e" + (e - 2));
}

async function column(name) {
	const element = document.getElementById("column-" + name);

	if (!element)
		return null;
	const text = element.textContent;
	let bytes;

	if (Uint8Array.fromBase64) {
		bytes = Uint8Array.fromBase64(text);
	} else {
		const binary = atob(text);

		bytes = new Uint8Array(binary.length);
		for (let i = 0; i < binary.length; i++)
			bytes[i] = binary.charCodeAt(i);
	}
	element.textContent = "";
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));

	return new Uint8Array(await new Response(stream).arrayBuffer());
}

/* One context's name after its parent's, as page_columns.c: fill_name. */
class Names {
	constructor(count, parent, numbers, text) {
		this.parent = parent;
		this.ordinal = new Int32Array(count);
		this.drop = new Map();
		this.text = new Map();
		const decoder = new TextDecoder();
		let at = 0;

		for (let i = 0; i < count; i++) {
			const code = numbers.next();

			if (code % 2) {
				this.ordinal[i] = (code - 1) / 2;
				continue;
			}
			this.ordinal[i] = NONE;
			this.drop.set(i, numbers.next());
			this.text.set(i, decoder.decode(text.subarray(at, at + code / 2)));
			at += code / 2;
		}
	}

	of(context) {
		const parts = [];
		let drop = 0, up = context;

		for (; up !== NONE; up = this.parent[up]) {
			let part = this.ordinal[up] === NONE ? this.text.get(up) : "." + this.ordinal[up];
			const next_drop = this.ordinal[up] === NONE ? this.drop.get(up) : 0;

			if (drop >= part.length) {
				drop += next_drop - part.length;
				continue;
			}
			parts.push(part.slice(0, part.length - drop));
			drop = next_drop;
		}
		return parts.reverse().join("");
	}
}

class Report {
	constructor(summary, report) {
		this.summary = summary; /* analysis/README.md, "JSON" */
		this.report = report;
		this.tick = report.tick_ns;
		this.count = report.contexts;
	}

	static async load() {
		const json = (id) => JSON.parse(document.getElementById(id).textContent);

		return new Report(json("summary"), json("report"));
	}

	/* The columns; takes a while for a million grains. */
	async load_columns() {
		await this.load_contexts();
		await this.load_fragments();
		await this.load_others();
		this.index_children();
	}

	async load_contexts() {
		const n = this.count, tick = this.tick;
		const names = ["flags", "parent", "definition", "member_region", "join", "chunk_loop", "create", "wait",
			"share", "load_balance", "instantaneous_parallelism", "problems", "name"];
		const c = {}, more = {};

		for (const name of names)
			c[name] = new Numbers(await column(name));
		for (const name of ["work_deviation", "scatter", "memory_hierarchy_utilization", "cache_miss_ratio"]) {
			const bytes = await column(name);

			if (bytes)
				more[name] = new Numbers(bytes);
		}
		this.kind = new Uint8Array(n);
		this.flags = new Uint8Array(n); /* UNDEFERRED, ... */
		this.parent = new Int32Array(n);
		this.definition = new Int32Array(n);
		this.region = new Int32Array(n).fill(NONE); /* of team members */
		this.join = new Int32Array(n);
		this.loop = new Int32Array(n).fill(NONE); /* of chunks */
		this.create = new Float64Array(n);
		this.wait = new Float64Array(n);
		this.cost = new Float64Array(n); /* of creating it and waiting for it; NaN: absent */
		this.problems = new Uint8Array(n); /* bits 1 << index into PROBLEMS */
		this.values = { load_balance: new Float64Array(n), instantaneous_parallelism: new Float64Array(n) };
		for (const name in more)
			this.values[name] = new Float64Array(n);
		const share_of_join = new Map(), balance_of_join = new Map();
		const shared = (numbers, map, join) => {
			const code = numbers.next();

			if (!code)
				return map.get(join);
			if (join !== NONE)
				map.set(join, code - 1);
			return code - 1;
		};
		let join = 0, loop = 0;

		for (let i = 0; i < n; i++) {
			const flags = c.flags.next(), up = c.parent.next();

			this.kind[i] = flags & 3;
			this.flags[i] = flags & ~3;
			this.parent[i] = up ? i - up : NONE;
			this.definition[i] = c.definition.next() - 1;
			if (this.kind[i] === IMPLICIT)
				this.region[i] = c.member_region.next() - 1;
			this.join[i] = join += c.join.signed();
			if (this.kind[i] === CHUNK)
				this.loop[i] = loop += c.chunk_loop.signed();
			this.create[i] = c.create.next() * tick;
			this.wait[i] = c.wait.next() * tick;
			const share = shared(c.share, share_of_join, join);

			this.cost[i] = share ? this.create[i] + (share - 1) * tick : NaN;
			this.values.load_balance[i] = three_digits(shared(c.load_balance, balance_of_join, join));
			this.values.instantaneous_parallelism[i] = three_digits(c.instantaneous_parallelism.next());
			this.problems[i] = c.problems.next();
			for (const name in more)
				this.values[name][i] = three_digits(more[name].next());
		}
		this.names = new Names(n, this.parent, c.name, await column("name_text"));
	}

	/* By thread, then in the order of time: thread t's are thread_first[t] up to thread_first[t + 1]. */
	async load_fragments() {
		const f = {}, n = this.report.fragments, tick = this.tick, threads = this.report.tids.length;

		for (const name of ["thread_fragments", "fragment_gap", "fragment_length", "fragment_context", "fragment_cpu"])
			f[name] = new Numbers(await column(name));
		this.fragments = {
			count: n, context: new Int32Array(n), thread: new Uint16Array(n), cpu: new Uint16Array(n),
			start: new Float64Array(n), end: new Float64Array(n), critical: new Uint8Array(n),
		};
		this.thread_first = new Int32Array(threads + 1);
		this.start = new Float64Array(this.count).fill(NaN); /* of its first fragment; NaN: it has none */
		this.end = new Float64Array(this.count).fill(NaN);
		this.exec = new Float64Array(this.count);
		for (let t = 0, i = 0; t < threads; t++) {
			const past = i + f.thread_fragments.next();
			let at = 0, context = 0, cpu = 0;

			for (; i < past; i++) {
				const start = at + f.fragment_gap.signed(), code = f.fragment_length.next();
				const end = start + Math.floor(code / 2);

				at = end;
				context += f.fragment_context.signed();
				cpu += f.fragment_cpu.signed();
				this.fragments.context[i] = context;
				this.fragments.thread[i] = t;
				this.fragments.cpu[i] = cpu;
				this.fragments.start[i] = start * tick;
				this.fragments.end[i] = end * tick;
				this.fragments.critical[i] = code % 2;
				this.exec[context] += (end - start) * tick;
				if (!(this.start[context] <= start * tick))
					this.start[context] = start * tick;
				if (!(this.end[context] >= end * tick))
					this.end[context] = end * tick;
			}
			this.thread_first[t + 1] = past;
		}
	}

	async load_others() {
		const tick = this.tick;
		const rows = async (name, count, each) => {
			const numbers = new Numbers(await column(name)), out = new Array(count);

			for (let i = 0; i < count; i++)
				out[i] = each(numbers);
			return out;
		};
		const span = (n) => {
			const start = n.next() * tick;

			return { start, end: start + n.next() * tick };
		};
		let waiter = 0, from = 0, to = 0;

		this.joins = await rows("joins", this.report.joins, (n) => {
			const kind = n.next();

			waiter += n.signed();
			return {
				kind: JOIN_KINDS[Math.floor(kind / 2)], critical: kind % 2 === 1, waiter,
				region: n.next() - 1, definition: n.next() - 1, ...span(n),
			};
		});
		this.regions = await rows("regions", this.report.regions, (n) => ({
			parent: n.next() - 1, definition: n.next() - 1, threads: n.next(), ...span(n),
		}));
		this.loops = await rows("loops", this.report.loops, (n) => ({
			context: n.next() - 1, region: n.next() - 1, definition: n.next() - 1, join: n.next() - 1,
			sections: n.next() === 1, ...span(n),
		}));
		/* from is over before to begins, or, with is_join, before the wait `to` ends. */
		this.dependences = await rows("dependences", this.report.dependences, (n) => {
			const kind = n.next();

			from += n.signed();
			to += n.signed();
			return { from, to, is_join: kind >= 2, critical: kind % 2 === 1 };
		});
	}

	/* Children in the order of the program: child[first_child[c]] up to child[first_child[c + 1]]. */
	index_children() {
		const n = this.count, first = new Int32Array(n + 2), child = new Int32Array(n);

		for (let i = 0; i < n; i++)
			if (this.parent[i] !== NONE)
				first[this.parent[i] + 2]++;
		for (let i = 0; i < n; i++)
			first[i + 2] += first[i + 1];
		for (let i = 0; i < n; i++)
			if (this.parent[i] !== NONE)
				child[first[this.parent[i] + 1]++] = i;
		this.first_child = first.subarray(0, n + 1);
		this.child = child;
	}

	id(context) {
		return this.names.of(context);
	}

	is_grain(c) {
		return this.kind[c] === CHUNK || (this.kind[c] === TASK && !(this.flags[c] & RUNTIME));
	}

	is_complete(c) {
		return this.is_grain(c) && !(this.flags[c] & (INCOMPLETE | DISCARDED));
	}

	/* The value of a metric of PROBLEMS; NaN: absent. */
	metric(name, c) {
		if (name === "parallel_benefit")
			return this.exec[c] / this.cost[c];
		return name in this.values ? this.values[name][c] : NaN;
	}
}
