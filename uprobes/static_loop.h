/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a call of omp_get_num_threads belongs to a static loop that GCC has
 * written into the program: such loops call nothing else of the runtime, and
 * only their code tells. With N the number of threads and T the thread's:
 *
 *   schedule(static)     q = n / N; r = n % N; if (T < r) { q++; r = 0; } ...
 *   schedule(static, k)  for (i = 0; (i * N + T) * k < n; i++) ...
 *
 * after exactly these two calls in this order with nothing in between. Told
 * apart from them is what a programmer writes in another form: the thread's
 * number asked for first or elsewhere, blocks of (n + N - 1) / N, of n / N
 * with a longer last one, from n * T / N to n * (T + 1) / N, and N used for
 * anything else. Not told apart, because the machine code is the same: the
 * very formulas above, among them `for (i = T; i < n; i += N)`, written by
 * hand with N asked for directly before T. A caller that knows lines compares
 * those of the two calls: GCC's are both on the line of the directive.
 *
 * Only x86-64's code is known.
 *
 * Not seen: when it optimizes, GCC asks for N and T once in a function. The
 * static loops after the first, and one in a function that has asked for T
 * itself before, have no call of their own.
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
 * `code`: the machine code of the function that calls, or what there is of it
 * from before the call to a few hundred bytes after it; `address`: of code[0];
 * `after_call`: the return address of the call.
 */
enum static_loop static_loop__at(const uint8_t *code, size_t size, uint64_t address, uint64_t after_call);

/* The return address of the call that asks for the thread's number, 0 if it is not a static loop. */
uint64_t static_loop__second_call(const uint8_t *code, size_t size, uint64_t address, uint64_t after_call);

#endif
