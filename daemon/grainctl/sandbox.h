/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces may be made to harm whoever looks at them, and root looks at
 * everybody's. They are read and drawn by a child that has what was opened
 * for it and next to nothing else.
 */
#ifndef GRAINCTL_SANDBOX_H
#define GRAINCTL_SANDBOX_H

#include "daemon/grainctl/ctl.h"

enum sandbox_kind {
	SANDBOX_CLOSED,	 /* no files but those that are open; nobody's rights where root asks */
	SANDBOX_DRAWING, /* the same, with Graphviz */
	SANDBOX_READING, /* reads what its user may read */
};

typedef enum ctl_exit (*sandbox_fn)(struct ctl *ctl, void *argument);

/*
 * Calls `work` in a child and returns what it gives. The child shares the open
 * files, so that what it leaves in no stream is written; nothing else of what it
 * changes is seen here. An end by a signal is told, and CTL_FAILED.
 */
enum ctl_exit sandbox__run(struct ctl *ctl, enum sandbox_kind kind, sandbox_fn work, void *argument);

#endif
