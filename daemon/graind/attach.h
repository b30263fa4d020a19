/* SPDX-License-Identifier: BSD-2-Clause */
/* From a process to a capture with probes in all its runtimes. */
#ifndef GRAIND_ATTACH_H
#define GRAIND_ATTACH_H

#include "daemon/graind/jobs.h"
#include "uprobes/capture.h"
#include "uprobes/runtime_find.h"

#define ATTACH_MAX_RUNTIMES 8

struct attachment {
	struct capture *capture;
	double ns_per_event; /* 0 = unknown */
};

/* Runtimes in the process: 0 none yet, or -1 with *failure set. */
int attach__find(pid_t pid, struct runtime_file runtimes[ATTACH_MAX_RUNTIMES], struct failure *failure);

/*
 * Plans and attaches, without recording anything yet. pid 0: for every
 * process. 0, or -1 with *failure set and nothing attached.
 */
int attach__open(pid_t pid, const struct runtime_file *runtimes, size_t count, struct attachment *out,
		 struct failure *failure);

/* One more file for an open capture. */
int attach__add(struct capture *capture, const struct runtime_file *runtime, struct failure *failure);

#endif
