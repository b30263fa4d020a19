/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Has workers (worker_find.c) look for OpenMP runtimes in files that users control. There is one for each
 * owner of such files while there is something to do: what takes a worker over has its say about files of
 * its owner only, and what keeps one busy delays only these. All calls may come from any thread.
 */
#ifndef GRAIND_FINDERS_H
#define GRAIND_FINDERS_H

#include "uprobes/elf_image.h"

#include <stdint.h>
#include <sys/stat.h>

/* A question, with which the file comes, is its number alone; the number is never 0. */
struct find_answer {
	uint64_t number;
	uint32_t runtime; /* enum elf_runtime */
	uint32_t unused;
};

struct finders_limits {
	unsigned int cpu_ms, wall_ms; /* of one file */
	unsigned int idle_ms;	      /* a worker without work ends after that */
};

/* NULL: the usual limits. */
int finders__start(const struct finders_limits *limits);
/*
 * As runtime_look_fn. A file on which a worker fails, or takes too long, has none: that is logged and
 * counted.
 */
int finders__look(int fd, const struct stat *file, enum elf_runtime *out);
/* Files so far on which workers failed. */
uint64_t finders__failed(void);
/* When nobody looks any more; also where it has not been started. */
void finders__stop(void);

#endif
