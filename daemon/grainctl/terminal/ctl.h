/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the verbs of grainctl: global options, errors, exit statuses. */
#ifndef GRAINCTL_CTL_H
#define GRAINCTL_CTL_H

#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct job_store;

enum ctl_exit {
	CTL_DONE = 0,
	CTL_FAILED = 1, /* the request failed; one line on stderr says why and what to do */
	CTL_USAGE = 2,
	CTL_DENIED = 3, /* not permitted */
};

/*
 * A value of store_error: the jobs are those of the graind at the socket, and the place where it keeps them
 * is not known.
 */
#define CTL_ASK_GRAIND (-EDESTADDRREQ)

struct ctl {
	const char *socket;	 /* socket of the graind to talk to */
	const char *state_dir;	 /* directory where jobs are kept */
	struct job_store *store; /* the store in state_dir; NULL: it cannot be opened */
	int store_error;	 /* why the store is not open: a negative errno, or CTL_ASK_GRAIND */
	const char *verb;	 /* the running verb, for messages */
	bool colour;		 /* use colours on stdout */
	bool unnamed_store;	 /* the caller has named no store, and there are two */
};

/*
 * Prints "grainctl: VERB: ..." as one line on stderr, with control characters replaced. Returns `status`.
 */
int ctl__fail(const struct ctl *ctl, enum ctl_exit status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Prints a notice in the same form. It does not mean that the request failed. */
void ctl__say(const struct ctl *ctl, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Parses a verb's own options. Replaces `argv[0]` by "grainctl VERB". argp ends the process after --help
 * (0) and on wrong usage (CTL_USAGE).
 */
void ctl__parse(struct ctl *ctl, const struct argp *argp, int argc, char **argv, void *input);

/* --color is an option of grainctl and of all its verbs. */
enum { CTL_OPTION_COLOUR = 0x100 };
#define CTL_COLOUR_OPTION                                                                                    \
	{                                                                                                    \
		"color", CTL_OPTION_COLOUR, "WHEN", 0, "auto (the default: on a terminal), always or never", \
			0                                                                                    \
	}

/* Whether to use colours: "always", "never", or "auto": on a terminal, unless the environment forbids it. */
bool ctl__wants_colour(const char *when);
/* Sets ctl->colour by one of these words. Calls argp_error for other words. */
void ctl__set_colour(struct ctl *ctl, const struct argp_state *state, const char *when);

/* Parses a decimal number from 1 to max. Returns false for other text. */
bool ctl__parse_number(const char *text, uint64_t max, uint64_t *out);
/* Parses a job's number on the command line. Calls argp_error for other text. */
uint64_t ctl__parse_job(const struct argp_state *state, const char *text);

#endif
