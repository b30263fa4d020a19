/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a process gives up its rights before it looks at what users control.
 * What is given up does not come back; children would not have it either.
 */
#ifndef GRAIND_CONFINE_H
#define GRAIND_CONFINE_H

#include <stdint.h>
#include <sys/types.h>

struct confine_limits {
	uint64_t cpu_seconds, memory_bytes, open_files;
	uint64_t file_bytes; /* of any file that it writes; pipes are no files */
};

/* Sets the limits; 0, or a negative errno. No core, no further processes. */
int confine__limit(const struct confine_limits *limits);

/* Becomes the user, without groups, capabilities or ways to new ones; 0, or a negative errno. */
int confine__become(uid_t uid, gid_t gid);

enum confine_calls {
	CONFINE_READ_FILES,    /* reading what the user may read, computing, writing to what is open */
	CONFINE_OPEN_FILES,    /* no new files either: what is open is all there is */
	CONFINE_RECEIVE_FILES, /* the same, and files that come over a socket that is open */
	CONFINE_WRITE_FILES,   /* reading and writing what the user may, and making directories */
};

/*
 * System calls but these fail with ENOSYS, or EPERM where a file would be
 * opened for more than reading (seccomp). Nothing where the compiler's sanitizers
 * need others, or on other machines than x86-64 and aarch64. 0, or a negative errno.
 */
int confine__filter(enum confine_calls calls);

#endif
