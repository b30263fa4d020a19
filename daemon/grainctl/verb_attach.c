/* SPDX-License-Identifier: BSD-2-Clause */
/* grainctl attach: start profiling a process that already runs. */
#include "daemon/grainctl/private_daemon.h"
#include "daemon/grainctl/profile.h"

#include <limits.h>
#include <string.h>

#define MAX_DURATION_S (365 * 86400)

struct attach_options {
	struct profile_request request;
	bool fast;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct attach_options *options = state->input;
	uint64_t pid = 0;

	switch (key) {
	case 't':
		if (!ctl__parse_number(arg, MAX_DURATION_S, &options->request.duration_s))
			argp_error(state, "--duration takes whole seconds, not '%s'", arg);
		return 0;
	case 'f':
		options->fast = true;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num > 0)
			argp_error(state, "one process at a time");
		if (!ctl__parse_number(arg, INT_MAX, &pid))
			argp_error(state, "'%s' is not a process number", arg);
		options->request.pid = (pid_t)pid;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which process?");
		return 0;
	default:
		return profile__option(key, arg, state, &options->request);
	}
}

int verb__attach(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp_option option_list[] = {
		{"duration", 't', "SECONDS", 0, "Stop after so long; the process runs on", 0},
		PROFILE_OPTIONS,
		{"fast", 'f', NULL, OPTION_HIDDEN, "", 0},
		{0},
	};
	static const struct argp argp = {
		option_list,
		parse_option,
		"PID",
		"Starts profiling a running process and prints 'job N' on stdout. The process is neither "
		"stopped "
		"nor changed. Regions and tasks that had begun before are marked incomplete.\v"
		"Without a running graind, root gets a private one that ends with its last job.\n"
		"\n"
		"Example:\n"
		"  grainctl attach 4711 --duration 10 --counters page-faults,task-clock\n"
		"  grainctl summary 1",
		NULL,
		NULL,
		NULL};
	struct attach_options options = {0};
	struct private_daemon daemon;
	const char *socket;
	enum ctl_exit result;
	struct job job;
	char why[512];

	ctl__parse(ctl, &argp, argc, argv, &options);
	if (options.fast)
		return ctl__fail(ctl, CTL_USAGE, "--fast is not available in this version");
	result = private_daemon__ensure(ctl, &daemon, &socket, why);
	if (result != CTL_DONE)
		return ctl__fail(ctl, result, "%s", why);
	result = profile__start(socket, &options.request, &job, why);
	if (result != CTL_DONE) {
		private_daemon__stop(&daemon);
		return ctl__fail(ctl, result, "%s", why);
	}
	if (!strcmp(job.state, "waiting") && !options.request.samples_only)
		ctl__say(ctl, "process %d has no OpenMP runtime yet; recording starts when it loads one",
			 (int)options.request.pid);
	printf("job %llu\n", (unsigned long long)job.number);
	return CTL_DONE;
}
