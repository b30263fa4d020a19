/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * grainctl run: starts a program and profiles all of it. The program's input, output, signals and exit status
 * are as if it had been started without grainctl.
 */
#include "daemon/common/job_store/job_store.h"
#include "daemon/grainctl/client/jobs_list.h"
#include "daemon/grainctl/launch/launch.h"
#include "daemon/grainctl/client/private_daemon.h"
#include "daemon/grainctl/client/profile.h"
#include "daemon/grainctl/launch/shim_library.h"
#include "daemon/grainctl/verbs/verbs.h"
#include "daemon/grainctl/client/fast_choice.h"

#include <jansson.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct run_options {
	char **argv;	/* of the program */
	bool by_probes; /* --no-fast: use probes even if the settings prefer --fast */
	struct profile_request request;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct run_options *options = state->input;

	switch (key) {
	case 'f':
		options->request.fast = true;
		return 0;
	case OPTION_NO_FAST:
		options->by_probes = true;
		return 0;
	case 'l':
		options->request.lossless = true;
		return 0;
	case ARGP_KEY_END:
		if (options->request.lossless && !options->request.fast)
			argp_error(state, "--lossless goes with --fast: probes cannot wait");
		if (options->by_probes && options->request.fast)
			argp_error(state, "--fast and --no-fast exclude each other");
		return profile__option(key, arg, state, &options->request);
	case ARGP_KEY_ARG:
		options->argv = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which program?");
		return 0;
	default:
		return profile__option(key, arg, state, &options->request);
	}
}

/*
 * grainctl passes these signals on to the program, except those from the terminal: the terminal sends its
 * signals to the whole foreground group, so the program has them already.
 */
static const int forwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
#define FORWARDED (sizeof(forwarded) / sizeof(forwarded[0]))

static struct {
	volatile sig_atomic_t program; /* the program's process number; 0: no signal is passed on */
	struct sigaction before[FORWARDED];
} forwarding;

static void forward(int number, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)context;
	/* A code above 0 means that the kernel sent the signal, for the terminal. */
	if (forwarding.program > 0 && info->si_code <= 0)
		kill((pid_t)forwarding.program, number);
	errno = saved;
}

/* Signals that are ignored now (nohup) stay ignored, also in the program. */
static void start_forwarding(void)
{
	struct sigaction action = {.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART};

	for (size_t i = 0; i < FORWARDED; i++) {
		if (!sigaction(forwarded[i], NULL, &forwarding.before[i]) &&
		    forwarding.before[i].sa_handler != SIG_IGN)
			sigaction(forwarded[i], &action, NULL);
	}
}

static void stop_forwarding(void)
{
	for (size_t i = 0; i < FORWARDED; i++)
		sigaction(forwarded[i], &forwarding.before[i], NULL);
}

/* Stops forwarding before the process is reaped. After that its number may belong to another process. */
static int wait_for_program(pid_t pid)
{
	siginfo_t info;
	int status = 0;

	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	forwarding.program = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static int exit_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static bool is_listed(const json_t *list, uint64_t number)
{
	const json_t *entry;
	size_t i;

	json_array_foreach(list, i, entry)
	{
		if ((uint64_t)json_integer_value(json_object_get(entry, "job")) == number)
			return true;
	}
	return false;
}

/* Whether the job is `root` or a descendant of it. `list` must have all jobs between them. */
static bool comes_from(const json_t *list, uint64_t number, uint64_t root)
{
	for (int depth = 0; depth < 1000 && number > root; depth++) {
		uint64_t parent = 0;
		const json_t *entry;
		size_t i;

		json_array_foreach(list, i, entry)
		{
			if ((uint64_t)json_integer_value(json_object_get(entry, "job")) == number)
				parent = (uint64_t)json_integer_value(json_object_get(entry, "parent_job"));
		}
		number = parent;
	}
	return number == root;
}

/*
 * Prints a line for each job of the program's children, and for each job of a program that it has become by
 * exec. Waits for jobs that are about to finish. Returns the number of these jobs.
 */
static size_t tell_children(const struct ctl *ctl, const char *socket, uint64_t root)
{
	json_t *list = json_array(), *entry;
	struct ctl asked = *ctl;
	struct job_store *store = NULL;
	uint64_t *numbers = NULL;
	size_t count = 0, told = 0, i;
	struct job job;
	char ignored[512];

	/* The user may not be able to read the state directory. */
	asked.socket = socket;
	jobs_list__add_served(&asked, true, list, ignored);
	/* The directory may be newer than this process. */
	if (job_store__open(ctl->state_dir, false, &store, NULL) == 0 &&
	    job_store__list(store, &numbers, &count) == 0) {
		for (i = 0; i < count; i++) {
			if (numbers[i] >= root && !is_listed(list, numbers[i]) &&
			    job_store__read(store, numbers[i], &entry) == 0)
				json_array_append_new(list, entry);
		}
	}
	free(numbers);
	job_store__close(store);
	json_array_foreach(list, i, entry)
	{
		char why[512];

		if (!job__parse(entry, &job) || job.number == root || !comes_from(list, job.number, root))
			continue;
		if (!strcmp(job.state, "finishing"))
			profile__wait(ctl, socket, &job, why);
		ctl__say(ctl, "job %llu: process %lld, %s%s", (unsigned long long)job.number,
			 (long long)job.pid, job.cmd, !strcmp(job.state, "running") ? ", still runs" : "");
		told++;
	}
	json_decref(list);
	return told;
}

static void finish_job(const struct ctl *ctl, const char *socket, struct job *job, const char *name)
{
	char why[512];
	enum ctl_exit result = profile__wait(ctl, socket, job, why);
	size_t others = tell_children(ctl, socket, job->number);

	if (result != CTL_DONE)
		ctl__say(ctl, "the end of the recording was not seen: %s", why);
	else if (!job->runtime[0] && others)
		ctl__say(ctl, "%s itself used no OpenMP runtime; what it started has the jobs above", name);
	else if (!strcmp(job->state, "failed"))
		ctl__say(ctl, "the recording failed: %s",
			 job->error[0] ? job->error : "graind does not say why");
	else if (!job->runtime[0])
		ctl__say(ctl, "nothing was recorded: %s used no OpenMP runtime (libgomp, libomp)", name);
	else if (job->lost)
		ctl__say(ctl, "%llu events were lost; the report marks what that touches",
			 (unsigned long long)job->lost);
	fprintf(stderr, "job %llu\n", (unsigned long long)job->number);
}

static int run(struct ctl *ctl, const struct run_options *options, const char *socket,
	       struct private_daemon *daemon)
{
	struct profile_request request = options->request;
	char **argv = options->argv;
	struct launch launch = {0};
	enum ctl_exit result = CTL_FAILED;
	sigset_t mask;
	struct job job;
	char why[512];
	int error, status;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	start_forwarding();
	error = launch__start(argv, &mask, &forwarding.program, &launch);
	if (error) {
		private_daemon__stop(daemon);
		return ctl__fail(ctl, CTL_FAILED, "cannot start %s: %s", argv[0], strerror(-error));
	}
	if (launch.state == LAUNCH_NO_EXEC) {
		private_daemon__stop(daemon);
		error = launch.exec_errno;
		return ctl__fail(ctl, error == ENOENT || error == ENOTDIR ? 127 : 126, "cannot run %s: %s",
				 argv[0], strerror(error));
	}
	if (launch.state == LAUNCH_ENDED) {
		private_daemon__stop(daemon);
		ctl__say(ctl, "not profiled: %s ended before it had started", argv[0]);
		return exit_status(launch.wait_status);
	}
	request.pid = launch.pid;
	request.at_start = launch.state == LAUNCH_AT_ENTRY;
	request.from_begin = true;
	if (launch.state == LAUNCH_AT_ENTRY || launch.attachable)
		result = profile__start(socket, &request, &job, why);
	else
		snprintf(why, sizeof(why), "%s", launch.why);
	/* A user who misspelt an option learns it now, and not after a run of hours without a recording. */
	if (result == CTL_USAGE && launch.state == LAUNCH_AT_ENTRY) {
		kill(launch.pid, SIGKILL);
		launch__release(&launch);
		wait_for_program(launch.pid);
		private_daemon__stop(daemon);
		return ctl__fail(ctl, CTL_USAGE, "%s was not started: %s", argv[0], why);
	}
	launch__release(&launch);
	if (result != CTL_DONE) {
		ctl__say(ctl, "not profiled: %s", why);
		private_daemon__stop(daemon);
	} else if (launch.state == LAUNCH_RUNNING) {
		ctl__say(ctl, "the start of %s was not observed: %s", argv[0], launch.why);
	}
	status = wait_for_program(launch.pid);
	stop_forwarding();
	if (result == CTL_DONE)
		finish_job(ctl, socket, &job, argv[0]);
	return exit_status(status);
}

/* Records from inside if the user has not chosen, the recording has a ceiling and the settings allow it. */
static void choose_way(const struct ctl *ctl, struct run_options *options, const char *socket)
{
	struct profile_request *request = &options->request;
	char why[512];

	if (request->fast || options->by_probes || !fast_choice__is_fast(socket, request))
		return;
	if (shim_library__preload(socket, why) != 0)
		return;
	request->fast = true;
	ctl__say(ctl,
		 "recorded from inside, as with --fast: its recording has a ceiling (--no-fast: by probes)");
}

int verb__run(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp_option option_list[] = {
		PROFILE_OPTIONS,
		{"fast", 'f', NULL, 0, CTL_FAST_HELP, 0},
		{"no-fast", OPTION_NO_FAST, NULL, 0, NO_FAST_HELP, 0},
		{"lossless", 'l', NULL, 0, CTL_LOSSLESS_HELP, 0},
		{0},
	};
	static const struct argp argp = {
		option_list,
		parse_option,
		"[--] CMD ARG...",
		"Starts a program and profiles all of it, from before its main to its end. Its input, "
		"output, "
		"signals and exit status are its own; the last line on stderr is 'job N'.\v"
		"A program that cannot be profiled runs all the same, and one line says why. "
		"Without a running graind, root gets a private one that ends with its last job.\n"
		"\n"
		"Example:\n"
		"  OMP_NUM_THREADS=4 grainctl run -- ./fib 38 12\n"
		"  grainctl summary 1\n"
		"  grainctl run --counters page-faults,cycles:u -- ./fib 38 12\n"
		"\n"
		"Exit status: the program's; 128+N when signal N ended it, 127 not found, 126 not "
		"executable.",
		NULL,
		NULL,
		NULL};
	struct run_options options = {0};
	struct private_daemon daemon;
	const char *socket;
	enum ctl_exit result;
	char why[512];

	ctl__parse(ctl, &argp, argc, argv, &options);
	result = private_daemon__ensure(ctl, &daemon, &socket, why);
	if (result != CTL_DONE)
		return ctl__fail(ctl, result, "%s", why);
	if (options.request.fast && shim_library__preload(socket, why) != 0) {
		private_daemon__stop(&daemon);
		return ctl__fail(ctl, CTL_FAILED, "%s", why);
	}
	choose_way(ctl, &options, socket);
	return run(ctl, &options, socket, &daemon);
}
