/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For programs that were not recorded all the time, because that would have cost too much. The graph has what
 * was seen in windows. Each window is like a recording of its own. For the whole program, only its work is
 * estimated.
 */
#ifndef GRAIND_GRAIN_WINDOWS_H
#define GRAIND_GRAIN_WINDOWS_H

#include "analysis/include/grain.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * An estimate and its standard error, computed from the differences between windows. Both are NAN if absent.
 */
struct grain_estimate {
	double value, error;
};

struct grain_windows {
	size_t windows;		       /* number of windows with events; 0: the whole run was recorded */
	uint64_t whole_ns;	       /* from the first window to the end of the recording */
	uint64_t recorded_ns;	       /* time in windows */
	uint64_t probes_ns;	       /* estimated time of probes in the windows on the busiest CPU */
	struct grain_estimate work_ns; /* of the whole time. Counts have no estimate, because probes slow down
					  what they count */
};
void grain_graph__windows(const struct grain_graph *graph, struct grain_windows *out);

#ifdef __cplusplus
}
#endif

#endif
