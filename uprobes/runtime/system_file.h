/* SPDX-License-Identifier: BSD-2-Clause */
/* Recognises system files: no user can have made, changed or imitated them. */
#ifndef GRAIND_SYSTEM_FILE_H
#define GRAIND_SYSTEM_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * The identity of a file's content. It differs whenever the content differs, unless a user can write the
 * file.
 */
struct file_identity {
	uint64_t device, inode, size;
	int64_t modified_s, modified_ns, changed_s, changed_ns;
};

struct file_identity file_identity__of(const struct stat *file);
bool file_identity__same(const struct file_identity *a, const struct file_identity *b);

/*
 * Whether the regular file is a system file. Such a file belongs to root, and nobody else may write it. It
 * is on a local file system without nosuid, whose owners come from the kernel itself.
 */
bool system_file__is(int fd, const struct stat *file);
/* The two rules separately. */
bool system_file__is_kept(const struct stat *file);
bool system_file__is_believed(uint64_t file_system, uint64_t mount_flags);

#endif
