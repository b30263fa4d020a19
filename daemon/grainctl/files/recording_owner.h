/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the owner of a recording. A recording names source files, which may be any files. They are read
 * with the owner's rights. So only files are shown that everybody who could have written the recording may
 * read.
 */
#ifndef GRAINCTL_RECORDING_OWNER_H
#define GRAINCTL_RECORDING_OWNER_H

#include "daemon/grainctl/terminal/ctl.h"

#include <jansson.h>
#include <sys/stat.h>
#include <sys/types.h>

#define OWNER_GROUPS_MAX 256

struct owner_rights {
	uid_t uid;
	gid_t gid;
	gid_t groups[OWNER_GROUPS_MAX];
	size_t group_count;
};

/*
 * The owner of a recording in a file that the caller names: the only user who can have written it, or else
 * CONFINE_NOBODY (confine.h).
 */
uid_t recording_owner__of_file(const struct ctl *ctl, const struct stat *file);
/*
 * The owner of a job's recording: from graind's description (`served`: `job` is graind's answer), or else
 * the owner of its directory.
 */
uid_t recording_owner__of_job(const struct ctl *ctl, uint64_t number, const json_t *job, bool served);

/* Finds the rights for reading files. False: the caller cannot get these rights and reads nothing. */
bool recording_owner__rights(uid_t owner, struct owner_rights *out);

#endif
