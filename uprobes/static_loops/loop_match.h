/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Static loops in the code of a function, as GCC writes them (omp-expand.cc). N is the number of threads, T
 * the thread's number, n the number of iterations:
 *
 *   schedule(static)     q = n / N; r = n % N; if (T < r) { q++; r = 0; } s = q * T + r; e = s + q;
 *                        if (s < e) ...
 *   schedule(static, k)  for (trip = 0; (s = (trip * N + T) * k) < n; trip++) { e = min(s + k, n); ... }
 *
 * A point is a conditional jump at which the share can be read: q, r and T at the test of T < r, s and e at
 * other tests.
 */
#ifndef GRAIND_LOOP_MATCH_H
#define GRAIND_LOOP_MATCH_H

#include "uprobes/static_loops/loop_flow.h"

#define INSN_NONE UINT32_MAX

enum found_in { FOUND_NOWHERE, FOUND_IN_REG, FOUND_AT_STACK, FOUND_AT_FRAME, FOUND_LIMIT };

/* Where a value is: in a register, or in memory at a distance from the stack or frame pointer. */
struct found_at {
	uint8_t in; /* enum found_in */
	uint8_t reg;
	uint8_t narrow;	  /* 1 or 2: only so many bytes of the register are the value */
	bool limit;	  /* of a chunk's end: this place holds n, which limits the end */
	int32_t distance; /* LIMIT: n itself */
};

enum loop_form {
	LOOP_BLOCK,  /* the test of T < r. It has q, r, T, and N if it is known; or T and N, and n is a
			constant */
	LOOP_RANGE,  /* the test of s < e of schedule(static) */
	LOOP_CHUNKS, /* the first test of chunks; `agains` has the jumps at the end of each chunk */
	LOOP_TRIPS,  /* the same jump tests each chunk; trip is 0 at the first */
	LOOP_HEAD, /* the same jump tests each chunk, but nothing counts the chunks: N and k show which is the
		      first */
	LOOP_STRIDE, /* the first test of chunks; the others are not seen */
	LOOP_SHARE,  /* no loop: an instruction at which a share is known; the rest is as for LOOP_BLOCK */
	LOOP_ENTER,  /* the begin of a loop that has the share of another point, `shared` */
};

#define AGAINS_MAX 12 /* the most jumps that begin another chunk */

/* A jump at which the next chunk begins, or the loop ends. */
struct found_again {
	uint32_t jump;
	bool taken;    /* the jump leads to the chunk if it is taken */
	uint32_t head; /* the block at which the loop of these chunks begins */
	struct found_at first, end;
};

struct found_loop {
	enum loop_form form;
	uint32_t jump;	   /* instruction */
	uint32_t test;	   /* of LOOP_BLOCK and LOOP_RANGE: the block that tests s < e */
	uint32_t divides;  /* of LOOP_BLOCK and LOOP_RANGE: the value n / N */
	uint32_t passed;   /* the jump that all threads have to pass, even if they have no iterations */
	uint32_t begin;	   /* the block to which only that jump leads; BLOCK_NONE: it is not known */
	bool wide;	   /* 64-bit numbers */
	bool teams;	   /* the iterations are divided among teams: distribute */
	bool enters_taken; /* the jump leads into the loop if it is taken; not of LOOP_BLOCK */
	bool longer_only;  /* of LOOP_BLOCK: threads without T < r are seen elsewhere */
	struct found_at quotient, rest, thread, threads; /* LOOP_BLOCK */
	struct found_at first, end;			 /* of the other forms; end NOWHERE: first + 1 */
	bool has_stride;				 /* LOOP_HEAD: `threads` is where k * N is */
	struct found_at trip;				 /* LOOP_TRIPS */
	struct found_again agains[AGAINS_MAX];		 /* LOOP_CHUNKS */
	uint32_t again_count;
	struct found_at bound; /* LOOP_STRIDE: n; NOWHERE: n is `count` */
	int64_t count;	       /* n if it is a constant, else -1 */
	int64_t chunk;	       /* 0: not known */
	bool keeps;	       /* LOOP_CHUNKS: the share is needed again */
	bool keeps_only;       /* LOOP_CHUNKS: if the loop has iterations, its begin is seen elsewhere */
	uint32_t shared, site; /* LOOP_ENTER: the instruction where the share is kept, and the instruction
				  that identifies the loop */
	uint32_t leave; /* the instruction at which the loop has ended; INSN_NONE: what follows ends it */
};

struct found_loops {
	struct found_loop *list;
	size_t count, room;
	size_t unknown; /* number of shares that are computed at places that were not understood */
};

/* Call it after `flow` was run. Returns 0 or -ENOMEM. Replaces the earlier results. */
int loop_match__find(struct loop_flow *flow, struct found_loops *found);

#endif
