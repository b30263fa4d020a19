/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code address -> function, file and line, by libdw. Parses ELF and DWARF of
 * files that users control: call it only in a process without privileges.
 */
#ifndef GRAIND_SYMBOLIZE_H
#define GRAIND_SYMBOLIZE_H

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

#endif
