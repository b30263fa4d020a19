/* SPDX-License-Identifier: BSD-2-Clause */
/* The policy in force. All of graind has the same one. Any thread may call these functions. */
#ifndef GRAIND_POLICY_H
#define GRAIND_POLICY_H

#include "daemon/graind/policy/policy_file.h"
#include "daemon/graind/process/process.h"

/*
 * Reads the policy file for the first time. A missing file is an error if `required`. Otherwise, without a
 * file, nothing is forbidden or limited. 0 or a negative errno with a line in `why`.
 */
int policy__open(const char *path, bool required, char why[POLICY_WHY]);
/*
 * Reads the file again. If it is wrong or missing, the policy in force stays, and policy__json() reports
 * the error.
 */
int policy__reload(char why[POLICY_WHY]);
void policy__close(void);

/* Copies the limits that are in force now. */
void policy__limits(struct policy_limits *out);

/*
 * Finds the directory to which the summaries of this user's batch and MPI jobs are delivered. False: there
 * is none.
 */
bool policy__report_directory(const char *user, char out[POLICY_PATH]);

/* Removes the CPUs from *cpus that graind may not use, unless none would remain. */
void policy__narrow(cpu_set_t *cpus);
/* Whether graind uses more memory than it may. */
bool policy__out_of_memory(void);

/* Decides how the process may be profiled. Reads its groups and cgroup. */
enum policy_profile policy__decide(const struct process *process);
/* Whether the policy can select any process to be always profiled. */
bool policy__wants_always(void);

/* A number that changes whenever the policy changes. */
unsigned int policy__generation(void);

/* Returns {"file","read_s","error",limits,"rules"}; NULL: out of memory. */
json_t *policy__json(void);

#endif
