// SPDX-License-Identifier: BSD-2-Clause
/* Written by hand: libelf reads files, but these tables are in the memory of a process that may lie. */
#include "daemon/grainctl/inject/inject_symbols.h"
#include "daemon/grainctl/inject/inject_target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEADERS_MAX 64
#define DYNAMIC_MAX 512
#define SYMBOLS_MAX (1u << 20)
#define NAMES_MAX (64u << 20)
#define BUCKETS_MAX (1u << 20)

struct tables {
	uint64_t symbols, names, names_size, gnu_hash, hash;
};

static int read_headers(pid_t pid, uint64_t start, struct inject_symbols *out, uint64_t *dynamic)
{
	Elf64_Phdr headers[HEADERS_MAX];
	Elf64_Ehdr elf;

	if (!process_memory__read(pid, start, &elf, sizeof(elf)))
		return -EFAULT;
	if (memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf.e_phnum > HEADERS_MAX || elf.e_phentsize != sizeof(headers[0]))
		return -ENOEXEC;
	if (!process_memory__read(pid, start + elf.e_phoff, headers, elf.e_phnum * sizeof(headers[0])))
		return -EFAULT;
	out->base = UINT64_MAX;
	*dynamic = 0;
	for (size_t i = 0; i < elf.e_phnum; i++) {
		if (headers[i].p_type == PT_LOAD && out->base == UINT64_MAX)
			out->base = start - (headers[i].p_vaddr - headers[i].p_offset);
		if (headers[i].p_type == PT_DYNAMIC)
			*dynamic = headers[i].p_vaddr;
		if (headers[i].p_type == PT_GNU_EH_FRAME && headers[i].p_memsz)
			out->frames = out->base + headers[i].p_vaddr;
	}
	if (out->base == UINT64_MAX || !*dynamic)
		return -ENOEXEC;
	*dynamic += out->base;
	return 0;
}

/* In some entries the loader has replaced offsets by addresses. */
static uint64_t absolute(uint64_t base, uint64_t value)
{
	return value < base ? value + base : value;
}

static int read_dynamic(pid_t pid, uint64_t base, uint64_t at, struct tables *out)
{
	*out = (struct tables){0};
	for (size_t i = 0; i < DYNAMIC_MAX; i++) {
		Elf64_Dyn d;

		if (!process_memory__read(pid, at + i * sizeof(d), &d, sizeof(d)))
			return -EFAULT;
		switch (d.d_tag) {
		case DT_NULL:
			return out->symbols && out->names && out->names_size <= NAMES_MAX ? 0 : -ENOEXEC;
		case DT_SYMTAB:
			out->symbols = absolute(base, d.d_un.d_ptr);
			break;
		case DT_STRTAB:
			out->names = absolute(base, d.d_un.d_ptr);
			break;
		case DT_STRSZ:
			out->names_size = d.d_un.d_val;
			break;
		case DT_GNU_HASH:
			out->gnu_hash = absolute(base, d.d_un.d_ptr);
			break;
		case DT_HASH:
			out->hash = absolute(base, d.d_un.d_ptr);
			break;
		default:
			break;
		}
	}
	return -ENOEXEC;
}

/*
 * The table does not contain the number of symbols, so this finds it from the end of the last hash chain.
 * Returns 0 or a negative errno.
 */
static int count_by_gnu_hash(pid_t pid, uint64_t at, size_t *out)
{
	uint32_t head[4], *buckets, last = 0, link = 0;
	uint64_t chain;
	bool whole;

	if (!process_memory__read(pid, at, head, sizeof(head)))
		return -EFAULT;
	if (head[0] > BUCKETS_MAX || head[2] > BUCKETS_MAX)
		return -ENOEXEC;
	buckets = calloc(head[0] + 1, sizeof(*buckets));
	if (!buckets)
		return -ENOMEM;
	at += sizeof(head) + head[2] * 8;
	whole = process_memory__read(pid, at, buckets, head[0] * sizeof(*buckets));
	for (uint32_t i = 0; i < head[0]; i++)
		last = buckets[i] > last ? buckets[i] : last;
	free(buckets);
	if (!whole)
		return -EFAULT;
	chain = at + head[0] * 4;
	if (last < head[1]) {
		*out = head[1];
		return 0;
	}
	for (; last < SYMBOLS_MAX && !(link & 1); last++)
		if (!process_memory__read(pid, chain + (last - head[1]) * 4ull, &link, sizeof(link)))
			return -EFAULT;
	*out = last;
	return 0;
}

int inject_symbols__read(pid_t pid, uint64_t start, struct inject_symbols *out)
{
	struct inject_symbols s = {0};
	struct tables tables;
	uint64_t dynamic;
	uint32_t head[2];
	int error = read_headers(pid, start, &s, &dynamic);

	if (!error)
		error = read_dynamic(pid, s.base, dynamic, &tables);
	if (error)
		return error;
	if (tables.gnu_hash)
		error = count_by_gnu_hash(pid, tables.gnu_hash, &s.count);
	else if (tables.hash && process_memory__read(pid, tables.hash, head, sizeof(head)))
		s.count = head[1];
	else
		error = -ENOEXEC;
	if (!error && s.count > SYMBOLS_MAX)
		error = -ENOEXEC;
	if (error)
		return error;
	s.size = tables.names_size;
	s.all = calloc(s.count + 1, sizeof(*s.all));
	s.names = calloc(s.size + 1, 1);
	if (!s.all || !s.names)
		error = -ENOMEM;
	else if (!process_memory__read(pid, tables.symbols, s.all, s.count * sizeof(*s.all)) ||
		 !process_memory__read(pid, tables.names, s.names, s.size))
		error = -EFAULT;
	if (error) {
		inject_symbols__release(&s);
		return error;
	}
	*out = s;
	return 0;
}

void inject_symbols__release(struct inject_symbols *symbols)
{
	free(symbols->all);
	free(symbols->names);
	*symbols = (struct inject_symbols){0};
}

const char *inject_symbols__name(const struct inject_symbols *symbols, const Elf64_Sym *symbol)
{
	return symbol->st_name < symbols->size ? symbols->names + symbol->st_name : "";
}

const Elf64_Sym *inject_symbols__find(const struct inject_symbols *symbols, const char *name)
{
	for (size_t i = 1; i < symbols->count; i++) {
		const Elf64_Sym *symbol = &symbols->all[i];

		if (symbol->st_shndx != SHN_UNDEF && symbol->st_value &&
		    !strcmp(inject_symbols__name(symbols, symbol), name))
			return symbol;
	}
	return NULL;
}
