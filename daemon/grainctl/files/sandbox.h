/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sandbox for reading traces and drawing. A trace may be an attack on the user who opens it, and root
 * opens everybody's traces. So a child process with few rights does the work. It can use only the files
 * that were opened for it.
 */
#ifndef GRAINCTL_SANDBOX_H
#define GRAINCTL_SANDBOX_H

#include "daemon/grainctl/terminal/ctl.h"

enum sandbox_kind {
	SANDBOX_CLOSED,	 /* only open files; rights of nobody if the caller is root */
	SANDBOX_DRAWING, /* the same, with Graphviz */
	SANDBOX_WRITING, /* only files in one directory; if the caller is root, the child sees nothing else */
};

typedef enum ctl_exit (*sandbox_fn)(struct ctl *ctl, void *argument);

/*
 * Calls `work` in a child process and returns its result. The child shares open files, so everything that
 * it flushes is written. Its other changes are not visible here. If a signal ends the child, an error is
 * reported and CTL_FAILED returned.
 */
enum ctl_exit sandbox__run(struct ctl *ctl, enum sandbox_kind kind, sandbox_fn work, void *argument);
/*
 * Same as sandbox__run(), in that directory, with SANDBOX_WRITING. If the caller is root, nobody else may
 * be able to enter the directory, and afterwards it belongs to the user nobody.
 */
enum ctl_exit sandbox__run_in(struct ctl *ctl, int directory, sandbox_fn work, void *argument);

#endif
