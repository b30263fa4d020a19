// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/static_loops/loop_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MIDDLE UINT32_MAX

int loop_code__init(struct loop_code *code, const struct code_arch *arch)
{
	*code = (struct loop_code){.arch = arch};
	if (cs_open(arch->capstone, arch->mode, &code->capstone) != CS_ERR_OK) {
		code->capstone = 0;
		return -ENOMEM;
	}
	cs_option(code->capstone, CS_OPT_DETAIL, CS_OPT_ON);
	return 0;
}

static void free_graph(struct loop_code *code)
{
	free(code->blocks);
	free(code->before);
	free(code->order);
	code->blocks = NULL;
	code->before = code->order = NULL;
	code->block_count = code->order_count = 0;
}

void loop_code__free(struct loop_code *code)
{
	free_graph(code);
	free(code->insns);
	free(code->marks);
	if (code->capstone)
		cs_close(&code->capstone);
	*code = (struct loop_code){0};
}

static struct loop_insn *next_insn(struct loop_code *code)
{
	if (code->count == code->room) {
		uint32_t room = code->room ? 2 * code->room : 1024;
		struct loop_insn *insns = reallocarray(code->insns, room, sizeof(*insns));

		if (!insns)
			return NULL;
		code->insns = insns;
		code->room = room;
	}
	return &code->insns[code->count++];
}

static int decode_one(struct loop_code *code, const uint8_t *bytes, size_t left, uint64_t address,
		      cs_insn *in)
{
	struct loop_insn *out = next_insn(code);
	const uint8_t *at = bytes;
	uint64_t where = address;

	if (!out)
		return -ENOMEM;
	*out = (struct loop_insn){.base = {.address = address, .flow = FLOW_STOP, .size = code->arch->step}};
	if (code->arch->step != 1) {
		uint32_t word;

		if (left < sizeof(word))
			return 0;
		memcpy(&word, bytes, sizeof(word));
		out->base.flow = FLOW_NEXT;
		code->arch->decode_word(word, &out->base);
		lift__aarch64(word, &out->base, &out->lift);
		return 0;
	}
	if (!cs_disasm_iter(code->capstone, &at, &left, &where, in))
		return 0;
	out->base.size = (uint8_t)in->size;
	out->base.id = (uint16_t)in->id;
	out->base.flow = FLOW_NEXT;
	code->arch->decode(in, &out->base);
	lift__x86_64(code->capstone, in, &out->lift);
	return 0;
}

struct walk {
	uint64_t address;
	size_t size;
	const uint8_t *bytes;
	uint32_t *todo; /* offsets */
	size_t count, room;
	uint8_t *leader; /* by offset: a block begins there */
};

static int push(struct walk *w, uint64_t address)
{
	uint64_t offset = address - w->address;

	if (offset >= w->size)
		return 0;
	w->leader[offset] = 1;
	if (w->count == w->room) {
		size_t room = w->room ? 2 * w->room : 256;
		uint32_t *todo = reallocarray(w->todo, room, sizeof(*todo));

		if (!todo)
			return -ENOMEM;
		w->todo = todo;
		w->room = room;
	}
	w->todo[w->count++] = (uint32_t)offset;
	return 0;
}

/* Decodes from `offset` until control goes elsewhere, or reaches known code. */
static int follow(struct loop_code *code, struct walk *w, uint32_t offset, cs_insn *in)
{
	int r = 0;

	while (!r && offset < w->size && !code->marks[offset]) {
		const struct code_insn *base;

		if (code->count == LOOP_CODE_MAX_INSNS)
			return -EINVAL;
		r = decode_one(code, w->bytes + offset, w->size - offset, w->address + offset, in);
		if (r)
			return r;
		base = &code->insns[code->count - 1].base;
		if (base->size > w->size - offset)
			return -EINVAL;
		for (uint32_t k = 1; k < base->size; k++) {
			if (code->marks[offset + k])
				return -EINVAL;
			code->marks[offset + k] = MIDDLE;
		}
		code->marks[offset] = code->count;
		offset += base->size;
		if (base->flow == FLOW_JUMP || base->flow == FLOW_BRANCH) {
			code->computed |= !base->target;
			if (base->target)
				r = push(w, base->target);
		}
		if (base->flow == FLOW_BRANCH && !r)
			r = push(w, w->address + offset);
		if (base->flow != FLOW_NEXT && base->flow != FLOW_CALL)
			return r;
	}
	return !r && offset < w->size && code->marks[offset] == MIDDLE ? -EINVAL : r;
}

static int by_address(const void *a, const void *b)
{
	const struct loop_insn *x = a, *y = b;

	return x->base.address < y->base.address ? -1 : x->base.address > y->base.address;
}

/* Marks instructions that together must not be probed. */
static int join(struct loop_code *code)
{
	struct code_insn *list;

	if (!code->arch->join)
		return 0;
	list = malloc(code->count * sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (uint32_t i = 0; i < code->count; i++)
		list[i] = code->insns[i].base;
	code->arch->join(list, code->count);
	for (uint32_t i = 0; i < code->count; i++) {
		code->insns[i].base.refused = list[i].refused;
		code->insns[i].base.emulated = list[i].emulated;
	}
	free(list);
	return 0;
}

static int read_insns(struct loop_code *code, struct walk *w)
{
	cs_insn *in = cs_malloc(code->capstone);
	int r = in ? push(w, w->address) : -ENOMEM;

	while (!r && w->count) {
		uint32_t offset = w->todo[--w->count];

		if (code->marks[offset] == MIDDLE)
			r = -EINVAL;
		else
			r = follow(code, w, offset, in);
	}
	if (in)
		cs_free(in, 1);
	if (r)
		return r;
	qsort(code->insns, code->count, sizeof(*code->insns), by_address);
	for (uint32_t i = 0; i < code->count; i++)
		code->marks[code->insns[i].base.address - w->address] = i + 1;
	return join(code);
}

static uint32_t block_at(const struct loop_code *code, const struct walk *w, uint64_t address)
{
	uint64_t offset = address - w->address;

	if (offset >= w->size || !code->marks[offset] || code->marks[offset] == MIDDLE)
		return BLOCK_NONE;
	return loop_code__block_of(code, code->marks[offset] - 1);
}

static void link_block(struct loop_code *code, const struct walk *w, struct loop_block *block)
{
	const struct code_insn *last = &code->insns[block->end - 1].base;
	uint32_t to;

	switch (last->flow) {
	case FLOW_JUMP:
	case FLOW_BRANCH:
		to = last->target ? block_at(code, w, last->target) : BLOCK_NONE;
		/*
		 * A jump out of the function is a call at its end, or leads to a part that is rarely
		 * executed.
		 */
		block->leaves = last->target && to == BLOCK_NONE;
		if (to != BLOCK_NONE)
			block->next[block->next_count++] = to;
		if (last->flow == FLOW_JUMP)
			return;
		break;
	case FLOW_RETURN:
		block->leaves = true;
		return;
	case FLOW_STOP:
		return;
	default:
		break;
	}
	to = block_at(code, w, last->address + last->size);
	if (to != BLOCK_NONE)
		block->next[block->next_count++] = to;
}

static int make_blocks(struct loop_code *code, const struct walk *w)
{
	uint32_t n = 0, edges = 0;

	for (uint32_t i = 0; i < code->count; i++)
		n += w->leader[code->insns[i].base.address - w->address] || i == 0 ||
		     code->insns[i - 1].base.flow > FLOW_CALL ||
		     code->insns[i - 1].base.address + code->insns[i - 1].base.size !=
			     code->insns[i].base.address;
	code->blocks = calloc(n ? n : 1, sizeof(*code->blocks));
	if (!code->blocks)
		return -ENOMEM;
	for (uint32_t i = 0; i < code->count; i++) {
		bool begins = w->leader[code->insns[i].base.address - w->address] || i == 0 ||
			      code->insns[i - 1].base.flow > FLOW_CALL ||
			      code->insns[i - 1].base.address + code->insns[i - 1].base.size !=
				      code->insns[i].base.address;

		if (begins)
			code->blocks[code->block_count++] = (struct loop_block){.first = i,
										.dominator = BLOCK_NONE,
										.meets = BLOCK_NONE,
										.order = BLOCK_NONE};
		code->blocks[code->block_count - 1].end = i + 1;
	}
	for (uint32_t b = 0; b < code->block_count; b++) {
		link_block(code, w, &code->blocks[b]);
		edges += code->blocks[b].next_count;
	}
	code->before = malloc((edges ? edges : 1) * sizeof(*code->before));
	code->order = malloc(n * sizeof(*code->order));
	if (!code->before || !code->order)
		return -ENOMEM;
	for (uint32_t b = 0; b < code->block_count; b++)
		for (uint32_t k = 0; k < code->blocks[b].next_count; k++)
			code->blocks[code->blocks[b].next[k]].before_end++;
	for (uint32_t b = 0, at = 0; b < code->block_count; b++) {
		uint32_t count = code->blocks[b].before_end;

		code->blocks[b].before = code->blocks[b].before_end = at;
		at += count;
	}
	for (uint32_t b = 0; b < code->block_count; b++)
		for (uint32_t k = 0; k < code->blocks[b].next_count; k++)
			code->before[code->blocks[code->blocks[b].next[k]].before_end++] = b;
	return 0;
}

/* Depth-first without recursion; the order is filled from its end. */
static int number_blocks(struct loop_code *code)
{
	uint32_t *stack = malloc(2 * (size_t)code->block_count * sizeof(*stack)), depth = 0;
	uint32_t at = code->block_count;
	uint8_t *seen = calloc(code->block_count, 1);

	if (!stack || !seen) {
		free(stack);
		free(seen);
		return -ENOMEM;
	}
	stack[0] = 0;
	stack[1] = 0;
	depth = 1;
	seen[0] = 1;
	while (depth) {
		uint32_t b = stack[2 * depth - 2], k = stack[2 * depth - 1]++;

		if (k < code->blocks[b].next_count) {
			uint32_t to = code->blocks[b].next[k];

			if (!seen[to]) {
				seen[to] = 1;
				stack[2 * depth] = to;
				stack[2 * depth + 1] = 0;
				depth++;
			}
		} else {
			code->order[--at] = b;
			depth--;
		}
	}
	code->order_count = code->block_count - at;
	memmove(code->order, code->order + at, code->order_count * sizeof(*code->order));
	for (uint32_t i = 0; i < code->order_count; i++)
		code->blocks[code->order[i]].order = i;
	free(stack);
	free(seen);
	return 0;
}

/* Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm (2001). */
static uint32_t common(const struct loop_code *code, uint32_t a, uint32_t b)
{
	while (a != b) {
		while (code->blocks[a].order > code->blocks[b].order)
			a = code->blocks[a].dominator;
		while (code->blocks[b].order > code->blocks[a].order)
			b = code->blocks[b].dominator;
	}
	return a;
}

static void find_dominators(struct loop_code *code)
{
	bool changed = true;

	code->blocks[0].dominator = 0;
	while (changed) {
		changed = false;
		for (uint32_t i = 1; i < code->order_count; i++) {
			struct loop_block *block = &code->blocks[code->order[i]];
			uint32_t found = BLOCK_NONE;

			for (uint32_t k = block->before; k < block->before_end; k++) {
				uint32_t from = code->before[k];

				if (code->blocks[from].dominator == BLOCK_NONE)
					continue;
				found = found == BLOCK_NONE ? from : common(code, from, found);
			}
			changed |= found != block->dominator;
			block->dominator = found;
		}
	}
}

/*
 * Finds the nearest block through which all paths from `a` and from `b` to an end of the function lead.
 * BLOCK_NONE: only the end itself. This is common() on the reversed graph. `rank` has the place of each
 * block in that graph's order, in which the blocks that leave the function come first. Blocks from which no
 * end can be reached do not count.
 */
static uint32_t common_end(const struct loop_code *code, const uint32_t *rank, uint32_t a, uint32_t b)
{
	while (a != b) {
		while (a != BLOCK_NONE && (b == BLOCK_NONE || rank[a] > rank[b]))
			a = code->blocks[a].meets;
		while (b != BLOCK_NONE && (a == BLOCK_NONE || rank[b] > rank[a]))
			b = code->blocks[b].meets;
		if (a == BLOCK_NONE || b == BLOCK_NONE)
			return a == b ? a : BLOCK_NONE;
	}
	return a;
}

/* The arrays that find_meetings needs. */
struct meetings {
	uint32_t *rank;	 /* for each block: its place, counted from the end of `list` */
	uint32_t *list;	 /* the blocks from which an end can be reached; each comes after the blocks that it
			    leads to first */
	uint32_t *stack; /* two numbers for each open block of the search: the block, and its next edge */
	uint8_t *done;	 /* for each block: it was visited; later: its meeting was computed once */
	uint32_t count;	 /* number of elements in `list` */
};

/* Visits all blocks from which the end `block` can be reached, against the edges. Adds them to the list. */
static void list_from_end(struct loop_code *code, struct meetings *m, uint32_t block)
{
	uint32_t depth = 1;

	m->done[block] = 1;
	m->stack[0] = block;
	m->stack[1] = code->blocks[block].before;
	while (depth) {
		uint32_t at = m->stack[2 * depth - 2], k = m->stack[2 * depth - 1]++, from;

		if (k >= code->blocks[at].before_end) {
			m->list[m->count++] = at;
			depth--;
			continue;
		}
		from = code->before[k];
		if (m->done[from])
			continue;
		m->done[from] = 1;
		m->stack[2 * depth] = from;
		m->stack[2 * depth + 1] = code->blocks[from].before;
		depth++;
	}
}

/*
 * Computes where the paths from a block meet, from what is known of its successors. True: the result has
 * changed.
 */
static bool find_meeting(struct loop_code *code, struct meetings *m, uint32_t at)
{
	struct loop_block *block = &code->blocks[at];
	uint32_t found = BLOCK_NONE;
	bool any = false, changed;

	for (uint32_t k = 0; k < block->next_count; k++) {
		uint32_t to = block->next[k];

		if (!m->done[to])
			continue;
		found = any ? common_end(code, m->rank, found, to) : to;
		any = true;
	}
	if (block->leaves)
		found = BLOCK_NONE;
	else if (!any)
		return false;
	changed = found != block->meets || !m->done[at];
	block->meets = found;
	m->done[at] = 1;
	return changed;
}

static int find_meetings(struct loop_code *code)
{
	uint32_t n = code->block_count;
	struct meetings m = {.rank = malloc(n * sizeof(*m.rank)),
			     .list = malloc(n * sizeof(*m.list)),
			     .stack = malloc(2 * ((size_t)n + 1) * sizeof(*m.stack)),
			     .done = calloc(n, 1)};
	bool changed = true, made = m.rank && m.list && m.stack && m.done;

	for (uint32_t b = 0; made && b < n; b++)
		if (code->blocks[b].leaves && !m.done[b])
			list_from_end(code, &m, b);
	for (uint32_t i = 0; i < m.count; i++)
		m.rank[m.list[i]] = m.count - i;
	if (made)
		memset(m.done, 0, n);
	while (made && changed) {
		changed = false;
		for (uint32_t i = m.count; i-- > 0;)
			changed |= find_meeting(code, &m, m.list[i]);
	}
	free(m.rank);
	free(m.list);
	free(m.stack);
	free(m.done);
	return made ? 0 : -ENOMEM;
}

int loop_code__read(struct loop_code *code, const struct elf_image *image, uint64_t address, uint64_t size)
{
	struct walk w = {.address = address, .size = size};
	int r = -EINVAL;

	free_graph(code);
	code->count = 0;
	code->computed = false;
	if (!size || size > LOOP_CODE_MAX_BYTES || !(w.bytes = elf_image__bytes(image, address, size)))
		return -EINVAL;
	if (size > code->marks_room) {
		uint32_t *marks = reallocarray(code->marks, size, sizeof(*marks));

		if (!marks)
			return -ENOMEM;
		code->marks = marks;
		code->marks_room = size;
	}
	memset(code->marks, 0, size * sizeof(*code->marks));
	w.leader = calloc(size, 1);
	r = w.leader ? read_insns(code, &w) : -ENOMEM;
	if (!r)
		r = make_blocks(code, &w);
	if (!r)
		r = number_blocks(code);
	if (!r) {
		find_dominators(code);
		r = find_meetings(code);
	}
	free(w.leader);
	free(w.todo);
	return r;
}

bool loop_code__dominates(const struct loop_code *code, uint32_t block, uint32_t other)
{
	while (other != BLOCK_NONE && code->blocks[other].order > code->blocks[block].order)
		other = code->blocks[other].dominator;
	return other == block;
}

uint32_t loop_code__block_of(const struct loop_code *code, uint32_t insn)
{
	uint32_t low = 0, high = code->block_count;

	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (code->blocks[mid].first <= insn)
			low = mid;
		else
			high = mid;
	}
	return low;
}
