/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/launch/launch.h"
#include "daemon/grainctl/launch/entry_point.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Finds the file that execvp would execute. Returns false if there is none. */
static bool find_program(const char *name, char *path, size_t size)
{
	const char *search = getenv("PATH");

	if (strchr(name, '/'))
		return (size_t)snprintf(path, size, "%s", name) < size;
	while (search && *search) {
		size_t length = strcspn(search, ":");

		if ((size_t)snprintf(path, size, "%.*s/%s", length ? (int)length : 1, length ? search : ".",
				     name) < size &&
		    access(path, X_OK) == 0)
			return true;
		search += length + (search[length] == ':');
	}
	return false;
}

/*
 * Whether the program's file has set-user-ID, set-group-ID or capabilities. The kernel grants these to
 * untraced programs only, so such a program must be started untraced.
 */
static bool changes_privileges(const char *name)
{
	char path[4096];
	struct stat status;

	if (geteuid() == 0 || !find_program(name, path, sizeof(path)) || stat(path, &status) < 0)
		return false;
	return ((status.st_mode & S_ISUID) && status.st_uid != geteuid()) ||
	       ((status.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
		status.st_gid != getegid()) ||
	       getxattr(path, "security.capability", NULL, 0) > 0;
}

/*
 * Waits until the parent closes `gate`, then executes the program. If exec fails, its errno goes to `report`.
 */
static void run_child(char *const argv[], const sigset_t *mask, int gate, int report)
{
	int error;
	char byte;

	while (read(gate, &byte, 1) < 0 && errno == EINTR)
		;
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	error = errno;
	if (write(report, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

static void run_untraced(struct launch *launch, bool attachable, const char *why)
{
	launch->state = LAUNCH_RUNNING;
	launch->attachable = attachable;
	snprintf(launch->why, sizeof(launch->why), "%s", why);
}

/* Handles one stop of the traced child. True: the launch is over, and launch->state says how it ended. */
static bool on_stop(struct launch *launch, int status, struct entry_point *entry)
{
	int sig = WSTOPSIG(status), event = status >> 16;

	if (event == PTRACE_EVENT_EXEC) {
		const char *why = entry_point__set(launch->pid, entry);

		if (why) {
			ptrace(PTRACE_DETACH, launch->pid, NULL, NULL);
			run_untraced(launch, false, why);
			return true;
		}
		ptrace(PTRACE_CONT, launch->pid, NULL, NULL);
	} else if (event == PTRACE_EVENT_STOP) {
		/*
		 * The user has stopped the program. It stays stopped, as it would untraced. SIGTRAP means
		 * that it was resumed.
		 */
		ptrace(sig == SIGTRAP ? PTRACE_CONT : PTRACE_LISTEN, launch->pid, NULL, NULL);
	} else if (sig == SIGTRAP && entry_point__reached(launch->pid, entry)) {
		launch->state = LAUNCH_AT_ENTRY;
		return true;
	} else {
		ptrace(PTRACE_CONT, launch->pid, NULL, (void *)(long)sig);
	}
	return false;
}

/* Waits for exec. 0: it succeeded, or the process ended before it. */
static int read_exec_errno(int report)
{
	int error = 0;
	ssize_t got;

	do
		got = read(report, &error, sizeof(error));
	while (got < 0 && errno == EINTR);
	return got == sizeof(error) ? error : 0;
}

static void follow(struct launch *launch, int report)
{
	struct entry_point entry = {0};
	int status;

	for (;;) {
		if (waitpid(launch->pid, &status, __WALL) < 0) {
			if (errno == EINTR)
				continue;
			run_untraced(launch, false, "its start could not be followed");
			return;
		}
		if (!WIFSTOPPED(status))
			break;
		if (on_stop(launch, status, &entry))
			return;
	}
	launch->wait_status = status;
	launch->exec_errno = read_exec_errno(report);
	launch->state = launch->exec_errno ? LAUNCH_NO_EXEC : LAUNCH_ENDED;
}

int launch__start(char *const argv[], const sigset_t *mask, volatile sig_atomic_t *pid, struct launch *out)
{
	const long options = PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
	bool untraceable = changes_privileges(argv[0]);
	int gate[2] = {-1, -1}, report[2] = {-1, -1}, result = 0;
	struct launch launch = {0};

	if (pipe2(gate, O_CLOEXEC) < 0 || pipe2(report, O_CLOEXEC) < 0) {
		result = -errno;
		goto out;
	}
	fflush(NULL);
	launch.pid = fork();
	if (launch.pid < 0) {
		result = -errno;
		goto out;
	}
	if (launch.pid == 0) {
		close(gate[1]);
		run_child(argv, mask, gate[0], report[1]);
	}
	*pid = launch.pid;
	close(report[1]);
	report[1] = -1;
	if (untraceable)
		run_untraced(&launch, false, "it gets other privileges than yours when it starts");
	else if (ptrace(PTRACE_SEIZE, launch.pid, NULL, (void *)options) < 0)
		run_untraced(&launch, true, "this system does not let you trace a program from its start");
	close(gate[1]);
	gate[1] = -1;
	if (launch.state == LAUNCH_RUNNING) {
		launch.exec_errno = read_exec_errno(report[0]);
		if (launch.exec_errno) {
			waitpid(launch.pid, &launch.wait_status, 0);
			launch.state = LAUNCH_NO_EXEC;
		}
	} else {
		follow(&launch, report[0]);
	}
	if (launch.state == LAUNCH_ENDED || launch.state == LAUNCH_NO_EXEC)
		*pid = 0;
	*out = launch;
out:
	for (int i = 0; i < 2; i++) {
		if (gate[i] >= 0)
			close(gate[i]);
		if (report[i] >= 0)
			close(report[i]);
	}
	return result;
}

void launch__release(const struct launch *launch)
{
	if (launch->state == LAUNCH_AT_ENTRY)
		ptrace(PTRACE_DETACH, launch->pid, NULL, NULL);
}
