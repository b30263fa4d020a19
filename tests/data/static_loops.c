// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compiled, never run: each function calls omp_get_num_threads once. test_static_loop.c knows
 * by the prefix of its name which of the calls begin a static loop of the compiler.
 */
#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* nobody calls them */

int omp_get_num_threads(void);
int omp_get_thread_num(void);

void touch(long i);
void touch_two(long a, long b);

#define PRAGMA(text) _Pragma(#text)
#define BLOCK(name, type, step)                                                                              \
	void block_##name(type lower, type upper)                                                            \
	{                                                                                                    \
		PRAGMA(omp for schedule(static) nowait) for (type i = lower; i < upper; i += step)        \
			touch((long)i);                                                                      \
	}
#define CHUNKED(name, type, size)                                                                            \
	void chunked_##name(type lower, type upper, type k)                                                  \
	{                                                                                                    \
		(void)k;                                                                                     \
		PRAGMA(omp for schedule(static, size) nowait) for (type i = lower; i < upper; i++)        \
			touch((long)i);                                                                      \
	}

BLOCK(int, int, 1)
BLOCK(int_by_3, int, 3)
BLOCK(unsigned, unsigned, 1)
BLOCK(long, long, 1)
BLOCK(long_by_5, long, 5)
BLOCK(unsigned_long, unsigned long, 1)
BLOCK(unsigned_long_by_2, unsigned long, 2)
BLOCK(short, short, 1)
BLOCK(byte, unsigned char, 1)
BLOCK(signed_byte_by_2, signed char, 2)
BLOCK(unsigned_short_by_3, unsigned short, 3)
CHUNKED(int_1, int, 1)
CHUNKED(int_4, int, 4)
CHUNKED(int_5, int, 5)
CHUNKED(int_k, int, k)
CHUNKED(unsigned_3, unsigned, 3)
CHUNKED(short_5, short, 5)
CHUNKED(byte_3, unsigned char, 3)
CHUNKED(long_1, long, 1)
CHUNKED(long_7, long, 7)
CHUNKED(long_k, long, k)
CHUNKED(unsigned_long_16, unsigned long, 16)
CHUNKED(unsigned_long_k, unsigned long, k)

void block_constant(double *a)
{
#pragma omp for schedule(static) nowait
	for (int i = 0; i < 1000; i++)
		a[i] = 2 * a[i];
}

/* One iteration, as the compiler knows. */
void block_one(double *a, int lower)
{
#pragma omp for schedule(static) nowait
	for (int i = 5 + lower; i < 6 + lower; i++)
		a[i] = 2 * a[i];
}

void block_one_unsigned(double *a, unsigned long lower)
{
#pragma omp for schedule(static) nowait
	for (unsigned long i = 5 + lower; i < 6 + lower; i++)
		a[i] = 2 * a[i];
}

void block_down(long n)
{
#pragma omp for nowait
	for (long i = n; i > 0; i--)
		touch(i);
}

void block_collapsed(int n, int m)
{
#pragma omp for collapse(2) nowait
	for (int i = 0; i < n; i++)
		for (int j = 0; j < m; j++)
			touch_two(i, j);
}

double total;
void block_reduction(const double *a, int n)
{
#pragma omp for reduction(+ : total) nowait
	for (int i = 0; i < n; i++)
		total += a[i];
}

/* On aarch64 without outlined atomic operations an exclusive load and its store follow the loop. */
void block_then_try(int n, int *lock)
{
	int is_free = 0;

#pragma omp for schedule(static) nowait
	for (int i = 0; i < n; i++)
		touch(i);
	__atomic_compare_exchange_n(lock, &is_free, 1, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void block_simd(float *restrict a, const float *restrict b, int n)
{
#pragma omp for simd schedule(static) nowait
	for (int i = 0; i < n; i++)
		a[i] += b[i];
}

void chunked_constant(double *a)
{
#pragma omp for schedule(static, 8) nowait
	for (int i = 0; i < 1000; i++)
		a[i] = 2 * a[i];
}

/* The same n: what is computed for it is computed once. */
void block_again_and_again(int n, int steps)
{
	for (int s = 0; s < steps; s++) {
#pragma omp for schedule(static)
		for (int i = 0; i < n; i++)
			touch(i);
	}
}

/* It asks for the thread's number once. */
void chunked_asked_before(int n)
{
	touch(omp_get_thread_num());
#pragma omp for schedule(static, 1)
	for (int i = 0; i < n; i++)
		touch(i);
}

/* Written by hand: not loops of the compiler. */

/* Not all threads come to it. */
void hand_cyclic_of_some(int n)
{
	int me = omp_get_thread_num(), threads = omp_get_num_threads();

	if (me > 1)
		for (int i = me; i < n; i += threads)
			touch(i);
#pragma omp barrier
}

void hand_count(void)
{
	touch(omp_get_num_threads());
}

void hand_both(void)
{
	int threads = omp_get_num_threads(), me = omp_get_thread_num();

	touch_two(threads, me);
}

/* the usual block with the last thread taking the rest */
void hand_ceiling(long n)
{
	int threads = omp_get_num_threads(), me = omp_get_thread_num();
	long size = (n + threads - 1) / threads, lower = me * size;
	long upper = lower + size < n ? lower + size : n;

	for (long i = lower; i < upper; i++)
		touch(i);
}

void hand_last_takes_rest(int n)
{
	int threads = omp_get_num_threads(), me = omp_get_thread_num();
	int size = n / threads, lower = me * size, upper = me == threads - 1 ? n : lower + size;

	for (int i = lower; i < upper; i++)
		touch(i);
}

void hand_proportional(long n)
{
	int threads = omp_get_num_threads(), me = omp_get_thread_num();

	for (long i = n * me / threads; i < n * (me + 1) / threads; i++)
		touch(i);
}

/* asks for its own number first: GCC's loops do not */
void hand_cyclic_me_first(int n)
{
	int me = omp_get_thread_num(), threads = omp_get_num_threads();

	for (int i = me; i < n; i += threads)
		touch(i);
}

void hand_print(const char *format, void (*print)(const char *, ...))
{
	print(format, omp_get_num_threads());
	touch(omp_get_thread_num());
}

void hand_master(long n)
{
	long share = n / omp_get_num_threads();

	if (omp_get_thread_num() == 0)
		touch(share);
}
