/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Confines a process before it reads data that users control. The process and its children cannot regain
 * the rights that it gives up.
 */
#ifndef GRAIND_CONFINE_H
#define GRAIND_CONFINE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The ids of the user and group nobody. */
#define CONFINE_NOBODY 65534

struct confine_limits {
	uint64_t cpu_seconds, memory_bytes, open_files;
	uint64_t data_bytes; /* limit for memory that is not mapped from files; 0: none */
	uint64_t file_bytes; /* of each file that it writes; pipes do not count */
};

/* Sets the limits, and forbids core dumps and new processes. 0 or a negative errno. */
int confine__limit(const struct confine_limits *limits);

/*
 * Lets other processes go first: lowers the priority by `nice`, and makes this process the first to be
 * killed when memory runs out. Call this before confine__become(). Failures are ignored.
 */
void confine__give_way(int nice);

/*
 * Becomes the user, without supplementary groups, capabilities or ways to get new capabilities. 0 or a
 * negative errno.
 */
/*
 * A caller that is not root keeps its real and saved ids, which decide who may send it signals. So
 * confine__filter() must follow.
 */
int confine__become(uid_t uid, gid_t gid);

/* Same as confine__become(), with the user's supplementary groups. */
int confine__become_user(uid_t uid, gid_t gid, const gid_t *groups, size_t count);

enum confine_calls {
	CONFINE_READ_FILES,    /* reading files that the user may read, and writing to open descriptors */
	CONFINE_OPEN_FILES,    /* no new files: only open descriptors */
	CONFINE_RECEIVE_FILES, /* the same, and descriptors received over an open socket */
	CONFINE_WRITE_FILES, /* reading and writing files that the user may access, and making directories */
};

/*
 * Installs a seccomp filter. System calls outside the list fail with ENOSYS, and calls that open a file for
 * more than reading fail with EPERM. Does nothing in builds with the compiler's sanitizers, which need
 * other calls, and on machines other than x86-64 and aarch64. 0 or a negative errno.
 */
int confine__filter(enum confine_calls calls);

#endif
