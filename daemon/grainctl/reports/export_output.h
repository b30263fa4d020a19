/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a recording as a trace for other tools. The file gets its final name only when it is complete. */
#ifndef GRAINCTL_EXPORT_OUTPUT_H
#define GRAINCTL_EXPORT_OUTPUT_H

#include "daemon/grainctl/terminal/ctl.h"

enum export_format { EXPORT_LOG, EXPORT_PERFETTO, EXPORT_OTF2, EXPORT_TALP };

/* Returns 0, or -EINVAL for an unknown name. */
int export_format__parse(const char *name, enum export_format *out);

/*
 * Writes a trace for Perfetto or OTF2, or JSON for TALP-Pages. `output` NULL: the file is in the current
 * directory, its name is made from the input's name, and the name is printed.
 */
enum ctl_exit export_output__run(struct ctl *ctl, enum export_format format, const char *argument,
				 const char *output, bool keep_going);

#endif
