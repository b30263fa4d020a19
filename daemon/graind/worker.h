/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work on what users control (ELF, DWARF, their traces) is done by another
 * instance of this program without privileges, limits on everything, and only
 * the system calls that it needs. It gets files as descriptors and answers on
 * its standard output; what it says is as untrusted as what it read.
 */
#ifndef GRAIND_WORKER_H
#define GRAIND_WORKER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WORKER_READY '\n' /* what a worker writes first */
#define WORKER_SYMBOLIZE "--worker-symbolize"
#define WORKER_SUMMARY "--worker-summary"
#define WORKER_PLAN "--worker-plan"
/* What the plan's worker calls the file that it does not know by name. */
#define WORKER_PLAN_NAME                                                                                     \
	"\x7f"                                                                                               \
	"file"

struct worker {
	const char *work; /* WORKER_... */
	uint64_t job;	  /* for the summary */
	uid_t uid;	  /* whose rights it has; nobody's when root */
	gid_t gid;
	int input;	 /* its standard input */
	const int *keep; /* further descriptors that it has under the same numbers */
	size_t keep_count;
	unsigned int seconds; /* it is killed after that */
	size_t max_output;
};

/*
 * Runs it to its end. On success *output is what it wrote (the caller's, ended
 * with NUL). -ETIMEDOUT, -EFBIG, -ECHILD it failed; *output is then untouched.
 */
int worker__run(const struct worker *worker, char **output, size_t *size);

/* In the worker: main() when argv[1] is a WORKER_... . */
int worker__main(int argc, char **argv);

/* Gives up every right but those of the user; 0, or a negative errno. */
int worker__confine(uid_t uid, gid_t gid);

/* What each kind does: stdin -> stdout; the exit status. */
int worker__symbolize(void);
int worker__plan(void);
int worker__summary(uint64_t job);

#endif
