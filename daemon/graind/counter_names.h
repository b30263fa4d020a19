/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From what people call counters to the perf events of this machine: PAPI's
 * presets, and the names that libpfm4 knows (the processor's own, and those of
 * perf with its modifiers, as in "cycles:u").
 */
#ifndef GRAIND_COUNTER_NAMES_H
#define GRAIND_COUNTER_NAMES_H

#include "daemon/graind/jobs.h"
#include "uprobes/counter_set.h"
#include "uprobes/memory_event.h"

#include <jansson.h>

/*
 * `names` is an array of strings, looked up by a worker with the rights of
 * uid and gid. 0, or -1 with *failure set: names that nothing here has, with the nearest one,
 * more counters or events than there is room for.
 */
int counter_names__find(const json_t *names, uid_t uid, gid_t gid, struct counter_set *out,
			struct failure *failure);

/*
 * Likewise the event whose samples have addresses: the processor's own ("mem-loads", "ibs_op") or one of
 * those names, with libpfm4's period= and precise= where they are wanted.
 */
int counter_names__find_memory(const char *name, uid_t uid, gid_t gid, struct memory_event *out,
			       struct failure *failure);

#endif
