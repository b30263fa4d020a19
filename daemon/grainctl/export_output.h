/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording as the trace of another tool: loaded, written under its name once it is whole. */
#ifndef GRAINCTL_EXPORT_OUTPUT_H
#define GRAINCTL_EXPORT_OUTPUT_H

#include "daemon/grainctl/ctl.h"

enum export_format { EXPORT_LOG, EXPORT_PERFETTO, EXPORT_OTF2 };

/* -EINVAL for an unknown name. */
int export_format__parse(const char *name, enum export_format *out);

/* Perfetto or OTF2. `output` NULL: a name after the input's in the current directory, which is printed. */
enum ctl_exit export_output__run(struct ctl *ctl, enum export_format format, const char *argument,
				 const char *output, bool keep_going);

#endif
