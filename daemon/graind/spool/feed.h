/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Passes what a recorder writes to a worker, which computes statistics from it while the job runs
 * (worker_fold.c). Only feed__finish() waits for the worker. All calls must come from one thread.
 */
#ifndef GRAIND_FEED_H
#define GRAIND_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct feed;

/* A message to the worker. The first message about a file has the file's descriptor with it. */
struct feed_range {
	uint64_t from, to; /* whole chunks of a trace file; from 0: with the header */
	/*
	 * Only the very first message may have this. It has no answer. With it comes the file for kept
	 * parallel regions, which takes at most this many bytes.
	 */
	uint64_t keep;
	uint64_t whole_ns; /* see feed__file(); only the first range of a file may have it */
};

/* The most bytes that the file for kept regions takes in any job. */
#define FEED_KEEP_BYTES (UINT64_C(112) << 20)

/*
 * `kept` is the file for kept regions. The caller owns it and must keep it open until feed__free().
 * keep_bytes 0: no regions are kept. Returns 0 or a negative errno.
 */
int feed__new(uid_t uid, gid_t gid, int kept, uint64_t keep_bytes, struct feed **out);
/*
 * Tells the feed that another file follows. The feed owns `fd` from now on, and closes it when all of it
 * was read. `whole_ns`: all events up to this time are in the files before, except for libgrainshim's
 * words; 0: unknown. Returns 0 or a negative errno.
 */
int feed__file(struct feed *feed, int fd, uint64_t whole_ns);
/* Lets the worker read the file up to the offset `end`. */
void feed__until(struct feed *feed, uint64_t end);
/* Returns how many bytes of all files the worker has not read yet. */
uint64_t feed__backlog(struct feed *feed);
/* Whether the worker has ended. If so, nothing more is read. */
bool feed__failed(struct feed *feed);
/*
 * Lets the worker read the rest, for at most `seconds`, and frees the feed. *text has the lines of the
 * statistics; the caller frees it. *cut: a part of the rest was not read. Returns 0 or a negative errno.
 */
int feed__finish(struct feed *feed, unsigned int seconds, char **text, bool *cut);
void feed__free(struct feed *feed); /* accepts NULL */

/* The main function of the worker (worker.h). It reads stdin and writes stdout. Returns the exit status. */
int worker__fold(void);

#endif
