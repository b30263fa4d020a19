/* SPDX-License-Identifier: BSD-2-Clause */
/* grainctl attach: start profiling a process that already runs. */
#include "daemon/grainctl/inject/inject.h"
#include "daemon/grainctl/client/private_daemon.h"
#include "daemon/grainctl/client/profile.h"
#include "daemon/grainctl/launch/shim_library.h"
#include "daemon/grainctl/verbs/verbs.h"
#include "daemon/grainctl/client/fast_choice.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <time.h>

#define MAX_DURATION_S (365 * 86400)
#define FAST_HELP                                                                                            \
	"Record from inside of the program: libgrainshim.so is put into it, for tasks and chunks of "        \
	"microseconds. For libgomp and libomp on x86-64; one of its threads is stopped for about a "         \
	"millisecond"

#define PATIENCE_HELP                                                                                        \
	"How long --fast tries again, while the program runs, what is not possible at the moment (30 s)"
#define PATIENCE_S 30
#define MAX_PATIENCE_S 86400
#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

enum { OPTION_PATIENCE = OPTION_NO_FAST + 1 };

struct attach_options {
	bool by_probes; /* use probes, even if the settings prefer --fast */
	uint64_t patience_s;
	struct profile_request request;
};

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

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
		options->request.fast = true;
		return 0;
	case OPTION_NO_FAST:
		options->by_probes = true;
		return 0;
	case 'l':
		options->request.lossless = true;
		return 0;
	case OPTION_PATIENCE:
		if (!ctl__parse_number(arg, MAX_PATIENCE_S, &options->patience_s))
			argp_error(state, "--patience takes whole seconds, not '%s'", arg);
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
	case ARGP_KEY_END:
		if (options->request.lossless && !options->request.fast)
			argp_error(state, "--lossless goes with --fast: probes cannot wait");
		if (options->by_probes && options->request.fast)
			argp_error(state, "--fast and --no-fast exclude each other");
		return profile__option(key, arg, state, &options->request);
	default:
		return profile__option(key, arg, state, &options->request);
	}
}

/* Says what takes so long. */
static void say_wait(void *data, const char *reason)
{
	struct ctl *ctl = data;

	ctl__say(ctl, "waiting (see --patience): %s", reason);
}

static struct inject_patience patience_of(struct ctl *ctl, const struct attach_options *options)
{
	return (struct inject_patience){
		.until_ns = now_ns() + options->patience_s * NS_PER_S,
		.waits = say_wait,
		.data = ctl,
	};
}

/* Injects the library into the process of the waiting job. If that fails, drops the job. */
static enum ctl_exit put_inside(struct ctl *ctl, struct inject *inject, const char *socket, const char *where,
				const struct inject_patience *patience, struct job *job, char why[512])
{
	enum ctl_exit result = inject__load(inject, where, why) == 0 ? CTL_DONE : CTL_FAILED;
	uint64_t now = now_ns();

	if (result == CTL_DONE)
		result =
			profile__await_begin(socket, job,
					     patience->until_ns > now ? (patience->until_ns - now) / NS_PER_MS
								      : 0,
					     why);
	if (result == CTL_DONE && inject__begin(inject, why) != 0)
		result = CTL_FAILED;
	if (result == CTL_DONE)
		ctl__say(ctl, "a thread of process %d was stopped for %.2f ms", (int)job->pid,
			 (double)inject__stopped_ns(inject) / 1e6);
	else
		profile__drop(socket, job);
	return result;
}

/* Starts a job that records from inside. `inject`: what is known about the process; NULL: nothing yet. */
static enum ctl_exit start_inside(struct ctl *ctl, const struct profile_request *request, const char *socket,
				  struct inject_patience *patience, struct inject **inject, struct job *job,
				  char why[512])
{
	char library[4400], where[128];
	enum ctl_exit result;

	if (shim_library__find(socket, library, where, why) != 0 ||
	    (!*inject && inject__look(request->pid, library, patience, inject, why) != 0))
		return CTL_FAILED;
	result = profile__start(socket, request, job, why);
	return result == CTL_DONE ? put_inside(ctl, *inject, socket, where, patience, job, why) : result;
}

/* Records from inside if the settings prefer that. False: this is not possible, and probes must be used. */
static bool starts_inside(struct ctl *ctl, const struct attach_options *options, const char *socket,
			  struct job *job)
{
	struct inject_patience patience = patience_of(ctl, options);
	struct profile_request request = options->request;
	struct inject *inject = NULL;
	char why[512];
	bool done;

	request.fast = true;
	done = start_inside(ctl, &request, socket, &patience, &inject, job, why) == CTL_DONE;
	inject__free(inject);
	if (done)
		ctl__say(ctl, "recorded from inside, as with --fast: its recording has a ceiling "
			      "(--no-fast: by probes)");
	else
		ctl__say(ctl, "recorded by probes, though it has a ceiling and allow-fast is set: %s", why);
	return done;
}

/* `inject`: what is known about the process with --fast; NULL: it is by probes. */
static int attach(struct ctl *ctl, const struct attach_options *options, struct inject_patience *patience,
		  struct inject *inject)
{
	const struct profile_request *request = &options->request;
	struct private_daemon daemon;
	enum ctl_exit result;
	const char *socket;
	char why[512];
	struct job job;

	result = private_daemon__ensure(ctl, &daemon, &socket, why);
	if (result != CTL_DONE)
		return ctl__fail(ctl, result, "%s", why);
	if (inject)
		result = start_inside(ctl, request, socket, patience, &inject, &job, why);
	else if (options->by_probes || !fast_choice__is_fast(socket, request) ||
		 !starts_inside(ctl, options, socket, &job))
		result = profile__start(socket, request, &job, why);
	if (result != CTL_DONE) {
		private_daemon__stop(&daemon);
		return ctl__fail(ctl, result, "%s", why);
	}
	if (!strcmp(job.state, "waiting") && !request->samples_only)
		ctl__say(ctl, "process %d has no OpenMP runtime yet; recording starts when it loads one",
			 (int)request->pid);
	printf("job %llu\n", (unsigned long long)job.number);
	return CTL_DONE;
}

int verb__attach(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp_option option_list[] = {
		{"duration", 't', "SECONDS", 0, "Stop after so long; the process runs on", 0},
		PROFILE_OPTIONS,
		{"fast", 'f', NULL, 0, FAST_HELP, 0},
		{"no-fast", OPTION_NO_FAST, NULL, 0, NO_FAST_HELP, 0},
		{"lossless", 'l', NULL, 0, CTL_LOSSLESS_HELP, 0},
		{"patience", OPTION_PATIENCE, "SECONDS", 0, PATIENCE_HELP, 0},
		{0},
	};
	static const struct argp argp = {
		option_list,
		parse_option,
		"PID",
		"Starts profiling a running process and prints 'job N' on stdout. The process is neither "
		"stopped "
		"nor changed, but with --fast. Regions and tasks that had begun before are marked "
		"incomplete.\v"
		"Without a running graind, root gets a private one that ends with its last job.\n"
		"\n"
		"Example:\n"
		"  grainctl attach 4711 --duration 10 --counters page-faults,task-clock\n"
		"  grainctl summary 1",
		NULL,
		NULL,
		NULL};
	struct attach_options options = {.patience_s = PATIENCE_S};
	struct inject_patience patience;
	char library[4400], where[128], why[512];
	struct inject *inject = NULL;
	int status;

	ctl__parse(ctl, &argp, argc, argv, &options);
	patience = patience_of(ctl, &options);
	if (options.request.fast) {
		int error = shim_library__find(ctl->socket, library, where, why);

		if (!error)
			error = inject__look(options.request.pid, library, &patience, &inject, why);
		if (error)
			return ctl__fail(ctl, error == -EACCES ? CTL_DENIED : CTL_FAILED, "%s", why);
	}
	status = attach(ctl, &options, &patience, inject);
	inject__free(inject);
	return status;
}
