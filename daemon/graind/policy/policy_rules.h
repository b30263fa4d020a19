/* SPDX-License-Identifier: BSD-2-Clause */
/* The contents of a policy file, for the parser that fills it and the functions that read it. */
#ifndef GRAIND_POLICY_RULES_H
#define GRAIND_POLICY_RULES_H

#include "daemon/graind/policy/policy_file.h"

enum { OF_USER, OF_GROUP, OF_CGROUP, OF_EXE, CONDITIONS };

extern const char *const policy_condition_names[CONDITIONS];

/* The conditions of one kind. They hold if at least one of them holds. */
struct condition {
	char **texts;
	unsigned int *ids; /* the ids of users or groups */
	size_t count;
};

struct rule {
	enum policy_profile profile;
	struct condition conditions[CONDITIONS];
};

struct policy_file {
	struct policy_limits limits;
	struct rule *rules;
	size_t rule_count;
	char *report_directory; /* NULL: not set */
};

#endif
