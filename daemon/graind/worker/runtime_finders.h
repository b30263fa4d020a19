/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lets workers (worker_find.c), the finders, search files that users control for OpenMP runtimes. Each
 * account (account.h) that owns such files has one finder while there is work for it, with the rights of
 * the files' owner. So a user who takes over a worker can only lie about the owner's own files, and a user
 * who keeps it busy delays only files of that account. Accounts take turns (turns.h). Any thread may call
 * these functions.
 */
#ifndef GRAIND_RUNTIME_FINDERS_H
#define GRAIND_RUNTIME_FINDERS_H

#include "uprobes/elf/elf_runtime.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* The answer to a question. A question is a number, never 0, and comes with the file's descriptor. */
struct find_answer {
	uint64_t number;
	uint32_t runtime; /* enum elf_runtime */
	uint32_t unused;
};

struct runtime_finders_limits {
	unsigned int cpu_ms, wall_ms; /* limits for one file */
	unsigned int idle_ms;	      /* a worker without work ends after this time */
};

/*
 * `limits` NULL: the default limits. `ahead`: the finder for root's files starts at once, since each
 * process has mapped some of them. 0 or a negative errno.
 */
int runtime_finders__start(const struct runtime_finders_limits *limits, bool ahead);
/*
 * A runtime_look_fn. If a worker fails on a file or takes too long, the file counts as having no runtime,
 * and the case is logged and counted.
 */
int runtime_finders__look(int fd, const struct stat *file, enum elf_runtime *out);
/* Returns the number of files so far on which workers failed. */
uint64_t runtime_finders__failed(void);
/*
 * Call this when no thread calls runtime_finders__look() any more. It may also be called without a start.
 */
void runtime_finders__stop(void);

/* Runs in the worker (worker.h), from stdin to stdout. Returns the exit status. */
int worker__find(void);

#endif
