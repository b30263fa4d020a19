/* SPDX-License-Identifier: BSD-2-Clause */
/* The live view of `top` on a terminal. */
#ifndef GRAINCTL_TOP_SCREEN_H
#define GRAINCTL_TOP_SCREEN_H

#include "daemon/grainctl/top/top.h"

struct top_settings {
	enum top_order order;
	bool reverse;
	unsigned interval_ms;
};

/*
 * Shows the data and refreshes it until the user quits. 0 or a negative errno; -ENOTTY: the terminal is not
 * suitable, and nothing was written.
 */
int top_screen__run(const struct ctl *ctl, struct top *top, const struct top_settings *settings);

#endif
