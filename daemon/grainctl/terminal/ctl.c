// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/grainctl/terminal/ctl.h"
#include "daemon/grainctl/terminal/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The most option parsers that a verb shares with others. */
#define MOST_CHILDREN 4

bool ctl__wants_colour(const char *when)
{
	const char *no_colour = getenv("NO_COLOR");

	if (!strcmp(when, "always"))
		return true;
	if (!strcmp(when, "never") || (no_colour && *no_colour) || !isatty(STDOUT_FILENO))
		return false;
	return !getenv("TERM") || strcmp(getenv("TERM"), "dumb");
}

void ctl__set_colour(struct ctl *ctl, const struct argp_state *state, const char *when)
{
	if (strcmp(when, "auto") && strcmp(when, "always") && strcmp(when, "never"))
		argp_error(state, "--color is auto, always or never, not '%s'", when);
	ctl->colour = ctl__wants_colour(when);
}

/* The ctl whose verb's options are being parsed; argp gives child parsers no input. */
static struct ctl *parsed;

static error_t parse_colour(int key, char *arg, struct argp_state *state)
{
	if (key != CTL_OPTION_COLOUR)
		return ARGP_ERR_UNKNOWN;
	ctl__set_colour(parsed, state, arg);
	return 0;
}

__attribute__((format(printf, 2, 0))) static void print_line(const struct ctl *ctl, const char *format,
							     va_list args)
{
	char text[2048], clean[2048];

	vsnprintf(text, sizeof(text), format, args);
	text__clean(clean, sizeof(clean), text);
	fflush(stdout);
	if (ctl->verb)
		fprintf(stderr, "grainctl: %s: %s\n", ctl->verb, clean);
	else
		fprintf(stderr, "grainctl: %s\n", clean);
}

int ctl__fail(const struct ctl *ctl, enum ctl_exit status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(ctl, format, args);
	va_end(args);
	return (int)status;
}

void ctl__say(const struct ctl *ctl, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(ctl, format, args);
	va_end(args);
}

void ctl__parse(struct ctl *ctl, const struct argp *argp, int argc, char **argv, void *input)
{
	static const struct argp_option colour_options[] = {CTL_COLOUR_OPTION, {0}};
	static const struct argp colour = {colour_options, parse_colour, NULL, NULL, NULL, NULL, NULL};
	struct argp_child children[MOST_CHILDREN + 2] = {0};
	size_t count = 0;
	struct argp with_colour = *argp;
	char name[64];

	for (; argp->children && argp->children[count].argp && count < MOST_CHILDREN; count++)
		children[count] = argp->children[count];
	children[count] = (struct argp_child){&colour, 0, NULL, 0};
	with_colour.children = children;
	snprintf(name, sizeof(name), "grainctl %s", ctl->verb);
	argv[0] = name;
	parsed = ctl;
	argp_parse(&with_colour, argc, argv, ARGP_IN_ORDER, NULL, input);
	argv[0] = (char *)ctl->verb;
}

bool ctl__parse_number(const char *text, uint64_t max, uint64_t *out)
{
	unsigned long long value;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end || value == 0 || value > max)
		return false;
	*out = value;
	return true;
}

uint64_t ctl__parse_job(const struct argp_state *state, const char *text)
{
	uint64_t job = 0;

	if (!ctl__parse_number(text, INT64_MAX, &job))
		argp_error(state, "'%s' is not a job number; grainctl jobs --all lists them", text);
	return job;
}
