/* SPDX-License-Identifier: BSD-2-Clause */
/* By probes or from inside, where the user has not said which. */
#ifndef GRAINCTL_WAY_H
#define GRAINCTL_WAY_H

#include "daemon/grainctl/profile.h"

enum { OPTION_NO_FAST = 640 };
#define NO_FAST_HELP                                                                                         \
	"By probes, even where a ceiling and allow-fast in graind.conf would have it recorded from inside"

/*
 * Whether the recording has a ceiling, the settings of the graind at `socket` prefer the cheaper way then
 * (allow-fast), and nothing that was asked for needs probes.
 */
bool way__is_inside(const char *socket, const struct profile_request *request);

#endif
