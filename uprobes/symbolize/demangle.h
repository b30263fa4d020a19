/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns symbols into the names in the source. Call it only in processes without privileges. */
#ifndef GRAIND_DEMANGLE_H
#define GRAIND_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The function's name for a symbol. Suffixes of functions that the compiler split off are removed
 * ("fib._omp_fn.0" is part of fib). C++ names (Itanium ABI) are qualified, but have no return type and
 * parameters. Procedures in gfortran's modules become module::procedure. Any other name is kept.
 */
void demangle__function(const char *symbol, char *out, size_t size);

/*
 * Whether the compiler made the function from a part of another one, such as the body of a task:
 * "fib._omp_fn.0".
 */
bool demangle__is_outlined(const char *symbol);

#endif
