/* SPDX-License-Identifier: BSD-2-Clause */
/* grainctl top: shows the running jobs: live on a terminal, and once if stdout is no terminal. */
#include "daemon/grainctl/terminal/text.h"
#include "daemon/grainctl/top/top_screen.h"
#include "daemon/grainctl/verbs/verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Time between the two updates that rates need. */
#define ONCE_MS 500

struct top_options {
	bool once, json;
	struct top_settings settings;
};

static unsigned parse_interval(const struct argp_state *state, const char *text)
{
	char *end;
	double seconds = strtod(text, &end);

	if (*end || end == text || !(seconds >= 0.2 && seconds <= 60))
		argp_error(state, "--interval is 0.2 to 60 seconds, not '%s'", text);
	return (unsigned)(seconds * 1000);
}

static enum top_order parse_order(const struct argp_state *state, const char *text)
{
	for (enum top_order order = 0; order < TOP_ORDERS; order++) {
		if (!strcmp(text, top_order__name(order)))
			return order;
	}
	argp_error(state, "--sort is job, user, command, grains, events or overhead, not '%s'", text);
	return TOP_BY_NUMBER;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct top_options *options = state->input;

	switch (key) {
	case 'i':
		options->settings.interval_ms = parse_interval(state, arg);
		return 0;
	case 'k':
		options->settings.order = parse_order(state, arg);
		return 0;
	case 'o':
		options->once = true;
		return 0;
	case 'j':
		options->json = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is too much; jobs are chosen by the arrow keys", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int print_text(const struct top *top)
{
	unsigned width = text__columns();
	char lines[2][512];
	int error;

	top__print_graind(top, lines);
	printf("%s\n%s\n", lines[0], lines[1]);
	if (!top->count)
		return 0;
	putchar('\n');
	error = top__print_jobs(top, width, stdout);
	for (size_t i = 0; !error && i < top->count; i++) {
		char line[1024];

		if (!top->jobs[i].thread_count)
			continue;
		top__describe(&top->jobs[i], line, sizeof(line));
		printf("\n%.*s\n", (int)text__prefix(line, width), line);
		error = top__print_threads(&top->jobs[i], width, stdout);
	}
	return error;
}

static int print_json(const struct top *top)
{
	json_t *json = top__json(top);
	int error = json && !json_dumpf(json, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9)) ? 0 : -EIO;

	putchar('\n');
	json_decref(json);
	return error;
}

/* Prints once. A second update follows the first one, so that there are rates. */
static int once(const struct ctl *ctl, struct top *top, const struct top_options *options)
{
	struct timespec pause = {.tv_nsec = ONCE_MS * 1000000L};
	int error;

	nanosleep(&pause, NULL);
	error = top__look(ctl, top, 0);
	if (!error) {
		top__sort(top, options->settings.order, options->settings.reverse);
		error = options->json ? print_json(top) : print_text(top);
	}
	return error;
}

int verb__top(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp_option option_list[] = {
		{"interval", 'i', "SECONDS", 0, "Look so often: 0.2 to 60, by default 2", 0},
		{"sort", 'k', "COLUMN", 0, "job (the default), user, command, grains, events or overhead", 0},
		{"once", 'o', NULL, 0, "One table, as where there is no terminal", 0},
		{"json", 'j', NULL, 0, "One look as JSON, with the threads of every job", 0},
		{0},
	};
	static const struct argp argp = {
		option_list,
		parse_option,
		NULL,
		"Shows the jobs while they run, the threads of the chosen one, and what graind "
		"itself costs. Keys: arrows or j and k choose, s sorts, d stops profiling "
		"(asks first), + and - look more or less often, ? tells all, q quits.\v"
		"Examples:\n"
		"  grainctl top\n"
		"  grainctl top --once --sort=events",
		NULL,
		NULL,
		NULL};
	struct top_options options = {.settings = {.interval_ms = 2000}};
	struct top top = {0};
	int error;

	ctl__parse(ctl, &argp, argc, argv, &options);
	error = top__look(ctl, &top, 0);
	if (!error && !top.graind.answers && !top.count) {
		error = ctl__fail(ctl, CTL_FAILED, "%s", top.graind.why);
		top__free(&top);
		return error;
	}
	if (!error && !options.once && !options.json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		error = top_screen__run(ctl, &top, &options.settings);
	else if (!error)
		error = -ENOTTY;
	if (error == -ENOTTY)
		error = once(ctl, &top, &options);
	top__free(&top);
	return error ? ctl__fail(ctl, CTL_FAILED, "%s", strerror(-error)) : CTL_DONE;
}
