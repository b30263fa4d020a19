/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The demo: a small simulation in steps. Every step first moves the particles,
 * a task per block of them, which is as it should be; then it adds up their
 * energies over a binary tree with two tasks for every node. That is the
 * mistake to be found: such a task lasts far less than it takes to create it,
 * the more so as each gets a copy of the whole table without anyone having
 * asked for it (what a task uses of its creator's variables is firstprivate).
 *
 * demo STEPS BLOCKS LEAVES
 */
#include "truth.h"

#include <math.h>

#define BLOCK 1000
#define MOVES 4000

struct particle {
	double x, v;
};

#define MAX_LEAVES 16384

struct table {
	double value[MAX_LEAVES];
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

static __attribute__((noinline)) void move_all(struct particle *p, long blocks)
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

static __attribute__((noinline)) double add_up(struct table table, long first, long count)
{
	double part[2];

	if (count == 1)
		return sqrt(table.value[first]);
	for (int half = 0; half < 2; half++) {
#pragma omp task shared(part)
		part[half] = add_up(table, first + half * (count / 2), half ? count - count / 2 : count / 2);
	}
#pragma omp taskwait
	return part[0] + part[1];
}

int main(int argc, char **argv)
{
	long arg[3] = {4, 128, 512};
	struct particle *p;
	unsigned long long start = now_ns();
	double total = 0;
	static struct table table;
	int bad;

	program__args(argc, argv, arg, 3);
	p = calloc(arg[1] * BLOCK + 1, sizeof(*p));
	energy = calloc(arg[1] + 1, sizeof(*energy));
	if (!p || !energy || arg[1] < 1 || arg[2] < 1 || arg[2] > MAX_LEAVES)
		return 2;
	for (long i = 0; i < arg[1] * BLOCK; i++)
		p[i].x = 1;
#pragma omp parallel
#pragma omp single
	for (long s = 0; s < arg[0]; s++) {
		move_all(p, arg[1]);
		for (long i = 0; i < arg[2]; i++)
			table.value[i] = energy[i % arg[1]] / BLOCK;
		total = add_up(table, 0, arg[2]);
	}
	/* Each block's energy stays near 1 per particle. */
	bad = arg[0] > 0 && !(fabs(total / arg[2] - 1) < 0.01);
	printf("{\"program\":\"demo\",\"tasks\":%ld,\"correct\":%s,\"threads\":%d,\"phase_ns\":%llu}\n",
	       arg[0] * (arg[1] + 2 * (arg[2] - 1)), bad ? "false" : "true", omp_get_max_threads(),
	       now_ns() - start);
	free(p);
	free(energy);
	return bad;
}
