/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs parallel regions under a filter that kills it for opening a file or a socket, until it is ended. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#define REFUSED(call)                                                                                        \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static volatile long sink;

static void work(void)
{
#pragma omp parallel for
	for (int i = 0; i < 1000; i++)
		sink += i;
}

int main(void)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		REFUSED(SYS_openat),
		REFUSED(SYS_socket),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = {.len = sizeof(steps) / sizeof(steps[0]), .filter = steps};
	const struct timespec nap = {.tv_nsec = 1000000};

	work();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
		return 1;
	puts("filtered");
	fflush(stdout);
	for (;;) {
		work();
		nanosleep(&nap, NULL);
	}
}
