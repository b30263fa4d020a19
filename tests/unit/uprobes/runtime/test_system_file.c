// SPDX-License-Identifier: BSD-2-Clause
/* Which files are the system's, and what tells one content of a file from another. */
#include "uprobes/runtime/system_file.h"
#include "tests/unit/check.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

static bool is_kept(mode_t mode, uid_t owner)
{
	const struct stat file = {.st_mode = mode, .st_uid = owner, .st_gid = 1000};

	return system_file__is_kept(&file);
}

static void check_owners(void)
{
	CHECK(is_kept(S_IFREG | 0644, 0) && is_kept(S_IFREG | 04755, 0), "root's files are kept");
	CHECK(!is_kept(S_IFREG | 0644, 1000), "those of others are not");
	CHECK(!is_kept(S_IFREG | 0664, 0), "nor what the group may write");
	CHECK(!is_kept(S_IFREG | 0646, 0), "nor what all may write");
	CHECK(!is_kept(S_IFDIR | 0755, 0) && !is_kept(S_IFCHR | 0600, 0) && !is_kept(S_IFIFO | 0600, 0) &&
		      !is_kept(S_IFLNK | 0600, 0),
	      "nor what is not a regular file");
}

static void check_file_systems(void)
{
	static const struct {
		uint64_t type;
		const char *name;
	} others[] = {{0x65735546, "FUSE"},   {0x6969, "NFS"},	    {0xff534d42, "CIFS"}, {0xfe534d42, "SMB"},
		      {0x01021997, "9p"},     {0x00c36400, "Ceph"}, {0x5346414f, "AFS"},  {0x4d44, "FAT"},
		      {0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"}, {0, "none"}};
	static const uint64_t local[] = {0xef53, 0x58465342, 0x9123683e, 0x794c7630, 0x01021994};

	for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++)
		CHECK(system_file__is_believed(local[i], 0) &&
			      system_file__is_believed(local[i], ST_RDONLY | ST_NODEV | ST_RELATIME) &&
			      !system_file__is_believed(local[i], ST_NOSUID) &&
			      !system_file__is_believed(local[i], ST_RDONLY | ST_NOSUID),
		      "file system %#llx is believed, but not if mounted nosuid",
		      (unsigned long long)local[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		CHECK(!system_file__is_believed(others[i].type, 0), "%s is not believed", others[i].name);
}

static void check_open_files(void)
{
	int of_proc = open("/proc/version", O_RDONLY | O_CLOEXEC),
	    shell = open("/bin/sh", O_RDONLY | O_CLOEXEC);
	struct statfs mounted;
	struct stat file;

	CHECK(of_proc >= 0 && fstat(of_proc, &file) == 0 && system_file__is_kept(&file) &&
		      !system_file__is(of_proc, &file),
	      "a file of root's is none of the system's where its file system makes it up");
	CHECK(shell >= 0 && fstat(shell, &file) == 0 && fstatfs(shell, &mounted) == 0, "the shell is opened");
	CHECK(system_file__is(shell, &file) ==
		      (system_file__is_kept(&file) &&
		       system_file__is_believed((uint32_t)mounted.f_type, (uint64_t)mounted.f_flags)),
	      "the shell is the system's if both rules say so");
	file.st_uid = 1000;
	CHECK(!system_file__is(shell, &file), "not if it is a user's");
	file.st_uid = 0;
	CHECK(!system_file__is(-1, &file), "nor if nothing is known of its file system");
	close(shell);
	close(of_proc);
}

static void check_identity(void)
{
	const struct stat file = {.st_dev = 1,
				  .st_ino = 2,
				  .st_size = 3,
				  .st_mtim = {.tv_sec = 4, .tv_nsec = 5},
				  .st_ctim = {.tv_sec = 6, .tv_nsec = 7}};
	const struct file_identity one = file_identity__of(&file);
	struct file_identity other = one;

	CHECK(one.device == 1 && one.inode == 2 && one.size == 3 && one.modified_s == 4 &&
		      one.modified_ns == 5 && one.changed_s == 6 && one.changed_ns == 7,
	      "what tells a file's content is taken from it");
	CHECK(file_identity__same(&one, &other), "the same is the same");
#define DIFFERS(field)                                                                                       \
	(other = one, other.field++, !file_identity__same(&one, &other) && !file_identity__same(&other, &one))
	CHECK(DIFFERS(device) && DIFFERS(inode) && DIFFERS(size) && DIFFERS(modified_s) &&
		      DIFFERS(modified_ns) && DIFFERS(changed_s) && DIFFERS(changed_ns),
	      "with any other number it is another one");
#undef DIFFERS
}

int main(void)
{
	check_owners();
	check_file_systems();
	check_open_files();
	check_identity();
	CHECK_DONE();
}
