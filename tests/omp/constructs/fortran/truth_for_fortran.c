/* SPDX-License-Identifier: BSD-2-Clause */
/* What ../expect.h offers, as functions that Fortran can call. */
#define EXPECT_NO_MAIN
#include "../expect.h"

#include <unistd.h>

/* The program's main is Fortran's: the arguments come from the kernel. */
static int arguments(char ***argv_out)
{
	static char text[65536], *argv[64];
	FILE *f = fopen("/proc/self/cmdline", "re");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0, i;
	int argc = 0;

	if (f)
		fclose(f);
	for (i = 0; i < n && argc < 63; i += strlen(text + i) + 1)
		argv[argc++] = text + i;
	*argv_out = argv;
	return argc;
}

int expect_main(void (*construct)(struct truth *initial));
struct truth *expect_region(struct truth *in, int line);
struct truth *expect_member(struct truth *region);
struct truth *expect_single(struct truth *member);
struct truth *expect_task(struct truth *in, int line);
void expect_task_begin(struct truth *t);
void expect_task_end(struct truth *t);
void expect_task_created(void);
void expect_taskwait(struct truth *t);
void expect_barrier(struct truth *t);
struct expect_loop *expect_loop_here(struct truth *member, int line, int schedule, long first, long step,
				     long trip);
void expect_iteration(struct expect_loop *loop, long k);

int expect_main(void (*construct)(struct truth *initial))
{
	char **argv;
	int argc = arguments(&argv);

	return expect__main(argc, argv, construct);
}

struct truth *expect_region(struct truth *in, int line)
{
	return truth__region(in, line);
}

struct truth *expect_member(struct truth *region)
{
	return truth__member(region);
}

struct truth *expect_single(struct truth *member)
{
	return truth__single(member);
}

struct truth *expect_task(struct truth *in, int line)
{
	return truth__task(in, line);
}

void expect_task_begin(struct truth *t)
{
	truth__begin(t);
}

void expect_task_end(struct truth *t)
{
	truth__end(t);
}

void expect_task_created(void)
{
	truth__created();
}

void expect_taskwait(struct truth *t)
{
	truth__taskwait(t);
}

void expect_barrier(struct truth *t)
{
	truth__barrier(t);
}

struct expect_loop *expect_loop_here(struct truth *member, int line, int schedule, long first, long step,
				     long trip)
{
	static const char *const names[] = {"static", "dynamic", "guided"};

	return expect__loop(member, line, names[schedule], first, step, trip);
}

void expect_iteration(struct expect_loop *loop, long k)
{
	expect__ran(loop, k);
}
