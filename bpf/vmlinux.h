/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The few kernel types that the BPF programs use, written by hand. Only the field names matter: libbpf
 * relocates the offsets to the running kernel (CO-RE). So it works on any kernel with BTF, whichever kernel
 * builds it.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u32 __wsum;
typedef _Bool bool;

enum { false = 0, true = 1 };

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PROG_ARRAY = 3,
	BPF_MAP_TYPE_PERF_EVENT_ARRAY = 4,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum {
	BPF_F_NO_PREALLOC = 1 << 0,
	BPF_F_NUMA_NODE = 1 << 2,
	BPF_F_MMAPABLE = 1 << 10,
};

enum { BPF_LOCAL_STORAGE_GET_F_CREATE = 1 };
enum { BPF_NOEXIST = 1 };
enum { BPF_F_USER_STACK = 1 << 8 };

struct bpf_perf_event_value {
	__u64 counter;
	__u64 enabled;
	__u64 running;
};

#if defined(__TARGET_ARCH_arm64)
/* The context of a uprobe program. Its layout is kernel ABI: struct user_pt_regs. */
struct pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 pstate;
};
#define SAMPLED_AT(regs) ((regs).pc)
#endif

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#if !defined(__TARGET_ARCH_arm64)
/* x86-64: the context of a uprobe program. Its layout is kernel ABI. */
struct pt_regs {
	unsigned long r15;
	unsigned long r14;
	unsigned long r13;
	unsigned long r12;
	unsigned long bp;
	unsigned long bx;
	unsigned long r11;
	unsigned long r10;
	unsigned long r9;
	unsigned long r8;
	unsigned long ax;
	unsigned long cx;
	unsigned long dx;
	unsigned long si;
	unsigned long di;
	unsigned long orig_ax;
	unsigned long ip;
	unsigned long cs;
	unsigned long flags;
	unsigned long sp;
	unsigned long ss;
};
#define SAMPLED_AT(regs) ((regs).ip)
#endif

struct bpf_perf_event_data {
	struct pt_regs regs;
	__u64 sample_period;
	__u64 addr;
};

#if defined(__TARGET_ARCH_arm64)
struct pt_regs___kernel { /* the kernel's own type, which has more than the context */
	int syscallno;
};
struct thread_struct {
	struct {
		unsigned long tp_value;
	} uw;
};
#else
struct thread_struct {
	unsigned long fsbase;
};
#endif

struct sched_entity {
	__u64 nr_migrations;
};

struct bpf_local_storage;

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct task_struct {
	struct sched_entity se;
	int pid;
	int tgid;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct bpf_local_storage *bpf_storage;
	unsigned long nvcsw;
	unsigned long nivcsw;
	unsigned long min_flt;
	unsigned long maj_flt;
	char comm[16];
	struct thread_struct thread;
};

#pragma clang attribute pop

#endif
