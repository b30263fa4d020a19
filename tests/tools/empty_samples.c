/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * empty_samples HZ: the kernel's clock interrupts each CPU so often, for a BPF program that does nothing,
 * until its input ends. It says "ready" once that is so. What is measured beside it is what the machine takes
 * for samples of which nothing is kept.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int interrupt_cpu(int cpu, unsigned long hz, int program)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = hz,
	};
	int event = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (event < 0)
		return -errno;
	return ioctl(event, PERF_EVENT_IOC_SET_BPF, program) ? -errno : 0;
}

int main(int argc, char **argv)
{
	const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	unsigned long hz = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int program = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "empty", "GPL", nothing, 2, NULL);
	char ignored;

	if (!hz) {
		fputs("usage: empty_samples HZ\n", stderr);
		return 2;
	}
	if (program < 0) {
		fprintf(stderr, "cannot load a BPF program: %s\n", strerror(errno));
		return 1;
	}
	for (int cpu = 0; cpu < cpus; cpu++) {
		int error = interrupt_cpu(cpu, hz, program);

		if (error && error != -ENODEV) {
			fprintf(stderr, "CPU %d: %s\n", cpu, strerror(-error));
			return 1;
		}
	}
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &ignored, 1) > 0)
		;
	return 0;
}
