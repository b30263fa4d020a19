/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work on what users control (ELF, DWARF, their traces) is done by another
 * instance of this program without privileges, limits on everything, and only
 * the system calls that it needs. It gets files as descriptors and answers on
 * its standard output; what it says is as untrusted as what it read.
 */
#ifndef GRAIND_WORKER_H
#define GRAIND_WORKER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/common/render_worker.h"

#define WORKER_NOBODY 65534u
#define WORKER_SYMBOLIZE "--worker-symbolize"
#define WORKER_SUMMARY "--worker-summary"
#define WORKER_FOLD "--worker-fold"
#define WORKER_GLANCE "--worker-glance"
#define WORKER_PLAN "--worker-plan"
#define WORKER_BODIES "--worker-bodies"
#define WORKER_COUNTERS "--worker-counters"
#define WORKER_MEMORY_EVENT "--worker-memory-event"
#define WORKER_DELIVER "--worker-deliver"
#define WORKER_FIND "--worker-find"
/* What the plan's worker calls the file that it does not know by name. */
#define WORKER_PLAN_NAME                                                                                     \
	"\x7f"                                                                                               \
	"file"

struct worker {
	const char *program;	    /* its file; NULL: graind's own */
	const char *work;	    /* WORKER_..., or what the other program takes */
	const char *const *details; /* further arguments, ended by NULL; may be NULL */
	uint64_t job;		    /* for the summary; of WORKER_BODIES the function's offset */
	uid_t uid;		    /* whose rights it has; nobody's when root */
	gid_t gid;
	int input;	 /* its standard input */
	const int *keep; /* further descriptors that it has under the same numbers */
	size_t keep_count;
	unsigned int seconds; /* it is killed after that */
	size_t max_output;
	const atomic_bool *unwanted; /* it is killed when this becomes true; may be NULL */
};

/*
 * Runs it to its end. On success *output is what it wrote (the caller's, ended
 * with NUL). -ETIMEDOUT, -EFBIG, -ECHILD it failed; *output is then untouched.
 */
int worker__run(const struct worker *worker, char **output, size_t *size);
/* The same with the output in a file. -ECANCELED: it was unwanted. */
int worker__run_into(const struct worker *worker, int file);

struct worker_running {
	int output;
	pid_t pid;
};
/* Starts one that goes on for as long as it is given something; seconds count for its start, and for its end.
 */
int worker__start(const struct worker *worker, struct worker_running *out);
/* Its end, as worker__run. */
int worker__collect(const struct worker *worker, struct worker_running *running, char **output, size_t *size);
/* Ends it at once. */
void worker__stop(struct worker_running *running);

/* In the worker: main() when argv[1] is a WORKER_... . */
int worker__main(int argc, char **argv);

/* What each kind does: stdin -> stdout; the exit status. */
int worker__symbolize(void);
int worker__plan(void);
int worker__bodies(uint64_t offset);
int worker__summary(uint64_t job);
int worker__fold(void);
int worker__glance(void);
int worker__counters(void);
int worker__memory_event(void);
int worker__find(void);
/* To `directory`/`job`/`name`. */
int worker__deliver(const char *directory, const char *job, const char *name);

#endif
