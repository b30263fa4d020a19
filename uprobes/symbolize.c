// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/symbolize.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_MAPPINGS 65536

struct mapping {
	uint64_t start, end, offset;
	char *path;
	int fd;	     /* -1 once it is libdw's, or when there was none */
	bool loaded; /* tried; dwfl and module stay NULL when it failed */
	Dwfl *dwfl;
	Dwfl_Module *module;
	GElf_Addr bias; /* of dwfl's addresses over the file's own */
};

struct symbolizer {
	struct mapping *mappings; /* in no order */
	size_t count, capacity;
};

static char *no_debuginfo_path;
static const Dwfl_Callbacks callbacks = {
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &no_debuginfo_path,
};

int symbolizer__new(struct symbolizer **out)
{
	struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));

	if (!symbolizer)
		return -ENOMEM;
	/* libdw would ask the servers named there. */
	unsetenv("DEBUGINFOD_URLS");
	elf_version(EV_CURRENT);
	*out = symbolizer;
	return 0;
}

void symbolizer__free(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	for (size_t i = 0; i < symbolizer->count; i++) {
		struct mapping *mapping = &symbolizer->mappings[i];

		if (mapping->dwfl)
			dwfl_end(mapping->dwfl);
		if (mapping->fd >= 0)
			close(mapping->fd);
		free(mapping->path);
	}
	free(symbolizer->mappings);
	free(symbolizer);
}

int symbolizer__add_mapping(struct symbolizer *symbolizer, uint64_t start, uint64_t end, uint64_t offset,
			    const char *path, int fd)
{
	struct mapping mapping = {.start = start, .end = end, .offset = offset, .fd = fd};
	int error = 0;

	if (start >= end || offset > UINT64_MAX - (end - start))
		error = -EINVAL;
	else if (symbolizer->count == MAX_MAPPINGS)
		error = -E2BIG;
	if (!error && symbolizer->count == symbolizer->capacity) {
		size_t larger = symbolizer->capacity ? symbolizer->capacity * 2 : 16;
		struct mapping *grown =
			reallocarray(symbolizer->mappings, larger, sizeof(*symbolizer->mappings));

		if (grown) {
			symbolizer->mappings = grown;
			symbolizer->capacity = larger;
		} else {
			error = -ENOMEM;
		}
	}
	if (!error) {
		mapping.path = strdup(path);
		if (!mapping.path)
			error = -ENOMEM;
	}
	if (error) {
		if (fd >= 0)
			close(fd);
		return error;
	}
	symbolizer->mappings[symbolizer->count++] = mapping;
	return 0;
}

/* libdwfl would also take archives and kernel modules. */
static bool is_linked_elf(int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	GElf_Ehdr header;
	bool good = elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) &&
		    (header.e_type == ET_EXEC || header.e_type == ET_DYN);

	elf_end(elf);
	return good;
}

static void load(struct mapping *mapping)
{
	mapping->loaded = true;
	if (mapping->fd < 0)
		mapping->fd = open(mapping->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (mapping->fd < 0 || !is_linked_elf(mapping->fd))
		return;
	mapping->dwfl = dwfl_begin(&callbacks);
	if (!mapping->dwfl)
		return;
	mapping->module = dwfl_report_offline(mapping->dwfl, mapping->path, mapping->path, mapping->fd);
	if (mapping->module)
		mapping->fd = -1;
	dwfl_report_end(mapping->dwfl, NULL, NULL);
	if (mapping->module && !dwfl_module_getelf(mapping->module, &mapping->bias))
		mapping->module = NULL;
}

/* File offset -> address in the file's own address space. */
static bool own_address(const struct mapping *mapping, uint64_t offset, uint64_t *out)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(mapping->module, &bias);
	size_t count;

	if (!elf || elf_getphdrnum(elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD)
			continue;
		if (offset >= header.p_offset && offset - header.p_offset < header.p_filesz) {
			*out = header.p_vaddr + (offset - header.p_offset);
			return true;
		}
	}
	return false;
}

/* "fib._omp_fn.0.constprop.0" is what the compiler made of fib. */
static void take_function(struct symbol *out, const char *name)
{
	static const char *const made[] = {"._omp_fn.",	  "._omp_cpyfn.", ".part.",
					   ".constprop.", ".isra.",	  ".cold",
					   ".lto_priv.",  ".localalias",  ".omp_outlined"};
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		const char *suffix = strstr(name, made[i]);

		if (suffix && suffix > name && (size_t)(suffix - name) < length)
			length = (size_t)(suffix - name);
	}
	snprintf(out->function, sizeof(out->function), "%.*s", (int)(length < 255 ? length : 255), name);
}

/* The innermost function whose source the address belongs to, inlined ones included. */
static bool function_from_dwarf(Dwfl_Module *module, GElf_Addr address, struct symbol *out)
{
	Dwarf_Addr bias;
	Dwarf_Die *unit = dwfl_module_addrdie(module, address, &bias), *scopes = NULL;
	bool found = false;
	int count = unit ? dwarf_getscopes(unit, address - bias, &scopes) : 0;

	for (int i = 0; i < count && !found; i++) {
		int tag = dwarf_tag(&scopes[i]);
		const char *name;

		if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
			continue;
		name = dwarf_diename(&scopes[i]);
		if (!name)
			continue;
		take_function(out, name);
		found = true;
	}
	free(scopes);
	return found;
}

/* Only a symbol whose extent contains the address: stripped files keep few of them. */
static void function_from_symbols(Dwfl_Module *module, GElf_Addr address, struct symbol *out)
{
	GElf_Off offset;
	GElf_Sym symbol;
	const char *name = dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);

	if (name && offset < symbol.st_size)
		take_function(out, name);
}

static void line_from_dwarf(Dwfl_Module *module, GElf_Addr address, struct symbol *out)
{
	Dwfl_Line *line = dwfl_module_getsrc(module, address);
	const char *file, *directory;
	int number = 0;

	if (!line)
		return;
	file = dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL);
	if (!file || number <= 0)
		return;
	directory = file[0] == '/' ? NULL : dwfl_line_comp_dir(line);
	snprintf(out->file, sizeof(out->file), "%s%s%s", directory ? directory : "", directory ? "/" : "",
		 file);
	out->line = (uint32_t)number;
}

int symbolizer__lookup(struct symbolizer *symbolizer, uint64_t address, int is_return, struct symbol *out)
{
	struct mapping *mapping = NULL;
	struct symbol symbol = {0};
	const char *slash;
	GElf_Addr wanted;
	uint64_t own;

	for (size_t i = 0; i < symbolizer->count && !mapping; i++) {
		if (address >= symbolizer->mappings[i].start && address < symbolizer->mappings[i].end)
			mapping = &symbolizer->mappings[i];
	}
	if (!mapping)
		return -ENOENT;
	slash = strrchr(mapping->path, '/');
	snprintf(symbol.module, sizeof(symbol.module), "%.255s", slash ? slash + 1 : mapping->path);
	symbol.module_offset = address - mapping->start + mapping->offset;
	if (!mapping->loaded)
		load(mapping);
	if (mapping->module && own_address(mapping, symbol.module_offset, &own)) {
		symbol.module_offset = own;
		wanted = own + mapping->bias - (is_return ? 1 : 0);
		line_from_dwarf(mapping->module, wanted, &symbol);
		if (!function_from_dwarf(mapping->module, wanted, &symbol))
			function_from_symbols(mapping->module, wanted, &symbol);
	}
	*out = symbol;
	return 0;
}
