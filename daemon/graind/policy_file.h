/* SPDX-License-Identifier: BSD-2-Clause */
/* The content of one policy file, graind.conf(5): read as a whole, then never changed. */
#ifndef GRAIND_POLICY_FILE_H
#define GRAIND_POLICY_FILE_H

#include <jansson.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* How a process may be profiled. */
enum policy_profile { POLICY_OFF, POLICY_ON_REQUEST, POLICY_ALWAYS };

/* 0 in a number is "no limit". */
struct policy_limits {
	double process_ceiling_percent; /* of the CPU time of a process that recording it may cost */
	double host_ceiling_percent;	/* of the CPU time of the whole machine, for all processes */
	bool allow_fast;		/* to stay below them libgrainshim is what to begin with */
	bool report_traces;		/* traces go to the report directory, too */
	uint64_t job_bytes;		/* of files that one job may write */
	uint64_t keep_seconds;		/* that a finished job is kept */
	uint64_t keep_bytes;		/* of all finished jobs */
	uint64_t user_bytes;		/* of all jobs of one user but root */
	uint64_t memory_bytes;		/* that graind itself may use */
	bool some_cpus;			/* graind itself runs on these only: */
	cpu_set_t cpus;
};

/* What rules look at of a process. */
struct policy_subject {
	uid_t uid;
	const gid_t *groups;
	size_t group_count;
	const char *exe;
	const char *cgroups; /* /proc/PID/cgroup */
};

struct policy_file;

#define POLICY_WHY 400
#define POLICY_PATH 4096

/* -errno with one line in `why` that names the file and, where there is one, the line. */
int policy_file__read(const char *path, struct policy_file **out, char why[POLICY_WHY]);
/* The same for text in memory, of at most 64 KiB; `name` is what `why` calls it. */
int policy_file__parse(const char *text, size_t size, const char *name, struct policy_file **out,
		       char why[POLICY_WHY]);
/* What is in force without a file: all on request, no limits. NULL without memory. */
struct policy_file *policy_file__empty(void);
void policy_file__free(struct policy_file *file); /* accepts NULL */

const struct policy_limits *policy_file__limits(const struct policy_file *file);
/* As it was written, with %u in it; NULL: there is none. */
const char *policy_file__report_directory(const struct policy_file *file);
/* By the first rule whose conditions all hold; on request when there is none. */
enum policy_profile policy_file__decide(const struct policy_file *file, const struct policy_subject *subject);
/* Whether a rule says so at all. */
bool policy_file__has(const struct policy_file *file, enum policy_profile profile);

const char *policy_profile__name(enum policy_profile profile);
/* Adds limits and rules to the object. */
void policy_file__describe(const struct policy_file *file, json_t *object);

#endif
