/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks what this kernel, machine and user allow, for `doctor`. */
#ifndef GRAINCTL_CHECKS_H
#define GRAINCTL_CHECKS_H

#include "daemon/grainctl/terminal/ctl.h"
#include "daemon/grainctl/doctor/repair_commands.h"

enum check_result { CHECK_YES, CHECK_NO, CHECK_LIMITED };

struct check {
	const char *name; /* "kernel", "btf", ... */
	enum check_result result;
	char detail[320];
	char advice[320];		  /* what it means or what to do; "": all is well */
	char command[REPAIR_COMMAND_MAX]; /* command that repairs it; "": none */
};

#define CHECKS_MAX 20

void check__set(struct check *check, const char *name, enum check_result result, const char *detail,
		const char *advice);
void check__set_command(struct check *check, const char *command);

/* Runs all checks. Returns the number of entries in `out`. */
size_t checks__run(const struct ctl *ctl, struct check out[CHECKS_MAX]);

#endif
