/* SPDX-License-Identifier: BSD-2-Clause */
/* What the verbs of grainctl share: the global options, errors, exit statuses. */
#ifndef GRAINCTL_CTL_H
#define GRAINCTL_CTL_H

#include "daemon/common/job_store.h"

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum ctl_exit {
	CTL_DONE = 0,
	CTL_FAILED = 1, /* the request failed; one line on stderr says why and what to do */
	CTL_USAGE = 2,
	CTL_DENIED = 3, /* not permitted */
};

struct ctl {
	const char *socket;	 /* of the graind to talk to */
	const char *state_dir;	 /* where jobs are kept */
	struct job_store *store; /* of state_dir; NULL when it cannot be opened */
	int store_error;	 /* why, negative errno */
	const char *verb;	 /* the one that runs, for messages */
	bool colour;		 /* on stdout */
};

/* Prints "grainctl: VERB: ..." as one line on stderr, control characters made harmless; returns `status`. */
int ctl__fail(const struct ctl *ctl, enum ctl_exit status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same for what the user should know although the request did not fail. */
void ctl__say(const struct ctl *ctl, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Parses a verb's own options. `argv[0]` is replaced by "grainctl VERB".
 * argp ends the process after --help (0) and on wrong usage (CTL_USAGE).
 */
void ctl__parse(const struct ctl *ctl, const struct argp *argp, int argc, char **argv, void *input);

/* A whole decimal number from 1 to max and nothing else; false if text is none. */
bool ctl__parse_number(const char *text, uint64_t max, uint64_t *out);
/* A job number from the command line, or argp_error. */
uint64_t ctl__parse_job(const struct argp_state *state, const char *text);

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
