/* SPDX-License-Identifier: BSD-2-Clause */
/* The policy that is in force: one for all of graind. All calls may come from any thread. */
#ifndef GRAIND_POLICY_H
#define GRAIND_POLICY_H

#include "daemon/graind/policy_file.h"
#include "daemon/graind/process.h"

/*
 * Reads the file for the first time. One that is not there is an error if
 * `required`, else nothing is forbidden or limited. -errno with a line in `why`.
 */
int policy__open(const char *path, bool required, char why[POLICY_WHY]);
/* Reads it again. When it is wrong or gone what was in force stays, and policy__json tells the error. */
int policy__reload(char why[POLICY_WHY]);
void policy__close(void);

/* A copy of the limits in force now. */
void policy__limits(struct policy_limits *out);

/* Where summaries of batch and MPI jobs of that user go; false: nowhere. */
bool policy__report_directory(const char *user, char out[POLICY_PATH]);

/* Leaves only those CPUs that graind may use, if any of them is among them. */
void policy__narrow(cpu_set_t *cpus);
/* Whether graind takes more memory than it may. */
bool policy__out_of_memory(void);

/* How the process may be profiled; reads its groups and cgroup. */
enum policy_profile policy__decide(const struct process *process);
/* Whether any process can be one that is always profiled. */
bool policy__wants_always(void);

/* Another number whenever the policy has changed. */
unsigned int policy__generation(void);

/* {"file","read_s","error",limits,"rules"}, or NULL without memory. */
json_t *policy__json(void);

#endif
