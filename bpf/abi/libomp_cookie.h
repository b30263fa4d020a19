/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The cookies of libomp's worksharing constructs and locks. `a` is the family of entry points that the
 * probe is at, `b` the type of the loop's numbers. Some entries below say what `off` is.
 * uprobes/libomp/libomp_worksharing.c writes them, bpf/libomp_worksharing.bpf.h reads them.
 */
#ifndef GRAIND_LIBOMP_COOKIE_H
#define GRAIND_LIBOMP_COOKIE_H

#include "bpf/abi/cookie.h"

enum libomp_entry {
	/*
	 * Entries are below COOKIE_LOOP_ALONE. That bit is set for GOMP_loop_*_start, whose cookie is as
	 * with libgomp.
	 */
	/* __kmpc_for_static_init_*(loc, gtid, schedule, last, lower, upper, stride, step, chunk) */
	LIBOMP_STATIC_INIT = 1,
	/* __kmpc_dist_for_static_init_*: the upper bound of the team's part stands before stride */
	LIBOMP_DIST_FOR_STATIC_INIT,
	/* __kmpc_team_static_init_*(loc, gtid, last, lower, upper, stride, step, chunk) */
	LIBOMP_TEAM_STATIC_INIT,
	/* __kmpc_dispatch_init_*(loc, gtid, schedule, lower, upper, step, chunk) */
	LIBOMP_DISPATCH_INIT,
	/* __kmpc_dist_dispatch_init_*: `last` stands before lower */
	LIBOMP_DIST_DISPATCH_INIT,
	/* __kmpc_dispatch_next_*(loc, gtid, last, lower, upper, step) -> whether there is a chunk */
	LIBOMP_DISPATCH_NEXT,
	/* __kmpc_doacross_init: the loop that is begun next has cross-iteration dependences */
	LIBOMP_DOACROSS_INIT,
	/* GOMP_parallel_loop_*; `b` is that of plan_worksharing__region_layout */
	LIBOMP_GOMP_PARALLEL_LOOP,
	/* GOMP_parallel_sections; GOMP_sections_start and _next, which call __kmpc_dispatch_next_8 */
	LIBOMP_GOMP_PARALLEL_SECTIONS,
	LIBOMP_GOMP_SECTIONS,
	/*
	 * The return of __kmpc_single and GOMP_single_start says whether this thread won.
	 * GOMP_single_copy_start returns NULL to the thread that won.
	 */
	LIBOMP_SINGLE,
	LIBOMP_SINGLE_COPY,
	/*
	 * Locks. The function at OUTER calls the one at INNER, which takes the lock. The call site comes
	 * from OUTER. `off`: where on the stack the return address is.
	 */
	LIBOMP_LOCK_OUTER,
	LIBOMP_LOCK_INNER,
	LIBOMP_LOCK_GOT,      /* at INNER's return; `b` is an enum ring_lock */
	LIBOMP_SINGLE_CALLED, /* entry of __kmpc_single: has its ident */
	/* Entry and return of GOMP_loop_end_cancel and GOMP_sections_end_cancel, which are barriers too */
	LIBOMP_WAIT,
	LIBOMP_WAITED,
};

/* in `b` */
enum libomp_number {
	LIBOMP_NUMBER_8_BYTES = 1 << 0,
	LIBOMP_NUMBER_UNSIGNED = 1 << 1,
};

#endif
