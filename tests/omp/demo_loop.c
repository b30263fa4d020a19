/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The demo of loops: rounds of two loops over rows. The first scales rows of
 * one length in chunks that are as they should be; in the second the last rows
 * are by far the longest, and it hands out so many at a time that the last
 * chunk lasts longer than all others together. That is the mistake to be
 * found.
 *
 * demo_loop ROUNDS ROWS
 */
#include "truth.h"

#include <math.h>

#define SCALES 16
#define ADDS 200

static double scale_row(const double *row, long length)
{
	double sum = 0;

	for (int r = 0; r < SCALES; r++)
		for (long i = 0; i < length; i++)
			sum += row[i] * 1e-6;
	return sum;
}

static double add_row(const double *row, long length)
{
	double sum = 0;

	for (int r = 0; r < ADDS; r++)
		for (long i = 0; i < length; i++)
			sum += sqrt(row[i] + (double)i);
	return sum;
}

int main(int argc, char **argv)
{
	long arg[2] = {4, 1024};
	unsigned long long start = now_ns();
	double *row, scaled = 0, added = 0, expected = 0;
	long rows;
	int bad;

	program__args(argc, argv, arg, 2);
	rows = arg[1];
	row = calloc(rows > 0 ? rows : 1, sizeof(*row));
	if (!row || arg[0] < 1 || rows < 8)
		return 2;
	for (long i = 0; i < rows; i++)
		row[i] = 1;
	for (long r = 0; r < arg[0]; r++) {
#pragma omp parallel
		{
#pragma omp for schedule(dynamic, 16) reduction(+ : scaled)
			for (long i = 0; i < rows; i++)
				scaled += scale_row(row, rows / 2);
#pragma omp for schedule(dynamic, 128) reduction(+ : added)
			for (long i = 0; i < rows; i++)
				added += add_row(row, (long)(rows * pow((double)i / rows, 6)));
		}
	}
	expected = (double)arg[0] * rows * SCALES * (rows / 2) * 1e-6;
	bad = !(fabs(scaled / expected - 1) < 1e-3) || !(added > 0);
	printf("{\"program\":\"demo_loop\",\"loops\":%ld,\"correct\":%s,\"threads\":%d,\"phase_ns\":%llu}\n",
	       2 * arg[0], bad ? "false" : "true", omp_get_max_threads(), now_ns() - start);
	free(row);
	return bad;
}
