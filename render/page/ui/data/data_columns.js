/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the forms that page_columns.c writes: numbers and identifiers. Also has lists of indices. */

/* The LEB128 numbers of a column, in order. After the last number, it returns zeros. */
class Numbers {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}

	/* If a column has only zeros, it is not in the file. */
	static async of(name) {
		return new Numbers(await read_column(name) || new Uint8Array(0));
	}

	next() {
		const bytes = this.bytes;

		/* Reading behind the end is slow. */
		if (this.at >= bytes.length)
			return 0;
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
		return unzigzag(this.next());
	}
}

/* Small numbers are handled as integers, which is several times as fast. */
function unzigzag(n) {
	if (n < 0x80000000)
		return n >>> 1 ^ -(n & 1);
	return n % 2 ? -(n + 1) / 2 : n / 2;
}

function half(n) {
	return n < 0x80000000 ? n >>> 1 : Math.floor(n / 2);
}

/* The inverse of three_digits() in page_contexts.c. NaN: absent. */
const THREE_DIGITS = (() => {
	const values = [NaN, 0];

	for (let e = -6; e <= 20; e++)
		for (let m = 100; m < 1000; m++)
			values.push(e < 2 ? m / 10 ** (2 - e) : m * 10 ** (e - 2));
	return Float64Array.from(values);
})();

async function read_column(name) {
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
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));

	return new Uint8Array(await new Response(stream).arrayBuffer());
}

/* Lets the page paint and react. */
function breathe() {
	return new Promise((resolve) => setTimeout(resolve));
}

/*
 * Identifiers as page_names.c writes them. Each continues the identifier of another element. base(i) returns
 * the Names and the index of that element, or null. With `parents`, ordinals follow those of siblings.
 * bounds(i) returns the end of an identifier that is stored as 0.
 */
class Names {
	static async read(name, count, base, bounds, parents) {
		const names = new Names(base, bounds), codes = await Numbers.of(name), decoder = new TextDecoder();
		const text = await read_column(name + "_text") || new Uint8Array(0);
		const next = parents && new Int32Array(count);
		let at = 0;

		names.codes = new Int32Array(count);
		for (let i = 0; i < count; i++) {
			const code = names.codes[i] = codes.next();

			if (code & 1 && parents) {
				const ordinal = next[parents[i]] + unzigzag((code - 1) / 2);

				next[parents[i]] = ordinal + 1;
				names.codes[i] = 2 * ordinal + 1;
			}
			if (code === 0 || code & 1)
				continue;
			const drop = codes.next();

			names.own.set(i, { drop, text: decoder.decode(text.subarray(at, at + code / 2)) });
			at += code / 2;
		}
		return names;
	}

	constructor(base, bounds) {
		this.base = base;
		this.bounds = bounds;
		this.own = new Map(); /* text, and the number of characters of the base that are dropped */
	}

	/* Returns the end of an identifier that has no text of its own. */
	part(index) {
		const code = this.codes[index];

		return code ? "." + (code - 1) / 2 : this.bounds(index);
	}

	of(index) {
		const parts = [];
		let drop = 0;

		for (let at = { names: this, index }; at; at = at.names.base(at.index)) {
			const own = at.names.own.get(at.index), part = own ? own.text : at.names.part(at.index);
			const next_drop = own ? own.drop : 0;

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

/*
 * Finds an identifier by a hash of each identifier. A hash continues that of the base, so a million
 * identifiers need not be made.
 */
class NameIndex {
	constructor(names) {
		const { codes } = names, count = codes.length, known = new Uint8Array(count), others = new Map();

		this.names = names;
		this.hashes = new Int32Array(count);
		for (let i = 0; i < count; i++) {
			const base = names.own.has(i) ? null : names.base(i), end = base && names.part(i);

			if (!base)
				this.hashes[i] = NameIndex.hash(NameIndex.START, names.of(i));
			else if (base.names === names)
				this.hashes[i] = NameIndex.hash(known[base.index] ? this.hashes[base.index] :
					NameIndex.hash(NameIndex.START, names.of(base.index)), end);
			else
				this.hashes[i] = NameIndex.hash(NameIndex.other(others, base), end);
			known[i] = 1;
		}
	}

	/* For loops: there are only few. */
	static other(others, base) {
		if (!others.has(base.index))
			others.set(base.index, NameIndex.hash(NameIndex.START, base.names.of(base.index)));
		return others.get(base.index);
	}

	static hash(value, text) {
		for (let i = 0; i < text.length; i++)
			value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
		return value;
	}

	find(text) {
		const hash = NameIndex.hash(NameIndex.START, text);

		for (let i = this.hashes.indexOf(hash); i !== NONE; i = this.hashes.indexOf(hash, i + 1))
			if (this.names.of(i) === text)
				return i;
		return NONE;
	}
}
NameIndex.START = 0x811c9dc5 | 0;

/*
 * Lists of indices by owner. For 0 <= i < count, owner(i) is below `owners`, or NONE. Each list is ascending.
 */
class Lists {
	constructor(owners, count, owner) {
		const first = new Int32Array(owners + 2);

		for (let i = 0; i < count; i++)
			if (owner(i) !== NONE)
				first[owner(i) + 2]++;
		for (let i = 0; i < owners; i++)
			first[i + 2] += first[i + 1];
		this.items = new Int32Array(first[owners + 1]);
		for (let i = 0; i < count; i++)
			if (owner(i) !== NONE)
				this.items[first[owner(i) + 1]++] = i;
		this.first = first;
	}

	of(owner) {
		return this.items.subarray(this.first[owner], this.first[owner + 1]);
	}
}
