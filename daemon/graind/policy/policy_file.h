/* SPDX-License-Identifier: BSD-2-Clause */
/* The content of one policy file, graind.conf(5). It is read as a whole and never changed after that. */
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

/* Limits. The number 0 means no limit. */
struct policy_limits {
	double process_ceiling_percent; /* cost of recording a process, in percent of its CPU time */
	double host_ceiling_percent;	/* cost of all recordings, in percent of the machine's CPU time */
	bool allow_fast;       /* processes may be recorded by libgrainshim to stay below the ceilings */
	bool report_traces;    /* the report directory gets traces, too */
	uint64_t job_bytes;    /* size of the files that one job may write */
	uint64_t keep_seconds; /* time for which a finished job is kept */
	uint64_t keep_bytes;   /* total size of all finished jobs */
	uint64_t user_bytes;   /* total size of all jobs of a user, except root */
	uint64_t user_jobs;    /* number of finished jobs that are kept for a user, except root */
	uint64_t memory_bytes; /* memory that graind itself may use */
	bool some_cpus;	       /* graind itself runs only on `cpus` */
	cpu_set_t cpus;
};

/* The properties of a process that rules test. */
struct policy_subject {
	uid_t uid;
	const gid_t *groups;
	size_t group_count;
	const char *exe;
	const char *cgroups; /* /proc/PID/cgroup */
};

/* The default of user-jobs. */
#define POLICY_USER_JOBS 10000

struct policy_file;

#define POLICY_WHY 400
#define POLICY_PATH 4096

/*
 * Reads a policy file. 0, or a negative errno with one line in `why`, which names the file and, if known,
 * the line number.
 */
int policy_file__read(const char *path, struct policy_file **out, char why[POLICY_WHY]);
/* The same for text in memory, at most 64 KiB. `name` is its name in `why`. */
int policy_file__parse(const char *text, size_t size, const char *name, struct policy_file **out,
		       char why[POLICY_WHY]);
/*
 * Returns the policy that holds without a file: everything on request, and no limits except user_jobs.
 * NULL: out of memory.
 */
struct policy_file *policy_file__empty(void);
void policy_file__free(struct policy_file *file); /* accepts NULL */

const struct policy_limits *policy_file__limits(const struct policy_file *file);
/* Returns the setting as written, with %u for the user; NULL: not set. */
const char *policy_file__report_directory(const struct policy_file *file);
/* Returns the decision of the first rule whose conditions all hold. If there is none: on request. */
enum policy_profile policy_file__decide(const struct policy_file *file, const struct policy_subject *subject);
/* Whether any rule has this decision. */
bool policy_file__has(const struct policy_file *file, enum policy_profile profile);

const char *policy_profile__name(enum policy_profile profile);
/* Adds limits and rules to the object. */
void policy_file__describe(const struct policy_file *file, json_t *object);

#endif
