/* SPDX-License-Identifier: BSD-2-Clause */
/* The structure of random programs' groups against trees written out as text. */
#include "tests/unit/groups_text.h"
#include "tests/unit/random_graph.h"

#define PROGRAMS 24
#define PAIRS 60
#define SMALL 30 /* nodes of trees whose labels are written out */

static struct program program;
static int wrong_classes, wrong_similarities, wrong_kernels, wrong_shapes;
static int equal_pairs, unequal_pairs, kernels_checked;

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The tree with kinds instead of names and members in the order of their texts: equal for equal structures.
 */
static char *shape_text(const struct grain_graph *g, const struct grain_groups *groups, uint32_t group)
{
	static const char *const leaves[] = {"0", "i", "t", "c"}, kinds[] = "sfrp";
	struct grain_group it;
	char **parts, *text = NULL;
	size_t size;
	FILE *f;

	grain_groups__get(groups, group, &it);
	parts = calloc(it.members + 1, sizeof *parts);
	for (uint32_t k = 0; k < it.members; k++) {
		struct grain_member m = grain_groups__member(groups, group, k);
		struct grain_context c;

		if (!m.is_group)
			grain_graph__context(g, m.index, &c);
		parts[k] = m.is_group ? shape_text(g, groups, m.index) : strdup(leaves[c.kind]);
	}
	qsort(parts, it.members, sizeof *parts, compare_texts);
	f = open_memstream(&text, &size);
	fprintf(f, "(%c", kinds[it.kind]);
	for (uint32_t k = 0; k < it.members; k++) {
		fputs(parts[k], f);
		free(parts[k]);
	}
	fputc(')', f);
	fclose(f);
	free(parts);
	return text;
}

/* The label of a node after some rounds, written out: the one before, and those of its members, sorted. */
static char *label_text(const struct grain_graph *g, const struct grain_groups *groups,
			struct grain_member node, unsigned rounds)
{
	static const char kinds[] = "sfrp0itc";
	struct grain_group it = {.members = 0};
	struct grain_context c;
	char **parts, *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (node.is_group)
		grain_groups__get(groups, node.index, &it);
	else
		grain_graph__context(g, node.index, &c);
	parts = calloc(it.members + 1, sizeof *parts);
	if (!rounds || !node.is_group) {
		fputc(kinds[node.is_group ? it.kind : 4 + c.kind], f);
	} else {
		char *before = label_text(g, groups, node, rounds - 1);

		for (uint32_t k = 0; k < it.members; k++)
			parts[k] = label_text(g, groups, grain_groups__member(groups, node.index, k),
					      rounds - 1);
		qsort(parts, it.members, sizeof *parts, compare_texts);
		fprintf(f, "[%s:", before);
		for (uint32_t k = 0; k < it.members; k++) {
			fputs(parts[k], f);
			free(parts[k]);
		}
		fputc(']', f);
		free(before);
	}
	fclose(f);
	free(parts);
	return text;
}

/* The labels of all nodes of a tree. */
static size_t all_labels(const struct grain_graph *g, const struct grain_groups *groups,
			 struct grain_member node, unsigned rounds, char **labels)
{
	struct grain_group it;
	size_t n = 1;

	labels[0] = label_text(g, groups, node, rounds);
	if (!node.is_group)
		return 1;
	grain_groups__get(groups, node.index, &it);
	for (uint32_t k = 0; k < it.members; k++)
		n += all_labels(g, groups, grain_groups__member(groups, node.index, k), rounds, labels + n);
	return n;
}

/* Pairs of nodes with the same label, over all rounds. */
static double same_labels(const struct grain_graph *g, const struct grain_groups *groups, uint32_t a,
			  uint32_t b, unsigned depth)
{
	double pairs = 0;

	for (unsigned round = 0; round <= depth; round++) {
		char *x[SMALL + 1], *y[SMALL + 1];
		size_t n = all_labels(g, groups, (struct grain_member){true, a}, round, x);
		size_t m = all_labels(g, groups, (struct grain_member){true, b}, round, y);

		for (size_t i = 0; i < n; i++)
			for (size_t k = 0; k < m; k++)
				pairs += strcmp(x[i], y[k]) == 0;
		while (n)
			free(x[--n]);
		while (m)
			free(y[--m]);
	}
	return pairs;
}

static void check_kernel(const struct grain_graph *g, const struct grain_groups *groups, uint32_t a,
			 uint32_t b, unsigned depth, double similar)
{
	struct grain_group x, y;
	double expected;

	grain_groups__get(groups, a, &x);
	grain_groups__get(groups, b, &y);
	if (x.strength >= SMALL || y.strength >= SMALL)
		return;
	expected = same_labels(g, groups, a, b, depth) /
		   sqrt(same_labels(g, groups, a, a, depth) * same_labels(g, groups, b, b, depth));
	wrong_kernels += fabs(expected - similar) > 1e-9;
	kernels_checked++;
}

static void check_structure(const struct grain_graph *g, const struct grain_groups *groups)
{
	uint32_t n = (uint32_t)grain_groups__count(groups), *classes = calloc(n, sizeof *classes);
	char **texts = calloc(n, sizeof *texts);

	wrong_classes += grain_groups__classes(groups, classes) != 0;
	for (uint32_t i = 0; i < n; i++)
		texts[i] = shape_text(g, groups, i);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < i; k++)
			wrong_classes += (strcmp(texts[i], texts[k]) == 0) != (classes[i] == classes[k]);
	for (int i = 0; i < PAIRS; i++) {
		uint32_t a = program_random(&program, n), b = program_random(&program, n);
		unsigned depth = program_random(&program, 6);
		bool equal = strcmp(texts[a], texts[b]) == 0;
		double there, back;

		if (grain_groups__similarity(groups, a, b, depth, &there) ||
		    grain_groups__similarity(groups, b, a, depth, &back)) {
			wrong_similarities++;
			continue;
		}
		wrong_similarities += there != back || there < 0 || (equal ? there != 1 : there >= 1);
		if (depth < 5)
			check_kernel(g, groups, a, b, depth, there);
		equal_pairs += equal && a != b;
		unequal_pairs += !equal;
	}
	for (uint32_t i = 0; i < n; i++)
		free(texts[i]);
	free(texts);
	free(classes);
}

/* What is below the single's winner, and the loops, are the same on every team. */
static char *schedule_text(const struct grain_graph *g, const struct grain_groups *groups)
{
	uint32_t region = group_named(g, groups, "region 0.p0");
	char *text = NULL;
	struct grain_group it, inner;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	grain_groups__get(groups, region, &it);
	for (uint32_t k = 0; k < it.members; k++) {
		struct grain_member m = grain_groups__member(groups, region, k);

		if (!m.is_group)
			continue;
		grain_groups__get(groups, m.index, &inner);
		if (inner.loop != GRAIN_NONE)
			write_tree(g, groups, m.index, f);
		for (uint32_t i = 1; inner.loop == GRAIN_NONE && i < inner.members; i++)
			write_tree(g, groups, grain_groups__member(groups, m.index, i).index, f);
	}
	fclose(f);
	return text;
}

int main(void)
{
	for (uint32_t seed = 1; seed <= PROGRAMS; seed++) {
		char *first = NULL;

		for (int threads = 1; threads <= MAX_THREADS; threads++) {
			struct grain_graph *g = graph_of_program(&program, seed, threads);
			struct grain_groups *groups = NULL;
			char *text;

			if (!g || grain_groups__new(g, &groups)) {
				CHECK(0, "structure: program %u is grouped", seed);
				return 1;
			}
			check_structure(g, groups);
			text = schedule_text(g, groups);
			wrong_shapes += first && strcmp(first, text) != 0;
			if (!first)
				first = text;
			else
				free(text);
			grain_groups__free(groups);
			grain_graph__free(g);
		}
		free(first);
	}
	CHECK(wrong_classes == 0, "structure: classes are the isomorphic trees");
	CHECK(equal_pairs > PROGRAMS && unequal_pairs > PROGRAMS && wrong_similarities == 0,
	      "structure: similarity is symmetric, 1 for %d equal pairs, less for %d others", equal_pairs,
	      unequal_pairs);
	CHECK(kernels_checked > 10 * PROGRAMS && wrong_kernels == 0,
	      "structure: %d kernels from labels written out", kernels_checked);
	CHECK(wrong_shapes == 0, "structure: groups and their order are the same on 1 to %d threads",
	      MAX_THREADS);
	CHECK_DONE();
}
