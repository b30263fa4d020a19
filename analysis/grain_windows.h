/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that were not recorded all the time, because that would have cost too
 * much: the graph has what was seen in windows, each of which is like a recording of
 * its own, and of the whole program only its work is estimated.
 */
#ifndef GRAIND_GRAIN_WINDOWS_H
#define GRAIND_GRAIN_WINDOWS_H

#include "analysis/grain.h"

#ifdef __cplusplus
extern "C" {
#endif

/* With its standard error, from how much windows differ; both NAN: absent. */
struct grain_estimate {
	double value, error;
};

struct grain_windows {
	size_t windows;	      /* in which something was recorded; 0: all the time was */
	uint64_t whole_ns;    /* from the first to the end of the recording */
	uint64_t recorded_ns; /* in windows */
	uint64_t probes_ns;   /* that probes took from the busiest CPU in them, as reckoned */
	struct grain_estimate
		work_ns; /* of all the time; of counts there are none: probes slow what they count */
};
void grain_graph__windows(const struct grain_graph *graph, struct grain_windows *out);

#ifdef __cplusplus
}
#endif

#endif
