// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/runtime/runtime_look.h"

#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A larger file is not searched for a runtime without names. */
#define MAX_SCANNED (256u << 20)
#define SCAN_STEP (1u << 20)
#define MAX_SYMBOL_BYTES (512u << 20)

static unsigned int names_in(Elf *elf, Elf_Scn *section)
{
	GElf_Shdr header;
	Elf_Data *data;
	unsigned int seen = 0;
	size_t count;

	if (!gelf_getshdr(section, &header) || !header.sh_entsize || header.sh_size > MAX_SYMBOL_BYTES)
		return 0;
	data = elf_getdata(section, NULL);
	if (!data)
		return 0;
	count = data->d_size / header.sh_entsize;
	for (size_t i = 0; i < count && i <= INT_MAX; i++) {
		GElf_Sym symbol;
		const char *name;

		if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
		    GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
			continue;
		name = elf_strptr(elf, header.sh_link, symbol.st_name);
		if (name)
			seen |= elf_runtime__seen(name);
	}
	return seen;
}

/* Looks at the functions in symbol tables of one type. *present: whether there is such a table. */
static enum elf_runtime runtime_in(Elf *elf, GElf_Word type, bool *present)
{
	Elf_Scn *section = NULL;
	unsigned int seen = 0;
	GElf_Shdr header;

	*present = false;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type != type)
			continue;
		*present = true;
		seen |= names_in(elf, section);
	}
	return elf_runtime__of(seen);
}

/*
 * Recognises a file without names by its strings. It finds the file's size by seeking, because the worker
 * may not ask for it.
 */
static enum elf_runtime runtime_by_text(int fd)
{
	const size_t overlap = 64;
	char *text = malloc(SCAN_STEP + overlap);
	enum elf_runtime found = ELF_RUNTIME_NONE;
	off_t size = lseek(fd, 0, SEEK_END);
	ssize_t got;

	if (!text || size < 0 || size > MAX_SCANNED) {
		free(text);
		return found;
	}
	for (off_t at = 0;
	     found != ELF_RUNTIME_LIBOMP && (got = pread(fd, text, SCAN_STEP + overlap, at)) > 0;
	     at += SCAN_STEP) {
		if (memmem(text, (size_t)got, ELF_RUNTIME_LIBOMP_TEXT, sizeof(ELF_RUNTIME_LIBOMP_TEXT)))
			found = ELF_RUNTIME_LIBOMP;
		else if (memmem(text, (size_t)got, ELF_RUNTIME_LIBGOMP_TEXT,
				sizeof(ELF_RUNTIME_LIBGOMP_TEXT)))
			found = ELF_RUNTIME_LIBGOMP;
	}
	free(text);
	return found;
}

/* The file is read, not mapped, because it may be truncated meanwhile. */
enum elf_runtime runtime_look__in(int fd)
{
	enum elf_runtime found = ELF_RUNTIME_NONE;
	bool named = true;
	Elf *elf;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return found;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return found;
	if (elf_kind(elf) == ELF_K_ELF) {
		found = runtime_in(elf, SHT_DYNSYM, &named);
		if (found == ELF_RUNTIME_NONE)
			found = runtime_in(elf, SHT_SYMTAB, &named);
	}
	elf_end(elf);
	return found == ELF_RUNTIME_NONE && !named ? runtime_by_text(fd) : found;
}
