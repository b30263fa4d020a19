/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dynamic symbols of a loaded object, read from its program headers as dl_iterate_phdr() gives them.
 * This avoids the loader's lock, which is held while a library's constructors run. Such a constructor may
 * have begun a region and wait for the calling thread.
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
	uintptr_t guarded_from, guarded_to; /* pages that became read-only after loading */
	const Elf64_Sym *symbols;
	const char *names;
	const Elf64_Half *versions;	 /* version of each symbol; NULL: there are no versions */
	const uint32_t *gnu_hash, *hash; /* NULL: it has no such table */
	struct {
		const Elf64_Rela *first;
		size_t count;
	} relocations[2];
};

/* Reads the object's tables. False: it has no symbols to look up, but its addresses are set. */
bool loaded_object__read(const struct dl_phdr_info *info, struct loaded_object *o);

/*
 * The function that an unversioned reference to that name gets, as from dlsym(3). NULL: there is none, or
 * it is an IFUNC.
 */
void *loaded_object__find(const struct loaded_object *o, const char *name);

static inline bool loaded_object__has(const struct loaded_object *o, const void *address)
{
	return (uintptr_t)address >= o->start && (uintptr_t)address < o->end;
}

#endif
