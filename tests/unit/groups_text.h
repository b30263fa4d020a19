/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of a graph by what they are, and as text. */
#ifndef GRAIND_TESTS_GROUPS_TEXT_H
#define GRAIND_TESTS_GROUPS_TEXT_H

#include "analysis/include/grain_groups.h"
#include "tests/unit/graph_text.h"

static inline struct grain_groups *groups_of(const struct grain_graph *g, const char *name)
{
	struct grain_groups *groups = NULL;

	CHECK(g && grain_groups__new(g, &groups) == 0, "%s: is grouped", name);
	return groups;
}

/* "family 0.p0.0", "siblings 0.p0.0 0.p0/b0", "siblings 0.p0/l0", "region 0.p0", "program" */
static inline void group_name(const struct grain_graph *g, const struct grain_groups *groups, uint32_t group,
			      char *name, size_t size)
{
	static const char *const kinds[] = {"siblings", "family", "region", "program"};
	char first[200] = "", second[200] = "";
	struct grain_group it;

	grain_groups__get(groups, group, &it);
	if (it.loop != GRAIN_NONE)
		grain_graph__loop_id(g, it.loop, first, sizeof first);
	else if (it.kind == GRAIN_GROUP_REGION)
		grain_graph__region_id(g, it.region, first, sizeof first);
	else if (it.context != GRAIN_NONE)
		grain_graph__context_id(g, it.context, first, sizeof first);
	if (it.loop == GRAIN_NONE && it.join != GRAIN_NONE)
		grain_graph__join_id(g, it.join, second, sizeof second);
	snprintf(name, size, "%s%s%s%s%s", kinds[it.kind], *first ? " " : "", first, *second ? " " : "",
		 second);
}

static inline uint32_t group_named(const struct grain_graph *g, const struct grain_groups *groups,
				   const char *name)
{
	char text[512];

	for (uint32_t i = 0; i < grain_groups__count(groups); i++) {
		group_name(g, groups, i, text, sizeof text);
		if (strcmp(text, name) == 0)
			return i;
	}
	CHECK(0, "there is a group %s", name);
	return grain_groups__root(groups);
}

static inline struct grain_group group_at(const struct grain_graph *g, const struct grain_groups *groups,
					  const char *name)
{
	struct grain_group group;

	grain_groups__get(groups, group_named(g, groups, name), &group);
	return group;
}

/* The tree below a group: contexts by their identifiers, groups as "(kind members...)"; to be freed. */
static inline void write_tree(const struct grain_graph *g, const struct grain_groups *groups, uint32_t group,
			      FILE *out)
{
	static const char kinds[] = "sfrp";
	struct grain_group it;
	char id[256];

	grain_groups__get(groups, group, &it);
	fprintf(out, "(%c", kinds[it.kind]);
	for (uint32_t k = 0; k < it.members; k++) {
		struct grain_member m = grain_groups__member(groups, group, k);

		fputc(' ', out);
		if (m.is_group) {
			write_tree(g, groups, m.index, out);
		} else {
			grain_graph__context_id(g, m.index, id, sizeof id);
			fputs(id, out);
		}
	}
	fputc(')', out);
}

static inline char *tree_text(const struct grain_graph *g, const struct grain_groups *groups, uint32_t group)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	write_tree(g, groups, group, f);
	fclose(f);
	return text;
}

static inline void check_tree(const struct grain_graph *g, const struct grain_groups *groups,
			      const char *name, const char *expected)
{
	char *text = tree_text(g, groups, grain_groups__root(groups));

	CHECK_STR(text, expected, "%s: its groups", name);
	free(text);
}

/* The members on the local path as "101"; its length. */
static inline void check_path(const struct grain_graph *g, const struct grain_groups *groups,
			      const char *name, uint64_t expected, const char *expected_bits)
{
	struct grain_group it = group_at(g, groups, name);
	bool bits[64] = {false};
	char text[65] = "";
	uint64_t length = 0;
	int error = it.members > 64
			    ? -1
			    : grain_groups__local_path(groups, group_named(g, groups, name), bits, &length);

	for (uint32_t k = 0; k < it.members && k < 64; k++)
		strcat(text, bits[k] ? "1" : "0");
	CHECK(error == 0 && length == expected, "local path of %s: %llu", name, (unsigned long long)expected);
	if (length != expected)
		printf("# got %llu\n", (unsigned long long)length);
	CHECK_STR(text, expected_bits, "local path of %s: its members", name);
}

/* Sums, counts and the one root: what every grouping must keep. */
static inline int groups_wrong(const struct grain_graph *g, const struct grain_groups *groups)
{
	const struct grain_totals *totals = grain_graph__totals(g);
	size_t contexts = grain_graph__context_count(g), n = grain_groups__count(groups);
	uint32_t *members = calloc(contexts + 1, sizeof *members);
	uint32_t root = grain_groups__root(groups);
	struct grain_group it;
	int wrong = 0;

	grain_groups__get(groups, root, &it);
	wrong += it.parent != GRAIN_NONE || it.exec_ns != totals->work_ns || it.grains != totals->grains;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t strength, create = 0, below = 0;

		grain_groups__get(groups, i, &it);
		wrong += i != root && (it.parent == GRAIN_NONE || it.parent <= i);
		strength = it.members;
		for (uint32_t k = 0; k < it.members; k++) {
			struct grain_member m = grain_groups__member(groups, i, k);
			struct grain_group inner;

			if (m.is_group) {
				grain_groups__get(groups, m.index, &inner);
				wrong += inner.parent != i || m.index >= i;
				strength += inner.strength;
				below += inner.grains;
				create += inner.create_ns;
			} else {
				struct grain_context c;

				grain_graph__context(g, m.index, &c);
				members[m.index]++;
				wrong += grain_groups__of_context(groups, m.index) != i;
				below += (c.kind == GRAIN_TASK && !c.runtime) || c.kind == GRAIN_CHUNK;
				create += c.create_ns;
			}
		}
		wrong += strength != it.strength || below != it.grains ||
			 (!totals->runtime_tasks && create != it.create_ns);
	}
	for (uint32_t i = 0; i < contexts; i++) {
		struct grain_context c;

		grain_graph__context(g, i, &c);
		wrong += members[i] != !c.runtime || grain_groups__of_context(groups, i) >= n;
	}
	free(members);
	return wrong;
}

#endif
