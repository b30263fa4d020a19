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

struct sampling {
	bool cycles;
	unsigned int count;
	struct bpf_link *links[]; /* each owns its perf event */
};

static int open_event(bool cycles, unsigned int hz, unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = cycles ? (uint64_t)PERF_COUNT_HW_CPU_CYCLES : (uint64_t)PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = hz,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

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
static int start_on(struct sampling *s, const struct bpf_program *program, unsigned int hz, unsigned int cpu)
{
	int fd = open_event(s->cycles, hz, cpu), error;

	if (fd < 0)
		return fd;
	s->links[s->count] = bpf_program__attach_perf_event(program, fd);
	if (s->links[s->count]) {
		s->count++;
		return 0;
	}
	error = -errno;
	close(fd);
	return error;
}

static int start_all(struct sampling *s, const struct bpf_program *program, unsigned int hz,
		     unsigned int cpus)
{
	int error = 0;

	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		error = start_on(s, program, hz, cpu);
		if (error && error != -ENODEV)
			return error;
	}
	return s->count ? 0 : error;
}

static void stop_all(struct sampling *s)
{
	while (s->count)
		bpf_link__destroy(s->links[--s->count]);
}

int sampling__start(const struct bpf_program *program, unsigned int hz, unsigned int cpus,
		    struct sampling **out, struct uprobes_error *err)
{
	struct sampling *s = calloc(1, sizeof(*s) + cpus * sizeof(*s->links));
	int error = -ENOMEM;

	if (s) {
		s->cycles = true;
		error = start_all(s, program, hz, cpus);
	}
	if (s && error) {
		stop_all(s);
		s->cycles = false;
		error = start_all(s, program, hz, cpus);
	}
	if (!error) {
		*out = s;
		return 0;
	}
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
