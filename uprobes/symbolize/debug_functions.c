// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/symbolize/debug_functions.h"
#include "uprobes/symbolize/demangle.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 64	    /* the most scopes inside each other */
#define MAX_ENTRIES 4000000 /* the most DIEs examined in one module: damaged files may have loops */
#define NONE SIZE_MAX

struct function {
	Dwarf_Die die;
	Dwarf_Addr low, high; /* one of its ranges; both are 0 if it has no code of its own */
	size_t parent;	      /* the function that contains its source, or NONE */
};

struct unit {
	Dwarf_Off offset; /* offset of its DIE */
	struct function *list;
	size_t count, capacity;
};

struct debug_functions {
	struct unit *units;
	size_t count, capacity;
	size_t visited;
};

Dwarf_Die *debug_unit__at(Dwfl_Module *module, GElf_Addr address, Dwarf_Addr *bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(module, address, bias);

	if (unit)
		return unit;
	while ((unit = dwfl_module_nextcu(module, unit, bias)))
		if (dwarf_haspc(unit, address - *bias) > 0)
			return unit;
	return NULL;
}

int debug_functions__new(struct debug_functions **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void debug_functions__free(struct debug_functions *functions)
{
	if (!functions)
		return;
	for (size_t i = 0; i < functions->count; i++)
		free(functions->units[i].list);
	free(functions->units);
	free(functions);
}

static bool add(struct unit *unit, const Dwarf_Die *die, Dwarf_Addr low, Dwarf_Addr high, size_t parent)
{
	if (unit->count == unit->capacity) {
		size_t larger = unit->capacity ? unit->capacity * 2 : 64;
		struct function *grown = reallocarray(unit->list, larger, sizeof(*unit->list));

		if (!grown)
			return false;
		unit->list = grown;
		unit->capacity = larger;
	}
	unit->list[unit->count++] =
		(struct function){.die = *die, .low = low, .high = high, .parent = parent};
	return true;
}

/* Adds an entry for each range of the function. Returns the index of one of them. NONE: out of memory. */
static size_t add_function(struct unit *unit, Dwarf_Die *die, size_t parent)
{
	Dwarf_Addr base, low, high;
	size_t first = unit->count;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0)
		if (low < high && !add(unit, die, low, high, parent))
			return NONE;
	if (unit->count == first && !add(unit, die, 0, 0, parent))
		return NONE;
	return first;
}

/*
 * Collects the functions below a DIE. GCC puts an outlined function into the scope that contains its
 * source.
 */
static void collect(struct debug_functions *functions, struct unit *unit, Dwarf_Die *parent_die,
		    size_t parent, int depth)
{
	Dwarf_Die die;

	if (depth > MAX_DEPTH || dwarf_child(parent_die, &die) != 0)
		return;
	do {
		size_t inside = parent;

		if (functions->visited++ > MAX_ENTRIES)
			return;
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			inside = add_function(unit, &die, parent);
			if (inside == NONE)
				return;
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_lexical_block:
		case DW_TAG_inlined_subroutine:
			break;
		default:
			continue;
		}
		collect(functions, unit, &die, inside, depth + 1);
	} while (dwarf_siblingof(&die, &die) == 0);
}

static struct unit *unit_of(struct debug_functions *functions, Dwarf_Die *die)
{
	Dwarf_Off offset = dwarf_dieoffset(die);
	struct unit *unit;

	for (size_t i = 0; i < functions->count; i++)
		if (functions->units[i].offset == offset)
			return &functions->units[i];
	if (functions->count == functions->capacity) {
		size_t larger = functions->capacity ? functions->capacity * 2 : 16;
		struct unit *grown = reallocarray(functions->units, larger, sizeof(*functions->units));

		if (!grown)
			return NULL;
		functions->units = grown;
		functions->capacity = larger;
	}
	unit = &functions->units[functions->count++];
	*unit = (struct unit){.offset = offset};
	collect(functions, unit, die, NONE, 0);
	return unit;
}

static const char *string_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

static const char *linkage_name(Dwarf_Die *die)
{
	const char *name = string_of(die, DW_AT_linkage_name);

	return name ? name : string_of(die, DW_AT_MIPS_linkage_name);
}

/* Whether the name has a namespace, class or module. */
static bool is_qualified(const char *symbol)
{
	return !strncmp(symbol, "_Z", 2) || (!strncmp(symbol, "__", 2) && strstr(symbol, "_MOD_"));
}

static bool is_outlined(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die), *linkage = linkage_name(die);

	return (name && demangle__is_outlined(name)) || (linkage && demangle__is_outlined(linkage));
}

/* Without a qualified linkage name (C, a main program), the name alone is taken. */
static bool take_name(Dwarf_Die *die, char *out, size_t size)
{
	const char *name = dwarf_diename(die), *linkage = linkage_name(die);

	if (linkage && is_qualified(linkage))
		name = linkage;
	if (!name)
		return false;
	demangle__function(name, out, size);
	return true;
}

/* libdw's dwarf_decl_file takes file 0 for none. In DWARF 5, file 0 is the unit's own source. */
static const char *file_named(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Die unit;
	Dwarf_Files *files;
	Dwarf_Word index;
	size_t count;

	if (dwarf_formudata(dwarf_attr_integrate(die, name, &attribute), &index) != 0 ||
	    !dwarf_diecu(die, &unit, NULL, NULL) || dwarf_getsrcfiles(&unit, &files, &count) != 0 ||
	    index >= count)
		return NULL;
	return dwarf_filesrc(files, index, NULL, NULL);
}

static const char *declared_in(Dwarf_Die *die)
{
	return file_named(die, DW_AT_decl_file);
}

/* The last line of `file` from which the function's code was made. 0: there is none. */
static int last_line(Dwarf_Die *unit_die, const struct function *function, const char *file)
{
	Dwarf_Lines *lines;
	size_t count;
	int last = 0;

	if (dwarf_getsrclines(unit_die, &lines, &count) != 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		const char *source;
		Dwarf_Addr address;
		int number;

		if (dwarf_lineaddr(line, &address) != 0 || address < function->low ||
		    address >= function->high || dwarf_lineno(line, &number) != 0 || number <= last)
			continue;
		source = dwarf_linesrc(line, NULL, NULL);
		if (source && !strcmp(source, file))
			last = number;
	}
	return last;
}

/*
 * clang declares an outlined function beside the function that contains its source, with the line of its
 * construct. The right function is the innermost one whose source has that line, as far as its own code
 * shows.
 */
static bool take_name_by_line(struct unit *unit, Dwarf_Die *unit_die, Dwarf_Die *die, char *out, size_t size)
{
	const char *file = declared_in(die);
	struct function *best = NULL;
	int line = 0, best_line = 0;

	if (!file || dwarf_decl_line(die, &line) != 0)
		return false;
	for (size_t i = 0; i < unit->count; i++) {
		struct function *function = &unit->list[i];
		const char *own = function->high ? declared_in(&function->die) : NULL;
		int first;

		if (!own || strcmp(own, file) != 0 || dwarf_decl_line(&function->die, &first) != 0 ||
		    first > line || first <= best_line || is_outlined(&function->die) ||
		    last_line(unit_die, function, file) < line)
			continue;
		best = function;
		best_line = first;
	}
	return best && take_name(&best->die, out, size);
}

bool debug_source__is_system(const char *file)
{
	static const char *const folders[] = {"/usr/include/", "/usr/lib/gcc", "/usr/lib/llvm"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (!strncmp(file, folders[i], strlen(folders[i])))
			return true;
	return strstr(file, "/include/c++/") != NULL;
}

/* The chain of inlined functions that the address in function `die` belongs to, innermost last. */
static size_t inlined_at(const Dwarf_Die *die, Dwarf_Addr address, Dwarf_Die chain[MAX_DEPTH])
{
	Dwarf_Die at = *die;
	size_t count = 0;

	for (int depth = 0; depth < MAX_DEPTH; depth++) {
		Dwarf_Die child;
		bool inside = false;

		if (dwarf_child(&at, &child) != 0)
			break;
		do {
			int tag = dwarf_tag(&child);

			inside = (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
				 dwarf_haspc(&child, address) > 0;
			if (inside && tag == DW_TAG_inlined_subroutine)
				chain[count++] = child;
		} while (!inside && dwarf_siblingof(&child, &child) == 0);
		if (!inside)
			break;
		at = child;
	}
	return count;
}

static bool is_of_system(Dwarf_Die *die)
{
	const char *file = declared_in(die);

	return file && debug_source__is_system(file);
}

/*
 * Removes the innermost functions of system headers from the chain. Returns how many functions are left;
 * all, if all are of system headers.
 */
static size_t without_system(Dwarf_Die *function, Dwarf_Die *chain, size_t count)
{
	size_t left = count;

	while (left && is_of_system(&chain[left - 1]))
		left--;
	return left || !is_of_system(function) ? left : count;
}

static bool name_of(struct unit *unit, Dwarf_Die *unit_die, size_t index, Dwarf_Addr address, char *out,
		    size_t size)
{
	Dwarf_Die chain[MAX_DEPTH], *inlined;
	size_t count = inlined_at(&unit->list[index].die, address, chain);
	const char *name;

	count = without_system(&unit->list[index].die, chain, count);
	if (count) {
		inlined = &chain[count - 1];
		if (!is_outlined(inlined))
			return take_name(inlined, out, size);
		if (take_name_by_line(unit, unit_die, inlined, out, size))
			return true;
	}
	name = dwarf_diename(&unit->list[index].die);
	if (!is_outlined(&unit->list[index].die) || (name && is_qualified(name)))
		return take_name(&unit->list[index].die, out, size);
	for (size_t i = unit->list[index].parent; i != NONE; i = unit->list[i].parent)
		if (!is_outlined(&unit->list[i].die))
			return take_name(&unit->list[i].die, out, size);
	return take_name_by_line(unit, unit_die, &unit->list[index].die, out, size) ||
	       take_name(&unit->list[index].die, out, size);
}

/*
 * The function whose code contains the address: the one with the smallest range around it. NONE: there is
 * none. `address` is relative to the unit.
 */
static size_t function_at(const struct unit *unit, Dwarf_Addr address)
{
	size_t found = NONE;

	for (size_t i = 0; i < unit->count; i++) {
		const struct function *function = &unit->list[i];

		if (address >= function->low && address < function->high &&
		    (found == NONE ||
		     function->high - function->low < unit->list[found].high - unit->list[found].low))
			found = i;
	}
	return found;
}

bool debug_functions__name(struct debug_functions *functions, Dwfl_Module *module, GElf_Addr address,
			   char *out, size_t size)
{
	Dwarf_Addr bias;
	Dwarf_Die *unit_die = debug_unit__at(module, address, &bias);
	struct unit *unit = unit_die ? unit_of(functions, unit_die) : NULL;
	size_t found = unit ? function_at(unit, address - bias) : NONE;

	return found != NONE && name_of(unit, unit_die, found, address - bias, out, size);
}

bool debug_functions__call(struct debug_functions *functions, Dwfl_Module *module, GElf_Addr address,
			   const char **file, int *line)
{
	Dwarf_Addr bias;
	Dwarf_Die *unit_die = debug_unit__at(module, address, &bias), chain[MAX_DEPTH];
	struct unit *unit = unit_die ? unit_of(functions, unit_die) : NULL;
	size_t found = unit ? function_at(unit, address - bias) : NONE, count;

	if (found == NONE)
		return false;
	count = inlined_at(&unit->list[found].die, address - bias, chain);
	while (count--) {
		const char *source = file_named(&chain[count], DW_AT_call_file);
		Dwarf_Attribute attribute;
		Dwarf_Word number;

		if (!source || debug_source__is_system(source))
			continue;
		if (dwarf_formudata(dwarf_attr(&chain[count], DW_AT_call_line, &attribute), &number) != 0 ||
		    !number || number > INT32_MAX)
			return false;
		*file = source;
		*line = (int)number;
		return true;
	}
	return false;
}
