/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which registers a function of the same file changes. If a compiler sees the called function, it knows
 * this too, and keeps values in other registers across a call, whatever the calling convention says (GCC's
 * -fipa-ra).
 */
#ifndef GRAIND_CALLEE_WRITES_H
#define GRAIND_CALLEE_WRITES_H

#include "uprobes/static_loops/loop_code.h"

struct callee_writes;

/*
 * `extents`: the file's functions, sorted by address. The caller keeps them and the image. Returns 0 or
 * -ENOMEM.
 */
int callee_writes__new(const struct elf_image *image, const struct code_arch *arch,
		       const struct elf_extent *extents, size_t extent_count, struct callee_writes **out);
void callee_writes__free(struct callee_writes *writes); /* accepts NULL */
/*
 * The registers that the function at `address` may change: a mask within `most`. If the function is not
 * known, this is `most`.
 */
uint32_t callee_writes__of(struct callee_writes *writes, uint64_t address, uint32_t most);

#endif
