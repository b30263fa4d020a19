/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hardware counters that libgrainshim reads inside a process (bpf/abi/shim_abi.h): the requested
 * counters, and those that the process can have.
 */
#ifndef GRAIND_SHIM_COUNTERS_DAEMON_H
#define GRAIND_SHIM_COUNTERS_DAEMON_H

#include "bpf/abi/shim_abi.h"
#include "uprobes/counters/counter_set.h"

/*
 * Requests the counters of `set` in the header, before the process gets the header. Does not request
 * counters that are already absent.
 */
void shim_counters__ask(struct shim_header *header, const struct counter_set *set);

/*
 * Call this after the process' first event. Counters that the process could not open become absent in
 * `set`, with the reason.
 */
void shim_counters__answer(const struct shim_header *header, struct counter_set *set);

/* Makes all counters absent for the reason `why`. */
void shim_counters__none(struct counter_set *set, const char *why);

#endif
