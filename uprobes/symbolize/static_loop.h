/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a call of omp_get_num_threads belongs to a static loop that GCC has written into the program. Such
 * loops make no other call of the runtime, so only their code shows them. N is the number of threads, T the
 * thread's number:
 *
 *   schedule(static)     q = n / N; r = n % N; if (T < r) { q++; r = 0; } ...
 *   schedule(static, k)  for (i = 0; (i * N + T) * k < n; i++) ...
 *
 * The code must follow exactly these two calls, in this order, with nothing between them. So it differs from
 * what programmers write in other forms: they ask for the thread's number first or elsewhere, use blocks of
 * (n + N - 1) / N, blocks of n / N with a longer last one, or blocks from n * T / N to n * (T + 1) / N, or
 * use N for anything else. If a programmer writes the very formulas above, the machine code is the same, and
 * the two cannot be told apart. This includes `for (i = T; i < n; i += N)` that asks for N directly before T.
 * A caller that knows lines compares the lines of the two calls: GCC's calls are both on the line of the
 * directive.
 *
 * Only code for x86-64 is known.
 *
 * Some loops are not seen: when it optimizes, GCC asks for N and T once in a function. The static loops after
 * the first have no calls of their own. Neither has a loop in a function that has already asked for T itself.
 */
#ifndef GRAIND_STATIC_LOOP_H
#define GRAIND_STATIC_LOOP_H

#include <stddef.h>
#include <stdint.h>

enum static_loop {
	STATIC_LOOP_NONE,
	STATIC_LOOP_BLOCK,   /* schedule(static): one share for each thread */
	STATIC_LOOP_CHUNKED, /* schedule(static, k) */
};

/*
 * `code` is the machine code of the calling function, or as much of it as there is from before the call to
 * a few hundred bytes after it. `address` is the address of code[0], `after_call` the return address of the
 * call.
 */
enum static_loop static_loop__at(const uint8_t *code, size_t size, uint64_t address, uint64_t after_call);

/* The return address of the call that asks for the thread's number. 0: the code is not a static loop. */
uint64_t static_loop__second_call(const uint8_t *code, size_t size, uint64_t address, uint64_t after_call);

#endif
