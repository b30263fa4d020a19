/* SPDX-License-Identifier: BSD-2-Clause */
/* What the programs share: work of a known length, which no compiler can shorten. */
#ifndef ANSWERS_H
#define ANSWERS_H

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

/* Computes for about `us` microseconds. */
static __attribute__((noinline, unused)) double work(double us)
{
	double x = 1;

	for (long i = (long)(us * 500); i > 0; i--) {
		x = x * 0.999999 + 1e-9;
		__asm__ volatile("" : "+x"(x));
	}
	return x;
}

static volatile double sink;

#endif
