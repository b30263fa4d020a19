// SPDX-License-Identifier: BSD-2-Clause
/* The worker's side: gives up its rights before it looks at anything. */
#include "daemon/graind/worker.h"

#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

#define CPU_SECONDS 300
#define MEMORY_BYTES (4ull << 30)
#define OPEN_FILES 4096

static int limit(int resource, rlim_t most)
{
	struct rlimit now, wanted = {most, most};

	if (getrlimit((__rlimit_resource_t)resource, &now) != 0)
		return -errno;
	if (now.rlim_max != RLIM_INFINITY && now.rlim_max < most)
		wanted.rlim_cur = wanted.rlim_max = now.rlim_max;
	return setrlimit((__rlimit_resource_t)resource, &wanted) ? -errno : 0;
}

static int set_limits(void)
{
	int error = limit(RLIMIT_CPU, CPU_SECONDS);

	if (!error)
		error = limit(RLIMIT_NOFILE, OPEN_FILES);
	if (!error)
		error = limit(RLIMIT_FSIZE, 0);
	if (!error)
		error = limit(RLIMIT_CORE, 0);
	/* The sanitizers reserve terabytes of addresses, and have a thread of their own at the end. */
	if (!error && !SANITIZED)
		error = limit(RLIMIT_AS, MEMORY_BYTES);
	if (!error && !SANITIZED)
		error = limit(RLIMIT_NPROC, 0);
	return error;
}

#if defined(__x86_64__) && !SANITIZED
/* All that reading files, computing and writing to open descriptors takes. */
static const int allowed[] = {
	SYS_read,
	SYS_write,
	SYS_readv,
	SYS_writev,
	SYS_pread64,
	SYS_open,
	SYS_openat,
	SYS_close,
	SYS_fstat,
	SYS_stat,
	SYS_lstat,
	SYS_newfstatat,
	SYS_statx,
	SYS_lseek,
	SYS_access,
	SYS_faccessat,
	SYS_faccessat2,
	SYS_readlink,
	SYS_readlinkat,
	SYS_getcwd,
	SYS_getdents64,
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
#define ALLOWED (sizeof(allowed) / sizeof(allowed[0]))

static int filter_calls(void)
{
	struct sock_filter code[ALLOWED + 6], *at = code;
	struct sock_fprog program = {.len = ALLOWED + 6, .filter = code};

	*at++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
	*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
	*at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	*at++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < ALLOWED; i++)
		*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)allowed[i],
						     (unsigned char)(ALLOWED - i), 0);
	*at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
	*at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -errno : 0;
}

_Static_assert(ALLOWED < 250, "a jump in the filter reaches 255 instructions");
#else
static int filter_calls(void)
{
	return 0;
}
#endif

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {0};

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &header, none) ? -errno : 0;
}

int worker__confine(uid_t uid, gid_t gid)
{
	int error = set_limits();

	if (error)
		return error;
	/* A graind without root's rights serves its own user only. */
	if (geteuid() != uid || getuid() != uid) {
		if (setgroups(0, NULL) != 0 || setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0)
			return -errno;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		return -errno;
	error = drop_capabilities();
	if (!error && uid != 0 && setuid(0) == 0)
		error = -EPERM;
	return error ? error : filter_calls();
}

static int parse_id(const char *text, uint64_t most, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	return errno || end == text || *end || *out > most ? -EINVAL : 0;
}

int worker__main(int argc, char **argv)
{
	uint64_t uid, gid, job;

	if (argc != 5 || parse_id(argv[2], UINT32_MAX - 1, &uid) || parse_id(argv[3], UINT32_MAX - 1, &gid) ||
	    parse_id(argv[4], INT64_MAX, &job))
		return 2;
	if (write(STDOUT_FILENO, &(const char){WORKER_READY}, 1) != 1)
		return 125;
	if (worker__confine((uid_t)uid, (gid_t)gid) != 0)
		return 125;
	if (!strcmp(argv[1], WORKER_SYMBOLIZE))
		return worker__symbolize();
	if (!strcmp(argv[1], WORKER_PLAN))
		return worker__plan();
	if (!strcmp(argv[1], WORKER_SUMMARY))
		return worker__summary(job);
	return 2;
}
