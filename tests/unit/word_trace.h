/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces of words, as a process writes them by itself. */
#ifndef GRAIND_TESTS_WORD_TRACE_H
#define GRAIND_TESTS_WORD_TRACE_H

#include "daemon/common/trace/trace_writer.h"

#include <stdlib.h>
#include <unistd.h>

#define WORD(kind, site, arg, ticks)                                                                         \
	((uint64_t)(kind) | (uint64_t)(site) << 6 | (uint64_t)(arg) << 19 | (uint64_t)(ticks) << 32)
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* How fast the process's clock goes. */
static uint64_t word_ticks_per_ns = 1;

/* In the place of a file of that name. */
static inline struct trace_writer *create_at(int dirfd, const char *name)
{
	struct trace_writer *w = NULL;

	unlinkat(dirfd, name, 0);
	if (trace_writer__create(dirfd, name, NULL, &w))
		exit(1);
	return w;
}

/* graind looked at `from` and at `to` ticks. */
static inline void put(struct trace_writer *w, uint32_t stream, uint64_t from, uint64_t to,
		       const uint64_t *words, uint32_t count)
{
	const struct trace_word_site site = {.address = 0x401000, .number = 9};
	const struct trace_words_head head = {.stream = stream,
					      .tid = 100 + stream,
					      .sites = 1,
					      .words = count,
					      .ticks = {from, to},
					      .ns = {from / word_ticks_per_ns, to / word_ticks_per_ns}};

	if (trace_writer__words(w, &head, &site, words))
		exit(1);
}

#endif
