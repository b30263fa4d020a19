// SPDX-License-Identifier: BSD-2-Clause
/* A short look at what runs: first which processes are busy, then their threads. */
#include "daemon/common/settings/settings_watch.h"
#include "daemon/common/settings/small_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define FIRST_LOOK_NS 150000000L
#define SAMPLE_NS 600000000L
#define LOOKS 12
#define OTHERS_MAX 64
#define OWN_THREADS_MAX 4096
#define OTHER_THREADS_MAX 128
#define SEEN_MAX 65536
/* In the flags of /proc/PID/stat. */
#define KERNEL_THREAD 0x00200000U

struct stat_line {
	char state, command[16];
	pid_t parent;
	unsigned int flags, processor;
	uint64_t ticks;
};

struct seen {
	pid_t pid;
	uint64_t ticks;
};

/* What a thread's counters said at first. */
struct before {
	uint64_t ran_ns, waited_ns;
	double migrations;  /* negative: not known */
	unsigned int ready; /* looks in which it ran or wanted to */
	bool counted;	    /* the kernel counts its times */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void wait_until(uint64_t ns)
{
	struct timespec until = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

/* Reads the stat of a process (tid 0) or thread. */
static bool read_stat(pid_t pid, pid_t tid, struct stat_line *out)
{
	char text[2048], *name, *at;
	uint64_t user, system;

	if ((tid ? small_file__read(text, sizeof(text), "/proc/%d/task/%d/stat", (int)pid, (int)tid)
		 : small_file__read(text, sizeof(text), "/proc/%d/stat", (int)pid)) <= 0)
		return false;
	/* The command's name may contain any characters. */
	name = strchr(text, '(');
	at = strrchr(text, ')');
	if (!name || !at || at < name)
		return false;
	*at = '\0';
	snprintf(out->command, sizeof(out->command), "%s", name + 1);
	if (sscanf(at + 1, " %c %d %*s %*s %*s %*s %u %*s %*s %*s %*s %" SCNu64 " %" SCNu64, &out->state,
		   &out->parent, &out->flags, &user, &system) != 5)
		return false;
	out->ticks = user + system;
	out->processor = 0;
	at++;
	for (int field = 2; at && field < 39; field++)
		at = strchr(at + 1, ' ');
	if (at)
		out->processor = (unsigned int)strtoul(at, NULL, 10);
	return true;
}

static bool read_times(pid_t pid, pid_t tid, uint64_t *ran_ns, uint64_t *waited_ns)
{
	char text[128];

	return small_file__read(text, sizeof(text), "/proc/%d/task/%d/schedstat", (int)pid, (int)tid) > 0 &&
	       sscanf(text, "%" SCNu64 " %" SCNu64, ran_ns, waited_ns) == 2;
}

static double read_migrations(pid_t pid, pid_t tid)
{
	char text[8192];
	const char *at = NULL;

	if (small_file__read(text, sizeof(text), "/proc/%d/task/%d/sched", (int)pid, (int)tid) > 0)
		at = strstr(text, "se.nr_migrations");
	at = at ? strchr(at, ':') : NULL;
	return at ? strtod(at + 1, NULL) : -1;
}

static uid_t owner_of(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return stat(path, &st) ? (uid_t)-1 : st.st_uid;
}

/* Calls `each` for the numbers in a directory of /proc, until it returns false. */
static void for_numbers(const char *path, bool (*each)(pid_t number, void *ctx), void *ctx)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	bool more = true;

	while (directory && more && (entry = readdir(directory))) {
		if (isdigit((unsigned char)entry->d_name[0]))
			more = each((pid_t)atoi(entry->d_name), ctx);
	}
	if (directory)
		closedir(directory);
}

struct scan {
	struct settings_facts *facts;
	struct before *before;
	struct seen *seen;
	size_t count, at;
	pid_t own, own_parent;
	uid_t uid;
	uint32_t process; /* whose threads are added */
	size_t limit;	  /* of `threads` */
	pid_t last;	  /* the process' newest thread when the sample began */
	size_t passing;
};

static bool see(pid_t pid, void *ctx)
{
	struct scan *scan = ctx;
	struct stat_line stat;

	if (pid != scan->own && scan->count < SEEN_MAX && read_stat(pid, 0, &stat) &&
	    !(stat.flags & KERNEL_THREAD))
		scan->seen[scan->count++] = (struct seen){pid, stat.ticks};
	return scan->count < SEEN_MAX;
}

/* Adds a process that used a CPU since it was seen, or wants one. */
static bool see_again(pid_t pid, void *ctx)
{
	struct scan *scan = ctx;
	struct settings_facts *facts = scan->facts;
	struct settings_process *process;
	struct stat_line stat;
	bool related;

	/* The kernel lists processes in the order of their numbers. */
	while (scan->at < scan->count && scan->seen[scan->at].pid < pid)
		scan->at++;
	if (scan->at == scan->count || scan->seen[scan->at].pid != pid || !read_stat(pid, 0, &stat) ||
	    (stat.ticks == scan->seen[scan->at].ticks && stat.state != 'R'))
		return scan->at < scan->count;
	process = &facts->processes[facts->process_count++];
	process->pid = pid;
	snprintf(process->command, sizeof(process->command), "%s", stat.command);
	related = stat.parent == scan->own || stat.parent == scan->own_parent || pid == scan->own_parent;
	process->kin =
		related && !strcmp(stat.command, facts->processes[0].command) && owner_of(pid) == scan->uid;
	return facts->process_count <= OTHERS_MAX;
}

/* Reads the affinity of a thread. */
static bool read_affinity(pid_t pid, pid_t tid, struct cpus *out)
{
	char text[8192];
	const char *at = NULL;
	char list[4096];

	if (small_file__read(text, sizeof(text), "/proc/%d/task/%d/status", (int)pid, (int)tid) > 0)
		at = strstr(text, "Cpus_allowed_list:");
	return at && sscanf(at, "Cpus_allowed_list: %4095s", list) == 1 && cpus__read(list, out);
}

static bool add_thread(pid_t tid, void *ctx)
{
	struct scan *scan = ctx;
	struct settings_facts *facts = scan->facts;
	pid_t pid = facts->processes[scan->process].pid;
	struct settings_thread *thread = &facts->threads[facts->thread_count];
	struct before *before = &scan->before[facts->thread_count];

	*thread = (struct settings_thread){.tid = tid, .process = scan->process, .migrations = -1};
	*before = (struct before){.migrations = scan->process ? -1 : read_migrations(pid, tid)};
	if (!read_affinity(pid, tid, &thread->cpus))
		return true;
	before->counted = read_times(pid, tid, &before->ran_ns, &before->waited_ns);
	return ++facts->thread_count < scan->limit;
}

/* Counts threads that have begun since the sample did, as inner teams of libgomp do: those come and go. */
static bool count_passing(pid_t tid, void *ctx)
{
	struct scan *scan = ctx;
	struct stat_line stat;

	if (tid > scan->last && read_stat(scan->own, tid, &stat) && stat.state == 'R')
		scan->passing++;
	return scan->passing < OWN_THREADS_MAX * LOOKS;
}

static void look(struct scan *scan)
{
	struct settings_facts *facts = scan->facts;
	struct before *before = scan->before;
	char path[64];

	for (size_t i = 0; i < facts->thread_count; i++) {
		struct settings_thread *t = &facts->threads[i];
		struct stat_line stat;

		if (!read_stat(facts->processes[t->process].pid, t->tid, &stat))
			continue;
		before[i].ready += stat.state == 'R';
		if (stat.processor < CPUS_MAX)
			t->nodes |= 1ULL << facts->node[stat.processor] % 64;
	}
	snprintf(path, sizeof(path), "/proc/%d/task", (int)scan->own);
	for_numbers(path, count_passing, scan);
}

/* `stopped`: the group was stopped by its quota. Only its threads' states show how long. */
static void compute(struct settings_facts *facts, const struct before *before, unsigned int looks,
		    bool stopped)
{
	for (size_t i = 0; i < facts->thread_count; i++) {
		struct settings_thread *t = &facts->threads[i];
		pid_t pid = facts->processes[t->process].pid;
		double ready = (double)before[i].ready / looks, ran = 0, moved;
		uint64_t ran_ns, waited_ns;

		t->runnable = ready;
		if (before[i].counted && read_times(pid, t->tid, &ran_ns, &waited_ns)) {
			ran = (double)(ran_ns - before[i].ran_ns) / 1e9 / facts->seconds;
			t->waited = (double)(waited_ns - before[i].waited_ns) / 1e9 / facts->seconds;
			t->runnable = ran + t->waited;
			if (stopped && t->process == 0 && ready > t->runnable) {
				t->runnable = ready;
				t->waited = ready - ran;
			}
		}
		moved = before[i].migrations < 0 ? -1 : read_migrations(pid, t->tid);
		if (moved >= before[i].migrations && moved >= 0)
			t->migrations = (moved - before[i].migrations) / facts->seconds;
	}
}

static void sample(struct scan *scan, const struct cgroup_limits *limits)
{
	struct settings_facts *facts = scan->facts;
	uint64_t periods[2], stopped[2], begin_ns = now_ns();
	bool known = cgroup_limits__throttled(limits, &periods[0], &stopped[0]);
	unsigned int looks = 0;

	for (; looks < LOOKS && now_ns() < begin_ns + SAMPLE_NS; looks++) {
		look(scan);
		wait_until(begin_ns + (looks + 1) * (uint64_t)SAMPLE_NS / LOOKS);
	}
	known = known && cgroup_limits__throttled(limits, &periods[1], &stopped[1]);
	facts->throttled = -1;
	if (known)
		facts->throttled = periods[1] > periods[0] ? (double)(stopped[1] - stopped[0]) /
								     (double)(periods[1] - periods[0])
							   : 0;
	facts->seconds = (double)(now_ns() - begin_ns) / 1e9;
	facts->passing = (double)scan->passing / looks;
	compute(facts, scan->before, looks, facts->throttled > 0);
}

static int watch(struct scan *scan, const struct cgroup_limits *limits)
{
	struct settings_facts *facts = scan->facts;
	uint64_t begin_ns = now_ns();
	char path[64];

	for_numbers("/proc", see, scan);
	wait_until(begin_ns + FIRST_LOOK_NS);
	for_numbers("/proc", see_again, scan);
	for (; scan->process < facts->process_count; scan->process++) {
		scan->limit = scan->process ? facts->thread_count + OTHER_THREADS_MAX : OWN_THREADS_MAX;
		snprintf(path, sizeof(path), "/proc/%d/task", (int)facts->processes[scan->process].pid);
		for_numbers(path, add_thread, scan);
	}
	for (size_t i = 0; i < facts->thread_count; i++) {
		if (facts->threads[i].process == 0)
			scan->last = facts->threads[i].tid;
	}
	sample(scan, limits);
	return facts->thread_count ? 0 : -ESRCH;
}

int settings__watch(pid_t pid, const struct cgroup_limits *limits, struct settings_facts *facts)
{
	const size_t threads = OWN_THREADS_MAX + (OTHERS_MAX + 1) * OTHER_THREADS_MAX;
	struct scan scan = {.facts = facts, .own = pid, .uid = owner_of(pid)};
	struct stat_line stat;
	int error = -ENOMEM;

	if (!read_stat(pid, 0, &stat))
		return -ESRCH;
	facts->processes = calloc(OTHERS_MAX + 2, sizeof(*facts->processes));
	facts->threads = calloc(threads, sizeof(*facts->threads));
	scan.before = calloc(threads, sizeof(*scan.before));
	scan.seen = calloc(SEEN_MAX, sizeof(*scan.seen));
	if (facts->processes && facts->threads && scan.before && scan.seen) {
		facts->processes[0].pid = pid;
		snprintf(facts->processes[0].command, sizeof(facts->processes[0].command), "%s",
			 stat.command);
		facts->process_count = 1;
		scan.own_parent = stat.parent;
		error = watch(&scan, limits);
	}
	free(scan.before);
	free(scan.seen);
	return error;
}
