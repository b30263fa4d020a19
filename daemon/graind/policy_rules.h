/* SPDX-License-Identifier: BSD-2-Clause */
/* What is in a policy file: for those who fill it and those who ask it. */
#ifndef GRAIND_POLICY_RULES_H
#define GRAIND_POLICY_RULES_H

#include "daemon/graind/policy_file.h"

enum { OF_USER, OF_GROUP, OF_CGROUP, OF_EXE, CONDITIONS };

extern const char *const policy_condition_names[CONDITIONS];

/* Of one kind of condition: any of them holds. */
struct condition {
	char **texts;
	unsigned int *ids; /* of users and groups */
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
	char *report_directory; /* NULL: there is none */
};

#endif
