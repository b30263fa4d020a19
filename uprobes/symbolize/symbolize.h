/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Translates a code address to function, file and line, by libdw, and a data address to the string in a
 * file. Parses ELF and DWARF of files that users control. So call it only in a process without privileges.
 */
#ifndef GRAIND_SYMBOLIZE_H
#define GRAIND_SYMBOLIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbolizer;

struct symbol {
	char function[256];	/* "" when unknown */
	char file[1024];	/* "" without debug information */
	uint32_t line;		/* 0 without debug information */
	char module[256];	/* base name of the module; "" if the address is in none */
	uint64_t module_offset; /* address in the module's own address space */
};

int symbolizer__new(struct symbolizer **out);
void symbolizer__free(struct symbolizer *symbolizer);

/*
 * One executable mapping [start, end) of file offset `offset`. `path` names it for readers. The file is
 * read through `fd`, which the symbolizer then owns; if `fd` is -1, the file is opened by its path.
 */
int symbolizer__add_mapping(struct symbolizer *symbolizer, uint64_t start, uint64_t end, uint64_t offset,
			    const char *path, int fd);

/* If is_return is not zero, `address` is a return address and is looked up at address - 1. */
int symbolizer__lookup(struct symbolizer *symbolizer, uint64_t address, int is_return, struct symbol *out);

/*
 * Whether a call of omp_get_num_threads, which returns to the address, begins a static loop of GCC. The
 * code behind it shows this (static_loop.h). If lines are known, the call must also be on one line with the
 * call that asks for the thread's number. Calls written by hand seldom are.
 */
bool symbolizer__is_static_loop(struct symbolizer *symbolizer, uint64_t address);

/*
 * The string at a data address of a mapped file, as the file has it: at most size - 1 characters, all
 * printable. -ENOENT: the address is in none of the files, or there is no such string.
 */
int symbolizer__string(struct symbolizer *symbolizer, uint64_t address, char *out, size_t size);

/* A variable of a mapped file: its place in the process, and its name in the source. */
struct data_symbol {
	uint64_t start, bytes;
	char name[256];
	const char *path; /* path of its file, as in the mapping */
};

/*
 * Calls `each` for the variables of at least `least` bytes, in the files whose path `wants` accepts (NULL:
 * in all files). The order is arbitrary. If a file is mapped twice, its variables come twice.
 */
void symbolizer__each_data(struct symbolizer *symbolizer, uint64_t least, bool (*wants)(const char *path),
			   void (*each)(void *ctx, const struct data_symbol *symbol), void *ctx);

#endif
