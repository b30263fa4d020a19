/* SPDX-License-Identifier: BSD-2-Clause */
/* What this kernel, machine and user allow: one check each, for `doctor`. */
#ifndef GRAINCTL_CHECKS_H
#define GRAINCTL_CHECKS_H

#include "daemon/grainctl/ctl.h"
#include "daemon/grainctl/mend.h"

enum check_result { CHECK_YES, CHECK_NO, CHECK_LIMITED };

struct check {
	const char *name; /* "kernel", "btf", ... */
	enum check_result result;
	char detail[320];
	char advice[320];	/* what it means or what to do; "" when all is well */
	char command[MEND_MAX]; /* that mends it; "" where none can or need */
};

#define CHECKS_MAX 20

void check__set(struct check *check, const char *name, enum check_result result, const char *detail,
		const char *advice);
void check__mend(struct check *check, const char *command);

/* Returns how many of `out` were filled. */
size_t checks__run(const struct ctl *ctl, struct check out[CHECKS_MAX]);

#endif
