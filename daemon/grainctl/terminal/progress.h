/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A progress bar on stderr for work that takes longer than a moment. Shows nothing if stderr is not a
 * terminal.
 */
#ifndef GRAINCTL_PROGRESS_H
#define GRAINCTL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what;
	uint64_t start_ns, shown_ns;
	bool terminal, shown;
};

void progress__start(struct progress *progress, const char *what);
void progress__update(void *progress, double done); /* share of the work, 0..1 */
void progress__end(struct progress *progress);

#endif
