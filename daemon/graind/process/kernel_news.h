/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * News from the kernel about all processes of the machine (perf_event_open(2)): forks, executed programs,
 * ended threads, and files that are mapped as executable.
 */
#ifndef GRAIND_KERNEL_NEWS_H
#define GRAIND_KERNEL_NEWS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_news;

/* Opens one buffer for each CPU. Returns 0 or a negative errno. */
int kernel_news__open(struct kernel_news **out);
/* Accepts NULL. */
void kernel_news__close(struct kernel_news *news);

/* Descriptors for poll(2). They are readable when there are news. kernel_news owns them. */
size_t kernel_news__count(const struct kernel_news *news);
int kernel_news__fd(const struct kernel_news *news, size_t index);

/*
 * Takes all present records of all CPUs, ordered by time. So what a process does on one CPU comes after its
 * creation on another CPU, and after its earlier actions on other CPUs. `record` has the size in its header
 * and is valid until the callee returns. `time_ns` is CLOCK_MONOTONIC. True: more records have arrived
 * meanwhile.
 */
bool kernel_news__take(struct kernel_news *news,
		       void (*tell)(const struct perf_event_header *record, uint64_t time_ns));

#endif
