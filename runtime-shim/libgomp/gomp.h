/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libgomp's entry points (their ABI is what gcc's code calls). Each file defines the functions of one
 * family under their own names and calls the runtime's functions.
 */
#ifndef GRAIND_SHIM_GOMP_H
#define GRAIND_SHIM_GOMP_H

#include "runtime-shim/runtimes/interposed.h"

/* The dependences that a call hands over, as libgomp's compilers pass them. */
void gomp__depends(struct shim_local *local, void *const *depend);

/* A loop with `ordered(loops)` begins. Its waits have this many numbers. */
void gomp__doacross(unsigned loops);

#endif
