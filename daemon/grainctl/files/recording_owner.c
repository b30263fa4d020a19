/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/files/recording_owner.h"
#include "daemon/common/job_store/job_store.h"
#include "daemon/common/process/confine.h"
#include "daemon/common/process/read_all.h"
#include "daemon/grainctl/client/server.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Users below this number are services. The owner of their files need not be the author of the content. */
#define FIRST_USER 1000

static bool state_owner(const struct ctl *ctl, uid_t *out)
{
	struct stat state;

	if (stat(ctl->state_dir, &state) != 0)
		return false;
	*out = state.st_uid;
	return true;
}

uid_t recording_owner__of_file(const struct ctl *ctl, const struct stat *file)
{
	uid_t keeper;

	if (file->st_mode & S_IWOTH)
		return CONFINE_NOBODY;
	/* Root may have copied the file from anywhere. Other callers trust their own files. */
	if (geteuid() != 0)
		return file->st_uid;
	if ((file->st_mode & S_IWGRP) && file->st_gid != file->st_uid)
		return CONFINE_NOBODY;
	if (file->st_uid < FIRST_USER || server__is_graind(file->st_uid) ||
	    (state_owner(ctl, &keeper) && keeper == file->st_uid))
		return CONFINE_NOBODY;
	return file->st_uid;
}

/*
 * Whether the recording is of a container: root in a container may not read everything that root may read
 * outside.
 */
static bool is_contained(const json_t *job)
{
	const char *batch = json_string_value(json_object_get(job, "batch"));

	return batch && (!strncmp(batch, "pod:", 4) || !strncmp(batch, "container:", 10));
}

static uid_t named_owner(const json_t *job)
{
	const json_t *uid = json_object_get(job, "uid");
	json_int_t value = json_is_integer(uid) ? json_integer_value(uid) : -1;

	if (value < 0 || value >= UINT32_MAX || (value == 0 && is_contained(job)))
		return CONFINE_NOBODY;
	/* graind may read everything that it keeps for others, so it is not an owner. */
	if (value != 0 && server__is_graind((uid_t)value))
		return CONFINE_NOBODY;
	return (uid_t)value;
}

/*
 * Finds the owner from a job.json that only graind can have written. job_store__read() is not enough: it
 * also accepts files of users whom the caller believes.
 */
static uid_t stored_owner(int directory)
{
	char *text = malloc(JOB_JSON_MAX);
	uid_t owner = CONFINE_NOBODY;
	json_t *job = NULL;
	size_t size = 0;
	int fd;

	if (text && job_store__open_file(directory, JOB_FILE, &fd) == 0) {
		if (read_all(fd, text, JOB_JSON_MAX, &size) == 0)
			job = json_loadb(text, size, 0, NULL);
		close(fd);
	}
	if (json_is_object(job))
		owner = named_owner(job);
	json_decref(job);
	free(text);
	return owner;
}

uid_t recording_owner__of_job(const struct ctl *ctl, uint64_t number, const json_t *job, bool served)
{
	struct stat directory;
	uid_t keeper, owner;
	int fd;

	if (served)
		return named_owner(job);
	if (!ctl->store || job_store__open_job(ctl->store, number, &fd, NULL) != 0)
		return CONFINE_NOBODY;
	if (fstat(fd, &directory) != 0)
		directory.st_uid = CONFINE_NOBODY;
	owner = directory.st_uid < FIRST_USER ? CONFINE_NOBODY : directory.st_uid;
	/* Only graind writes into its own directories. */
	if (server__is_graind(directory.st_uid) && state_owner(ctl, &keeper) && server__is_graind(keeper))
		owner = stored_owner(fd);
	close(fd);
	return owner;
}

/* Finds the groups that the user gets at login. */
static void find_groups(struct owner_rights *rights)
{
	const struct passwd *user = getpwuid(rights->uid);
	int count = OWNER_GROUPS_MAX;

	if (!user)
		return;
	rights->gid = user->pw_gid;
	if (getgrouplist(user->pw_name, user->pw_gid, rights->groups, &count) < 0)
		count = OWNER_GROUPS_MAX;
	rights->group_count = (size_t)count;
}

bool recording_owner__rights(uid_t owner, struct owner_rights *out)
{
	uid_t caller = geteuid();

	*out = (struct owner_rights){.uid = owner, .gid = CONFINE_NOBODY};
	if (owner == caller)
		out->gid = getegid();
	else if (caller == 0)
		find_groups(out);
	else
		return false;
	return true;
}
