// SPDX-License-Identifier: BSD-2-Clause
/* Finds where libgomp keeps its data about a thread: in a block at an offset from the thread pointer. */
#include "uprobes/libgomp/libgomp_patterns.h"

/* What a register holds. */
struct part {
	enum {
		PART_NONE,
		PART_THREAD,
		PART_OFFSET,
		PART_BLOCK
	} is; /* the thread pointer; the block's distance from it; the sum of both */
	bool fixed;
	uint64_t got;
	int64_t value;
};

/* The sum of two parts; a constant is an offset. */
static struct part sum_of(struct part a, struct part b)
{
	struct part sum = a.is == PART_OFFSET ? b : a;
	struct part offset = a.is == PART_OFFSET ? a : b;

	if (offset.is != PART_OFFSET || sum.is == PART_NONE ||
	    (sum.is != PART_THREAD && !(sum.fixed && offset.fixed)))
		return (struct part){PART_NONE, false, 0, 0};
	if (sum.is == PART_THREAD)
		return (struct part){PART_BLOCK, offset.fixed, offset.got, offset.value};
	sum.value += offset.value;
	return sum;
}

static struct part part_of(const struct part *parts, const struct code_operand *o)
{
	if (o->type == OPERAND_VALUE)
		return (struct part){PART_OFFSET, true, 0, o->value};
	if (o->type == OPERAND_REG && o->reg < CODE_REG_SP)
		return parts[o->reg];
	if (operand__is_at(o, CODE_REG_PC))
		return (struct part){PART_OFFSET, false, (uint64_t)o->value, 0};
	return (struct part){PART_NONE, false, 0, 0};
}

/*
 * Whether the memory operand is a field of the block. The processor adds the thread pointer, or an
 * instruction has done so before.
 */
static bool is_field(const struct part *parts, const struct code_operand *from, struct tls_layout *tls,
		     int64_t *field)
{
	struct part base = {PART_NONE, false, 0, 0};

	if (from->type != OPERAND_MEMORY || from->index != CODE_REG_NONE)
		return false;
	if (from->reg < CODE_REG_SP)
		base = parts[from->reg];
	else if (from->reg == CODE_REG_NONE && from->thread && from->value < 0)
		base = (struct part){PART_OFFSET, true, 0, 0};
	if (base.is != (from->thread ? PART_OFFSET : PART_BLOCK))
		return false;
	tls->fixed = base.fixed;
	tls->got = base.got;
	tls->block = base.value;
	*field = from->value;
	return true;
}

/*
 * A small exported function that reads a field of the block. In a library, the block's distance from the
 * thread pointer comes from the GOT. In an executable, the linker has made it a constant, even in code that
 * was compiled for a library.
 */
static bool decode_tls(const struct planner *planner, const char *name, struct tls_layout *tls,
		       int64_t *field)
{
	struct part parts[CODE_REG_SP] = {{PART_NONE, false, 0, 0}};
	struct code_range f;

	if (!planner__function(planner, name, &f))
		return false;
	for (size_t i = f.first; i < f.end && i < f.first + 8; i++) {
		const struct code_insn *in = code__at(planner->code, i);
		struct part part = {PART_NONE, false, 0, 0};

		if (in->op == CODE_COPY && is_field(parts, &in->operand[1], tls, field))
			return true;
		if (in->operand_count == 0 || in->operand[0].type != OPERAND_REG ||
		    in->operand[0].reg >= CODE_REG_SP)
			continue;
		if (in->op == CODE_THREAD)
			part.is = PART_THREAD;
		else if (in->op == CODE_COPY)
			part = part_of(parts, &in->operand[1]);
		else if (in->op == CODE_ADD)
			part = sum_of(part_of(parts, &in->operand[in->operand_count == 3 ? 2 : 0]),
				      part_of(parts, &in->operand[1]));
		if (insn__writes(in, in->operand[0].reg))
			parts[in->operand[0].reg] = part;
	}
	return false;
}

/* Both fields must belong to the same block. */
bool libgomp__find_tls(const struct planner *planner, struct tls_layout *tls)
{
	struct tls_layout other = {0};

	if (!decode_tls(planner, "omp_get_num_threads", tls, &tls->team) ||
	    !decode_tls(planner, "omp_get_thread_num", &other, &other.number) || other.fixed != tls->fixed ||
	    (tls->fixed ? other.block != tls->block : other.got != tls->got))
		return false;
	tls->number = other.number;
	if (tls->fixed && tls->team < 0) {
		int64_t low = tls->team < tls->number ? tls->team : tls->number;

		tls->block += low;
		tls->team -= low;
		tls->number -= low;
	}
	return tls->team >= 0 && tls->team <= COOKIE_SMALL_MAX * 4 && tls->team % 4 == 0 &&
	       tls->number >= 0 && tls->number <= COOKIE_SMALL_MAX * 4 && tls->number % 4 == 0;
}
