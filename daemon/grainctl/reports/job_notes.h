/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the `notes` that graind adds to a job's numbers. */
#ifndef GRAINCTL_JOB_NOTES_H
#define GRAINCTL_JOB_NOTES_H

#include "daemon/grainctl/terminal/ctl.h"

/*
 * Prints the notes on stdout, below a summary and with the same width. Prints nothing if there are no notes
 * or the job is not found.
 */
void job_notes__print(const struct ctl *ctl, uint64_t job);

#endif
