/* SPDX-License-Identifier: BSD-2-Clause */
/* What the names say of the GOMP_ functions that GCC's programs call, in libgomp and in libomp. */
#ifndef GRAIND_GOMP_NAMES_H
#define GRAIND_GOMP_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The cookie of the entry of a GOMP_loop_*_start function (LOOP_BEGIN, rsp not moved). False: it is another
 * function.
 */
bool gomp_names__loop_start(const char *function, uint64_t *cookie);
/*
 * The operand `a` of REGION_BEGIN's cookie at a GOMP_parallel_* function: the construct that the region is
 * combined with, enum cookie_region.
 */
uint32_t gomp_names__region_layout(const char *function);
/* Whether the name is GOMP_parallel or one of its combined forms. */
bool gomp_names__is_parallel(const char *name);

#endif
