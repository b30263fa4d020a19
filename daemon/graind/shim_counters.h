/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters that a process reads by itself (bpf/shim_abi.h): what it is asked for, and what it can have. */
#ifndef GRAIND_SHIM_COUNTERS_DAEMON_H
#define GRAIND_SHIM_COUNTERS_DAEMON_H

#include "bpf/shim_abi.h"
#include "uprobes/counter_set.h"

/* Before the process sees the header. Counters that are absent already are not asked for. */
void shim_counters__ask(struct shim_header *header, const struct counter_set *set);

/* After its first event: those that it could not have become absent, with the reason. */
void shim_counters__answer(const struct shim_header *header, struct counter_set *set);

/* All become absent, for this reason. */
void shim_counters__none(struct counter_set *set, const char *why);

#endif
