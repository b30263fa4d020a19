// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/grainctl/inject/inject.h"
#include "daemon/grainctl/inject/inject_safe_point.h"
#include "daemon/grainctl/inject/inject_symbols.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#define THREADS_MAX 256
/* From one look at all threads to the next: each look costs the program something. */
#define NAP_NS 10000000L
#define LONG_NAP_NS 100000000L

struct inject {
	struct inject_target target;
	struct inject_patience *patience;
	char library[4400];
	uint64_t stopped_ns;
	struct inject_thread thread;
};

/* A step on a stopped thread. -EAGAIN: another thread, or the same one later, may work. */
typedef int (*step_fn)(struct inject *inject, const char *argument, char why[512]);

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Waits a moment for what has to pass. False: the patience is over. */
static bool wait_a_moment(struct inject_patience *patience, long nap_ns, const char *reason)
{
	uint64_t now = now_ns();

	if (now >= patience->until_ns)
		return false;
	if (!patience->since_ns)
		patience->since_ns = now;
	if (!patience->told && now - patience->since_ns >= INJECT_SILENCE_NS && patience->waits) {
		patience->told = true;
		patience->waits(patience->data, reason);
	}
	nanosleep(&(struct timespec){.tv_nsec = nap_ns}, NULL);
	return true;
}

/* ---- threads ---------------------------------------------------------- */

static char state_of(pid_t pid, const char *tid)
{
	char path[64], line[512] = "", *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/stat", (int)pid, tid);
	file = fopen(path, "re");
	if (!file)
		return 'X';
	if (!fgets(line, sizeof(line), file))
		line[0] = 0;
	fclose(file);
	end = strrchr(line, ')');
	return end && end[1] ? end[2] : 'X';
}

/* Lists threads. Sleeping threads come first, as stopping them costs the program least. */
static size_t list_threads(pid_t pid, pid_t tids[THREADS_MAX])
{
	size_t count = 0, sleeping = 0;
	struct dirent *entry;
	char path[64];
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	directory = opendir(path);
	while (directory && count < THREADS_MAX && (entry = readdir(directory))) {
		pid_t tid = atoi(entry->d_name);
		char state = tid > 0 ? state_of(pid, entry->d_name) : 'X';

		if (state == 'X' || state == 'Z')
			continue;
		tids[count++] = tid;
		if (state != 'S')
			continue;
		tids[count - 1] = tids[sleeping];
		tids[sleeping++] = tid;
	}
	if (directory)
		closedir(directory);
	return count;
}

/* ---- stops ------------------------------------------------------------ */

static void explain(const struct inject *inject, int error, char why[512])
{
	int pid = (int)inject->target.pid;

	switch (error) {
	case -ESRCH:
		snprintf(why, 512, "process %d has ended", pid);
		break;
	case -EPERM:
		snprintf(why, 512, "process %d may not be traced, or is by now: attach without --fast", pid);
		break;
	case -EBUSY:
		snprintf(why, 512,
			 "process %d is stopped; let it go on (kill -CONT %d), or attach without --fast", pid,
			 pid);
		break;
	case -ESTALE:
		snprintf(why, 512,
			 "process %d has another program or other rights than when it was looked at, and is "
			 "left "
			 "alone: attach to it as it is now, or without --fast",
			 pid);
		break;
	case -EPROTO:
		snprintf(why, 512, "process %d %s: attach without --fast", pid, inject->thread.unfit);
		break;
	case -ETIMEDOUT:
		snprintf(why, 512,
			 inject->thread.lock ? "process %d was loading a library all the time; give it more "
					       "(--patience), or "
					       "attach without --fast"
					     : "a thread of process %d did not stop in time; give it more "
					       "(--patience), or "
					       "attach without --fast",
			 pid);
		break;
	case -EINPROGRESS:
		snprintf(why, 512,
			 "process %d has not loaded the library in time, its thread goes on where it was as "
			 "soon as it has; give it more (--patience), or attach without --fast",
			 pid);
		break;
	case -EFAULT:
		snprintf(why, 512,
			 "a call into process %d failed; its thread goes on where it was, but what the call "
			 "had begun is not undone: attach without --fast, and if it hangs start it anew",
			 pid);
		break;
	default:
		snprintf(why, 512, "cannot reach into process %d: %s; attach without --fast", pid,
			 strerror(-error));
		break;
	}
}

/* Tries a step on one thread. -EAGAIN: it is not possible on this thread now. */
static int try_thread(struct inject *inject, pid_t tid, step_fn step, const char *argument,
		      const char **reason, char why[512])
{
	uint64_t since = now_ns(), took;
	int error;

	inject->thread.until_ns = inject->patience->until_ns;
	error = inject_thread__stop(&inject->target, tid, &inject->thread);
	if (error)
		return error;
	*reason = inject_safe_point__check(&inject->thread);
	error = *reason ? -EAGAIN : step(inject, argument, why);
	inject_thread__release(&inject->thread);
	took = now_ns() - since;
	inject->stopped_ns = took > inject->stopped_ns ? took : inject->stopped_ns;
	return error;
}

/* Waits until the loader's lock that a call has met is free. The program is not touched meanwhile. */
static int await_loader(struct inject *inject)
{
	int32_t state = 1;

	while (process_memory__read(inject->target.pid, inject->thread.lock, &state, sizeof(state)) && state)
		if (!wait_a_moment(inject->patience, NAP_NS, "it is loading a library"))
			return -ETIMEDOUT;
	return -EAGAIN;
}

static int try_threads(struct inject *inject, step_fn step, const char *argument, char why[512])
{
	const char *reason = "it has no thread that can be stopped";
	long nap_ns = 200000, most_ns;
	pid_t tids[THREADS_MAX];

	do {
		size_t count = list_threads(inject->target.pid, tids);
		int error = count ? -EAGAIN : -ESRCH;

		inject_target__find_stacks(&inject->target);
		for (size_t i = 0; i < count && error == -EAGAIN; i++) {
			error = try_thread(inject, tids[i], step, argument, &reason, why);
			/* The thread may have ended while the process goes on. */
			if (error == -ESRCH)
				error = -EAGAIN;
			if (error == -ETIMEDOUT && inject->thread.lock)
				error = await_loader(inject);
		}
		if (error != -EAGAIN)
			return error;
		most_ns = inject->patience->told ? LONG_NAP_NS : NAP_NS;
		nap_ns = 2 * nap_ns < most_ns ? 2 * nap_ns : most_ns;
	} while (wait_a_moment(inject->patience, nap_ns, reason));
	snprintf(why, 512,
		 "no thread of process %d was where a library can be loaded (the last: %s); give it more "
		 "(--patience), or attach without --fast",
		 (int)inject->target.pid, reason);
	return -1;
}

static int at_a_safe_place(struct inject *inject, step_fn step, const char *argument, char why[512])
{
	int priority = getpriority(PRIO_PROCESS, 0), error;
	sigset_t child, before;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &before);
	/*
	 * Asks for a high priority, so that a stopped thread does not wait while this process waits for a
	 * CPU.
	 */
	setpriority(PRIO_PROCESS, 0, -20);
	why[0] = 0;
	error = try_threads(inject, step, argument, why);
	setpriority(PRIO_PROCESS, 0, priority);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (error && !why[0])
		explain(inject, error, why);
	return error;
}

/* ---- steps ------------------------------------------------------------ */

static int call(struct inject *inject, uint64_t function, const char *text, uint64_t first, uint64_t second,
		uint64_t *result)
{
	const uint64_t arguments[2] = {first, second};

	return inject_thread__call(&inject->thread, function, text, arguments, result);
}

static int say_why_not_loaded(struct inject *inject, char why[512])
{
	char text[256] = "";
	uint64_t at = 0;

	if (inject->target.error && call(inject, inject->target.error, NULL, 0, 0, &at) == 0 && at)
		for (size_t i = 0; i + 1 < sizeof(text); i++)
			if (!process_memory__read(inject->target.pid, at + i, &text[i], 1) || !text[i])
				break;
	snprintf(why, 512, "process %d cannot load %.150s: %s; attach without --fast",
		 (int)inject->target.pid, inject->library, text[0] ? text : "its loader does not say why");
	return -1;
}

/* The loader's handle points to its data about the library. These data begin with the library's address. */
static int find_entry_points(struct inject *inject, uint64_t handle)
{
	struct inject_symbols symbols = {0};
	const Elf64_Sym *attach, *begin;
	uint64_t base;

	if (!process_memory__read(inject->target.pid, handle, &base, sizeof(base)) ||
	    inject_symbols__read(inject->target.pid, base, &symbols) != 0)
		return -1;
	attach = inject_symbols__find(&symbols, "grainshim_attach");
	begin = inject_symbols__find(&symbols, "grainshim_begin");
	if (attach && begin) {
		inject->target.attach = base + attach->st_value;
		inject->target.begin = base + begin->st_value;
	}
	inject_symbols__release(&symbols);
	return attach && begin ? 0 : -1;
}

static int load(struct inject *inject, const char *socket, char why[512])
{
	struct inject_target *target = &inject->target;
	uint64_t handle = 0, result = 0;
	int error = 0;

	if (!target->attach) {
		error = call(inject, target->open, inject->library, 0, RTLD_NOW, &handle);
		if (error)
			return error;
		if (!handle)
			return say_why_not_loaded(inject, why);
		if (find_entry_points(inject, handle) != 0) {
			snprintf(why, 512, "%.200s is of another version than grainctl; install both anew",
				 inject->library);
			return -1;
		}
	}
	error = call(inject, target->attach, socket, 0, target->runtime, &result);
	if (error)
		return error;
	switch ((int32_t)result) {
	case 0:
		return 0;
	case -EAGAIN:
		return -EAGAIN;
	case -EBUSY:
		snprintf(why, 512,
			 "process %d is recorded from inside already; grainctl jobs shows by which job",
			 (int)target->pid);
		return -1;
	case -ENOSYS:
		snprintf(why, 512,
			 "the OpenMP runtime of process %d is not one that can be recorded: attach without "
			 "--fast",
			 (int)target->pid);
		return -1;
	case -EALREADY:
		snprintf(why, 512,
			 "the libomp of process %d is recorded from inside since its start, which ends with "
			 "its job: attach without --fast",
			 (int)target->pid);
		return -1;
	case -EOPNOTSUPP:
		snprintf(why, 512,
			 "process %d runs GCC's code on libomp, which cannot be recorded from inside: attach "
			 "without --fast",
			 (int)target->pid);
		return -1;
	default:
		snprintf(why, 512,
			 "process %d cannot reach graind at %.150s: %s; if it lives in a container, attach "
			 "without --fast",
			 (int)target->pid, socket, strerror(-(int32_t)result));
		return -1;
	}
}

static int begin(struct inject *inject, const char *unused, char why[512])
{
	uint64_t result = 0;
	int error = call(inject, inject->target.begin, NULL, 0, 0, &result);

	(void)unused;
	if (error)
		return error;
	switch ((int32_t)result) {
	case 0:
		return 0;
	case -EAGAIN:
		return -EAGAIN;
	case -ENOENT:
		snprintf(why, 512,
			 "nothing in process %d calls its OpenMP runtime by its tables of functions: attach "
			 "without --fast",
			 (int)inject->target.pid);
		return -1;
	case -EXDEV:
		snprintf(why, 512,
			 "calls of the OpenMP runtime in process %d go to another tool first: attach without "
			 "--fast",
			 (int)inject->target.pid);
		return -1;
	default:
		snprintf(why, 512, "recording from inside of process %d failed: %s; attach without --fast",
			 (int)inject->target.pid, strerror(-(int32_t)result));
		return -1;
	}
}

/* ---- interface -------------------------------------------------------- */

/* Whether the process sees the same file under this name as this process, and so would load it. */
static bool is_visible(const struct inject *inject)
{
	char path[4500];
	struct stat here, there;

	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)inject->target.pid, inject->library);
	return stat(inject->library, &here) == 0 && stat(path, &there) == 0 && here.st_ino == there.st_ino &&
	       here.st_dev == there.st_dev;
}

/* Looks until something else than the moment decides. */
static int look(struct inject *inject, pid_t pid, char why[512])
{
	const char *reason = why;
	int error;

	for (;;) {
		error = inject_target__look(pid, &inject->target, why);
		if (error != -EAGAIN)
			return error;
		if (!wait_a_moment(inject->patience, NAP_NS, reason))
			break;
		inject_target__release(&inject->target);
	}
	strncat(why, ": give it more (--patience), or attach without --fast", 511 - strlen(why));
	return -1;
}

int inject__look(pid_t pid, const char *library, struct inject_patience *patience, struct inject **out,
		 char why[512])
{
	struct inject *inject = calloc(1, sizeof(*inject));
	int error = -1;

	if (!inject) {
		snprintf(why, 512, "out of memory");
		return error;
	}
	inject->patience = patience;
	snprintf(inject->library, sizeof(inject->library), "%s", library);
	if (!inject_arch__supported()) {
		snprintf(why, 512, "--fast is for running programs on x86-64 only: attach without it");
	} else if ((error = look(inject, pid, why)) != 0) {
		;
	} else if (!inject->target.attach && !is_visible(inject)) {
		snprintf(
			why, 512,
			"process %d does not see %.200s (another mount namespace, as of a container): attach "
			"without --fast",
			(int)pid, library);
		error = -1;
	} else {
		*out = inject;
		return 0;
	}
	inject__free(inject);
	return error;
}

int inject__load(struct inject *inject, const char *socket, char why[512])
{
	return at_a_safe_place(inject, load, socket, why);
}

int inject__begin(struct inject *inject, char why[512])
{
	return at_a_safe_place(inject, begin, NULL, why);
}

uint64_t inject__stopped_ns(const struct inject *inject)
{
	return inject->stopped_ns;
}

void inject__free(struct inject *inject)
{
	if (!inject)
		return;
	inject_target__release(&inject->target);
	free(inject);
}
