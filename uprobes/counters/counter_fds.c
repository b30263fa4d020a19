// SPDX-License-Identifier: BSD-2-Clause
/* The perf events of a capture's counters, one on each CPU. */
#include "uprobes/counters/counter_set.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct counter_fds {
	unsigned int cpus;
	int fd[]; /* event * cpus + CPU */
};

static int open_event(const struct counter_event *event, unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = event->type,
		.size = sizeof(attr),
		.config = event->config,
		.config1 = event->config1,
		.config2 = event->config2,
		.exclude_user = event->exclude_user,
		.exclude_kernel = event->exclude_kernel,
		.exclude_hv = event->exclude_hypervisor,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static void explain(int error, struct counter *counter)
{
	char paranoid[16] = "unknown";
	const char *why = strerror(-error);
	FILE *f;

	switch (-error) {
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		why = "this machine has no such counter";
		break;
	case EBUSY:
		why = "something else holds the processor's counters; see whether the NMI watchdog or "
		      "another "
		      "profiler runs";
		break;
	case EMFILE:
	case ENFILE:
		why = "too many open files: raise LimitNOFILE of graind's service";
		break;
	case EACCES:
	case EPERM:
		f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
		if (f && fgets(paranoid, sizeof(paranoid), f))
			paranoid[strcspn(paranoid, "\n")] = '\0';
		if (f)
			fclose(f);
		snprintf(counter->absent, sizeof(counter->absent),
			 "perf_event_paranoid is %s here: give graind CAP_PERFMON, or run it as root",
			 paranoid);
		return;
	default:
		break;
	}
	snprintf(counter->absent, sizeof(counter->absent), "%s", why);
}

/* Opens the event on every online CPU. Returns the last error if it could not be opened on any CPU. */
static int open_on_all(struct counter_fds *fds, size_t event, const struct counter_event *what)
{
	int error = -ENODEV;
	bool any = false;

	for (unsigned int cpu = 0; cpu < fds->cpus; cpu++) {
		int fd = open_event(what, cpu);

		fds->fd[event * fds->cpus + cpu] = fd < 0 ? -1 : fd;
		any |= fd >= 0;
		/* This CPU is offline. */
		if (fd == -ENODEV && any)
			continue;
		if (fd < 0)
			error = fd;
		if (fd < 0 && fd != -ENODEV)
			return fd;
	}
	return any ? 0 : error;
}

static void close_event(struct counter_fds *fds, size_t event)
{
	for (unsigned int cpu = 0; cpu < fds->cpus; cpu++) {
		int *fd = &fds->fd[event * fds->cpus + cpu];

		if (*fd >= 0)
			close(*fd);
		*fd = -1;
	}
}

/* Sorts available counters first, in the order in which they were requested. */
static void sort_counters(struct counter_set *set)
{
	struct counter sorted[RING_COUNTERS_MAX];
	uint32_t place[RING_COUNTERS_MAX], n = 0;

	for (int absent = 0; absent < 2; absent++) {
		for (size_t i = 0; i < set->counter_count; i++) {
			if ((set->counters[i].absent[0] != '\0') != absent)
				continue;
			place[i] = n;
			sorted[n++] = set->counters[i];
		}
	}
	memcpy(set->counters, sorted, n * sizeof(*sorted));
	for (size_t i = 0; i < set->event_count; i++)
		set->events[i].term.counter = place[set->events[i].term.counter];
}

int counter_fds__open(struct counter_set *set, unsigned int cpus, struct counter_fds **out)
{
	size_t count = (size_t)RING_COUNTERS_MAX * cpus, i = 0;
	struct counter_fds *fds = malloc(sizeof(*fds) + count * sizeof(*fds->fd));

	if (!fds)
		return -ENOMEM;
	fds->cpus = cpus;
	for (size_t k = 0; k < count; k++)
		fds->fd[k] = -1;
	while (i < set->perf_count) {
		uint32_t counter = set->events[i].term.counter;
		int error = open_on_all(fds, i, &set->events[i]);

		if (!error) {
			i++;
			continue;
		}
		explain(error, &set->counters[counter]);
		close_event(fds, i);
		/* The counter's earlier events are adjacent to this one. */
		while (i > 0 && set->events[i - 1].term.counter == counter)
			close_event(fds, --i);
		counter_set__drop_events(set, counter);
	}
	sort_counters(set);
	*out = fds;
	return 0;
}

int counter_fds__get(const struct counter_fds *fds, size_t event, unsigned int cpu)
{
	return fds->fd[event * fds->cpus + cpu];
}

double counter_fds__share(const struct counter_fds *fds, size_t event)
{
	double enabled = 0, running = 0;

	for (unsigned int cpu = 0; cpu < fds->cpus; cpu++) {
		struct {
			uint64_t value, enabled, running;
		} now;
		int fd = counter_fds__get(fds, event, cpu);

		if (fd < 0 || read(fd, &now, sizeof(now)) != sizeof(now))
			continue;
		enabled += (double)now.enabled;
		running += (double)now.running;
	}
	return enabled > 0 ? running / enabled : 1;
}

void counter_fds__free(struct counter_fds *fds)
{
	if (!fds)
		return;
	for (size_t event = 0; event < RING_COUNTERS_MAX; event++)
		close_event(fds, event);
	free(fds);
}
