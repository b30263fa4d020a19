// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/sampling.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What is opened on each CPU. */
struct what {
	struct perf_event_attr event, leader;
	bool led;
};

struct sampling {
	bool cycles;
	unsigned int count;
	struct {
		struct bpf_link *link; /* owns its perf event */
		int leader;	       /* -1: it has none */
	} on[];
};

static int open_event(const struct perf_event_attr *event, unsigned int cpu, int leader)
{
	struct perf_event_attr attr = *event;
	int fd;

	attr.size = sizeof(attr);
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, leader, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void explain(int error, unsigned int hz, struct uprobes_error *err)
{
	if (error == -EINVAL)
		snprintf(
			err->text, sizeof(err->text),
			"the kernel does not sample %u times a second; see kernel.perf_event_max_sample_rate",
			hz);
	else if (error == -EACCES || error == -EPERM)
		snprintf(err->text, sizeof(err->text),
			 "no right to sample: give graind CAP_PERFMON, or run it as root");
	else
		snprintf(err->text, sizeof(err->text), "cannot sample: %s", strerror(-error));
}

/* -ENODEV: the CPU is not online. */
static int start_on(struct sampling *s, const struct bpf_program *program, const struct what *what,
		    unsigned int cpu)
{
	int leader = what->led ? open_event(&what->leader, cpu, -1) : -1, fd, error;

	if (what->led && leader < 0)
		return leader;
	fd = open_event(&what->event, cpu, leader);
	error = fd < 0 ? fd : 0;
	if (!error) {
		s->on[s->count].leader = leader;
		s->on[s->count].link = bpf_program__attach_perf_event(program, fd);
		if (s->on[s->count].link) {
			s->count++;
			return 0;
		}
		error = -errno;
		close(fd);
	}
	if (leader >= 0)
		close(leader);
	return error;
}

static int start_all(struct sampling *s, const struct bpf_program *program, const struct what *what,
		     unsigned int cpus)
{
	int error = 0;

	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		error = start_on(s, program, what, cpu);
		if (error && error != -ENODEV)
			return error;
	}
	return s->count ? 0 : error;
}

static void stop_all(struct sampling *s)
{
	while (s->count) {
		bpf_link__destroy(s->on[--s->count].link);
		if (s->on[s->count].leader >= 0)
			close(s->on[s->count].leader);
	}
}

static struct sampling *new_sampling(unsigned int cpus)
{
	return calloc(1, sizeof(struct sampling) + cpus * sizeof(((struct sampling *)0)->on[0]));
}

int sampling__start(const struct bpf_program *program, unsigned int hz, unsigned int cpus,
		    struct sampling **out, struct uprobes_error *err)
{
	struct what what = {.event = {.type = PERF_TYPE_HARDWARE,
				      .config = PERF_COUNT_HW_CPU_CYCLES,
				      .freq = 1,
				      .sample_freq = hz}};
	struct sampling *s = new_sampling(cpus);
	int error = -ENOMEM;

	if (s) {
		s->cycles = true;
		error = start_all(s, program, &what, cpus);
	}
	if (s && error) {
		stop_all(s);
		s->cycles = false;
		what.event.type = PERF_TYPE_SOFTWARE;
		what.event.config = PERF_COUNT_SW_CPU_CLOCK;
		error = start_all(s, program, &what, cpus);
	}
	if (!error) {
		*out = s;
		return 0;
	}
	explain(error, hz, err);
	sampling__stop(s);
	return error;
}

int sampling__start_memory(const struct bpf_program *program, const struct memory_event *event,
			   unsigned int hz, unsigned int cpus, struct sampling **out,
			   struct uprobes_error *err)
{
	struct what what = {.event = {.type = event->type,
				      .config = event->config,
				      .config1 = event->config1,
				      .config2 = event->config2,
				      .sample_type = PERF_SAMPLE_ADDR,
				      .freq = !event->period,
				      .sample_freq = hz,
				      .precise_ip = event->precise & 3,
				      .exclude_user = event->exclude_user,
				      .exclude_kernel = event->exclude_kernel,
				      .exclude_hv = event->exclude_hypervisor},
			    .leader = {.type = event->type, .config = event->leader},
			    .led = event->led};
	struct sampling *s = new_sampling(cpus);
	int error = -ENOMEM;

	if (event->period)
		what.event.sample_period = event->period;
	if (s)
		error = start_all(s, program, &what, cpus);
	if (!error) {
		*out = s;
		return 0;
	}
	if (error == -ENOENT || error == -ENODEV || error == -EOPNOTSUPP)
		snprintf(err->text, sizeof(err->text), "this machine takes no samples of %s", event->name);
	else
		explain(error, hz, err);
	sampling__stop(s);
	return error;
}

const char *sampling__clock(const struct sampling *sampling)
{
	return sampling->cycles ? "cycles" : "cpu-clock";
}

void sampling__stop(struct sampling *sampling)
{
	if (!sampling)
		return;
	stop_all(sampling);
	free(sampling);
}
