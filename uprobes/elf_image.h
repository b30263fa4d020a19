/* SPDX-License-Identifier: BSD-2-Clause */
/* What the planner needs of an ELF file: code, exported functions, PLT names. */
#ifndef GRAIND_ELF_IMAGE_H
#define GRAIND_ELF_IMAGE_H

#include "uprobes/plan.h"

struct elf_function {
	const char *name; /* version suffix not included */
	uint64_t address;
	uint64_t size;
};

struct elf_image;

/* Errors as probe_plan__create. */
int elf_image__open(const char *path, struct elf_image **out, struct uprobes_error *err);
void elf_image__close(struct elf_image *image);

const char *elf_image__build_id(const struct elf_image *image); /* hex or "" */

/* The bytes of the section .text and its address. */
const uint8_t *elf_image__text(const struct elf_image *image, uint64_t *address, size_t *size);

/* Exported functions, sorted by address; aliases are all listed. */
size_t elf_image__function_count(const struct elf_image *image);
const struct elf_function *elf_image__function(const struct elf_image *image, size_t index);
const struct elf_function *elf_image__find(const struct elf_image *image, const char *name);

/* Name of the function that the GOT entry at `address` is bound to, or NULL. */
const char *elf_image__got_name(const struct elf_image *image, uint64_t address);

/* Bytes at an address of any executable segment; NULL when fewer than `size` are there. */
const uint8_t *elf_image__bytes(const struct elf_image *image, uint64_t address, size_t size);

/* Virtual address -> offset in the file; UINT64_MAX when in no loaded segment. */
uint64_t elf_image__file_offset(const struct elf_image *image, uint64_t address);

#endif
