// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/static_loops/callee_writes.h"

#include "bpf/abi/cookie.h"

#include <errno.h>
#include <stdlib.h>

#define MOST_BYTES 8192 /* of a function that is examined */
#define DEPTH_MAX 6	/* of calls that are followed */
#define KNOWN 1024

struct callee_writes {
	const struct elf_image *image;
	const struct elf_extent *extents;
	size_t extent_count;
	struct loop_code code[DEPTH_MAX];
	struct {
		uint64_t address;
		uint32_t mask;
	} known[KNOWN]; /* direct mapped */
};

int callee_writes__new(const struct elf_image *image, const struct code_arch *arch,
		       const struct elf_extent *extents, size_t extent_count, struct callee_writes **out)
{
	struct callee_writes *writes = calloc(1, sizeof(*writes));
	int r = writes ? 0 : -ENOMEM;

	for (int i = 0; !r && i < DEPTH_MAX; i++)
		r = loop_code__init(&writes->code[i], arch);
	if (r) {
		callee_writes__free(writes);
		return r;
	}
	writes->image = image;
	writes->extents = extents;
	writes->extent_count = extent_count;
	*out = writes;
	return 0;
}

void callee_writes__free(struct callee_writes *writes)
{
	for (int i = 0; writes && i < DEPTH_MAX; i++)
		loop_code__free(&writes->code[i]);
	free(writes);
}

static const struct elf_extent *find(const struct callee_writes *writes, uint64_t address)
{
	size_t low = 0, high = writes->extent_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (writes->extents[mid].address < address)
			low = mid + 1;
		else
			high = mid;
	}
	return low < writes->extent_count && writes->extents[low].address == address ? &writes->extents[low]
										     : NULL;
}

static uint32_t bit_of(const struct lift_operand *o)
{
	return o->type == OPERAND_REG && o->reg <= CODE_REG_SP ? 1u << o->reg : 0;
}

/* The register that the distance to the memory counts from. */
static uint32_t base_of(const struct lift_operand *o)
{
	return o->type == OPERAND_MEMORY && o->reg <= CODE_REG_SP ? 1u << o->reg : 0;
}

static uint32_t written(const struct lift *lift)
{
	uint32_t mask = bit_of(&lift->to) | lift->forgets;

	if (lift->op == LIFT_DIVIDE || lift->op == LIFT_WIDE_MULTIPLY)
		mask |= 1u << COOKIE_RAX | 1u << COOKIE_RDX;
	if (lift->op == LIFT_EXCHANGE)
		mask |= bit_of(&lift->a);
	if (lift->to.type != OPERAND_MEMORY)
		mask |= bit_of(&lift->pair);
	if (lift->step)
		mask |= base_of(&lift->to) | base_of(&lift->a);
	return mask;
}

static uint32_t look(struct callee_writes *writes, uint64_t address, uint32_t most, int depth)
{
	const struct elf_extent *extent = find(writes, address);
	struct loop_code *code = &writes->code[depth < DEPTH_MAX ? depth : 0];
	uint32_t mask = 0;

	if (!extent || extent->size > MOST_BYTES || depth == DEPTH_MAX ||
	    loop_code__read(code, writes->image, extent->address, extent->size) || code->computed)
		return most;
	for (uint32_t i = 0; i < code->count && mask != most; i++) {
		const struct code_insn *base = &code->insns[i].base;
		bool leaves = base->target && base->target - extent->address >= extent->size;

		if (base->flow == FLOW_CALL || leaves)
			mask |= base->target ? look(writes, base->target, most, depth + 1) : most;
		else if (base->flow == FLOW_NEXT)
			mask |= written(&code->insns[i].lift) & most;
	}
	return mask;
}

/* What the call itself changes, and what the linker's stub for it may change (aarch64: x16, x17). */
static uint32_t by_calling(const struct code_arch *arch)
{
	return arch->link == CODE_REG_NONE ? 0 : 1u << arch->link | 1u << 16 | 1u << 17;
}

uint32_t callee_writes__of(struct callee_writes *writes, uint64_t address, uint32_t most)
{
	size_t at = (address >> 4) % KNOWN;

	if (!address)
		return most;
	if (writes->known[at].address != address) {
		writes->known[at].mask =
			look(writes, address, most, 0) | (by_calling(writes->code[0].arch) & most);
		writes->known[at].address = address;
	}
	return writes->known[at].mask;
}
