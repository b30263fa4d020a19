/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hands what a recorder writes to a worker that makes statistics of it (worker_fold.c) while the job runs.
 * Calls but feed__finish never wait for the worker; one thread makes them.
 */
#ifndef GRAIND_FEED_H
#define GRAIND_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct feed;

/* What is sent to the worker; with the first of a file comes its descriptor. */
struct feed_range {
	uint64_t from, to; /* whole chunks of a trace file; from 0: with its header */
	uint64_t keep;	   /* not 0, in the first message alone, which has no answer: with it comes a file for
			      parallel regions that are kept, of so many bytes at most */
	uint64_t whole_ns; /* not 0, with the first range of a file: what feed__file was told */
};

/* No job's file for that is larger. */
#define FEED_KEEP_BYTES (UINT64_C(112) << 20)

/* `kept`: a file for regions, the caller's until feed__free; keep_bytes 0: there is none. */
int feed__new(uid_t uid, gid_t gid, int kept, uint64_t keep_bytes, struct feed **out);
/*
 * Another file follows; `fd` is the feed's from then on, closed when all of it is read. `whole_ns`: up to
 * this time those before have all events that are no words; 0: not known.
 */
int feed__file(struct feed *feed, int fd, uint64_t whole_ns);
/* The file can be read up to here. */
void feed__until(struct feed *feed, uint64_t end);
/* Bytes that the worker has not read, of all files. */
uint64_t feed__backlog(struct feed *feed);
/* The worker is gone: nothing is read any more. */
bool feed__failed(struct feed *feed);
/*
 * Has the rest read, for so many seconds at most, and frees the feed. *text: the statistics' lines, the
 * caller's, ended with NUL. *cut: some of the rest was not read.
 */
int feed__finish(struct feed *feed, unsigned int seconds, char **text, bool *cut);
void feed__free(struct feed *feed); /* accepts NULL */

#endif
