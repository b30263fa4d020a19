// SPDX-License-Identifier: BSD-2-Clause
/*
 * An MPI program of which each rank makes another number of tasks: ranks TASKS [GO]
 * Rank r makes TASKS times (r + 1) squared, each a millisecond of work, and
 * a loop of ten chunks. With GO they wait in MPI until that file is there.
 * Each prints "rank R PID TASKS", and rank 0 "all TASKS", as counted by themselves.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long done;

static void work(void)
{
	struct timespec now, until;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &until);
	until.tv_nsec += 1000000;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((now.tv_sec - until.tv_sec) * 1000000000L + now.tv_nsec < until.tv_nsec);
#pragma omp atomic
	done++;
}

static void make_tasks(long count)
{
#pragma omp parallel
#pragma omp single
	for (long i = 0; i < count; i++) {
#pragma omp task
		work();
	}
}

static long run_loop(void)
{
	long sum = 0;

#pragma omp parallel for schedule(dynamic, 1) reduction(+ : sum)
	for (long i = 0; i < 10; i++)
		sum += i;
	return sum;
}

int main(int argc, char **argv)
{
	long tasks = argc > 1 ? atol(argv[1]) : 10, all = 0;
	int rank, level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	/* Attached to by then; the runtime is there, and has not been used. */
	while (argc > 2 && access(argv[2], F_OK) != 0)
		usleep(20000);
	MPI_Barrier(MPI_COMM_WORLD);
	make_tasks(tasks * (rank + 1) * (rank + 1));
	if (run_loop() != 45)
		return 1;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Reduce(&done, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	printf("rank %d %d %ld\n", rank, (int)getpid(), done);
	if (rank == 0)
		printf("all %ld\n", all);
	return MPI_Finalize();
}
