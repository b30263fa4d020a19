/* SPDX-License-Identifier: BSD-2-Clause */
/* An ELF file as the planner needs it: code, functions with their names, PLT names. */
#ifndef GRAIND_ELF_IMAGE_H
#define GRAIND_ELF_IMAGE_H

#include "uprobes/elf/elf_runtime.h"
#include "uprobes/plan/uprobes_error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_function {
	const char *name; /* without its version suffix */
	uint64_t address;
	uint64_t size;
};

struct elf_image;

/* Opens the file. The errors are those of probe_plan__create(), with *err set. */
int elf_image__open(const char *path, struct elf_image **out, struct uprobes_error *err);
/* The same for an open file that messages call `name`. The caller keeps the descriptor. */
int elf_image__open_fd(int fd, const char *name, struct elf_image **out, struct uprobes_error *err);
void elf_image__close(struct elf_image *image);

/* The file's processor: EM_X86_64 or EM_AARCH64. Files for others are not opened. */
uint16_t elf_image__machine(const struct elf_image *image);
const char *elf_image__build_id(const struct elf_image *image); /* hex or "" */
uint64_t elf_image__build_id_at(const struct elf_image *image); /* its offset in the file */

/* The OpenMP runtime in the file, by the names of its functions. */
enum elf_runtime elf_image__runtime(const struct elf_image *image);

/*
 * The bytes of the section .text and its address. If a runtime is only a part of the file, as in an
 * executable, these are the bytes from the runtime's first function to its last.
 */
const uint8_t *elf_image__text(const struct elf_image *image, uint64_t *address, size_t *size);

/*
 * The functions with names, sorted by address, with all aliases. These are the exported functions; if no
 * runtime is among them, those of the symbol table.
 */
size_t elf_image__function_count(const struct elf_image *image);
const struct elf_function *elf_image__function(const struct elf_image *image, size_t index);
const struct elf_function *elf_image__find(const struct elf_image *image, const char *name);

/*
 * The name of the function that begins at this address outside of elf_image__text(); NULL if there is none.
 */
const char *elf_image__outside_name(const struct elf_image *image, uint64_t address);

/* Address and size of each function, with or without a name, sorted by address. The image owns the array. */
struct elf_extent {
	uint64_t address, size;
};
size_t elf_image__extents(struct elf_image *image, const struct elf_extent **out);

/*
 * Adds a function's name that was found in another way. Call elf_image__named() after the last one. Returns
 * 0 or -ENOMEM.
 */
int elf_image__add_name(struct elf_image *image, const char *name, uint64_t address, uint64_t size);
int elf_image__named(struct elf_image *image);
/* Narrows elf_image__text() to its overlap with this range. */
void elf_image__set_window(struct elf_image *image, uint64_t address, uint64_t size);

/* Whether the file's read-only data contains the string. */
bool elf_image__contains(const struct elf_image *image, const char *text);

/* Name of the function that the GOT entry at `address` is bound to; NULL: there is none. */
const char *elf_image__got_name(const struct elf_image *image, uint64_t address);

/*
 * The value of the relative relocation at `address`: the address in the file to which the loader adds the
 * load address. False: there is none.
 */
bool elf_image__relative(const struct elf_image *image, uint64_t address, uint64_t *out);

/* The bytes at an address in any executable segment. NULL: there are fewer than `size`. */
const uint8_t *elf_image__bytes(const struct elf_image *image, uint64_t address, size_t size);

/* The libelf handle of the file. The image owns it. */
struct Elf *elf_image__elf(const struct elf_image *image);
/* Undoes the narrowing of elf_image__text() to the part that is a runtime. */
void elf_image__widen(struct elf_image *image);

/* Converts an offset in the file to the virtual address of executable code. UINT64_MAX: there is none. */
uint64_t elf_image__address(const struct elf_image *image, uint64_t offset);
/* Converts a virtual address to the offset in the file. UINT64_MAX: the address is in no loaded segment. */
uint64_t elf_image__file_offset(const struct elf_image *image, uint64_t address);

#endif
