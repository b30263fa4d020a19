/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records the regions and leagues that a thread was in when the recording began. Their begins were not
 * seen.
 */
#ifndef GRAIND_SHIM_BEGAN_BEFORE_H
#define GRAIND_SHIM_BEGAN_BEFORE_H

#include "runtime-shim/runtimes/runtimes.h"

/*
 * Call it before a region begins. Records the regions and leagues that the thread was in when the recording
 * began. Returns RING_REGION_OUTERMOST or 0.
 */
uint32_t began_before__tell(struct shim_local *local, const struct runtime *runtime);

/*
 * Call it outside all regions. If a league was running when the recording began, its next team begins
 * unseen; this records that team and the league's end. A league of a single team looks like no league.
 */
void began_before__tell_league(struct shim_local *local, const struct runtime *runtime);

#endif
