/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel tells of all processes of the machine (perf_event_open(2)):
 * forks, programs executed, threads that ended, files mapped executable.
 */
#ifndef GRAIND_NEWS_H
#define GRAIND_NEWS_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

struct news;

/* A buffer for each CPU. Returns 0 or a negative errno. */
int news__open(struct news **out);
/* NULL is fine. */
void news__close(struct news *news);

/* Of descriptors that can be read, for poll(2), when there are news. */
size_t news__count(const struct news *news);
int news__fd(const struct news *news, size_t index);

/*
 * All records there are by now, of all CPUs in the order of time: what a process
 * does on one CPU comes behind that another made it, and behind what it did on
 * others. `record` is as large as its header says and the callee's until it
 * returns; `time_ns` is CLOCK_MONOTONIC.
 */
void news__take(struct news *news, void (*tell)(const struct perf_event_header *record, uint64_t time_ns));

#endif
