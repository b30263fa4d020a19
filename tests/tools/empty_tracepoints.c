/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * empty_tracepoints NAME...: a BPF program that does nothing at each of these tracepoints, until its input
 * ends. It says "ready" once they are there. What is measured beside it is what the kernel takes for calling
 * any program at all.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int program = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "empty", "GPL", nothing, 2, NULL);
	char ignored;

	for (int i = 1; program >= 0 && i < argc; i++) {
		if (bpf_raw_tracepoint_open(argv[i], program) < 0) {
			fprintf(stderr, "%s: %s\n", argv[i], strerror(errno));
			return 1;
		}
	}
	if (program < 0) {
		fprintf(stderr, "cannot load a BPF program: %s\n", strerror(errno));
		return 1;
	}
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &ignored, 1) > 0)
		;
	return 0;
}
