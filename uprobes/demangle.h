/* SPDX-License-Identifier: BSD-2-Clause */
/* Symbol names as their programmers wrote them. For processes without privileges. */
#ifndef GRAIND_DEMANGLE_H
#define GRAIND_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The function of a symbol: without what compilers append to functions that they make of others
 * ("fib._omp_fn.0" is part of fib), C++ names (Itanium ABI) qualified, without return type and
 * parameters, procedures of gfortran's modules as module::procedure. Any other name is kept.
 */
void demangle__function(const char *symbol, char *out, size_t size);

/* A function that the compiler made out of a part of another, as the body of a task: "fib._omp_fn.0". */
bool demangle__is_outlined(const char *symbol);

#endif
