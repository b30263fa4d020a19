/* SPDX-License-Identifier: BSD-2-Clause */
/* What the planner needs of an ELF file: code, functions with their names, PLT names. */
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
/* Of an open file that people know as `name`; the descriptor stays the caller's. */
int elf_image__open_fd(int fd, const char *name, struct elf_image **out, struct uprobes_error *err);
void elf_image__close(struct elf_image *image);

struct code_arch;
/* Of the processor that the file is for. */
const struct code_arch *elf_image__arch(const struct elf_image *image);
const char *elf_image__build_id(const struct elf_image *image); /* hex or "" */

enum elf_runtime { ELF_RUNTIME_NONE, ELF_RUNTIME_LIBGOMP, ELF_RUNTIME_LIBOMP };
/* By the names of its functions. */
enum elf_runtime elf_image__runtime(const struct elf_image *image);
/* Which of the two the name belongs to as one of those that tell. */
enum elf_runtime elf_runtime__of(unsigned int seen);
unsigned int elf_runtime__seen(const char *name);

/*
 * The bytes of the section .text and its address. Where a runtime is only a
 * part of the file, as in an executable, the part from its first to its last function.
 */
const uint8_t *elf_image__text(const struct elf_image *image, uint64_t *address, size_t *size);

/*
 * Functions with names, sorted by address; aliases are all listed: the exported
 * ones, or, when no runtime is among them, those of the symbol table.
 */
size_t elf_image__function_count(const struct elf_image *image);
const struct elf_function *elf_image__function(const struct elf_image *image, size_t index);
const struct elf_function *elf_image__find(const struct elf_image *image, const char *name);

/* A function at exactly this address, outside of what elf_image__text gives; NULL if none has a name. */
const char *elf_image__outside_name(const struct elf_image *image, uint64_t address);

/* Where each function begins and ends, with or without a name; sorted by address. */
struct elf_extent {
	uint64_t address, size;
};
size_t elf_image__extents(struct elf_image *image, const struct elf_extent **out);

/* Gives a function a name that was found out otherwise; elf_image__named after the last one. */
int elf_image__add_name(struct elf_image *image, const char *name, uint64_t address, uint64_t size);
int elf_image__named(struct elf_image *image);
/* Narrows what elf_image__text gives to where the two overlap. */
void elf_image__set_window(struct elf_image *image, uint64_t address, uint64_t size);

/* Whether the file's read-only data contains the text. */
bool elf_image__contains(const struct elf_image *image, const char *text);

/* Name of the function that the GOT entry at `address` is bound to, or NULL. */
const char *elf_image__got_name(const struct elf_image *image, uint64_t address);

/* The address in the file that the loader will put at `address`, relative to where the file lies;
 * elf_relative.c */
bool elf_image__relative(const struct elf_image *image, uint64_t address, uint64_t *out);

/* Bytes at an address of any executable segment; NULL when fewer than `size` are there. */
const uint8_t *elf_image__bytes(const struct elf_image *image, uint64_t address, size_t size);

/* The file as libelf sees it. */
struct Elf *elf_image__elf(const struct elf_image *image);
/* Undoes the narrowing to the part that is a runtime. */
void elf_image__widen(struct elf_image *image);

/* Offset in the file -> virtual address of executable code; UINT64_MAX when there is none. */
uint64_t elf_image__address(const struct elf_image *image, uint64_t offset);
/* Virtual address -> offset in the file; UINT64_MAX when in no loaded segment. */
uint64_t elf_image__file_offset(const struct elf_image *image, uint64_t address);

#endif
