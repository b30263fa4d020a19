/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nqueens N DEPTH: a task per legal placement of a queen in the rows above
 * DEPTH, the board copied into each (firstprivate); serial below.
 */
#include "truth.h"

#define MAX_N 14

struct board {
	signed char column[MAX_N];
};

static int n, depth;

static int legal(const struct board *b, int row, int column)
{
	for (int r = 0; r < row; r++) {
		int d = b->column[r] - column;

		if (d == 0 || d == row - r || d == r - row)
			return 0;
	}
	return 1;
}

static unsigned long serial(struct board *b, int row)
{
	unsigned long found = 0;

	if (row == n)
		return 1;
	for (int c = 0; c < n; c++)
		if (legal(b, row, c)) {
			b->column[row] = c;
			found += serial(b, row + 1);
		}
	return found;
}

static unsigned long solve(struct board b, int row, struct truth *me)
{
	unsigned long found[MAX_N] = {0}, sum = 0;

	if (row == n || row >= depth)
		return serial(&b, row);
	for (int c = 0; c < n; c++) {
		struct truth *t;

		if (!legal(&b, row, c))
			continue;
		t = truth__task(me, __LINE__ + 1);
#pragma omp task untied shared(found) firstprivate(b, t)
		{
			truth__begin(t);
			b.column[row] = c;
			found[c] = solve(b, row + 1, t);
			truth__end(t);
		}
		truth__created();
	}
#pragma omp taskwait
	truth__taskwait(me);
	for (int c = 0; c < n; c++)
		sum += found[c];
	return sum;
}

/* Legal partial boards of the rows above `depth`. */
static unsigned long count(struct board *b, int row)
{
	unsigned long tasks = 0;

	if (row == n || row >= depth)
		return 0;
	for (int c = 0; c < n; c++)
		if (legal(b, row, c)) {
			b->column[row] = c;
			tasks += 1 + count(b, row + 1);
		}
	return tasks;
}

int main(int argc, char **argv)
{
	static const unsigned long known[MAX_N + 1] = {1,  1,	0,   0,	   2,	  10,	 4,	40,
						       92, 352, 724, 2680, 14200, 73712, 365596};
	long arg[2] = {8, 4};
	struct board board = {{0}};
	struct truth *initial, *region;
	unsigned long found = 0, tasks;

	program__args(argc, argv, arg, 2);
	n = arg[0] < MAX_N ? (int)arg[0] : MAX_N;
	depth = arg[1] < n ? (int)arg[1] : n;
	tasks = count(&board, 0);
	initial = truth__initial();
	region = truth__region(initial, __LINE__ + 1);
#pragma omp parallel
	{
		struct truth *member = truth__member(region), *in = truth__single(member);

#pragma omp single
		found = solve(board, 0, in);
		truth__barrier(member);
	}
	truth__write();
	printf("{\"program\":\"nqueens\",\"tasks\":%lu,\"correct\":%s,\"threads\":%d}\n", tasks,
	       found == known[n] ? "true" : "false", omp_get_max_threads());
	return found != known[n];
}
