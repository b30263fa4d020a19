/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Workers do everything that parses data that users control (ELF, DWARF, traces). A worker is another
 * process of this program, without privileges, with limits on everything, and with only the system calls
 * that it needs. It gets files as descriptors and answers on its standard output. Its answer is trusted as
 * little as its input.
 */
#ifndef GRAIND_WORKER_H
#define GRAIND_WORKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/common/programs/render_worker.h"

#define WORKER_NOBODY 65534u
#define WORKER_SYMBOLIZE "--worker-symbolize"
#define WORKER_SUMMARY "--worker-summary"
#define WORKER_FOLD "--worker-fold"
#define WORKER_LIVE_ANALYSIS "--worker-glance"
#define WORKER_PLAN "--worker-plan"
#define WORKER_BODIES "--worker-bodies"
#define WORKER_LOOPS "--worker-loops"
#define WORKER_COUNTERS "--worker-counters"
#define WORKER_MEMORY_EVENT "--worker-memory-event"
#define WORKER_DELIVER "--worker-deliver"
#define WORKER_FIND "--worker-find"
#define WORKER_KILL "--worker-kill"
/* The name of the file in the planning worker's messages: the worker does not know the real name. */
#define WORKER_PLAN_NAME                                                                                     \
	"\x7f"                                                                                               \
	"file"

struct worker {
	const char *program;	    /* path of the program; NULL: graind's own */
	const char *work;	    /* WORKER_..., or an argument of the other program */
	const char *const *details; /* further arguments, ended by NULL; may be NULL */
	uint64_t job;		    /* a summary's job, a body's offset, or the process to be killed */
	uid_t uid;		    /* the user whose rights it has; for root, those of nobody */
	gid_t gid;
	bool unpaid;	 /* its CPU time is not counted for that user (cpu_budget.h) */
	int input;	 /* its standard input */
	const int *keep; /* further descriptors that it has under the same numbers */
	size_t keep_count;
	unsigned int seconds; /* it is killed after this time */
	size_t max_output;
	bool in_turn;	    /* it may take long: a user's workers of this kind take turns (worker__run()) */
	uint64_t *spent_ns; /* gets the CPU time that it used, when it has ended; may be NULL */
	const atomic_bool *unwanted; /* it is killed when this becomes true; may be NULL */
};

/*
 * Runs the worker to its end. On success *output is what it wrote, ended with NUL; the caller frees it.
 * -ETIMEDOUT; -EFBIG: it wrote too much; -ECHILD: it failed. On an error *output is unchanged.
 */
int worker__run(const struct worker *worker, char **output, size_t *size);
/* Call this when graind is ending: workers that wait for their turn begin at once. */
void workers__hurry(void);
/* The same, with the output written to `file`. -ECANCELED: the worker became unwanted. */
int worker__run_into(const struct worker *worker, int file);

struct worker_running {
	int output;
	pid_t pid;
	uid_t uid;	   /* the user as whom it runs */
	uid_t payer;	   /* the account for which its CPU time counts; 0: none */
	uint64_t spent_ns; /* CPU time that it used, once it has ended */
};
/*
 * Starts a worker that runs as long as it is given work. `seconds` limits its start, and later its end. 0
 * or a negative errno.
 */
int worker__start(const struct worker *worker, struct worker_running *out);
/* Waits for the end of the worker. Results are those of worker__run(). */
int worker__collect(const struct worker *worker, struct worker_running *running, char **output, size_t *size);
/*
 * Kills the worker. If the process cannot end, for example because a file server does not answer, it is
 * abandoned after some seconds.
 */
void worker__stop(struct worker_running *running);

#endif
