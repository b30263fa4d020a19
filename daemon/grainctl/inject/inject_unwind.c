// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/grainctl/inject/inject_unwind.h"

#include <errno.h>
#include <string.h>

static const struct inject_object *object_at(const struct inject_target *target, uint64_t pc)
{
	for (size_t i = 0; i < target->object_count; i++)
		if (pc >= target->objects[i].from && pc < target->objects[i].to)
			return &target->objects[i];
	return NULL;
}

static const struct inject_cfi_row *row_at(struct inject_unwind *unwind, uint64_t pc)
{
	size_t slot = (size_t)(pc * UINT64_C(0x9e3779b97f4a7c15) >> 32) % INJECT_UNWIND_KNOWN;
	const struct inject_object *object;

	if (unwind->known[slot].pc != pc) {
		object = object_at(unwind->target, pc);
		unwind->known[slot].pc = pc;
		unwind->known[slot].error = object ? inject_cfi__row(unwind->target->pid, object->frames, pc,
								     &unwind->known[slot].row)
						   : -ENOENT;
	}
	return unwind->known[slot].error ? NULL : &unwind->known[slot].row;
}

static bool read_stack(const struct inject_unwind *unwind, uint64_t at, uint64_t *out)
{
	if (at & 7 || at < unwind->from || at >= unwind->to)
		return false;
	*out = unwind->words[(at - unwind->from) / sizeof(*out)];
	return true;
}

static uint64_t plus(uint64_t address, int32_t offset)
{
	return address + (uint64_t)(int64_t)offset;
}

static bool find_frame(const struct inject_unwind *unwind, const struct inject_cfi_rule *rule, uint64_t *out)
{
	uint64_t at;

	if (rule->how != INJECT_CFI_SAME && rule->how != INJECT_CFI_AT_BASE)
		return false;
	at = plus(unwind->registers[rule->base], rule->offset);
	if (rule->how == INJECT_CFI_SAME)
		*out = at;
	else if (!read_stack(unwind, at, out))
		return false;
	/* The caller's frame must be above everything of the function itself. */
	return *out > unwind->registers[INJECT_CFI_SP] && *out <= unwind->to;
}

int inject_unwind__step(struct inject_unwind *unwind)
{
	/* A return address is the address after the call, which may already be in another function. */
	uint64_t pc = unwind->registers[INJECT_CFI_RETURN] - unwind->inner, frame;
	const struct inject_cfi_row *row = row_at(unwind, pc);
	uint64_t next[INJECT_CFI_REGISTERS];

	if (!row || row->of_signal)
		return -ENOENT;
	if (row->registers[INJECT_CFI_RETURN].how == INJECT_CFI_UNDEFINED)
		return 0;
	if (!find_frame(unwind, &row->frame, &frame))
		return -EFAULT;
	memcpy(next, unwind->registers, sizeof(next));
	next[INJECT_CFI_SP] = frame;
	for (size_t i = 0; i < INJECT_CFI_REGISTERS; i++) {
		const struct inject_cfi_rule *rule = &row->registers[i];

		if (rule->how == INJECT_CFI_UNKNOWN)
			return -ENOTSUP;
		if (rule->how == INJECT_CFI_AT_CFA &&
		    !read_stack(unwind, plus(frame, rule->offset), &next[i]))
			return -EFAULT;
		if (rule->how == INJECT_CFI_AT_BASE &&
		    !read_stack(unwind, plus(unwind->registers[rule->base], rule->offset), &next[i]))
			return -EFAULT;
	}
	if (row->registers[INJECT_CFI_RETURN].how == INJECT_CFI_SAME)
		return -ENOTSUP;
	memcpy(unwind->registers, next, sizeof(next));
	unwind->inner = true;
	return 1;
}
