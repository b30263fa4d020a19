/* SPDX-License-Identifier: BSD-2-Clause */
/* What graind has to say of a job beside its numbers: its `notes`. */
#ifndef GRAINCTL_NOTES_H
#define GRAINCTL_NOTES_H

#include "daemon/grainctl/ctl.h"

/* Below a summary on stdout, as wide as that; nothing where there are none, or the job is not found. */
void notes__tell(const struct ctl *ctl, uint64_t job);

#endif
