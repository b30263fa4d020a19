/* SPDX-License-Identifier: BSD-2-Clause */
/* The dynamic symbols of an object that a process has loaded, as they are in its memory. */
#ifndef GRAINCTL_INJECT_SYMBOLS_H
#define GRAINCTL_INJECT_SYMBOLS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct inject_symbols {
	uint64_t base;
	uint64_t frames; /* of its functions: .eh_frame_hdr; 0: it has none */
	Elf64_Sym *all;
	size_t count;
	char *names; /* ends with a 0 */
	size_t size;
};

/* Of the object whose first page is at `start`; 0 or a negative errno. Release what was read. */
int inject_symbols__read(pid_t pid, uint64_t start, struct inject_symbols *out);
void inject_symbols__release(struct inject_symbols *symbols);

/* A defined one of that name, or NULL. */
const Elf64_Sym *inject_symbols__find(const struct inject_symbols *symbols, const char *name);
const char *inject_symbols__name(const struct inject_symbols *symbols, const Elf64_Sym *symbol);

#endif
