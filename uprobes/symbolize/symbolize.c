// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/symbolize/symbolize.h"
#include "uprobes/symbolize/debug_functions.h"
#include "uprobes/symbolize/demangle.h"
#include "uprobes/symbolize/static_loop.h"

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
/* The bytes of a function's code that are read before and after a call in it. */
#define CODE_BEFORE 2048
#define CODE_BEHIND 4096

struct mapping {
	uint64_t start, end, offset;
	char *path;
	int fd;	     /* -1: libdw owns it, or there was none */
	bool loaded; /* loading was tried; dwfl and module stay NULL if it failed */
	Dwfl *dwfl;
	Dwfl_Module *module;
	struct debug_functions *functions;
	GElf_Addr bias; /* difference of dwfl's addresses from the file's own */
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
	/* With this variable, libdw would ask debuginfod servers. */
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

		debug_functions__free(mapping->functions);
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

/* libdwfl would also accept archives and kernel modules. */
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
	if (mapping->module && (!dwfl_module_getelf(mapping->module, &mapping->bias) ||
				debug_functions__new(&mapping->functions) != 0))
		mapping->module = NULL;
}

/* Converts a file offset to the address in the file's own address space. */
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

/* Takes only a symbol whose extent contains the address: stripped files keep few symbols. */
static void function_from_symbols(Dwfl_Module *module, GElf_Addr address, struct symbol *out)
{
	GElf_Off offset;
	GElf_Sym symbol;
	const char *name = dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);

	if (name && offset < symbol.st_size)
		demangle__function(name, out->function, sizeof(out->function));
}

/*
 * The line number of a row. Code that the compiler adds by itself has none, such as the calls that make a
 * task of a target region. It gets the number of the row before it in the code, which belongs to the same
 * construct.
 */
static int line_number(Dwarf_Die *unit, Dwarf_Line **line)
{
	Dwarf_Lines *rows;
	Dwarf_Addr address, at;
	size_t count, i = 0;
	int number = 0;
	bool ends;

	if (dwarf_lineno(*line, &number) != 0 || number > 0)
		return number;
	if (dwarf_lineaddr(*line, &address) != 0 || dwarf_getsrclines(unit, &rows, &count) != 0)
		return 0;
	while (i < count && (dwarf_lineaddr(dwarf_onesrcline(rows, i), &at) != 0 || at < address))
		i++;
	while (i-- > 0) {
		*line = dwarf_onesrcline(rows, i);
		if (dwarf_lineendsequence(*line, &ends) != 0 || ends || dwarf_lineno(*line, &number) != 0)
			return 0;
		if (number > 0)
			return number;
	}
	return 0;
}

static void line_from_dwarf(struct mapping *mapping, GElf_Addr address, struct symbol *out)
{
	const char *file, *directory = NULL;
	Dwarf_Attribute attribute;
	Dwarf_Addr bias;
	Dwarf_Die *unit = debug_unit__at(mapping->module, address, &bias);
	Dwarf_Line *line = unit ? dwarf_getsrc_die(unit, address - bias) : NULL;
	int number = line ? line_number(unit, &line) : 0;

	if (number <= 0)
		return;
	file = dwarf_linesrc(line, NULL, NULL);
	if (!file)
		return;
	if (debug_source__is_system(file))
		debug_functions__call(mapping->functions, mapping->module, address, &file, &number);
	if (file[0] != '/')
		directory = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	snprintf(out->file, sizeof(out->file), "%s%s%s", directory ? directory : "", directory ? "/" : "",
		 file);
	out->line = (uint32_t)number;
}

/* The mapping that contains the address, with its file opened. NULL: there is none. */
static struct mapping *find(struct symbolizer *symbolizer, uint64_t address)
{
	for (size_t i = 0; i < symbolizer->count; i++) {
		struct mapping *mapping = &symbolizer->mappings[i];

		if (address < mapping->start || address >= mapping->end)
			continue;
		if (!mapping->loaded)
			load(mapping);
		return mapping;
	}
	return NULL;
}

int symbolizer__lookup(struct symbolizer *symbolizer, uint64_t address, int is_return, struct symbol *out)
{
	struct mapping *mapping = find(symbolizer, address);
	struct symbol symbol = {0};
	const char *slash;
	GElf_Addr wanted;
	uint64_t own;

	if (!mapping)
		return -ENOENT;
	slash = strrchr(mapping->path, '/');
	snprintf(symbol.module, sizeof(symbol.module), "%.255s", slash ? slash + 1 : mapping->path);
	symbol.module_offset = address - mapping->start + mapping->offset;
	if (mapping->module && own_address(mapping, symbol.module_offset, &own)) {
		symbol.module_offset = own;
		wanted = own + mapping->bias - (is_return ? 1 : 0);
		line_from_dwarf(mapping, wanted, &symbol);
		if (!debug_functions__name(mapping->functions, mapping->module, wanted, symbol.function,
					   sizeof(symbol.function)))
			function_from_symbols(mapping->module, wanted, &symbol);
	}
	*out = symbol;
	return 0;
}

bool symbolizer__is_static_loop(struct symbolizer *symbolizer, uint64_t address)
{
	GElf_Ehdr header;
	struct mapping *mapping = find(symbolizer, address);
	struct symbol first = {0}, second = {0};
	uint64_t begin, end, call;
	size_t file_bytes;
	GElf_Addr bias;
	Elf_Data *data;
	Elf *elf;

	if (!mapping || !mapping->module || !(elf = dwfl_module_getelf(mapping->module, &bias)))
		return false;
	begin = address - mapping->start > CODE_BEFORE ? address - CODE_BEFORE : mapping->start;
	end = mapping->end - address > CODE_BEHIND ? address + CODE_BEHIND : mapping->end;
	if (mapping->offset > INT64_MAX - (end - mapping->start))
		return false;
	/* the mapping's last page may go beyond the end of the file */
	if (!elf_rawfile(elf, &file_bytes) || file_bytes <= mapping->offset + (begin - mapping->start))
		return false;
	if (end - begin > file_bytes - (mapping->offset + (begin - mapping->start)))
		end = begin + (file_bytes - (mapping->offset + (begin - mapping->start)));
	data = elf_getdata_rawchunk(elf, (int64_t)(mapping->offset + (begin - mapping->start)), end - begin,
				    ELF_T_BYTE);
	if (!data)
		return false;
	if (!gelf_getehdr(elf, &header) || header.e_machine != EM_X86_64 ||
	    static_loop__at(data->d_buf, data->d_size, begin, address) == STATIC_LOOP_NONE)
		return false;
	call = static_loop__second_call(data->d_buf, data->d_size, begin, address);
	return symbolizer__lookup(symbolizer, address, 1, &first) != 0 ||
	       symbolizer__lookup(symbolizer, call, 1, &second) != 0 || !first.line || !second.line ||
	       (first.line == second.line && !strcmp(first.file, second.file));
}

/* Where the mapping's file is loaded: process address - address in the file, modulo 2^64. */
static bool load_address(Elf *elf, const struct mapping *mapping, uint64_t *out)
{
	size_t count;

	if (elf_getphdrnum(elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD)
			continue;
		/* the mapping begins at the first page of the segment, or later */
		if (mapping->offset >= (header.p_offset & ~(uint64_t)4095) &&
		    mapping->offset < header.p_offset + header.p_filesz) {
			*out = mapping->start - (header.p_vaddr - header.p_offset + mapping->offset);
			return true;
		}
	}
	return false;
}

static int string_in(Elf *elf, uint64_t own, char *out, size_t size)
{
	size_t count, length;

	if (elf_getphdrnum(elf, &count) != 0)
		return -ENOENT;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;
		Elf_Data *data;
		uint64_t left;

		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD || own < header.p_vaddr ||
		    own - header.p_vaddr >= header.p_filesz)
			continue;
		left = header.p_filesz - (own - header.p_vaddr);
		length = left < size ? (size_t)left : size;
		if (header.p_offset > INT64_MAX - (own - header.p_vaddr))
			return -ENOENT;
		data = elf_getdata_rawchunk(elf, (int64_t)(header.p_offset + (own - header.p_vaddr)), length,
					    ELF_T_BYTE);
		if (!data || data->d_size != length)
			return -ENOENT;
		length = strnlen(data->d_buf, length);
		if (length == size || length == left || !length)
			return -ENOENT;
		memcpy(out, data->d_buf, length);
		out[length] = '\0';
		for (size_t k = 0; k < length; k++)
			if ((unsigned char)out[k] < 0x20 || out[k] == 0x7f)
				return -ENOENT;
		return 0;
	}
	return -ENOENT;
}

int symbolizer__string(struct symbolizer *symbolizer, uint64_t address, char *out, size_t size)
{
	for (size_t i = 0; i < symbolizer->count; i++) {
		struct mapping *mapping = &symbolizer->mappings[i];
		GElf_Addr bias;
		uint64_t loaded_at;
		Elf *elf;

		if (!mapping->loaded)
			load(mapping);
		elf = mapping->module ? dwfl_module_getelf(mapping->module, &bias) : NULL;
		if (elf && load_address(elf, mapping, &loaded_at) &&
		    string_in(elf, address - loaded_at, out, size) == 0)
			return 0;
	}
	return -ENOENT;
}

static void each_data_of(const struct mapping *mapping, uint64_t least,
			 void (*each)(void *ctx, const struct data_symbol *symbol), void *ctx)
{
	int count = dwfl_module_getsymtab(mapping->module);
	uint64_t loaded_at;
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(mapping->module, &bias);

	if (!elf || !load_address(elf, mapping, &loaded_at))
		return;
	for (int i = 1; i < count; i++) {
		struct data_symbol found = {.path = mapping->path};
		GElf_Addr address;
		GElf_Sym symbol;
		const char *name =
			dwfl_module_getsym_info(mapping->module, i, &symbol, &address, NULL, NULL, NULL);

		if (!name || !name[0] || symbol.st_size < least || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT)
			continue;
		found.start = address - mapping->bias + loaded_at;
		found.bytes = symbol.st_size;
		if (found.bytes > UINT64_MAX - found.start)
			continue;
		demangle__function(name, found.name, sizeof(found.name));
		each(ctx, &found);
	}
}

void symbolizer__each_data(struct symbolizer *symbolizer, uint64_t least, bool (*wants)(const char *path),
			   void (*each)(void *ctx, const struct data_symbol *symbol), void *ctx)
{
	for (size_t i = 0; i < symbolizer->count; i++) {
		struct mapping *mapping = &symbolizer->mappings[i];

		if (wants && !wants(mapping->path))
			continue;
		if (!mapping->loaded)
			load(mapping);
		if (mapping->module)
			each_data_of(mapping, least, each, ctx);
	}
}
