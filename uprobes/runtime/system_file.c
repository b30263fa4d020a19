// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/runtime/system_file.h"

#include <stddef.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

/*
 * The values are in <linux/magic.h> and the file systems' own sources. None of these file systems is served
 * by a process or over a network. Those that users can mount (tmpfs, overlay) have root's files only if
 * root's files lie below.
 */
static const uint64_t local[] = {
	0xef53,	    /* ext2, ext3, ext4 */
	0x58465342, /* xfs */
	0x9123683e, /* btrfs */
	0xf2f52010, /* f2fs */
	0xca451a4e, /* bcachefs */
	0x2fc12fc1, /* zfs */
	0x794c7630, /* overlay */
	0x01021994, /* tmpfs */
	0x858458f6, /* ramfs */
	0x73717368, /* squashfs */
	0xe0f5e1e2, /* erofs */
};

struct file_identity file_identity__of(const struct stat *file)
{
	return (struct file_identity){
		.device = file->st_dev,
		.inode = file->st_ino,
		.size = (uint64_t)file->st_size,
		.modified_s = file->st_mtim.tv_sec,
		.modified_ns = file->st_mtim.tv_nsec,
		.changed_s = file->st_ctim.tv_sec,
		.changed_ns = file->st_ctim.tv_nsec,
	};
}

bool file_identity__same(const struct file_identity *a, const struct file_identity *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->modified_s == b->modified_s && a->modified_ns == b->modified_ns &&
	       a->changed_s == b->changed_s && a->changed_ns == b->changed_ns;
}

bool system_file__is_kept(const struct stat *file)
{
	return S_ISREG(file->st_mode) && file->st_uid == 0 && !(file->st_mode & (S_IWGRP | S_IWOTH));
}

bool system_file__is_believed(uint64_t file_system, uint64_t mount_flags)
{
	if (mount_flags & ST_NOSUID)
		return false;
	for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++)
		if (local[i] == file_system)
			return true;
	return false;
}

bool system_file__is(int fd, const struct stat *file)
{
	struct statfs mounted;

	return system_file__is_kept(file) && fstatfs(fd, &mounted) == 0 &&
	       system_file__is_believed((uint64_t)mounted.f_type & UINT32_MAX, (uint64_t)mounted.f_flags);
}
