/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/common/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static int limit(int resource, rlim_t most)
{
	struct rlimit now, wanted = {most, most};

	if (getrlimit((__rlimit_resource_t)resource, &now) != 0)
		return -errno;
	if (now.rlim_max != RLIM_INFINITY && now.rlim_max < most)
		wanted.rlim_cur = wanted.rlim_max = now.rlim_max;
	return setrlimit((__rlimit_resource_t)resource, &wanted) ? -errno : 0;
}

int confine__limit(const struct confine_limits *limits)
{
	int error = limit(RLIMIT_CPU, limits->cpu_seconds);

	if (!error)
		error = limit(RLIMIT_NOFILE, limits->open_files);
	if (!error)
		error = limit(RLIMIT_FSIZE, limits->file_bytes);
	if (!error)
		error = limit(RLIMIT_CORE, 0);
	/* The sanitizers reserve terabytes of addresses, and have a thread of their own at the end. */
	if (!error && !SANITIZED)
		error = limit(RLIMIT_AS, limits->memory_bytes);
	if (!error && !SANITIZED)
		error = limit(RLIMIT_NPROC, 0);
	return error;
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {0};

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &header, none) ? -errno : 0;
}

int confine__become(uid_t uid, gid_t gid)
{
	int error;

	/* Without root's rights there is only one user to be. */
	if (geteuid() != uid || getuid() != uid) {
		if (setgroups(0, NULL) != 0 || setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0)
			return -errno;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		return -errno;
	error = drop_capabilities();
	return !error && uid != 0 && setuid(0) == 0 ? -EPERM : error;
}

#if (defined(__x86_64__) || defined(__aarch64__)) && !SANITIZED
/* Computing, and using what is open. */
static const unsigned int always[] = {
	SYS_read,
	SYS_write,
	SYS_readv,
	SYS_writev,
	SYS_pread64,
	SYS_close,
	SYS_fstat,
	SYS_lseek,
	SYS_fcntl,
	SYS_dup,
	SYS_mmap,
	SYS_munmap,
	SYS_mremap,
	SYS_mprotect,
	SYS_madvise,
	SYS_brk,
	SYS_futex,
	SYS_getrandom,
	SYS_gettid,
	SYS_getpid,
	SYS_getuid,
	SYS_geteuid,
	SYS_getgid,
	SYS_getegid,
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_clock_gettime,
	SYS_gettimeofday,
	SYS_uname,
	SYS_sysinfo,
	SYS_getrlimit,
	SYS_sched_yield,
	SYS_exit,
	SYS_exit_group,
	SYS_restart_syscall,
	SYS_sched_getaffinity,
};
/* Looking at files by their names. */
static const unsigned int looking[] = {
#if defined(__x86_64__)
	SYS_stat,	SYS_lstat, SYS_access,	  SYS_readlink,
#endif
	SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_faccessat2, SYS_readlinkat, SYS_getcwd, SYS_getdents64,
};

/* Beside those, and opening: files and directories of one's own. */
static const unsigned int writing[] = {
	SYS_openat, SYS_mkdirat, SYS_renameat, SYS_renameat2, SYS_unlinkat,
};

#if defined(__x86_64__)
#define AUDIT_ARCH_NATIVE AUDIT_ARCH_X86_64
#else
#define AUDIT_ARCH_NATIVE AUDIT_ARCH_AARCH64
#endif
#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))
#define MOST_STEPS (2 * (COUNT_OF(always) + COUNT_OF(looking) + COUNT_OF(writing)) + 2 + 6 + 2 * 5 + 5)

struct program {
	struct sock_filter steps[MOST_STEPS];
	unsigned short count;
};

static void step(struct program *program, struct sock_filter what)
{
	program->steps[program->count++] = what;
}

static void load(struct program *program, size_t offset)
{
	step(program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned int)offset));
}

static void answer(struct program *program, unsigned int what)
{
	step(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, what));
}

static void allow(struct program *program, const unsigned int *calls, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		step(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], 0, 1));
		answer(program, SECCOMP_RET_ALLOW);
	}
}

/* What the C library asks of terminals. */
static void allow_terminals(struct program *program)
{
	step(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 5));
	load(program, offsetof(struct seccomp_data, args) + sizeof(uint64_t));
	step(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TCGETS, 1, 0));
	step(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCGWINSZ, 0, 1));
	answer(program, SECCOMP_RET_ALLOW);
	answer(program, SECCOMP_RET_ERRNO | ENOTTY);
}

/* The call whose argument `flags` says how a file is opened. */
static void allow_reading(struct program *program, unsigned int call, size_t flags)
{
	const unsigned int more = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;

	step(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4));
	load(program, offsetof(struct seccomp_data, args) + flags * sizeof(uint64_t));
	step(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, more, 0, 1));
	answer(program, SECCOMP_RET_ERRNO | EPERM);
	answer(program, SECCOMP_RET_ALLOW);
}

int confine__filter(enum confine_calls calls)
{
	struct program program = {.count = 0};
	struct sock_fprog given = {.filter = program.steps};

	load(&program, offsetof(struct seccomp_data, arch));
	step(&program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_NATIVE, 1, 0));
	answer(&program, SECCOMP_RET_KILL_PROCESS);
	load(&program, offsetof(struct seccomp_data, nr));
	allow(&program, always, COUNT_OF(always));
	if (calls == CONFINE_RECEIVE_FILES)
		allow(&program, &(const unsigned int){SYS_recvmsg}, 1);
	if (calls == CONFINE_WRITE_FILES)
		allow(&program, writing, COUNT_OF(writing));
	allow_terminals(&program);
	if (calls == CONFINE_READ_FILES || calls == CONFINE_WRITE_FILES)
		allow(&program, looking, COUNT_OF(looking));
	if (calls == CONFINE_READ_FILES) {
#if defined(__x86_64__)
		allow_reading(&program, SYS_open, 1);
#endif
		allow_reading(&program, SYS_openat, 2);
	}
	answer(&program, SECCOMP_RET_ERRNO | ENOSYS);
	given.len = program.count;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &given) ? -errno : 0;
}
#else
int confine__filter(enum confine_calls calls)
{
	(void)calls;
	return 0;
}
#endif
