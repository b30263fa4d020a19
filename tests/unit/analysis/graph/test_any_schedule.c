/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any legal schedule of a random program, on any number of threads, gives the
 * same names and the same structure; any order of the lines of one run gives
 * the same graph.
 */
#include "tests/unit/random_run.h"

#define PROGRAMS 50
#define SCHEDULES 4

static int structures, orders, wrong_structure, wrong_order;

static int compare_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts lines; returns them in one string. */
static char *sort_lines(char *text)
{
	char **lines = NULL, *rest = text, *line, *sorted = NULL;
	size_t count = 0, size;
	FILE *f = open_memstream(&sorted, &size);

	while ((line = strsep(&rest, "\n")) && *line) {
		lines = reallocarray(lines, count + 1, sizeof(*lines));
		lines[count++] = line;
	}
	if (count)
		qsort(lines, count, sizeof(*lines), compare_text);
	for (size_t i = 0; i < count; i++)
		fprintf(f, "%s\n", lines[i]);
	fclose(f);
	free(lines);
	free(text);
	return sorted;
}

/*
 * Who of the team won a single or took a chunk depends on the schedule: every
 * member is "0.p0.*". So does whose taskwait joins what a chunk created.
 */
static const char *any_member(char *id)
{
	if (strncmp(id, "0.p0.", 5) == 0 && id[5] >= '0' && id[5] <= '9' && (id[6] == '\0' || id[6] == '/'))
		id[5] = '*';
	return id;
}

/* Everything but times, places and the number of members; one line a context or dependence. */
static char *structure_of(const struct grain_graph *g)
{
	char *text = NULL, id[256], parent[256], join[256];
	size_t size;
	FILE *f = open_memstream(&text, &size);

	for (uint32_t i = 0; i < grain_graph__context_count(g); i++) {
		struct grain_definition d = {.source = "none", .kind = ""};
		struct grain_context c;
		int forks = 0, regions = 0;

		grain_graph__context(g, i, &c);
		grain_graph__context_id(g, i, id, sizeof id);
		if (c.kind == GRAIN_IMPLICIT && strncmp(id, "0.p0.", 5) == 0 && strlen(id) == 6)
			continue;
		strcpy(parent, "none");
		strcpy(join, "none");
		if (c.parent != GRAIN_NONE)
			grain_graph__context_id(g, c.parent, parent, sizeof parent);
		if (c.join != GRAIN_NONE && !(c.kind == GRAIN_TASK && strchr(parent, ']')))
			grain_graph__join_id(g, c.join, join, sizeof join);
		if (c.definition != GRAIN_NONE)
			grain_graph__definition(g, c.definition, &d);
		for (uint32_t k = 0; k < c.item_count; k++) {
			forks += item_of(g, c.first_item + k).kind == GRAIN_FORK;
			regions += item_of(g, c.first_item + k).kind == GRAIN_REGION;
		}
		fprintf(f, "%s %d %s %s %s %s depth %u flags %u forks %d regions %d\n", id, (int)c.kind,
			any_member(parent), any_member(join), d.source, d.kind, c.depth, c.flags, forks,
			regions);
	}
	for (size_t i = 0; i < grain_graph__dependence_count(g); i++) {
		struct grain_dependence d;

		grain_graph__dependence(g, i, &d);
		grain_graph__context_id(g, d.from, id, sizeof id);
		grain_graph__context_id(g, d.to, parent, sizeof parent);
		fprintf(f, "%s before %s\n", id, parent);
	}
	for (uint32_t i = 0; i < grain_graph__loop_count(g); i++) {
		struct grain_loop loop;

		grain_graph__loop(g, i, &loop);
		grain_graph__loop_id(g, i, id, sizeof id);
		fprintf(f, "%s chunks %u sections %d\n", id, loop.chunks, loop.sections);
	}
	fclose(f);
	return sort_lines(text);
}

static void print_difference(const char *expected, const char *got)
{
	size_t at = 0;

	while (expected[at] && expected[at] == got[at])
		at++;
	while (at && expected[at - 1] != '\n')
		at--;
	printf("# expected: %.*s\n# got:      %.*s\n", (int)strcspn(expected + at, "\n"), expected + at,
	       (int)strcspn(got + at, "\n"), got + at);
}

static void check_structure(uint32_t seed)
{
	char *expected = NULL;

	for (int threads = 1; threads <= MAX_THREADS; threads++) {
		for (uint32_t schedule = 0; schedule < SCHEDULES; schedule++) {
			char *text = run_program(seed, threads, 1000 * seed + schedule), *structure;
			struct grain_graph *g = load_text(text);

			free(text);
			structure = g ? structure_of(g) : strdup("");
			if (!expected)
				expected = strdup(structure);
			structures++;
			if (strcmp(structure, expected) != 0 && wrong_structure++ == 0)
				print_difference(expected, structure);
			free(structure);
			grain_graph__free(g);
		}
	}
	free(expected);
}

/* The same lines, merged otherwise: each thread's in their order. `way` 0: one thread after the other. */
static char *merged(const char *text, int way)
{
	char *copy = strdup(text), *rest = copy, *line, *out = NULL;
	char **lines[MAX_THREADS] = {NULL};
	size_t count[MAX_THREADS] = {0}, next[MAX_THREADS] = {0}, size, left = 0;
	uint32_t random = (uint32_t)way * 7u + 1;
	FILE *f = open_memstream(&out, &size);

	while ((line = strsep(&rest, "\n")) && *line) {
		int tid;

		if (sscanf(line, "%*u %d", &tid) != 1) {
			fprintf(f, "%s\n", line);
			continue;
		}
		tid -= 100;
		lines[tid] = reallocarray(lines[tid], count[tid] + 1, sizeof(*lines[tid]));
		lines[tid][count[tid]++] = line;
		left++;
	}
	for (int t = MAX_THREADS - 1; left; random = random * 1664525u + 1013904223u) {
		if (way)
			t = (int)(random >> 8) % MAX_THREADS;
		if (next[t] == count[t]) {
			t--;
			continue;
		}
		fprintf(f, "%s\n", lines[t][next[t]++]);
		left--;
	}
	fclose(f);
	for (int t = 0; t < MAX_THREADS; t++)
		free(lines[t]);
	free(copy);
	return out;
}

static char *grains_of(const struct grain_graph *g)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	grain_graph__write_grains_json(g, f);
	fclose(f);
	return sort_lines(text);
}

static void check_orders(uint32_t seed)
{
	char *text = run_program(seed, MAX_THREADS, seed), *expected;
	struct grain_graph *g = load_text(text);

	expected = g ? grains_of(g) : strdup("");
	grain_graph__free(g);
	for (int way = 0; way < 4; way++) {
		char *other = merged(text, way), *grains;

		g = load_text(other);
		grains = g ? grains_of(g) : strdup("");
		orders++;
		wrong_order += strcmp(grains, expected) != 0;
		free(grains);
		free(other);
		grain_graph__free(g);
	}
	free(expected);
	free(text);
}

int main(void)
{
	for (uint32_t seed = 1; seed <= PROGRAMS; seed++) {
		check_structure(seed);
		check_orders(seed);
	}
	CHECK(structures == PROGRAMS * MAX_THREADS * SCHEDULES && wrong_structure == 0,
	      "any schedule on any number of threads gives the same structure, %d runs", structures);
	CHECK(orders == 4 * PROGRAMS && wrong_order == 0, "any order of the lines gives the same graph");
	CHECK_DONE();
}
