/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The filters are written by hand. With libseccomp each worker would load and run the library at its start,
 * only for three lists of calls of one architecture.
 */
#include "daemon/common/process/confine.h"

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

#if (defined(__x86_64__) || defined(__aarch64__)) && !SANITIZED
#define FILTERED 1
#else
#define FILTERED 0
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
	/* The sanitizers reserve terabytes of address space and start their own thread. */
	if (!error && !SANITIZED)
		error = limit(RLIMIT_AS, limits->memory_bytes);
	if (!error && !SANITIZED && limits->data_bytes)
		error = limit(RLIMIT_DATA, limits->data_bytes);
	if (!error && !SANITIZED)
		error = limit(RLIMIT_NPROC, 0);
	return error;
}

void confine__give_way(int nice)
{
	static const char most[] = "1000";
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	ssize_t ignored = fd < 0 ? -1 : write(fd, most, sizeof(most) - 1);

	(void)ignored;
	if (fd >= 0)
		close(fd);
	if (nice)
		setpriority(PRIO_PROCESS, 0, nice);
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {0};

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &header, none) ? -errno : 0;
}

/*
 * Decides who may send signals to the process after it has become the user. Without CAP_KILL, the process
 * that started it could not kill it, but the user could stop it. These real and saved ids reverse that.
 * Files are opened by the effective id. The process cannot get its old ids back: confine__filter() allows
 * no calls that change ids, and there are no capabilities. Root has CAP_KILL and needs none of this.
 */
static uid_t id_for_signals(uid_t uid)
{
	return FILTERED && getuid() != 0 ? getuid() : uid;
}

int confine__become(uid_t uid, gid_t gid)
{
	return confine__become_user(uid, gid, NULL, 0);
}

int confine__become_user(uid_t uid, gid_t gid, const gid_t *groups, size_t count)
{
	uid_t own = id_for_signals(uid);
	int error;

	/* Without root's rights the process can only keep its present user. */
	if (geteuid() != uid || getuid() != uid) {
		if (setgroups(count, groups) != 0 || setresgid(gid, gid, gid) != 0 ||
		    setresuid(own, uid, own) != 0)
			return -errno;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		return -errno;
	error = drop_capabilities();
	return !error && uid != 0 && setuid(0) == 0 ? -EPERM : error;
}

#if FILTERED
/* Calls for computing and using open files. */
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
/* Calls for inspecting files by name. */
static const unsigned int looking[] = {
#if defined(__x86_64__)
	SYS_stat,	SYS_lstat, SYS_access,	  SYS_readlink,
#endif
	SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_faccessat2, SYS_readlinkat, SYS_getcwd, SYS_getdents64,
};

/*
 * Further calls, for making files and directories. They are allowed together with those for inspecting and
 * opening.
 */
static const unsigned int writing[] = {
#if defined(__x86_64__)
	SYS_mkdir,
#endif
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

/* Allows the C library to ask about terminals. */
static void allow_terminals(struct program *program)
{
	step(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 5));
	load(program, offsetof(struct seccomp_data, args) + sizeof(uint64_t));
	step(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TCGETS, 1, 0));
	step(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCGWINSZ, 0, 1));
	answer(program, SECCOMP_RET_ALLOW);
	answer(program, SECCOMP_RET_ERRNO | ENOTTY);
}

/* Allows `call` to open files for reading; its argument `flags` says how a file is opened. */
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
