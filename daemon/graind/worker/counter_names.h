/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Translates names of counters to the perf events of this machine. Names are PAPI's presets and those of
 * libpfm4: the processor's own, and perf's with modifiers, such as "cycles:u".
 */
#ifndef GRAIND_COUNTER_NAMES_H
#define GRAIND_COUNTER_NAMES_H

#include "daemon/graind/base/failure.h"
#include "uprobes/counters/counter_set.h"
#include "uprobes/counters/memory_event.h"

#include <jansson.h>

/*
 * Looks up `names`, an array of strings, by a worker with the rights of uid and gid. 0, or -1 with *failure
 * set: a name is unknown (the message has the nearest known one), or there are more counters or events than
 * there is room for.
 */
int counter_names__find(const json_t *names, uid_t uid, gid_t gid, struct counter_set *out,
			struct failure *failure);

/*
 * The same for the event whose samples have data addresses: the processor's own ("mem-loads", "ibs_op") or
 * one of the names above, with libpfm4's period= and precise= if wanted.
 */
int counter_names__find_memory(const char *name, uid_t uid, gid_t gid, struct memory_event *out,
			       struct failure *failure);

/* Runs in the worker (worker.h), from stdin to stdout. Returns the exit status. */
int worker__counters(void);
int worker__memory_event(void);

#endif
