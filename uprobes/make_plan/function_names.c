// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/make_plan/function_names.h"
#include "uprobes/code/code_arch.h"
#include "uprobes/code/code.h"
#include "uprobes/runtime/runtime_find.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE SIZE_MAX
/*
 * The least size of functions that show where the runtime is. Most of their bytes must be the same in both
 * files.
 */
#define TELLING_BYTES 48
#define MAX_GAP 0x4000
#define MARGIN 0x2000

/* One of the two compared files: the stripped file or the file with names. */
struct side {
	struct elf_image *image;
	struct code *code;
	const struct elf_extent *extents;
	size_t count;
	size_t *first;	 /* first instruction of each extent; NONE outside the runtime */
	size_t *partner; /* index of the matching extent in the other file; NONE: there is none */
};

struct comparison {
	struct side file, known;
	size_t *by_size; /* known extents in the order of their sizes */
	bool changed;
};

static void close_side(struct side *side)
{
	code__free(side->code);
	free(side->first);
	free(side->partner);
}

/* Opens a file whose extents are known. Extents outside the decoded code are left out. */
static int open_side(struct side *side, struct uprobes_error *err)
{
	int r = code__load(side->image, &side->code, err);

	if (r)
		return r;
	side->first = calloc(side->count + 1, sizeof(*side->first));
	side->partner = calloc(side->count + 1, sizeof(*side->partner));
	if (!side->first || !side->partner)
		return -ENOMEM;
	for (size_t i = 0; i < side->count; i++) {
		side->first[i] = code__find(side->code, side->extents[i].address);
		side->partner[i] = NONE;
	}
	return 0;
}

static int compare_sizes(const void *a, const void *b, void *ctx)
{
	const struct elf_extent *extents = ctx;
	uint64_t sa = extents[*(const size_t *)a].size, sb = extents[*(const size_t *)b].size;

	return sa < sb ? -1 : sa > sb;
}

/* The first index in by_size of an extent with at least this size. */
static size_t first_of_size(const struct comparison *c, uint64_t size)
{
	size_t low = 0, high = c->known.count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c->known.extents[c->by_size[mid]].size < size)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool mostly_equal(const struct comparison *c, const struct elf_extent *a, const struct elf_extent *b)
{
	const uint8_t *pa = elf_image__bytes(c->file.image, a->address, a->size);
	const uint8_t *pb = elf_image__bytes(c->known.image, b->address, b->size);
	size_t same = 0;

	for (size_t i = 0; pa && pb && i < a->size; i++)
		same += pa[i] == pb[i];
	return same * 4 >= a->size * 3;
}

/* Finds where the runtime is in the file: the longest run of functions that are like the runtime's. */
static bool find_window(struct comparison *c, uint64_t *start, uint64_t *end)
{
	uint64_t row_start = 0, row_end = 0;
	size_t row = 0, longest = 0;

	for (size_t i = 0; i < c->file.count; i++) {
		const struct elf_extent *e = &c->file.extents[i];
		bool alike = false;

		if (e->size < TELLING_BYTES)
			continue;
		for (size_t k = first_of_size(c, e->size);
		     !alike && k < c->known.count && c->known.extents[c->by_size[k]].size == e->size; k++)
			alike = mostly_equal(c, e, &c->known.extents[c->by_size[k]]);
		if (!alike)
			continue;
		if (!row || e->address - row_end > MAX_GAP) {
			row = 0;
			row_start = e->address;
		}
		row_end = e->address + e->size;
		if (++row > longest) {
			longest = row;
			*start = row_start;
			*end = row_end;
		}
	}
	return longest > 0;
}

/* Widens the range to whole functions and takes in the small functions around it. */
static void narrow(struct comparison *c, uint64_t start, uint64_t end)
{
	uint64_t low = start, high = end;

	for (size_t i = 0; i < c->file.count; i++) {
		const struct elf_extent *e = &c->file.extents[i];

		if (e->address < low && start - e->address <= MARGIN)
			low = e->address;
		if (e->address + e->size > high && e->address + e->size - end <= MARGIN)
			high = e->address + e->size;
	}
	elf_image__set_window(c->file.image, low, high - low);
}

static bool same_operand(const struct code_operand *a, const struct code_operand *b)
{
	if (a->type != b->type || a->reg != b->reg || a->raw != b->raw || a->index != b->index ||
	    a->thread != b->thread)
		return false;
	return a->value == b->value || operand__is_at(a, CODE_REG_PC);
}

/* In an executable, the linker replaces loads of addresses and offsets by constants. */
static bool is_relaxed(const struct code_insn *in, const struct code_insn *known)
{
	return known->operand_count == 2 && in->operand_count == 2 &&
	       known->operand[1].type == OPERAND_MEMORY && known->operand[1].reg == CODE_REG_PC &&
	       same_operand(&in->operand[0], &known->operand[0]) &&
	       (in->operand[1].type == OPERAND_VALUE || in->operand[1].reg == CODE_REG_PC) &&
	       (in->op == CODE_COPY || in->op == CODE_ADDRESS || in->op == CODE_ADD);
}

static bool same_insn(const struct code_insn *a, const struct elf_extent *ea, const struct code_insn *b,
		      const struct elf_extent *eb)
{
	if (a->size != b->size || a->address - ea->address != b->address - eb->address ||
	    a->flow != b->flow || a->test != b->test)
		return false;
	if (b->target) {
		bool inside = b->target - eb->address < eb->size;

		return a->target && inside == (a->target - ea->address < ea->size) &&
		       (!inside || a->target - ea->address == b->target - eb->address);
	}
	if (a->target)
		return a->flow == FLOW_CALL && b->operand[0].reg == CODE_REG_PC;
	if (a->id == b->id && a->operand_count == b->operand_count) {
		bool same = true;

		for (size_t i = 0; i < a->operand_count; i++)
			same = same && same_operand(&a->operand[i], &b->operand[i]);
		if (same)
			return true;
	}
	return is_relaxed(a, b);
}

static bool same_code(const struct comparison *c, size_t f, size_t k)
{
	const struct elf_extent *ef = &c->file.extents[f], *ek = &c->known.extents[k];
	size_t i = c->file.first[f], j = c->known.first[k];

	if (ef->size != ek->size || i == NONE || j == NONE)
		return false;
	for (; i < code__count(c->file.code) && j < code__count(c->known.code); i++, j++) {
		const struct code_insn *a = code__at(c->file.code, i), *b = code__at(c->known.code, j);

		if (a->address - ef->address >= ef->size)
			return b->address - ek->address >= ek->size;
		if (!same_insn(a, ef, b, ek))
			return false;
	}
	return false;
}

static void pair(struct comparison *c, size_t f, size_t k)
{
	c->file.partner[f] = k;
	c->known.partner[k] = f;
	c->changed = true;
}

static bool try_pair(struct comparison *c, size_t f, size_t k)
{
	if (f >= c->file.count || k >= c->known.count || c->file.partner[f] != NONE ||
	    c->known.partner[k] != NONE || !same_code(c, f, k))
		return false;
	pair(c, f, k);
	return true;
}

/* Pairs functions whose code occurs exactly once in each file. */
static int pair_unique(struct comparison *c)
{
	size_t *only = calloc(c->known.count, sizeof(*only));

	if (!only)
		return -ENOMEM;
	for (size_t k = 0; k < c->known.count; k++)
		only[k] = NONE;
	for (size_t f = 0; f < c->file.count; f++) {
		size_t found = NONE, count = 0;

		if (c->file.first[f] == NONE)
			continue;
		for (size_t i = first_of_size(c, c->file.extents[f].size);
		     i < c->known.count && c->known.extents[c->by_size[i]].size == c->file.extents[f].size;
		     i++) {
			size_t k = c->by_size[i];

			if (!same_code(c, f, k))
				continue;
			found = k;
			count++;
			/* NONE - 1: there are several */
			only[k] = only[k] == NONE ? f : NONE - 1;
		}
		if (count != 1 && found != NONE)
			only[found] = NONE - 1;
	}
	for (size_t k = 0; k < c->known.count; k++)
		if (only[k] < NONE - 1)
			try_pair(c, only[k], k);
	free(only);
	return 0;
}

static size_t extent_at(const struct side *side, uint64_t address)
{
	size_t low = 0, high = side->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (side->extents[mid].address < address)
			low = mid + 1;
		else
			high = mid;
	}
	return low < side->count && side->extents[low].address == address ? low : NONE;
}

/* Pairs the functions that two paired functions call at the same places. */
static int follow_calls(struct comparison *c, size_t f)
{
	size_t k = c->file.partner[f], i = c->file.first[f], j = c->known.first[k];
	uint64_t end = c->file.extents[f].address + c->file.extents[f].size;

	for (; i < code__count(c->file.code) && code__at(c->file.code, i)->address < end; i++, j++) {
		uint64_t target = code__at(c->file.code, i)->target;
		uint64_t known = code__at(c->known.code, j)->target;

		if (target && known)
			try_pair(c, extent_at(&c->file, target), extent_at(&c->known, known));
	}
	return 0;
}

/* Pairs neighbours, because object files of an archive keep the order of their functions. */
static void spread(struct comparison *c)
{
	do {
		c->changed = false;
		for (size_t f = 0; f < c->file.count; f++) {
			size_t k = c->file.partner[f];

			if (k == NONE)
				continue;
			try_pair(c, f + 1, k + 1);
			if (f && k)
				try_pair(c, f - 1, k - 1);
			follow_calls(c, f);
		}
	} while (c->changed);
}

/* Names functions outside the runtime that it calls, such as malloc, as the library imports them. */
static int name_imports(struct comparison *c, size_t f)
{
	size_t i = c->file.first[f], j = c->known.first[c->file.partner[f]];
	uint64_t end = c->file.extents[f].address + c->file.extents[f].size;
	int r = 0;

	for (; !r && i < code__count(c->file.code) && code__at(c->file.code, i)->address < end; i++, j++) {
		uint64_t target = code__at(c->file.code, i)->target;
		uint64_t known = code__at(c->known.code, j)->target;
		const char *name = target && known && code__find(c->known.code, known) == CODE_NONE
					   ? code__plt_name(c->known.code, known)
					   : NULL;

		if (name && !elf_image__bytes(c->file.image, target, 1))
			name = NULL;
		if (name)
			r = elf_image__add_name(c->file.image, name, target, 1);
	}
	return r;
}

static int name_all(struct comparison *c)
{
	int r = 0;

	for (size_t i = 0; !r && i < elf_image__function_count(c->known.image); i++) {
		const struct elf_function *function = elf_image__function(c->known.image, i);
		size_t k = extent_at(&c->known, function->address);
		size_t f = k == NONE ? NONE : c->known.partner[k];

		if (f != NONE)
			r = elf_image__add_name(c->file.image, function->name, c->file.extents[f].address,
						c->file.extents[f].size);
	}
	for (size_t f = 0; !r && f < c->file.count; f++)
		if (c->file.partner[f] != NONE)
			r = name_imports(c, f);
	return r ? r : elf_image__named(c->file.image);
}

static int compare(struct comparison *c, struct uprobes_error *err)
{
	uint64_t start, end;
	int r;

	c->file.count = elf_image__extents(c->file.image, &c->file.extents);
	c->known.count = elf_image__extents(c->known.image, &c->known.extents);
	if (!c->file.count || !c->known.count)
		return 0;
	c->by_size = calloc(c->known.count, sizeof(*c->by_size));
	if (!c->by_size)
		return -ENOMEM;
	for (size_t i = 0; i < c->known.count; i++)
		c->by_size[i] = i;
	qsort_r(c->by_size, c->known.count, sizeof(*c->by_size), compare_sizes, (void *)c->known.extents);
	if (!find_window(c, &start, &end))
		return 0;
	narrow(c, start, end);
	if ((r = open_side(&c->file, err)) || (r = open_side(&c->known, err)) || (r = pair_unique(c)))
		return r;
	spread(c);
	return name_all(c);
}

int function_names__recognise(struct elf_image *image, const char *path, struct uprobes_error *err)
{
	struct comparison c = {.file.image = image};
	enum probe_runtime runtime;
	char known[PATH_MAX];
	int r;

	/* For aarch64, instructions are not decoded far enough to tell functions apart. */
	if (elf_image__machine(image) != EM_X86_64)
		return -ENOENT;
	if (elf_image__contains(image, ELF_RUNTIME_LIBOMP_TEXT))
		runtime = RUNTIME_LIBOMP;
	else if (elf_image__contains(image, ELF_RUNTIME_LIBGOMP_TEXT))
		runtime = RUNTIME_LIBGOMP;
	else
		return -ENOENT;
	r = runtime_find__system_of(runtime, known, sizeof(known));
	if (!r)
		r = elf_image__open(known, &c.known.image, err);
	if (!r && elf_image__machine(c.known.image) == elf_image__machine(image))
		r = compare(&c, err);
	close_side(&c.file);
	close_side(&c.known);
	free(c.by_size);
	elf_image__close(c.known.image);
	if (r == -ENOMEM)
		return r;
	if (!r && elf_image__runtime(image) != ELF_RUNTIME_NONE)
		return 0;
	snprintf(err->text, sizeof(err->text),
		 "%s: contains %s without the names of its functions, and not the one that this system has; "
		 "it cannot be observed (keep the symbols: do not strip it)",
		 path, probe_runtime__name(runtime));
	return -ENOTSUP;
}
