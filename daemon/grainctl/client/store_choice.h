/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides for every verb which jobs a number on the command line means: those of one graind, or those of
 * one state directory.
 */
#ifndef GRAINCTL_STORE_CHOICE_H
#define GRAINCTL_STORE_CHOICE_H

#include "daemon/grainctl/terminal/ctl.h"

#include <jansson.h>

/*
 * Sets the socket and the state directory that the caller did not name (NULL or empty), by options or the
 * environment's GRAIND_SOCKET and GRAIND_STATE_DIR:
 *   only a directory      uses the graind that listens in it
 *   only a socket         uses the directory of the graind that listens there; if graind does not tell it,
 *   or
 *                         nobody listens, jobs are asked of the socket only
 *   neither               uses the system's graind, and the directory where it keeps its jobs
 *   both                  must belong together Without `jobs` no graind is asked and the store stays
 *   closed. CTL_DONE, or an exit status with one line in `why`.
 */
enum ctl_exit store_choice__make(struct ctl *ctl, bool jobs, char why[512]);

/* {"socket": ..., "state_dir": ...}; null: the directory is not known. NULL: out of memory. */
json_t *store_choice__json(const struct ctl *ctl);

#endif
