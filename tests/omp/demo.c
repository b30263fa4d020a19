/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The demo: a small simulation in steps. Every step first moves the particles,
 * a task per block of them, which is as it should be; then it adds up their
 * energies over a binary tree with a task for every node. That is the mistake
 * to be found: such a task lasts far less than it takes to create it.
 *
 * demo STEPS BLOCKS NODES
 */
#include "truth.h"

#include <math.h>

#define BLOCK 1000
#define MOVES 250

struct particle {
	double x, v;
};

static double *energy;

static void move_block(struct particle *p)
{
	for (int m = 0; m < MOVES; m++)
		for (int i = 0; i < BLOCK; i++) {
			p[i].v -= 0.001 * p[i].x;
			p[i].x += 0.001 * p[i].v;
		}
}

static double block_energy(const struct particle *p)
{
	double sum = 0;

	for (int i = 0; i < BLOCK; i++)
		sum += p[i].x * p[i].x + p[i].v * p[i].v;
	return sum;
}

static void move_all(struct particle *p, long blocks)
{
	for (long b = 0; b < blocks; b++) {
#pragma omp task
		{
			move_block(p + b * BLOCK);
			energy[b] = block_energy(p + b * BLOCK);
		}
	}
#pragma omp taskwait
}

static double add_up(const double *value, long count)
{
	double left, right;

	if (count == 1)
		return sqrt(*value);
#pragma omp task shared(left)
	left = add_up(value, count / 2);
#pragma omp task shared(right)
	right = add_up(value + count / 2, count - count / 2);
#pragma omp taskwait
	return left + right;
}

int main(int argc, char **argv)
{
	long arg[3] = {8, 128, 256};
	struct particle *p;
	unsigned long long start = now_ns();
	double total = 0, *table;
	int bad;

	program__args(argc, argv, arg, 3);
	p = calloc(arg[1] * BLOCK + 1, sizeof(*p));
	energy = calloc(arg[1] + 1, sizeof(*energy));
	table = calloc(arg[2] + 1, sizeof(*table));
	if (!p || !energy || !table || arg[1] < 1 || arg[2] < 1)
		return 2;
	for (long i = 0; i < arg[1] * BLOCK; i++)
		p[i].x = 1;
#pragma omp parallel
#pragma omp single
	for (long s = 0; s < arg[0]; s++) {
		move_all(p, arg[1]);
		for (long i = 0; i < arg[2]; i++)
			table[i] = energy[i % arg[1]] / BLOCK;
		total = add_up(table, arg[2]);
	}
	/* Each block's energy stays near 1 per particle. */
	bad = arg[0] > 0 && !(fabs(total / arg[2] - 1) < 0.01);
	printf("{\"program\":\"demo\",\"tasks\":%ld,\"correct\":%s,\"threads\":%d,\"phase_ns\":%llu}\n",
	       arg[0] * (arg[1] + 2 * (arg[2] - 1)), bad ? "false" : "true", omp_get_max_threads(),
	       now_ns() - start);
	free(p);
	free(energy);
	free(table);
	return bad;
}
