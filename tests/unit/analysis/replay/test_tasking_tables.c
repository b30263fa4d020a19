/* SPDX-License-Identifier: BSD-2-Clause */
/* Recursions against what was computed by hand: cases of ICPPW12 Tables II and IV. */
#include "tests/unit/tasking_text.h"

/* A line of the log being written; time goes on by `ns` first. */
struct writer {
	FILE *f;
	unsigned long long now;
	unsigned tasks;
};

static void say(struct writer *w, unsigned ns, const char *event, unsigned task)
{
	w->now += ns;
	fprintf(w->f, task ? "%llu 1 0 %s task=%u%s\n" : "%llu 1 0 %s\n", w->now, event, task,
		strcmp(event, "create-begin") ? "" : " src=2 flags=deferred");
}

static struct grain_graph *written(const char *name, void (*body)(struct writer *w, unsigned n), unsigned n)
{
	char *text = NULL;
	size_t size;
	struct writer w = {.f = open_memstream(&text, &size), .now = 100};
	struct grain_graph *g;

	fprintf(w.f, "%s%s", HEAD, REGION);
	body(&w, n);
	say(&w, 10, "member-end region=1 num=0", 0);
	say(&w, 10, "region-end region=1", 0);
	fclose(w.f);
	g = graph_of_text(name, text);
	free(text);
	return g;
}

/* A task with one child that runs in its taskwait, n deep. */
static void chain(struct writer *w, unsigned n)
{
	unsigned task = ++w->tasks;

	say(w, 5, "create-begin", task);
	say(w, 3, "create-end", task);
	say(w, 1, "wait-begin kind=taskwait", 0);
	say(w, 1, "task-begin", task);
	if (n > 1)
		chain(w, n - 1);
	say(w, 10, "task-end", task);
	say(w, 1, "wait-end kind=taskwait", 0);
}

static void flat(struct writer *w, unsigned n)
{
	while (n--) {
		unsigned task = ++w->tasks;

		say(w, 5, "create-begin", task);
		say(w, 3, "create-end", task);
		say(w, 1, "wait-begin kind=taskwait", 0);
		say(w, 1, "task-begin", task);
		say(w, 10, "task-end", task);
		say(w, 1, "wait-end kind=taskwait", 0);
	}
}

/* Table II: nqueens 14, alignment 1. */
static void test_concurrent(void)
{
	static const struct {
		const char *name;
		void (*body)(struct writer *w, unsigned n);
		unsigned n, most;
	} cases[] = {{"nqueens", chain, 14, 14}, {"alignment", flat, 20, 1}, {"deep", chain, 1200, 1200}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct grain_graph *g = written(cases[i].name, cases[i].body, cases[i].n);
		struct grain_region region;

		if (!g)
			continue;
		grain_graph__region(g, 0, &region);
		CHECK(region.max_active_tasks_per_thread == cases[i].most &&
			      construct_at(g, 20).max_concurrent == cases[i].most,
		      "%s: at most %u tasks at once", cases[i].name, cases[i].most);
		if (cases[i].n > GRAIN_DEPTH_LIMIT) {
			struct grain_depth_row row;

			CHECK(grain_graph__depth_row_count(g) == GRAIN_DEPTH_LIMIT, "deep: rows end");
			grain_graph__depth_row(g, GRAIN_DEPTH_LIMIT - 1, &row);
			CHECK(row.depth == GRAIN_DEPTH_LIMIT && row.instances == 201,
			      "deep: the last row has all deeper tasks");
		}
		grain_graph__free(g);
	}
}

/* The queens of rows above do not attack `column` of the next one. */
static bool is_free(const int *columns, int row, int column)
{
	for (int i = 0; i < row; i++)
		if (columns[i] == column || abs(columns[i] - column) == row - i)
			return false;
	return true;
}

/*
 * nqueens for a board of 4: a task for every column of the next row. Every
 * task executes 10; where its queen is free it creates 4 of 3 each and waits 6.
 */
static void place_queens(struct writer *w, int *columns, int row)
{
	unsigned first = w->tasks + 1;

	if (row == 4)
		return;
	for (int i = 0; i < 4; i++) {
		say(w, 0, "create-begin", ++w->tasks);
		say(w, 3, "create-end", w->tasks);
	}
	say(w, 0, "wait-begin kind=taskwait", 0);
	for (int i = 0; i < 4; i++) {
		say(w, 1, "task-begin", first + (unsigned)i);
		w->now += 10;
		columns[row] = i;
		if (is_free(columns, row, i))
			place_queens(w, columns, row + 1);
		say(w, 0, "task-end", first + (unsigned)i);
	}
	say(w, 2, "wait-end kind=taskwait", 0);
}

static void queens(struct writer *w, unsigned n)
{
	int columns[4];

	(void)n;
	place_queens(w, columns, 0);
}

/* Table IV: 4 queens in the first row, 6 pairs, 4 of three, so 4, 16, 24 and 16 tasks. */
static void test_depths(void)
{
	static const uint64_t tasks[] = {4, 16, 24, 16}, free_ones[] = {4, 6, 4, 0},
			      inclusive[] = {600, 560, 400, 160};
	struct grain_graph *g = written("nqueens", queens, 0);

	if (!g)
		return;
	check_sound(g, "nqueens");
	CHECK(grain_graph__depth_row_count(g) == 4, "nqueens: four depths");
	for (size_t i = 0; i < grain_graph__depth_row_count(g) && i < 4; i++) {
		struct grain_depth_row d;

		grain_graph__depth_row(g, i, &d);
		CHECK(d.depth == i + 1 && d.definition == definition_at(g, 20) && d.instances == tasks[i],
		      "nqueens: %llu tasks at depth %zu", (unsigned long long)tasks[i], i + 1);
		CHECK(d.exclusive.sum == 10 * tasks[i] && d.create.sum == 12 * free_ones[i] &&
			      d.taskwait.sum == 6 * free_ones[i] &&
			      d.task.sum == 10 * tasks[i] + 18 * free_ones[i],
		      "nqueens: their times");
		CHECK(d.inclusive.sum == inclusive[i], "nqueens: with all below %llu",
		      (unsigned long long)inclusive[i]);
	}
	grain_graph__free(g);
}

int main(void)
{
	test_concurrent();
	test_depths();
	CHECK_DONE();
}
