/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an observed program knows about its own tasks, kept by itself and
 * independently of every probe: the name, parent, line and join of each task,
 * and whether its body ran inside the creating call. Off unless
 * truth__open(FILE) was called; then every call below is one branch.
 *
 * A program states what it does where it does it:
 *
 *     struct truth *t = truth__task(parent, __LINE__ + 1);
 *     #pragma omp task firstprivate(t)
 *     {
 *             truth__begin(t);
 *             ...
 *             truth__end(t);
 *     }
 *     truth__created();
 *
 * and truth__write() writes, in no particular order:
 *
 *     task ID PARENT LINE UNDEFERRED JOIN BEGIN_NS END_NS TID
 *     implicit ID PARENT
 *     region ID PARENT LINE THREADS TASKS
 */
#ifndef GRAIND_TESTS_TRUTH_H
#define GRAIND_TESTS_TRUTH_H

#include <errno.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum truth_kind { TRUTH_INITIAL, TRUTH_REGION, TRUTH_MEMBER, TRUTH_SINGLE, TRUTH_TASK };

struct truth_group {
	struct truth *owner;
	struct truth_group *outer;
	unsigned ended_at; /* which of its owner's joins */
};

struct truth {
	enum truth_kind kind;
	struct truth *parent; /* whose path this one continues */
	struct truth *next;   /* all nodes of the thread that made it */
	struct truth *runs;   /* the context that executes a single */
	unsigned ordinal, line, children, regions, threads;
	unsigned barriers;	  /* of a member: passed so far */
	unsigned singles;	  /* of a member: met so far */
	unsigned loops, sections; /* of a member: met so far */
	unsigned joins;		  /* taskwaits and taskgroup ends so far */
	struct truth_group *group;
	/* As of its creation. */
	struct truth_group *in_group;
	unsigned before_join, before_barrier;
	unsigned char undeferred;
	struct truth *outer;		     /* whose creation it runs in */
	unsigned long long begin_ns, end_ns; /* its body, from inside */
	pid_t tid;
	unsigned char *wait_kind; /* per join: 1 taskwait, 2 taskgroup end; a taskwait with depend is none */
};

static FILE *truth_out;
static struct truth *truth_all;
static __thread struct truth *truth_creating;

static inline unsigned long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static inline void truth__open(const char *path)
{
	truth_out = fopen(path, "we");
	if (!truth_out) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(2);
	}
}

static inline struct truth *truth__new(enum truth_kind kind, struct truth *parent, unsigned ordinal, int line)
{
	struct truth *t = (struct truth *)calloc(1, sizeof(*t));
	struct truth *old = __atomic_load_n(&truth_all, __ATOMIC_RELAXED);

	if (!t)
		abort();
	t->kind = kind;
	t->parent = parent;
	t->ordinal = ordinal;
	t->line = line;
	do {
		t->next = old;
	} while (!__atomic_compare_exchange_n(&truth_all, &old, t, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
	return t;
}

/* The context that makes the calls: a single's are those of the member that runs it. */
static inline struct truth *truth__context(struct truth *t)
{
	return t->kind == TRUTH_SINGLE ? t->runs : t;
}

static inline struct truth *truth__initial(void)
{
	return truth_out ? truth__new(TRUTH_INITIAL, NULL, 0, 0) : NULL;
}

static inline struct truth *truth__region(struct truth *in, int line)
{
	return truth_out ? truth__new(TRUTH_REGION, in, in->regions++, line) : NULL;
}

static inline struct truth *truth__member(struct truth *region)
{
	if (!truth_out)
		return NULL;
	__atomic_store_n(&region->threads, (unsigned)omp_get_num_threads(), __ATOMIC_RELAXED);
	return truth__new(TRUTH_MEMBER, region, omp_get_thread_num(), 0);
}

/* Every member calls it where it meets a single; the winner's result is used inside. */
static inline struct truth *truth__single(struct truth *member)
{
	struct truth *t;

	if (!truth_out)
		return NULL;
	t = truth__new(TRUTH_SINGLE, member->parent, member->singles++, 0);
	t->runs = member;
	return t;
}

static inline struct truth *truth__task(struct truth *in, int line)
{
	struct truth *t, *ctx, *top;

	if (!truth_out)
		return NULL;
	ctx = truth__context(in);
	t = truth__new(TRUTH_TASK, in, in->children++, line);
	t->in_group = ctx->group;
	t->group = ctx->group;
	t->before_join = ctx->joins;
	for (top = ctx; top->kind == TRUTH_TASK; top = truth__context(top->parent))
		t->before_barrier = top->before_barrier;
	if (top == ctx)
		t->before_barrier = top->barriers;
	truth_creating = t;
	return t;
}

static inline void truth__created(void)
{
	if (truth_out)
		truth_creating = NULL;
}

static inline void truth__begin(struct truth *t)
{
	if (!truth_out)
		return;
	t->outer = truth_creating;
	t->undeferred = truth_creating == t;
	truth_creating = NULL;
	t->tid = syscall(SYS_gettid);
	t->begin_ns = now_ns();
}

static inline void truth__end(struct truth *t)
{
	if (!truth_out)
		return;
	truth_creating = t->outer;
	t->end_ns = now_ns();
}

static inline void truth__joined(struct truth *ctx, unsigned char kind)
{
	ctx->wait_kind = (unsigned char *)realloc(ctx->wait_kind, ctx->joins + 1);
	if (!ctx->wait_kind)
		abort();
	ctx->wait_kind[ctx->joins++] = kind;
}

static inline void truth__taskwait(struct truth *in)
{
	if (truth_out)
		truth__joined(truth__context(in), 1);
}

static inline void truth__group_begin(struct truth *in)
{
	struct truth_group *g;
	struct truth *ctx;

	if (!truth_out)
		return;
	g = (struct truth_group *)calloc(1, sizeof(*g));
	if (!g)
		abort();
	ctx = truth__context(in);
	g->owner = ctx;
	g->outer = ctx->group;
	ctx->group = g;
}

static inline void truth__group_end(struct truth *in)
{
	struct truth *ctx;

	if (!truth_out)
		return;
	ctx = truth__context(in);
	ctx->group->ended_at = ctx->joins;
	ctx->group = ctx->group->outer;
	truth__joined(ctx, 2);
}

/* After a barrier, also the implicit one at the end of a single. */
static inline void truth__barrier(struct truth *member)
{
	if (truth_out)
		member->barriers++;
}

static inline int truth__print_id(char *to, size_t size, const struct truth *t)
{
	int n;

	if (t->kind == TRUTH_INITIAL)
		return snprintf(to, size, "0");
	n = truth__print_id(to, size, t->parent);
	return n + snprintf(to + n, size - n, ".%s%u",
			    t->kind == TRUTH_REGION   ? "p"
			    : t->kind == TRUTH_SINGLE ? "s"
						      : "",
			    t->ordinal);
}

static inline void truth__print_join(char *to, size_t size, struct truth *t)
{
	struct truth *ctx = truth__context(t->parent), *team = ctx;
	unsigned j;
	int n;

	for (j = t->before_join; j < ctx->joins; j++) {
		struct truth_group *g = t->in_group;

		if (ctx->wait_kind[j] == 2)
			while (g && !(g->owner == ctx && g->ended_at == j))
				g = g->outer;
		if (ctx->wait_kind[j] == 1 || g) {
			n = truth__print_id(to, size, ctx);
			snprintf(to + n, size - n, "/j%u", j);
			return;
		}
	}
	if (t->in_group) {
		n = truth__print_id(to, size, t->in_group->owner);
		snprintf(to + n, size - n, "/j%u", t->in_group->ended_at);
		return;
	}
	while (team && team->kind == TRUTH_TASK)
		team = truth__context(team->parent);
	if (!team || team->kind != TRUTH_MEMBER) {
		snprintf(to, size, "-");
		return;
	}
	n = truth__print_id(to, size, team->parent);
	snprintf(to + n, size - n, "/b%u", t->before_barrier);
}

static inline unsigned long truth__write_nodes(void)
{
	char id[8192], parent[8192], join[8192];
	unsigned long tasks = 0;
	struct truth *t, *r;

	if (!truth_out)
		return 0;
	for (t = truth_all; t; t = t->next) {
		if (t->kind != TRUTH_TASK)
			continue;
		tasks++;
		for (r = t->parent; r; r = r->parent)
			if (r->kind == TRUTH_REGION)
				r->children++;
	}
	for (t = truth_all; t; t = t->next) {
		truth__print_id(id, sizeof(id), t);
		if (t->kind == TRUTH_TASK || t->kind == TRUTH_REGION)
			truth__print_id(parent, sizeof(parent), truth__context(t->parent));
		if (t->kind == TRUTH_TASK) {
			truth__print_join(join, sizeof(join), t);
			fprintf(truth_out, "task %s %s %u %u %s %llu %llu %d\n", id, parent, t->line,
				t->undeferred, join, t->begin_ns, t->end_ns, (int)t->tid);
		} else if (t->kind == TRUTH_REGION) {
			fprintf(truth_out, "region %s %s %u %u %u\n", id, parent, t->line, t->threads,
				t->children);
		} else if (t->kind == TRUTH_MEMBER) {
			truth__print_id(parent, sizeof(parent), truth__context(t->parent->parent));
			fprintf(truth_out, "implicit %s %s\n", id, parent);
		}
	}
	return tasks;
}

/* Writes all; returns the number of tasks that were created. */
static inline unsigned long truth__write(void)
{
	unsigned long tasks = truth__write_nodes();

	if (truth_out && fclose(truth_out) != 0) {
		perror("truth file");
		exit(2);
	}
	return tasks;
}

/* ---- what all programs share -------------------------------------------- */

/*
 * The program's numbers, in order, into value[]; "--truth FILE" anywhere.
 * A number that is not given keeps its default.
 */
/* Waits until there is the file that WAITS_FOR of the environment names, if it names one. */
static inline void program__wait(void)
{
	const char *file = getenv("WAITS_FOR");

	while (file && access(file, F_OK))
		usleep(1000);
}

static inline void program__args(int argc, char **argv, long *value, int count)
{
	int i, n = 0;

	for (i = 1; i < argc; i++) {
		char *end;

		if (strcmp(argv[i], "--truth") == 0 && i + 1 < argc) {
			truth__open(argv[++i]);
			continue;
		}
		if (n < count) {
			value[n] = strtol(argv[i], &end, 10);
			if (*argv[i] && !*end && value[n++] >= 0)
				continue;
		}
		fprintf(stderr, "%s: up to %d numbers and --truth FILE, not '%s'\n", argv[0], count, argv[i]);
		exit(2);
	}
}

static inline int ns__compare(const void *a, const void *b)
{
	unsigned long long x = *(const unsigned long long *)a, y = *(const unsigned long long *)b;

	return (x > y) - (x < y);
}

/* Sorts `ns`. */
static inline unsigned long long ns__median(unsigned long long *ns, size_t count)
{
	qsort(ns, count, sizeof(*ns), ns__compare);
	return count ? ns[count / 2] : 0;
}

#endif
