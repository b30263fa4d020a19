/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses between probes and libgrainshim if the user has not chosen. */
#ifndef GRAINCTL_FAST_CHOICE_H
#define GRAINCTL_FAST_CHOICE_H

#include "daemon/grainctl/client/profile.h"

enum { OPTION_NO_FAST = 640 };
#define NO_FAST_HELP                                                                                         \
	"By probes, even where a ceiling and allow-fast in graind.conf would have it recorded from inside"

/*
 * Whether to record from inside. This needs a cost ceiling for the recording, permission in the settings of
 * the graind at `socket` (allow-fast), and a request that needs no probes.
 */
bool fast_choice__is_fast(const char *socket, const struct profile_request *request);

#endif
