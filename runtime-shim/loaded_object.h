/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the loader has in memory of an object, read from its program headers as
 * dl_iterate_phdr() gives them. So nobody waits for the lock that the loader
 * holds while it runs the constructors of a library: one of them may have
 * begun a region and wait for the thread that asks.
 */
#ifndef GRAIND_SHIM_LOADED_OBJECT_H
#define GRAIND_SHIM_LOADED_OBJECT_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loaded_object {
	uintptr_t base, start, end;
	uintptr_t guarded_from, guarded_to; /* pages that are read-only since it was loaded */
	const Elf64_Sym *symbols;
	const char *names;
	const Elf64_Half *versions;	 /* of each symbol; NULL: it has none */
	const uint32_t *gnu_hash, *hash; /* NULL: it has no such table */
	struct {
		const Elf64_Rela *first;
		size_t count;
	} relocations[2];
};

/* False: it has no symbols that could be looked up; its addresses are there all the same. */
bool loaded_object__read(const struct dl_phdr_info *info, struct loaded_object *o);

/*
 * The function of that name that a program without a version in mind gets, as
 * from dlsym(3); NULL: there is none, or only its own code knows where it is.
 */
void *loaded_object__find(const struct loaded_object *o, const char *name);

static inline bool loaded_object__has(const struct loaded_object *o, const void *address)
{
	return (uintptr_t)address >= o->start && (uintptr_t)address < o->end;
}

#endif
