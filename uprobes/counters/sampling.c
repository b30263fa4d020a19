// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/counters/sampling.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define DEVICES "/sys/bus/event_source/devices"
/*
 * Rounds of the search for threads. Meanwhile threads without an event may create other threads, fewer in
 * each round.
 */
#define LOOKS 16

/* The sampler of one CPU or thread. */
struct sampler {
	struct bpf_link *link; /* owns its perf event; NULL: `event` does */
	int event;
	int leader; /* -1: it has none */
};

struct sampling {
	struct sampling_opts opts;
	struct perf_event_attr event, leader;
	bool led, cycles;
	unsigned int every;
	uint64_t settled_ns; /* time since which each thread created by a thread with an event also has one */
	struct sampler *on;
	size_t count, room;
};

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int open_event(const struct perf_event_attr *event, pid_t tid, int cpu, int leader)
{
	struct perf_event_attr attr = *event;
	int fd;

	attr.size = sizeof(attr);
	fd = (int)syscall(SYS_perf_event_open, &attr, tid, cpu, leader, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Opens the event, with its group leader if it needs one. */
static int open_both(const struct sampling *s, pid_t tid, int cpu, struct sampler *out)
{
	*out = (struct sampler){.event = -1, .leader = -1};
	if (s->led) {
		out->leader = open_event(&s->leader, tid, cpu, -1);
		if (out->leader < 0)
			return out->leader;
	}
	out->event = open_event(&s->event, tid, cpu, out->leader);
	if (out->event < 0 && out->leader >= 0)
		close(out->leader);
	return out->event < 0 ? out->event : 0;
}

static void close_sampler(struct sampler *sampler)
{
	if (sampler->link)
		bpf_link__destroy(sampler->link);
	else
		close(sampler->event);
	if (sampler->leader >= 0)
		close(sampler->leader);
}

static int make_room(struct sampling *s)
{
	size_t room = s->room ? 2 * s->room : 16;
	struct sampler *on;

	if (s->count < s->room)
		return 0;
	on = reallocarray(s->on, room, sizeof(*on));
	if (!on)
		return -ENOMEM;
	s->on = on;
	s->room = room;
	return 0;
}

/* The cookie tells the event from inherited ones, which have none. */
static int run_program(const struct sampling *s, struct sampler *sampler, bool twofold)
{
	LIBBPF_OPTS(bpf_perf_event_opts, opts, .bpf_cookie = 1);

	if (!twofold)
		return ioctl(sampler->event, PERF_EVENT_IOC_SET_BPF, bpf_program__fd(s->opts.program))
			       ? -errno
			       : 0;
	sampler->link = bpf_program__attach_perf_event_opts(s->opts.program, sampler->event, &opts);
	return sampler->link ? 0 : -errno;
}

/* -ENODEV: the CPU is not online; -ESRCH: the thread has ended. */
static int start_on(struct sampling *s, pid_t tid, int cpu, bool twofold)
{
	struct sampler sampler;
	int error = make_room(s);

	if (!error)
		error = open_both(s, tid, cpu, &sampler);
	if (error)
		return error;
	error = run_program(s, &sampler, twofold);
	if (error)
		close_sampler(&sampler);
	else
		s->on[s->count++] = sampler;
	return error;
}

static void stop_all(struct sampling *s)
{
	while (s->count)
		close_sampler(&s->on[--s->count]);
}

static int start_on_cpus(struct sampling *s)
{
	int error = 0;

	for (unsigned int cpu = 0; cpu < s->opts.cpus; cpu++) {
		error = start_on(s, -1, (int)cpu, false);
		if (error && error != -ENODEV)
			break;
	}
	if (s->count && (!error || error == -ENODEV))
		return 0;
	stop_all(s);
	return error;
}

/* What is possible with a thread of graind is possible with other threads. */
static int try_on_thread(struct sampling *s)
{
	struct sampler sampler;
	int error;

	s->event.inherit = s->leader.inherit = 1;
	error = open_both(s, 0, -1, &sampler);
	if (!error)
		close_sampler(&sampler);
	return error;
}

static int start(struct sampling *s)
{
	return s->opts.threads ? try_on_thread(s) : start_on_cpus(s);
}

/* Whether the CPUs have different counters. A thread may move between them. */
static bool cpus_differ(void)
{
	DIR *directory = opendir(DEVICES);
	struct dirent *entry;
	unsigned int kinds = 0;
	char path[400];

	while (directory && (entry = readdir(directory))) {
		snprintf(path, sizeof(path), DEVICES "/%.255s/cpus", entry->d_name);
		kinds += entry->d_name[0] != '.' && !access(path, F_OK);
	}
	if (directory)
		closedir(directory);
	return kinds > 1;
}

/* Starts with more interrupts if the kernel allows them, else with the requested frequency. */
static int start_often(struct sampling *s)
{
	unsigned int hz = s->opts.hz;
	int error;

	s->every = s->opts.threads && hz < SAMPLE_HZ_OF_THREADS ? (SAMPLE_HZ_OF_THREADS + hz - 1) / hz : 1;
	s->event.freq = 1;
	s->event.sample_freq = hz * s->every;
	error = start(s);
	if (error != -EINVAL || s->every == 1)
		return error;
	s->every = 1;
	s->event.sample_freq = hz;
	return start(s);
}

static int start_clock(struct sampling *s)
{
	int error = -ENOENT;

	s->cycles = !s->opts.threads || !cpus_differ();
	if (s->cycles) {
		s->event = (struct perf_event_attr){.type = PERF_TYPE_HARDWARE,
						    .config = PERF_COUNT_HW_CPU_CYCLES};
		error = start_often(s);
	}
	if (!error)
		return 0;
	s->cycles = false;
	s->event = (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK};
	return start_often(s);
}

static int start_memory(struct sampling *s, const struct memory_event *event)
{
	s->event = (struct perf_event_attr){.type = event->type,
					    .config = event->config,
					    .config1 = event->config1,
					    .config2 = event->config2,
					    .sample_type = PERF_SAMPLE_ADDR,
					    .freq = !event->period,
					    .sample_freq = s->opts.hz,
					    .precise_ip = event->precise & 3,
					    .exclude_user = event->exclude_user,
					    .exclude_kernel = event->exclude_kernel,
					    .exclude_hv = event->exclude_hypervisor};
	s->leader = (struct perf_event_attr){.type = event->type, .config = event->leader};
	s->led = event->led;
	if (event->period)
		s->event.sample_period = event->period;
	return start(s);
}

static void explain(int error, const struct sampling_opts *opts, struct uprobes_error *err)
{
	if (opts->memory_event && (error == -ENOENT || error == -ENODEV || error == -EOPNOTSUPP))
		snprintf(err->text, sizeof(err->text), "this machine takes no samples of %s",
			 opts->memory_event->name);
	else if (error == -EINVAL)
		snprintf(
			err->text, sizeof(err->text),
			"the kernel does not sample %u times a second; see kernel.perf_event_max_sample_rate",
			opts->hz);
	else if (error == -EACCES || error == -EPERM)
		snprintf(err->text, sizeof(err->text),
			 "no right to sample: give graind CAP_PERFMON, or run it as root");
	else if (error == -E2BIG)
		snprintf(err->text, sizeof(err->text),
			 "the process has more than %zu threads that would be sampled one by one; ask for "
			 "fewer samples, or start it with grainctl run",
			 opts->threads);
	else
		snprintf(err->text, sizeof(err->text), "cannot sample: %s", strerror(-error));
}

int sampling__start(const struct sampling_opts *opts, struct sampling **out, struct uprobes_error *err)
{
	struct sampling *s = calloc(1, sizeof(*s));
	int error = -ENOMEM;

	if (s) {
		s->opts = *opts;
		s->every = 1;
		error = opts->memory_event ? start_memory(s, opts->memory_event) : start_clock(s);
	}
	if (!error) {
		*out = s;
		return 0;
	}
	explain(error, opts, err);
	sampling__stop(s);
	return error;
}

/* ---- threads ------------------------------------------------------------ */

struct threads {
	pid_t *tids; /* ascending */
	size_t count, room;
};

static int compare(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool has(const struct threads *threads, pid_t tid, size_t count)
{
	return count && bsearch(&tid, threads->tids, count, sizeof(tid), compare);
}

static int remember(struct threads *threads, pid_t tid)
{
	if (threads->count == threads->room) {
		size_t room = threads->room ? 2 * threads->room : 64;
		pid_t *tids = reallocarray(threads->tids, room, sizeof(*tids));

		if (!tids)
			return -ENOMEM;
		threads->tids = tids;
		threads->room = room;
	}
	threads->tids[threads->count++] = tid;
	return 0;
}

static int add_thread(struct sampling *s, pid_t tid, bool twofold)
{
	const uint32_t key = (uint32_t)tid;
	const uint8_t none = 0;
	int error;

	if (s->count >= s->opts.threads)
		return -E2BIG;
	if (twofold) {
		/* If there is no room in the map, the thread gets no event. That is better than two. */
		error = bpf_map_update_elem(bpf_map__fd(s->opts.twofold), &key, &none, BPF_ANY);
		if (error)
			return 0;
		__atomic_store_n(s->opts.any_twofold, 1, __ATOMIC_RELAXED);
	}
	error = start_on(s, tid, -1, twofold);
	return error == -ESRCH ? 0 : error;
}

/* Looks for threads that were not there the last time. Returns their number or an error. */
static int look(struct sampling *s, const char *path, struct threads *known, bool twofold)
{
	size_t before = known->count;
	DIR *directory = opendir(path);
	struct dirent *entry;
	int error = 0;

	while (directory && !error && (entry = readdir(directory))) {
		pid_t tid = (pid_t)atoi(entry->d_name);

		if (tid <= 0 || has(known, tid, before))
			continue;
		error = add_thread(s, tid, twofold);
		if (!error)
			error = remember(known, tid);
	}
	if (directory)
		closedir(directory);
	if (known->count)
		qsort(known->tids, known->count, sizeof(*known->tids), compare);
	return error ? error : (int)(known->count - before);
}

int sampling__add_process(struct sampling *s, pid_t pid, uint64_t forked_ns, struct uprobes_error *err)
{
	struct threads known = {0};
	char path[64];
	int found = 1;

	if (!s->opts.threads || (forked_ns && forked_ns > s->settled_ns))
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	/* Threads that were created during the search may have inherited an event from their creator. */
	for (int i = 0; found > 0 && i < LOOKS; i++)
		found = look(s, path, &known, i > 0 || forked_ns);
	free(known.tids);
	s->settled_ns = now_ns();
	if (found < 0)
		explain(found, &s->opts, err);
	return found < 0 ? found : 0;
}

/* ---- the rest ----------------------------------------------------------- */

/* Inherited events follow their original. */
static void tell_all(struct sampling *s, unsigned long what)
{
	for (size_t i = 0; s && i < s->count; i++)
		ioctl(s->on[i].event, what, 0);
}

void sampling__pause(struct sampling *sampling)
{
	tell_all(sampling, PERF_EVENT_IOC_DISABLE);
}

void sampling__resume(struct sampling *sampling)
{
	tell_all(sampling, PERF_EVENT_IOC_ENABLE);
}

const char *sampling__clock(const struct sampling *sampling)
{
	return sampling->cycles ? "cycles" : "cpu-clock";
}

unsigned int sampling__every(const struct sampling *sampling)
{
	return sampling->every;
}

bool sampling__is_of_threads(const struct sampling *sampling)
{
	return sampling->opts.threads > 0;
}

void sampling__stop(struct sampling *sampling)
{
	if (!sampling)
		return;
	stop_all(sampling);
	free(sampling->on);
	free(sampling);
}
