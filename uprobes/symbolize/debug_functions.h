/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Translates a code address to the name of the function in the source, by DWARF. Call it only in processes
 * without privileges.
 */
#ifndef GRAIND_DEBUG_FUNCTIONS_H
#define GRAIND_DEBUG_FUNCTIONS_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

/*
 * The compilation unit of the address (of libdwfl). NULL: the debug information does not show it. Addresses
 * in the unit are smaller by *bias. Unlike dwfl_module_addrdie(), this needs no .debug_aranges, which clang
 * does not make.
 */
Dwarf_Die *debug_unit__at(Dwfl_Module *module, GElf_Addr address, Dwarf_Addr *bias);

/* A cache of the functions of compilation units of one module. */
struct debug_functions;

int debug_functions__new(struct debug_functions **out);
void debug_functions__free(struct debug_functions *functions); /* accepts NULL */

/*
 * Whether a source file belongs to the compiler, its libraries or the system. Users write no constructs
 * there.
 */
bool debug_source__is_system(const char *file);

/*
 * The name of the innermost function, inlined or not, whose source the address (of libdwfl) belongs to.
 * Functions of system headers that were inlined into other code are skipped. A function that the compiler
 * outlined has the name of the function that contains its source. False: the debug information does not
 * show the name.
 */
bool debug_functions__name(struct debug_functions *functions, Dwfl_Module *module, GElf_Addr address,
			   char *out, size_t size);

/*
 * For code of system headers: the innermost place outside them from which it was inlined. False: there is
 * none. The debug information owns *file.
 */
bool debug_functions__call(struct debug_functions *functions, Dwfl_Module *module, GElf_Addr address,
			   const char **file, int *line);

#endif
