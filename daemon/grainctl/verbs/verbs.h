/* SPDX-License-Identifier: BSD-2-Clause */
/* The verbs of grainctl. Each parses its own options and returns the exit status. */
#ifndef GRAINCTL_VERBS_H
#define GRAINCTL_VERBS_H

#include "daemon/grainctl/terminal/ctl.h"

int verb__run(struct ctl *ctl, int argc, char **argv);
int verb__attach(struct ctl *ctl, int argc, char **argv);
int verb__detach(struct ctl *ctl, int argc, char **argv);
int verb__jobs(struct ctl *ctl, int argc, char **argv);
int verb__summary(struct ctl *ctl, int argc, char **argv);
int verb__report(struct ctl *ctl, int argc, char **argv);
int verb__export(struct ctl *ctl, int argc, char **argv);
int verb__analyze(struct ctl *ctl, int argc, char **argv);
int verb__doctor(struct ctl *ctl, int argc, char **argv);
int verb__delete(struct ctl *ctl, int argc, char **argv);
int verb__compare(struct ctl *ctl, int argc, char **argv);
int verb__top(struct ctl *ctl, int argc, char **argv);
int verb__merge(struct ctl *ctl, int argc, char **argv);
int verb__fleet(struct ctl *ctl, int argc, char **argv);
int verb__optout(struct ctl *ctl, int argc, char **argv);
int verb__status(struct ctl *ctl, int argc, char **argv);

#endif
