/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests with a child process whether this kernel keeps a shadow stack (x86 CET) intact when a process is
 * probed.
 */
#ifndef GRAIND_SHADOW_TRIAL_H
#define GRAIND_SHADOW_TRIAL_H

#include <stdbool.h>

struct shadow_trial {
	bool calls;   /* a call instruction was probed, the event arrived, and the child went on */
	bool returns; /* the same for a return probe */
};

/*
 * Forks children. So the caller must have one thread only, and must be able to attach probes. With `enable`
 * false the children have no shadow stack; so everything else can be tested anywhere. What could not be
 * tried counts as not kept. Takes one second, at most a few.
 */
void shadow_trial__run(bool enable, struct shadow_trial *out);

#endif
