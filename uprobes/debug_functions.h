/* SPDX-License-Identifier: BSD-2-Clause */
/* Code address -> name of the function in the source, by DWARF. For processes without privileges. */
#ifndef GRAIND_DEBUG_FUNCTIONS_H
#define GRAIND_DEBUG_FUNCTIONS_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

/*
 * The compilation unit that the address (of libdwfl) belongs to, NULL when the debug information does not
 * tell; addresses in it are less by *bias. Unlike dwfl_module_addrdie it needs no .debug_aranges, which
 * clang does not make.
 */
Dwarf_Die *debug_unit__at(Dwfl_Module *module, GElf_Addr address, Dwarf_Addr *bias);

/* The functions of the units that were looked into, of one module. */
struct debug_functions;

int debug_functions__new(struct debug_functions **out);
void debug_functions__free(struct debug_functions *functions); /* accepts NULL */

/* Whether a source is a header of the compiler, its libraries or the system: no construct is meant there. */
bool debug_source__is_system(const char *file);

/*
 * The innermost function whose source the address (of libdwfl) belongs to, inlined ones included, but
 * none of a system header that was inlined into one that is not. What the compiler outlined has the name
 * of the function in whose source it is written. False when the debug information does not tell.
 */
bool debug_functions__name(struct debug_functions *functions, Dwfl_Module *module, GElf_Addr address,
			   char *out, size_t size);

/*
 * Of code of system headers: the innermost place outside of them from which it was inlined. False when
 * there is none. The file's name is the debug information's.
 */
bool debug_functions__call(struct debug_functions *functions, Dwfl_Module *module, GElf_Addr address,
			   const char **file, int *line);

#endif
