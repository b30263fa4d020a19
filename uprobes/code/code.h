/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code of an image as a compact array of instructions, decoded by capstone. Its terms do not depend on
 * the processor (code_insn.h).
 */
#ifndef GRAIND_CODE_H
#define GRAIND_CODE_H

#include "uprobes/code/code_insn.h"
#include "uprobes/elf/elf_image.h"

#define CODE_NONE SIZE_MAX

/* A function's instructions, within the bounds that the dynamic symbol table gives. */
struct code_range {
	size_t first, end; /* indices */
};

struct code;
struct code_arch;

/* -ENOTSUP: the exported functions do not start at instruction boundaries. */
int code__load(const struct elf_image *image, struct code **out, struct uprobes_error *err);
/* Decodes `size` bytes from `address` on, or fewer if there are fewer. */
int code__load_at(const struct elf_image *image, uint64_t address, size_t size, struct code **out,
		  struct uprobes_error *err);
void code__free(struct code *code);

const struct code_arch *code__arch(const struct code *code);
size_t code__count(const struct code *code);
const struct code_insn *code__at(const struct code *code, size_t index);
/* Index of the instruction that starts at `address`; CODE_NONE: none does. */
size_t code__find(const struct code *code, uint64_t address);
/*
 * Name of the imported function that an indirect call or jump through the GOT leads to; NULL: there is
 * none.
 */
const char *code__got_name(const struct code *code, const struct code_insn *insn);
/* "je 0x18900" */
void code__text(const struct code *code, size_t index, char *buffer, size_t size);

/*
 * Name of the function outside the runtime's code that a direct call leads to. The function is imported
 * through the PLT, or is another part of the same executable. NULL: it has no name.
 */
const char *code__plt_name(const struct code *code, uint64_t target);

#endif
