/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code address -> function, file and line, by libdw; address -> string in a file. Parses ELF and DWARF of
 * files that users control: call it only in a process without privileges.
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
	char module[256];	/* base name of the module, "" when the address is in none */
	uint64_t module_offset; /* address in the module's own address space */
};

int symbolizer__new(struct symbolizer **out);
void symbolizer__free(struct symbolizer *symbolizer);

/*
 * One executable mapping [start, end) of file offset `offset`. `path` names it
 * for people; the file is read through `fd`, of which the symbolizer takes
 * ownership, or opened by path when fd is -1.
 */
int symbolizer__add_mapping(struct symbolizer *symbolizer, uint64_t start, uint64_t end, uint64_t offset,
			    const char *path, int fd);

/* A return address is looked up at address - 1 when is_return is non-zero. */
int symbolizer__lookup(struct symbolizer *symbolizer, uint64_t address, int is_return, struct symbol *out);

/*
 * Whether the call that returns to the address, one of omp_get_num_threads, begins a static loop of
 * GCC's: by the code behind it (static_loop.h), and, where lines are known, because it is on one line
 * with the call that asks for the thread's number, as written by hand they seldom are.
 */
bool symbolizer__is_static_loop(struct symbolizer *symbolizer, uint64_t address);

/*
 * The string at a data address of a mapped file, as the file has it: at most size - 1 characters, all
 * printable. -ENOENT when the address is in none of the files or there is no such string.
 */
int symbolizer__string(struct symbolizer *symbolizer, uint64_t address, char *out, size_t size);

/* A variable of a mapped file: where it is in the process, and its name as in the source. */
struct data_symbol {
	uint64_t start, bytes;
	char name[256];
	const char *path; /* of its file, as the mapping has it */
};

/*
 * Those of `least` bytes and more, in the files whose path `wants` (NULL: in all), file by file in no
 * order. A file that is mapped twice gives them twice.
 */
void symbolizer__each_data(struct symbolizer *symbolizer, uint64_t least, bool (*wants)(const char *path),
			   void (*each)(void *ctx, const struct data_symbol *symbol), void *ctx);

#endif
