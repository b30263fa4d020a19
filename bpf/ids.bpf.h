/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Ids of threads and processes in graind's own PID namespace. In a container this is not the initial
 * namespace.
 */
#ifndef GRAIND_IDS_BPF_H
#define GRAIND_IDS_BPF_H

#include "bpf/vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/*
 * How many levels of namespaces are searched. The kernel's MAX_PID_NS_LEVEL is 32, but each level costs
 * instructions, also for threads that graind does not record.
 */
#define IDS_LEVELS 8

/* The inode number of graind's PID namespace; 0: the initial one, whose ids are in the task itself. */
const volatile __u32 pid_namespace = 0;

/* The task's id in that namespace; 0: it has none. */
static __noinline __u32 ids__number(const struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level);

	for (__u32 i = 0; i < IDS_LEVELS && i <= level; i++) {
		struct upid *upid = (void *)pid + bpf_core_field_offset(struct pid, numbers) +
				    i * bpf_core_type_size(struct upid);

		if (BPF_CORE_READ(upid, ns, ns.inum) == pid_namespace)
			return BPF_CORE_READ(upid, nr);
	}
	return 0;
}

/*
 * The ids of the task, which must be a trusted pointer: the process id in the upper half, the thread id in
 * the lower. 0: the task has none in that namespace.
 */
static __always_inline __u64 ids__of(const struct task_struct *task)
{
	if (pid_namespace)
		return (__u64)ids__number(task->group_leader) << 32 | ids__number(task);
	return (__u64)task->tgid << 32 | (__u32)task->pid;
}

static __always_inline __u64 ids__current(void)
{
	return pid_namespace ? ids__of(bpf_get_current_task_btf()) : bpf_get_current_pid_tgid();
}

#endif
