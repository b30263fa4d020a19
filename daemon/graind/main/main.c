// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/common/programs/defaults.h"
#include "daemon/common/programs/version.h"
#include "daemon/graind/api/api.h"
#include "daemon/graind/attach/spare_capture.h"
#include "daemon/graind/main/background.h"
#include "daemon/graind/worker/runtime_finders.h"
#include "daemon/graind/summary/live_analysis.h"
#include "daemon/graind/retention/retention.h"
#include "daemon/graind/base/listen.h"
#include "daemon/graind/base/log.h"
#include "daemon/graind/metrics/metrics_server.h"
#include "daemon/graind/policy/optout.h"
#include "daemon/graind/plan/plan_cache.h"
#include "daemon/graind/policy/policy.h"
#include "daemon/graind/policy/privileges.h"
#include "daemon/graind/retention/recovery.h"
#include "daemon/graind/api/reports.h"
#include "daemon/graind/process/shadow_stack.h"
#include "daemon/graind/shim/shim_server.h"
#include "daemon/graind/worker/spawner.h"
#include "daemon/graind/main/worker_main.h"
#include "uprobes/runtime/runtime_find.h"

#include <argp.h>
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#define EXIT_DENIED 3
#define FIRST_JOB_MS 60000
#define FAREWELL_MS 1000
/* As many as the largest number of jobs, and more than the number of other threads. */
#define MOST_ARENAS 512
#define LARGE_BLOCK (128 << 10)
#define METRICS_HOSTS 16

struct options {
	const char *config, *state_dir, *socket, *metrics;
	const char *metrics_hosts[METRICS_HOSTS + 1]; /* ended by NULL */
	size_t metrics_host_count;
	bool foreground, exit_when_idle;
};

enum {
	OPTION_FOREGROUND = 256,
	OPTION_EXIT_WHEN_IDLE,
	OPTION_STATE_DIR,
	OPTION_SOCKET,
	OPTION_CONFIG,
	OPTION_METRICS,
	OPTION_METRICS_HOST
};

static const struct argp_option option_list[] = {
	{"config", OPTION_CONFIG, "FILE", 0,
	 "Settings, see graind.conf(5) (default $" ENV_CONFIG " or " DEFAULT_CONFIG ")", 0},
	{"state-dir", OPTION_STATE_DIR, "DIR", 0,
	 "Where jobs are kept (default $" ENV_STATE_DIR " or " DEFAULT_STATE_DIR ")", 0},
	{"socket", OPTION_SOCKET, "PATH", 0,
	 "Where to listen (default $" ENV_SOCKET " or " DEFAULT_SOCKET ")", 0},
	{"metrics", OPTION_METRICS, "[ADDRESS:]PORT", 0,
	 "Tell Prometheus how it goes, there; whoever can connect sees the jobs of all users. ADDRESS is "
	 "127.0.0.1 unless given",
	 0},
	{"metrics-host", OPTION_METRICS_HOST, "NAME", 0,
	 "Prometheus may ask by this name too, beside this machine's name and addresses; up to 16 times", 0},
	{"foreground", OPTION_FOREGROUND, NULL, 0, "Stay in the foreground", 0},
	{"exit-when-idle", OPTION_EXIT_WHEN_IDLE, NULL, 0, "End when the last job has ended", 0},
	{0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case OPTION_CONFIG:
		options->config = argument;
		return 0;
	case OPTION_STATE_DIR:
		options->state_dir = argument;
		return 0;
	case OPTION_SOCKET:
		options->socket = argument;
		return 0;
	case OPTION_METRICS:
		options->metrics = argument;
		return 0;
	case OPTION_METRICS_HOST:
		if (options->metrics_host_count == METRICS_HOSTS)
			argp_error(state, "--metrics-host is given more than %d times", METRICS_HOSTS);
		options->metrics_hosts[options->metrics_host_count++] = argument;
		return 0;
	case OPTION_FOREGROUND:
		options->foreground = true;
		return 0;
	case OPTION_EXIT_WHEN_IDLE:
		options->exit_when_idle = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "does not take arguments, but was given \"%s\"", argument);
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

struct daemon {
	struct job_store *store;
	struct jobs *jobs;
	struct api *api;
	struct retention *retention;
	struct live_analysis *analysis;
	struct metrics_server *metrics;
	int metrics_fd; /* owned by the daemon until the server has it */
	int listen_fd, signal_fd, idle_fd, report_fd;
	bool own_socket; /* graind made the socket, not systemd */
	char *socket;	 /* absolute */
};

static const char *or_environment(const char *given, const char *name, const char *fallback)
{
	const char *value = given ? given : getenv(name);

	return value && *value ? value : fallback;
}

/* The default file may be missing, but a file that the caller names must exist. */
static int read_policy(const char *given)
{
	const char *path = or_environment(given, ENV_CONFIG, DEFAULT_CONFIG);
	char why[POLICY_WHY];
	int error = policy__open(path, strcmp(path, DEFAULT_CONFIG) != 0, why);

	if (error)
		log__line(LOG_ERR, "%s", why);
	return error;
}

static unsigned long long monotonic_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned long long)now.tv_sec * 1000000u + (unsigned long long)now.tv_nsec / 1000u;
}

static void reload_policy(struct retention *retention)
{
	char why[POLICY_WHY];

	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu", monotonic_us());
	if (policy__reload(why) != 0)
		log__line(LOG_ERR, "%s; the settings stay as they were", why);
	else
		log__line(LOG_INFO, "the settings have been read again");
	retention__wake(retention);
	sd_notify(0, "READY=1");
}

/* Each module of each job needs a descriptor, and so do captures. */
static void raise_limits(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* Takes the sockets that systemd has opened for graind.socket and graind-metrics.socket. */
static int take_given(struct daemon *daemon)
{
	int given = sd_listen_fds(1);

	for (int fd = SD_LISTEN_FDS_START; fd < SD_LISTEN_FDS_START + given; fd++) {
		if (daemon->listen_fd < 0 && sd_is_socket_unix(fd, SOCK_STREAM, 1, NULL, 0) > 0) {
			daemon->listen_fd = fd;
		} else if (daemon->metrics_fd < 0 &&
			   (sd_is_socket_inet(fd, AF_INET, SOCK_STREAM, 1, 0) > 0 ||
			    sd_is_socket_inet(fd, AF_INET6, SOCK_STREAM, 1, 0) > 0)) {
			daemon->metrics_fd = fd;
		} else {
			log__line(LOG_ERR, "was started with descriptors that are not one listening unix "
					   "socket and one of TCP at most");
			return -EINVAL;
		}
	}
	return 0;
}

/* Uses systemd's socket if there is one, or else opens our own. */
static int open_socket(struct daemon *daemon, const char *path)
{
	char why[512];
	int error = take_given(daemon);

	if (error || daemon->listen_fd >= 0)
		return error;
	if (listen__open(path, &daemon->listen_fd, why) != 0) {
		log__line(LOG_ERR, "%s", why);
		return -EADDRINUSE;
	}
	daemon->own_socket = true;
	return 0;
}

static int open_signals(struct daemon *daemon)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &signals, NULL) != 0)
		return -errno;
	signal(SIGPIPE, SIG_IGN);
	daemon->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	daemon->idle_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return daemon->signal_fd < 0 || daemon->idle_fd < 0 ? -errno : 0;
}

/*
 * Makes the path absolute: grainctl finds the socket by job.json from any directory, and graind changes to
 * / in the background.
 */
static char *absolute(const char *path)
{
	char *directory = path[0] == '/' ? NULL : getcwd(NULL, 0), *whole = NULL;

	if (path[0] == '/')
		return strdup(path);
	if (directory && asprintf(&whole, "%s/%s", directory, path) < 0)
		whole = NULL;
	free(directory);
	return whole;
}

/* Without this server only --fast does not work, and reports that. */
static void start_shim_server(const char *socket)
{
	char *path = NULL;

	if (asprintf(&path, "%s" SHIM_SOCKET_SUFFIX, socket) < 0)
		return;
	shim_server__start(path);
	free(path);
}

/* Starts the helper processes and the threads. */
static int start_parts(struct daemon *daemon, const struct options *options)
{
	int error = open_signals(daemon);

	/* This takes longest, so it begins first. */
	if (!error)
		spare_capture__start(options->exit_when_idle);
	if (!error)
		error = spawner__start();
	shadow_stack__find_out();
	if (!error)
		/* If graind was started for a job, that job comes soon. */
		error = runtime_finders__start(NULL, options->exit_when_idle);
	if (!error)
		error = jobs__new(daemon->store, daemon->socket, daemon->idle_fd, &daemon->jobs);
	if (!error) {
		jobs__recover(daemon->jobs);
		error = api__start(daemon->listen_fd, daemon->jobs, &daemon->api);
	}
	if (!error)
		error = retention__start(daemon->jobs, !options->exit_when_idle, &daemon->retention);
	if (!error)
		error = live_analysis__start(daemon->jobs, &daemon->analysis);
	if (!error && daemon->metrics_fd >= 0) {
		error = metrics_server__start(daemon->metrics_fd, options->metrics_hosts, daemon->jobs,
					      &daemon->metrics);
		daemon->metrics_fd = -1;
	}
	if (!error)
		start_shim_server(daemon->socket);
	return error;
}

/* Does everything up to the point where requests are served. Returns the exit status. */
static int set_up(struct daemon *daemon, const struct options *options)
{
	const char *state_dir = or_environment(options->state_dir, ENV_STATE_DIR, DEFAULT_STATE_DIR);
	struct job_store_error err;
	char why[512];
	int error;

	if (read_policy(options->config) != 0)
		return 1;
	if (privileges__check(why, sizeof(why)) != 0) {
		log__line(LOG_ERR, "%s", why);
		return EXIT_DENIED;
	}
	error = job_store__open(state_dir, true, &daemon->store, &err);
	if (error) {
		log__line(LOG_ERR, "%s", err.text);
		return error == -EACCES || error == -EPERM ? EXIT_DENIED : 1;
	}
	plan_cache__open(state_dir);
	optout__open(state_dir);
	daemon->socket = absolute(or_environment(options->socket, ENV_SOCKET, DEFAULT_SOCKET));
	if (!daemon->socket) {
		log__line(LOG_ERR, "cannot tell where the socket is: %s", strerror(errno));
		return 1;
	}
	if (open_socket(daemon, daemon->socket) != 0)
		return 1;
	if (options->metrics && daemon->metrics_fd < 0 &&
	    metrics_server__listen(options->metrics, &daemon->metrics_fd, why) != 0) {
		log__line(LOG_ERR, "%s", why);
		return 1;
	}
	if (!options->foreground) {
		error = background__enter(&daemon->report_fd);
		if (error) {
			log__line(LOG_ERR, "cannot go into the background: %s", strerror(-error));
			return 1;
		}
	}
	error = start_parts(daemon, options);
	if (error) {
		log__line(LOG_ERR, "cannot start: %s", strerror(-error));
		return 1;
	}
	return 0;
}

/*
 * Serves until a signal comes, or if wanted until graind is idle: after the last job, or when no job came
 * for a while. Without a watchdog, sleeps all the time.
 */
static void serve(struct daemon *daemon, bool exit_when_idle)
{
	uint64_t watchdog_us = 0;
	bool watched = sd_watchdog_enabled(1, &watchdog_us) > 0;
	int timeout_ms = watched ? (int)(watchdog_us / 2000) : exit_when_idle ? FIRST_JOB_MS : -1;
	struct pollfd fds[] = {
		{.fd = daemon->signal_fd, .events = POLLIN},
		{.fd = daemon->idle_fd, .events = POLLIN},
	};

	for (;;) {
		struct signalfd_siginfo signal_info;
		eventfd_t count;

		int ready = poll(fds, 2, timeout_ms);

		if ((ready < 0 && errno != EINTR) ||
		    (ready == 0 && exit_when_idle && jobs__running(daemon->jobs) == 0))
			break;
		if (read(daemon->signal_fd, &signal_info, sizeof(signal_info)) > 0) {
			if (signal_info.ssi_signo != SIGHUP)
				break;
			reload_policy(daemon->retention);
		}
		if (eventfd_read(daemon->idle_fd, &count) == 0 && exit_when_idle) {
			/*
			 * A client that has watched the last job may ask once more, to learn how the job
			 * ended.
			 */
			poll(fds, 1, FAREWELL_MS);
			if (jobs__running(daemon->jobs) == 0)
				break;
		}
		/* Takes the jobs' lock: if the jobs hang, graind must not report that it is alive. */
		if (watched && jobs__running(daemon->jobs) != SIZE_MAX)
			sd_notify(0, "WATCHDOG=1");
	}
}

static void tear_down(struct daemon *daemon)
{
	size_t left;

	if (daemon->api)
		api__quiesce(daemon->api);
	if (daemon->own_socket)
		unlink(daemon->socket);
	plan_cache__end();
	left = daemon->jobs ? jobs__end(daemon->jobs) : 0;
	if (left) {
		log__line(LOG_ERR, "%zu jobs cannot be ended: their threads wait for files in the kernel",
			  left);
		_exit(1);
	}
	spare_capture__stop();
	retention__stop(daemon->retention);
	live_analysis__stop(daemon->analysis);
	shim_server__stop();
	reports__end();
	api__stop(daemon->api);
	metrics_server__stop(daemon->metrics);
	if (daemon->listen_fd >= 0)
		close(daemon->listen_fd);
	jobs__free(daemon->jobs);
	runtime_finders__stop();
	job_store__close(daemon->store);
	policy__close();
	optout__close();
	free(daemon->socket);
}

static void print_version(FILE *stream, struct argp_state *state)
{
	(void)state;
	fprintf(stream, "graind %s\n", GRAIND_VERSION);
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_list,
		.parser = parse_option,
		.doc = "Profiles OpenMP programs that run on this machine; grainctl tells it which.",
	};
	struct options options = {0};
	struct daemon daemon = {
		.listen_fd = -1, .metrics_fd = -1, .signal_fd = -1, .idle_fd = -1, .report_fd = -1};
	int status;

	/* Otherwise hwloc loads installed plugins, with libraries for graphics cards and XML. */
	setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);
	if (argc > 1 && worker__has(argv[1]))
		return worker__main(argc, argv);
	argp_program_version_hook = print_version;
	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	umask(022);
	/* Workers must not inherit descriptors that graind got at its start. */
	close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
	runtime_find__look_by(runtime_finders__look);
	raise_limits();
	/*
	 * Each thread has its own arena: a thread that empties rings must not wait for a thread that holds
	 * an arena's lock and has no CPU. A job's memory is returned at its end (job__conclude()), and
	 * large blocks are returned at once. Otherwise each arena would keep some memory.
	 */
	mallopt(M_ARENA_MAX, MOST_ARENAS);
	mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
	status = set_up(&daemon, &options);
	if (status == 0) {
		sd_notify(0, "READY=1");
		if (!options.foreground) {
			log__use_syslog();
			background__up(daemon.report_fd);
		}
		log__line(LOG_INFO, "version " GRAIND_VERSION " listens at %s, jobs in %s", daemon.socket,
			  job_store__path(daemon.store));
		serve(&daemon, options.exit_when_idle);
		log__line(LOG_INFO, "ends; jobs that are closed now: %zu", jobs__running(daemon.jobs));
		sd_notify(0, "STOPPING=1");
	}
	tear_down(&daemon);
	return status;
}
