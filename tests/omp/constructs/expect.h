/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a construct's program knows besides its tasks (../truth.h): which
 * thread executed which iteration or section and when, who won a single,
 * dependences, and how often an event must be in the log. The program defines
 *
 *     CONSTRUCT construct(struct truth *initial) { ... }
 *
 * and is run as PROGRAM [--truth FILE] [--rounds N] [--forever] [--progress FILE];
 * --forever repeats the construct until SIGTERM, --progress keeps the number of
 * rounds that are over in a file (a native unsigned long long). Lines added to
 * the truth file:
 *
 *     round START_NS END_NS REGIONS_BEFORE REGIONS_AFTER
 *     loop ID LINE SCHEDULE FIRST STEP TRIP THREADS CANCELLED
 *     iter ID INDEX VALUE TID TIMES BEGIN_NS END_NS
 *     taskloop PARENT LINE FIRST STEP TRIP TASKS FIRST_ORDINAL
 *     single LINE TID
 *     depends ID PREDECESSOR
 *     undeferred ID                (by its if clause, with dependences)
 *     discarded ID
 *     waits KIND COUNT             (barriers without the one that ends a region)
 *     count N EVENT KEY=VALUE...   (exactly N of them in the log)
 *     atleast N EVENT KEY=VALUE...
 *     allow NAME                   (a limit that the documentation names)
 */
#ifndef GRAIND_TESTS_EXPECT_H
#define GRAIND_TESTS_EXPECT_H

#include "../truth.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>

#ifdef __cplusplus
#define CONSTRUCT extern __attribute__((noinline)) void
#else
#define CONSTRUCT static __attribute__((noinline)) void
#endif

struct expect_iteration {
	unsigned long long begin, end;
	pid_t tid;
	unsigned times;
};

/* A loop, sections construct or taskloop; index k of it stands for first + k * step. */
struct expect_loop {
	struct expect_loop *next;
	struct truth *of; /* its region, of a taskloop the parent of its tasks */
	const char *schedule;
	unsigned ordinal, line, threads;
	char letter; /* as in its identifier: l, x; t for a taskloop */
	unsigned char cancelled;
	long first, step, trip, tasks;
	struct expect_iteration *iteration;
};

static struct expect_loop *expect_loops;
static pthread_mutex_t expect_mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned long expect_failures;
static char *expect_text; /* lines to be written as they are */
static size_t expect_text_used, expect_text_size;

static inline void expect__check(int good)
{
	if (!good)
		__atomic_fetch_add(&expect_failures, 1, __ATOMIC_RELAXED);
}

static inline void expect__line(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void expect__line(const char *format, ...)
{
	va_list args;

	if (!truth_out)
		return;
	pthread_mutex_lock(&expect_mutex);
	if (expect_text_size - expect_text_used < 2048) {
		expect_text_size = expect_text_size ? expect_text_size * 2 : 65536;
		expect_text = (char *)realloc(expect_text, expect_text_size);
		if (!expect_text)
			abort();
	}
	va_start(args, format);
	expect_text_used += vsnprintf(expect_text + expect_text_used, 2048, format, args);
	va_end(args);
	pthread_mutex_unlock(&expect_mutex);
}

/* The n-th loop of `of`, which may be there already: another member came first. */
static inline struct expect_loop *expect__loop_of(struct truth *of, char letter, unsigned ordinal, int line,
						  const char *schedule, long first, long step, long trip)
{
	struct expect_loop *l;

	if (!truth_out)
		return NULL;
	pthread_mutex_lock(&expect_mutex);
	for (l = expect_loops; l; l = l->next)
		if (l->of == of && l->letter == letter && l->ordinal == ordinal)
			break;
	if (!l) {
		l = (struct expect_loop *)calloc(1, sizeof(*l));
		if (!l)
			abort();
		l->iteration = (struct expect_iteration *)calloc(trip ? trip : 1, sizeof(*l->iteration));
		if (!l->iteration)
			abort();
		l->of = of;
		l->letter = letter;
		l->ordinal = ordinal;
		l->line = line;
		l->schedule = schedule;
		l->first = first;
		l->step = step;
		l->trip = trip;
		l->next = expect_loops;
		expect_loops = l;
	}
	l->threads++;
	pthread_mutex_unlock(&expect_mutex);
	return l;
}

/* Every member calls it where it meets a loop. */
static inline struct expect_loop *expect__loop(struct truth *member, int line, const char *schedule,
					       long first, long step, long trip)
{
	return truth_out ? expect__loop_of(member->parent, 'l', member->loops++, line, schedule, first, step,
					   trip)
			 : NULL;
}

static inline struct expect_loop *expect__sections(struct truth *member, int line, long count)
{
	return truth_out ? expect__loop_of(member->parent, 'x', member->sections++, line, "sections", 0, 1,
					   count)
			 : NULL;
}

/* The members of a region that has no room for truth__member(): a combined construct. */
static inline void expect__members(struct truth *region, unsigned threads)
{
	unsigned i;

	if (!truth_out)
		return;
	region->threads = threads;
	for (i = 0; i < threads; i++)
		truth__new(TRUTH_MEMBER, region, i, 0);
}

/* Iterations of a taskloop; `tasks` of them are made, 0: the runtime chooses (then nothing may follow in
 * `in`). */
static inline struct expect_loop *expect__taskloop(struct truth *in, int line, long first, long step,
						   long trip, long tasks)
{
	struct expect_loop *l;

	if (!truth_out)
		return NULL;
	l = expect__loop_of(in, 't', in->children, line, "taskloop", first, step, trip);
	l->tasks = tasks;
	in->children += tasks;
	return l;
}

static inline void expect__spin(unsigned long long ns)
{
	unsigned long long until = now_ns() + ns;

	while (now_ns() < until)
		;
}

static inline void expect__ran_for(struct expect_loop *loop, long k, unsigned long long ns)
{
	struct expect_iteration *i;

	if (!loop) {
		expect__spin(ns);
		return;
	}
	i = &loop->iteration[k];
	i->begin = now_ns();
	i->tid = syscall(SYS_gettid);
	expect__spin(ns);
	__atomic_fetch_add(&i->times, 1, __ATOMIC_RELAXED);
	i->end = now_ns();
}

/* Index k runs now, for a few microseconds. */
static inline void expect__ran(struct expect_loop *loop, long k)
{
	expect__ran_for(loop, k, 3000);
}

static inline void expect__ran_short(struct expect_loop *loop, long k)
{
	expect__ran_for(loop, k, 0);
}

static inline void expect__single_won(int line)
{
	expect__line("single %d %d\n", line, (int)syscall(SYS_gettid));
}

static inline void expect__depends(struct truth *task, struct truth *predecessor)
{
	char a[512], b[512];

	if (!truth_out)
		return;
	truth__print_id(a, sizeof(a), task);
	truth__print_id(b, sizeof(b), predecessor);
	expect__line("depends %s %s\n", a, b);
}

static inline void expect__undeferred(struct truth *task)
{
	char id[512];

	if (!truth_out)
		return;
	truth__print_id(id, sizeof(id), task);
	expect__line("undeferred %s\n", id);
}

#define expect__count(n, event) expect__line("count %lu %s\n", (unsigned long)(n), event)
#define expect__atleast(n, event) expect__line("atleast %lu %s\n", (unsigned long)(n), event)

/*
 * Called by each of `threads` threads that is about to want a lock, and by the
 * one that has it: returns to the holder when all others surely wait for it.
 */
static inline void expect__want(unsigned *wanting)
{
	__atomic_fetch_add(wanting, 1, __ATOMIC_SEQ_CST);
}

/* Whether the thread sleeps, or is over. */
static inline int expect__sleeps(int tid)
{
	char path[64], text[256] = "", *end;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	end = fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 ? strrchr(text, ')') : NULL;
	if (fd >= 0)
		close(fd);
	return !end || end[2] == 'S';
}

/* The CPU time that the thread has had. */
static inline unsigned long long expect__used(int tid)
{
	struct timespec used = {0, 0};

	clock_gettime((clockid_t)(~(unsigned)tid << 3 | 6), &used);
	return used.tv_sec * 1000000000ull + used.tv_nsec;
}

/* A runtime lets a thread sleep that waits, or lets it look again and again. */
static inline void expect__hold(unsigned *wanting, unsigned threads)
{
	struct timespec nap = {0, 100000};
	unsigned long long until = now_ns() + 120000000000ull, before;
	struct dirent *entry;
	DIR *tasks;

	while (__atomic_load_n(wanting, __ATOMIC_SEQ_CST) < threads)
		sched_yield();
	tasks = opendir("/proc/self/task");
	while (tasks && (entry = readdir(tasks))) {
		int tid = atoi(entry->d_name);

		if (tid <= 0 || tid == (int)syscall(SYS_gettid))
			continue;
		before = expect__used(tid);
		while (!expect__sleeps(tid) && expect__used(tid) - before < 200000 && now_ns() < until)
			nanosleep(&nap, NULL);
	}
	if (tasks)
		closedir(tasks);
}

static inline void expect__write_loop(const struct expect_loop *l)
{
	char id[512];
	long k;

	truth__print_id(id, sizeof(id), l->of);
	if (l->letter == 't') {
		fprintf(truth_out, "taskloop %s %u %ld %ld %ld %ld %u\n", id, l->line, l->first, l->step,
			l->trip, l->tasks, l->ordinal);
		snprintf(id + strlen(id), sizeof(id) - strlen(id), "/t%u", l->ordinal);
	} else {
		snprintf(id + strlen(id), sizeof(id) - strlen(id), "/%c%u", l->letter, l->ordinal);
		fprintf(truth_out, "loop %s %u %s %ld %ld %ld %u %d\n", id, l->line, l->schedule, l->first,
			l->step, l->trip, l->threads, l->cancelled);
	}
	for (k = 0; k < l->trip; k++) {
		const struct expect_iteration *i = &l->iteration[k];

		expect__check(l->cancelled ? i->times <= 1 : i->times == 1);
		fprintf(truth_out, "iter %s %ld %ld %d %u %llu %llu\n", id, k, l->first + k * l->step,
			(int)i->tid, i->times, i->begin, i->end);
	}
}

/* Returns the number of tasks without those of taskloops. */
static inline unsigned long expect__write(void)
{
	unsigned long tasks, barriers = 0, taskwaits = 0, groups = 0;
	struct expect_loop *l;
	struct truth *t;
	char id[8192];
	unsigned j;

	if (!truth_out)
		return 0;
	for (t = truth_all; t; t = t->next) {
		if (t->kind == TRUTH_TASK && !t->begin_ns) {
			truth__print_id(id, sizeof(id), t);
			fprintf(truth_out, "discarded %s\n", id);
		}
		barriers += t->barriers;
		for (j = 0; j < t->joins; j++) {
			taskwaits += t->wait_kind[j] == 1;
			groups += t->wait_kind[j] == 2;
		}
	}
	fprintf(truth_out, "waits barrier %lu\nwaits taskwait %lu\nwaits taskgroup %lu\n%s", barriers,
		taskwaits, groups, expect_text ? expect_text : "");
	for (l = expect_loops; l; l = l->next)
		expect__write_loop(l);
	tasks = truth__write();
	return tasks;
}

static volatile sig_atomic_t expect_stop;

static void expect__on_signal(int number)
{
	(void)number;
	expect_stop = 1;
}

static inline int expect__main(int argc, char **argv, void (*construct)(struct truth *initial))
{
	const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	struct timespec pause = {0, 1000000};
	unsigned long long rounds = 2, over, n;
	int i, forever = 0, progress = -1;
	struct truth *initial;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--truth") == 0 && i + 1 < argc)
			truth__open(argv[++i]);
		else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc)
			rounds = strtoull(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--progress") == 0 && i + 1 < argc)
			progress = open(argv[++i], O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
		else if (strcmp(argv[i], "--forever") == 0)
			forever = 1;
		else
			return 2;
	}
	if (forever)
		signal(SIGTERM, expect__on_signal);
	initial = truth__initial();
	for (n = 0; !expect_stop && (forever || n < rounds); n++) {
		unsigned long long start = now_ns();
		unsigned before = initial ? initial->regions : 0;

		construct(initial);
		if (initial)
			expect__line("round %llu %llu %u %u\n", start, now_ns(), before, initial->regions);
		over = n + 1;
		if (progress >= 0 && pwrite(progress, &over, sizeof(over), 0) != sizeof(over))
			return 2;
		if (forever)
			nanosleep(&pause, NULL);
	}
	n = expect__write();
	printf("{\"program\":\"%s\",\"tasks\":%llu,\"correct\":%s,\"threads\":%d}\n", name, n,
	       expect_failures ? "false" : "true", omp_get_max_threads());
	return expect_failures != 0;
}

/* Runs `body` as the next task of `in`; inside, `t` is its truth. All of it has one line. */
#define PRAGMA(x) _Pragma(#x)
#define TASK_PRAGMA(clauses) PRAGMA(omp task firstprivate(t) clauses)
#define TASK(in, clauses, body)                                                                              \
	do {                                                                                                 \
		struct truth *truth_in = (in), *t = truth__task(truth_in, __LINE__);                         \
		TASK_PRAGMA(clauses)                                                                         \
		{                                                                                            \
			truth__begin(t);                                                                     \
			body;                                                                                \
			truth__end(t);                                                                       \
		}                                                                                            \
		truth__created();                                                                            \
	} while (0)
#define WAIT(in)                                                                                             \
	do {                                                                                                 \
		_Pragma("omp taskwait") truth__taskwait(in);                                                 \
	} while (0)

#ifndef EXPECT_NO_MAIN
CONSTRUCT construct(struct truth *initial);

int main(int argc, char **argv)
{
	return expect__main(argc, argv, construct);
}
#endif

#endif
