/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The task profile of random programs against one that is found the long way
 * from their logs: what every thread's stack says of every stretch of time
 * between two of its events, and all times at which tasks could be begun.
 */
#include "analysis/include/grain_tasking.h"
#include "tests/unit/graph_text.h"
#include "tests/unit/random_expect.h"
#include "tests/unit/random_loops.h"

#define PROGRAMS 60

enum { MOST_TASKS = 2 * LOOP_TASK, MOST_ROWS = 64, MOST_OPEN = 512, DEFINITIONS = 5, MOST_DEPTH = 8 };
enum entry_kind { MEMBER, TASK, WAIT, CREATE, CHUNK, INNER };

struct entry {
	enum entry_kind kind;
	int number;	 /* task, or row of a point */
	int task, group; /* of a wait: the task that waits, the group that ends or -1 */
};

struct sum {
	uint64_t count, sum, min, max;
};

/* A point: kind as the event says or "create", definition, caller (a definition, 0 implicit). */
struct expected {
	char kind[24];
	int definition, caller;
	uint64_t visits, time, own, idle;
	struct sum stubs[DEFINITIONS];
};

struct instance {
	int definition;
	bool deferred, created;
	uint64_t create, begin, end; /* times; 0: not seen */
	uint64_t exec, creating, wait, idle;
};

struct stack {
	struct entry entries[MOST_OPEN];
	int depth, current; /* the task that is executed, 0 none */
	uint64_t last, since;
	struct entry under; /* below the current task */
	struct entry first; /* below the outermost task */
};

static struct program program;
static struct instance tasks[MOST_TASKS];
static struct expected rows[MOST_ROWS];
static struct stack stacks[MAX_THREADS];
static struct {
	uint64_t fragments;
	uint32_t most;
} constructs[DEFINITIONS];
static struct {
	uint64_t start, end;
	int task;
} offers[MAX_TASKS];
static struct {
	int open[MAX_OPS], count;
} groups[MAX_TASKS];
static int row_count, offer_count, group_count;
static int wrong_points, wrong_stubs, wrong_constructs, wrong_depths, wrong_regions, wrong_sums;
static int points_checked, stubs_checked;
static uint64_t idle_checked, management_checked;

static void add(struct sum *s, uint64_t value)
{
	if (!s->count++ || value < s->min)
		s->min = value;
	if (value > s->max)
		s->max = value;
	s->sum += value;
}

static bool same(const struct sum *s, const struct grain_stat *stat)
{
	return s->sum == stat->sum && s->min == stat->min && s->max == stat->max;
}

/* Whether the task can be begun in the wait: a child, one of the group, or any in a barrier. */
static bool concerns(const struct entry *wait, int task)
{
	const struct task *t = &program.tasks[task];

	if (strcmp(rows[wait->number].kind, "taskwait") == 0)
		return t->parent == wait->task;
	if (strcmp(rows[wait->number].kind, "taskgroup") == 0)
		return t->group_count && t->groups[t->group_count - 1] == wait->group;
	return true;
}

/* How much of the time no task could be begun in the wait; offers are sorted. */
static uint64_t without_offer(const struct entry *wait, uint64_t start, uint64_t end)
{
	uint64_t at = start, idle = 0;

	for (int i = 0; i < offer_count && at < end; i++) {
		if (offers[i].end <= at || !concerns(wait, offers[i].task))
			continue;
		if (offers[i].start > at)
			idle += (offers[i].start < end ? offers[i].start : end) - at;
		at = offers[i].end;
	}
	return at < end ? idle + end - at : idle;
}

static int by_start(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void copy_line(char text[256], const char *line)
{
	size_t length = strcspn(line, "\n");

	length = length < 255 ? length : 255;
	memcpy(text, line, length);
	text[length] = '\0';
}

static int value_of(const char *line, const char *key)
{
	const char *at = strstr(line, key);

	return at ? atoi(at + strlen(key)) : 0;
}

/* First reading: when tasks were created, began and ended. */
static void find_offers(const char *log)
{
	memset(tasks, 0, sizeof tasks);
	for (const char *line = log; *line; line = strchr(line, '\n') + 1) {
		uint64_t time = strtoull(line, NULL, 10);
		struct instance *t = &tasks[value_of(line, " task=")];
		size_t length = strcspn(line, "\n");

		if (memmem(line, length, " create-begin ", 14)) {
			t->create = time;
			t->created = true;
			t->deferred = memmem(line, length, "=deferred", 9) != NULL;
			t->definition = value_of(line, " src=");
		} else if (memmem(line, length, " task-begin ", 12)) {
			t->begin = time;
		} else if (memmem(line, length, " task-end ", 10)) {
			t->end = time;
		}
	}
	offer_count = 0;
	for (int i = 1; i < program.task_count; i++) {
		uint64_t start = tasks[i].create;

		for (int k = 1; k < program.task_count; k++)
			if (program_precedes(&program, k, i) && tasks[k].end > start)
				start = tasks[k].end;
		if (tasks[i].deferred && start < tasks[i].begin) {
			offers[offer_count].start = start;
			offers[offer_count].task = i;
			offers[offer_count++].end = tasks[i].begin;
		}
	}
	qsort(offers, (size_t)offer_count, sizeof *offers, by_start);
}

/* The task that the entry at `at` is in, 0 an implicit one. */
static int task_around(const struct stack *s, int at)
{
	while (at >= 0 && s->entries[at].kind != TASK && s->entries[at].kind != INNER)
		at--;
	return at >= 0 && s->entries[at].kind == TASK ? s->entries[at].number : 0;
}

static int row_of(const struct stack *s, const char *kind, int definition)
{
	int caller = tasks[task_around(s, s->depth - 1)].definition, i = 0;

	while (i < row_count && (strcmp(rows[i].kind, kind) != 0 || rows[i].definition != definition ||
				 rows[i].caller != caller))
		i++;
	if (i == row_count) {
		rows[row_count] = (struct expected){.definition = definition, .caller = caller};
		snprintf(rows[row_count++].kind, sizeof rows->kind, "%s", kind);
	}
	return i;
}

static bool is_point(const struct entry *e)
{
	return e->kind == WAIT || e->kind == CREATE;
}

static void end_stretch(struct stack *s, uint64_t time)
{
	int definition = tasks[s->current].definition;

	if (!s->current)
		return;
	constructs[definition].fragments++;
	if (is_point(&s->under))
		add(&rows[s->under.number].stubs[definition], time - s->since);
	if (is_point(&s->first) && s->first.number != s->under.number)
		add(&rows[s->first.number].stubs[definition], time - s->since);
}

/* What the thread did since its last event. */
static void account(struct stack *s, uint64_t time)
{
	const struct entry *top = s->depth ? &s->entries[s->depth - 1] : NULL;
	struct instance *t = top ? &tasks[task_around(s, s->depth - 1)] : NULL;
	uint64_t spent = time - s->last, idle;

	for (int i = 0; i < s->depth; i++)
		if (is_point(&s->entries[i]))
			rows[s->entries[i].number].time += spent;
	if (top && top->kind == WAIT) {
		idle = without_offer(top, s->last, time);
		rows[top->number].own += spent;
		rows[top->number].idle += idle;
		t->wait += spent;
		t->idle += idle;
	} else if (top && top->kind == CREATE) {
		rows[top->number].own += spent;
		t->creating += spent;
	} else if (top && top->kind == TASK) {
		t->exec += spent;
	}
	s->last = time;
}

/* After an event: whether another task is executed now. */
static void look(struct stack *s, uint64_t time)
{
	uint32_t active[DEFINITIONS] = {0};
	int top = s->depth - 1, first = -1;

	for (int i = s->depth - 1; i >= 0; i--) {
		if (s->entries[i].kind != TASK)
			continue;
		first = i;
		active[tasks[s->entries[i].number].definition]++;
	}
	for (int d = 0; d < DEFINITIONS; d++)
		if (active[d] > constructs[d].most)
			constructs[d].most = active[d];
	while (top >= 0 && s->entries[top].kind != TASK)
		top--;
	if ((top < 0 ? 0 : s->entries[top].number) == s->current)
		return;
	end_stretch(s, time);
	s->current = top < 0 ? 0 : s->entries[top].number;
	s->since = time;
	if (top >= 0) {
		s->under = top ? s->entries[top - 1] : (struct entry){.kind = MEMBER};
		s->first = first ? s->entries[first - 1] : (struct entry){.kind = MEMBER};
	}
}

static void push(struct stack *s, enum entry_kind kind, int number)
{
	s->entries[s->depth++] = (struct entry){.kind = kind, .number = number};
}

static void read_event(struct stack *s, uint64_t time, const char *event, const char *line)
{
	int task = value_of(line, " task="), around = task_around(s, s->depth - 1);
	char kind[24];

	account(s, time);
	if (strcmp(event, "create-begin") == 0) {
		int row = row_of(s, "create", tasks[task].definition);

		rows[row].visits++;
		push(s, CREATE, row);
	} else if (strcmp(event, "wait-begin") == 0) {
		int row, src = value_of(line, " src=");

		sscanf(strstr(line, "kind=") + 5, "%23[a-z-]", kind);
		/* A barrier without a source belongs to its loop or region, which all have the first. */
		row = row_of(s, kind, src || kind[0] != 'b' ? src : 1);
		rows[row].visits++;
		push(s, WAIT, row);
		s->entries[s->depth - 1].task = around;
		if (strcmp(kind, "taskgroup") == 0)
			s->entries[s->depth - 1].group = groups[around].open[--groups[around].count];
	} else if (strcmp(event, "group-begin") == 0) {
		groups[around].open[groups[around].count++] = group_count++;
	} else if (strcmp(event, "task-begin") == 0) {
		push(s, TASK, task);
	} else if (strcmp(event, "member-begin") == 0 || strcmp(event, "region-begin") == 0) {
		push(s, s->depth ? INNER : MEMBER, 0);
	} else if (strcmp(event, "chunk-begin") == 0 || strcmp(event, "section-begin") == 0) {
		push(s, CHUNK, 0);
	} else if (strcmp(event, "task-suspend") == 0) {
		s->depth--;
	} else if (strcmp(event, "task-switch") == 0) {
		push(s, TASK, task);
	} else if (strcmp(event, "create-end") == 0 || strcmp(event, "wait-end") == 0 ||
		   strcmp(event, "task-end") == 0 || strcmp(event, "member-end") == 0 ||
		   strcmp(event, "region-end") == 0 || strcmp(event, "chunk-end") == 0 ||
		   strcmp(event, "section-end") == 0) {
		s->depth -= s->depth > 0;
	}
	look(s, time);
}

static void read_log(const char *log)
{
	row_count = group_count = 0;
	memset(groups, 0, sizeof groups);
	memset(rows, 0, sizeof rows);
	memset(stacks, 0, sizeof stacks);
	memset(constructs, 0, sizeof constructs);
	find_offers(log);
	for (const char *line = log; *line; line = strchr(line, '\n') + 1) {
		unsigned long long time;
		int thread;
		char event[32], text[256];

		copy_line(text, line);
		/* The region of all is no part of its first thread's stack. */
		if (sscanf(text, "%llu %d %*d %31s", &time, &thread, event) == 3 &&
		    strstr(text, "region=1 src") == NULL)
			read_event(&stacks[thread - 100], time, event, text);
	}
}

/* Two constructs, waits from several lines, some of none. */
static char *vary(const char *log)
{
	char *out = NULL;
	size_t size, n = 0;
	FILE *f = open_memstream(&out, &size);

	for (const char *line = log; *line; line = strchr(line, '\n') + 1, n++) {
		char text[256], *src;

		copy_line(text, line);
		src = strstr(text, " create-begin ") ? strstr(text, "src=2") : NULL;
		if (src && value_of(text, " task=") % 3 == 0)
			src[4] = '3';
		fprintf(f, "%s%s\n", text, strstr(text, "wait-begin kind=t") && n % 3 ? " src=4" : "");
		if (strncmp(text, "@source 2", 9) == 0)
			fputs("@source 3 file=a.c line=3 func=g kind=task\n"
			      "@source 4 file=a.c line=4 func=f kind=taskwait\n",
			      f);
	}
	fclose(f);
	return out;
}

static int line_of(const struct grain_graph *g, uint32_t definition)
{
	struct grain_definition d = {.line = 0};

	if (definition != GRAIN_NONE)
		grain_graph__definition(g, definition, &d);
	return (int)d.line;
}

static void check_stubs(const struct grain_graph *g, const struct grain_scheduling_point *p,
			const struct expected *e)
{
	uint64_t sum = 0;
	uint32_t stubs = 0;

	for (int d = 0; d < DEFINITIONS; d++)
		stubs += e->stubs[d].count > 0;
	wrong_stubs += stubs != p->stubs;
	for (uint32_t i = 0; i < p->stubs; i++) {
		struct grain_stub s;
		const struct sum *expected;

		grain_graph__stub(g, p->first_stub + i, &s);
		expected = &e->stubs[line_of(g, s.definition)];
		wrong_stubs += s.fragments != expected->count || !same(expected, &s.exec);
		sum += expected->sum;
		stubs_checked++;
	}
	wrong_sums += p->executing_ns != sum + p->nested_ns || (!p->in_task && p->nested_ns);
}

static void check_points(const struct grain_graph *g)
{
	uint64_t waits = 0, creations = 0, own_waits = 0, own_creations = 0;

	wrong_points += grain_graph__scheduling_point_count(g) != (size_t)row_count;
	for (size_t i = 0; i < grain_graph__scheduling_point_count(g); i++) {
		struct grain_scheduling_point p;
		int k = 0;

		grain_graph__scheduling_point(g, i, &p);
		while (k < row_count &&
		       (strcmp(rows[k].kind, p.kind) != 0 || rows[k].definition != line_of(g, p.definition) ||
			rows[k].caller != (p.in_task ? line_of(g, p.caller) : 0)))
			k++;
		if (k == row_count) {
			wrong_points++;
			continue;
		}
		wrong_points += p.visits != rows[k].visits || p.time_ns != rows[k].time ||
				p.executing_ns != rows[k].time - rows[k].own ||
				p.idle_ns != (strcmp(p.kind, "create") ? rows[k].idle : 0);
		wrong_sums += p.executing_ns + p.management_ns + p.idle_ns != p.time_ns;
		check_stubs(g, &p, &rows[k]);
		*(strcmp(p.kind, "create") ? &waits : &creations) += p.management_ns + p.idle_ns;
		idle_checked += p.idle_ns;
		management_checked += strcmp(p.kind, "create") ? p.management_ns : 0;
		points_checked++;
	}
	/* The points have all that conservation counts as waits and creations, and nothing else. */
	for (uint32_t i = 0; i < grain_graph__context_count(g); i++) {
		struct grain_context c;

		grain_graph__context(g, i, &c);
		own_waits += c.wait_ns;
		own_creations += c.create_ns;
	}
	wrong_sums += waits != own_waits || creations != own_creations;
}

static uint64_t inclusive(int task)
{
	const struct task *t = &program.tasks[task];
	uint64_t sum = t->run_ns;

	for (int i = 0; i < t->op_count; i++) {
		if (t->ops[i].kind <= OP_CREATE_UNDEFERRED)
			sum += inclusive(t->ops[i].child);
		else if (t->ops[i].kind == OP_REGION)
			sum += t->ops[i].run_ns;
	}
	return sum;
}

struct sums {
	struct sum exclusive, inclusive, create, taskwait, management, task;
};

static void add_instance(struct sums *s, int task)
{
	const struct instance *t = &tasks[task];

	add(&s->exclusive, t->exec);
	add(&s->inclusive, task < LOOP_TASK ? inclusive(task) : t->exec);
	add(&s->create, t->creating);
	add(&s->taskwait, t->wait);
	add(&s->management, t->creating + t->wait - t->idle);
	add(&s->task, t->exec + t->creating + t->wait);
}

static void check_constructs(const struct grain_graph *g)
{
	struct sums sums[DEFINITIONS] = {0}, depths[DEFINITIONS][MOST_DEPTH] = {0};

	for (int i = 1; i < MOST_TASKS; i++) {
		if (!tasks[i].created)
			continue;
		add_instance(&sums[tasks[i].definition], i);
		add_instance(&depths[tasks[i].definition][i < LOOP_TASK ? program.tasks[i].depth : 1], i);
	}
	for (size_t i = 0; i < grain_graph__task_construct_count(g); i++) {
		struct grain_task_construct c;
		const struct sums *s;
		int line;

		grain_graph__task_construct(g, i, &c);
		line = line_of(g, c.definition);
		s = &sums[line];
		wrong_constructs += grain_graph__construct_of(g, c.definition) != i;
		wrong_constructs += c.instances != s->exclusive.count || c.complete != c.instances ||
				    c.fragments != constructs[line].fragments ||
				    c.switches != c.fragments - c.instances ||
				    c.max_concurrent != constructs[line].most;
		wrong_constructs += !same(&s->exclusive, &c.exclusive) ||
				    !same(&s->inclusive, &c.inclusive) || !same(&s->create, &c.create) ||
				    !same(&s->taskwait, &c.taskwait) ||
				    !same(&s->management, &c.management) || !same(&s->task, &c.task);
		sums[line].exclusive.count = 0;
	}
	for (int d = 0; d < DEFINITIONS; d++)
		wrong_constructs += sums[d].exclusive.count > 0;
	for (size_t i = 0; i < grain_graph__depth_row_count(g); i++) {
		struct grain_depth_row row;
		struct sums *s;

		grain_graph__depth_row(g, i, &row);
		s = &depths[line_of(g, row.definition)][row.depth < MOST_DEPTH ? row.depth : 0];
		wrong_depths += row.instances != s->exclusive.count || !same(&s->exclusive, &row.exclusive) ||
				!same(&s->inclusive, &row.inclusive) || !same(&s->create, &row.create) ||
				!same(&s->taskwait, &row.taskwait) || !same(&s->task, &row.task);
		s->exclusive.count = 0;
	}
	for (int d = 0; d < DEFINITIONS; d++)
		for (int k = 0; k < MOST_DEPTH; k++)
			wrong_depths += depths[d][k].exclusive.count > 0;
}

static void check_region(const struct grain_graph *g)
{
	uint64_t time = 0, own = 0, idle = 0;
	struct grain_barriers b;

	for (int i = 0; i < row_count; i++) {
		if (strcmp(rows[i].kind, "barrier-implicit") != 0)
			continue;
		time += rows[i].time;
		own += rows[i].own;
		idle += rows[i].idle;
	}
	for (uint32_t i = 0; i < grain_graph__region_count(g); i++) {
		char id[32];

		grain_graph__region_id(g, i, id, sizeof id);
		if (strcmp(id, "0.p0") == 0)
			wrong_regions += !grain_graph__region_barriers(g, i, &b) || b.time_ns != time ||
					 b.executing_ns != time - own || b.management_ns != own - idle ||
					 b.idle_ns != idle;
		else
			wrong_regions += !grain_graph__region_barriers(g, i, &b) || b.time_ns != 0;
	}
}

static void check_program(uint32_t seed, int threads)
{
	char *log = NULL, *varied, name[64];
	size_t size;
	FILE *f = open_memstream(&log, &size);
	struct grain_graph *g;

	program_generate(&program, seed);
	program_run(&program, threads, seed * 17 + (uint32_t)threads, f);
	fclose(f);
	varied = vary(log);
	snprintf(name, sizeof name, "program %u on %d threads", seed, threads);
	g = graph_of_text(name, varied);
	if (g) {
		read_log(varied);
		check_points(g);
		check_constructs(g);
		check_region(g);
	}
	grain_graph__free(g);
	free(varied);
	free(log);
}

int main(void)
{
	for (uint32_t seed = 1; seed <= PROGRAMS; seed++)
		for (int threads = 1; threads <= MAX_THREADS; threads++)
			check_program(seed, threads);
	CHECK(points_checked > 4 * PROGRAMS && wrong_points == 0, "random: %d scheduling points",
	      points_checked);
	CHECK(stubs_checked > 4 * PROGRAMS && wrong_stubs == 0, "random: %d stubs", stubs_checked);
	CHECK(idle_checked > 1000 && management_checked > 1000,
	      "random: %llu ns idle and %llu ns management among them", (unsigned long long)idle_checked,
	      (unsigned long long)management_checked);
	CHECK(wrong_sums == 0, "random: the parts of points add up, and agree with conservation");
	CHECK(wrong_constructs == 0, "random: task constructs");
	CHECK(wrong_depths == 0, "random: rows by depth");
	CHECK(wrong_regions == 0, "random: barriers of regions");
	if (check_failures)
		printf("# wrong: points %d stubs %d sums %d constructs %d depths %d regions %d\n",
		       wrong_points, wrong_stubs, wrong_sums, wrong_constructs, wrong_depths, wrong_regions);
	CHECK_DONE();
}
