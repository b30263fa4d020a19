// SPDX-License-Identifier: BSD-2-Clause
#include "runtime-shim/runtimes/loaded_object.h"

#include <string.h>

#define PAGE 4096u
#define VERSION_HIDDEN 0x8000u

/* The loader has turned most of them into addresses. */
static uintptr_t absolute(const struct loaded_object *o, uintptr_t address)
{
	return address < o->base ? address + o->base : address;
}

static void read_dynamic(const Elf64_Dyn *d, struct loaded_object *o)
{
	for (; d->d_tag != DT_NULL; d++) {
		uintptr_t value = absolute(o, d->d_un.d_ptr);

		switch (d->d_tag) {
		case DT_SYMTAB:
			o->symbols = (const Elf64_Sym *)value;
			break;
		case DT_STRTAB:
			o->names = (const char *)value;
			break;
		case DT_VERSYM:
			o->versions = (const Elf64_Half *)value;
			break;
		case DT_GNU_HASH:
			o->gnu_hash = (const uint32_t *)value;
			break;
		case DT_HASH:
			o->hash = (const uint32_t *)value;
			break;
		case DT_JMPREL:
			o->relocations[0].first = (const Elf64_Rela *)value;
			break;
		case DT_PLTRELSZ:
			o->relocations[0].count = d->d_un.d_val / sizeof(Elf64_Rela);
			break;
		case DT_RELA:
			o->relocations[1].first = (const Elf64_Rela *)value;
			break;
		case DT_RELASZ:
			o->relocations[1].count = d->d_un.d_val / sizeof(Elf64_Rela);
			break;
		default:
			break;
		}
	}
}

bool loaded_object__read(const struct dl_phdr_info *info, struct loaded_object *o)
{
	const Elf64_Dyn *dynamic = NULL;

	*o = (struct loaded_object){.base = info->dlpi_addr, .start = UINTPTR_MAX};
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *p = &info->dlpi_phdr[i];
		uintptr_t from = o->base + p->p_vaddr, to = from + p->p_memsz;

		if (p->p_type == PT_LOAD) {
			o->start = from < o->start ? from : o->start;
			o->end = to > o->end ? to : o->end;
		} else if (p->p_type == PT_DYNAMIC) {
			dynamic = (const Elf64_Dyn *)from;
		} else if (p->p_type == PT_GNU_RELRO) {
			o->guarded_from = from & -(uintptr_t)PAGE;
			o->guarded_to = to & -(uintptr_t)PAGE;
		}
	}
	if (dynamic)
		read_dynamic(dynamic, o);
	return o->symbols && o->names && (o->gnu_hash || o->hash);
}

static void *function_at(const struct loaded_object *o, uint32_t number, const char *name)
{
	const Elf64_Sym *symbol = &o->symbols[number];
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	if (symbol->st_shndx == SHN_UNDEF || !symbol->st_value || (type != STT_FUNC && type != STT_NOTYPE) ||
	    ELF64_ST_BIND(symbol->st_info) == STB_LOCAL ||
	    (o->versions && o->versions[number] & VERSION_HIDDEN) || strcmp(o->names + symbol->st_name, name))
		return NULL;
	return (void *)(o->base + symbol->st_value);
}

static void *find_gnu(const struct loaded_object *o, const char *name)
{
	const uint32_t *table = o->gnu_hash, buckets = table[0], first = table[1], filters = table[2];
	const uint32_t *bucket = &table[4] + (size_t)filters * 2, *chain = bucket + buckets;
	uint32_t hash = 5381, number;
	void *found = NULL;

	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	number = buckets ? bucket[hash % buckets] : 0;
	if (number < first)
		return NULL;
	do {
		if ((chain[number - first] | 1) == (hash | 1))
			found = function_at(o, number, name);
	} while (!found && !(chain[number++ - first] & 1));
	return found;
}

static void *find_old(const struct loaded_object *o, const char *name)
{
	uint32_t hash = 0, buckets = o->hash[0];
	const uint32_t *bucket = &o->hash[2], *chain = bucket + buckets;
	void *found = NULL;

	for (const char *c = name; *c; c++) {
		hash = (hash << 4) + (unsigned char)*c;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	for (uint32_t number = buckets ? bucket[hash % buckets] : 0; number && !found; number = chain[number])
		found = function_at(o, number, name);
	return found;
}

void *loaded_object__find(const struct loaded_object *o, const char *name)
{
	return o->gnu_hash ? find_gnu(o, name) : find_old(o, name);
}
