/* SPDX-License-Identifier: BSD-2-Clause */
/* The dynamic symbols of a loaded object, read from the memory of its process. */
#ifndef GRAINCTL_INJECT_SYMBOLS_H
#define GRAINCTL_INJECT_SYMBOLS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct inject_symbols {
	uint64_t base;
	uint64_t frames; /* address of its .eh_frame_hdr; 0: none */
	Elf64_Sym *all;
	size_t count;
	char *names; /* ends with a 0 */
	size_t size;
};

/*
 * Reads the symbols of the object whose first page is at `start`. 0 or a negative errno. The caller must
 * release the result.
 */
int inject_symbols__read(pid_t pid, uint64_t start, struct inject_symbols *out);
void inject_symbols__release(struct inject_symbols *symbols);

/* Finds a defined symbol by its name; NULL: there is none. */
const Elf64_Sym *inject_symbols__find(const struct inject_symbols *symbols, const char *name);
const char *inject_symbols__name(const struct inject_symbols *symbols, const Elf64_Sym *symbol);

#endif
