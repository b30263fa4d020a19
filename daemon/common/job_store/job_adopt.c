// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/common/job_store/job_adopt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define NAME_CHARS 64
#define TAKEN ".taken-"
#define MOST_TEXT 8192
#define MOST_ELEMENTS 16

/* ---- what is believed of its job.json ----------------------------------- */

static json_t *copy_plain(const json_t *value)
{
	if (json_is_string(value) && json_string_length(value) > MOST_TEXT)
		return NULL;
	return json_is_array(value) || json_is_object(value) ? NULL : json_copy((json_t *)value);
}

static json_t *copy_value(const json_t *value)
{
	const json_t *element;
	const char *key;
	json_t *copy;
	size_t i;

	if (json_is_array(value)) {
		copy = json_array();
		json_array_foreach((json_t *)value, i, element)
		{
			if (i < MOST_ELEMENTS)
				json_array_append_new(copy, copy_plain(element));
		}
		return copy;
	}
	if (!json_is_object(value))
		return copy_plain(value);
	copy = json_object();
	json_object_foreach((json_t *)value, key, element)
	{
		if (json_object_size(copy) < MOST_ELEMENTS && strlen(key) < NAME_CHARS)
			json_object_set_new(copy, key, copy_plain(element));
	}
	return copy;
}

static json_t *name_of(uid_t uid)
{
	struct passwd entry, *found = NULL;
	char buffer[4096], number[16];
	json_t *name = NULL;

	snprintf(number, sizeof(number), "%u", (unsigned int)uid);
	if (getpwuid_r(uid, &entry, buffer, sizeof(buffer), &found) == 0 && found)
		name = json_string(found->pw_name);
	return name ? name : json_string(number);
}

/*
 * Describes the job. Keeps what its user has written if it concerns nobody else. `said`: the old content,
 * or NULL.
 */
static json_t *describe(const json_t *said, uint64_t number, uid_t uid, time_t ended)
{
	static const char *const keys[] = {
		"parent_job",
		"pid",
		"exe",
		"cmd",
		"runtime",
		"method",
		"threads",
		"start_ns",
		"end_ns",
		"grains",
		"events",
		"events_per_s",
		"lost",
		"lost_by",
		"problems",
		"overhead_percent",
		"notes",
		"ns_per_event",
		"busy_threads",
		"preempted_percent",
		"reason",
		"ceiling",
		"average_parallelism",
		"batch",
		"mpi",
	};
	const char *state = json_string_value(json_object_get(said, "state"));
	bool over = state && (!strcmp(state, "finished") || !strcmp(state, "failed"));
	json_t *job = json_pack("{s:I, s:s, s:I, s:o, s:I}", "job", (json_int_t)number, "state",
				over ? state : "failed", "uid", (json_int_t)uid, "user", name_of(uid),
				"ended_s", (json_int_t)ended),
	       *error = over ? copy_plain(json_object_get(said, "error")) : NULL;

	if (!job)
		return NULL;
	json_object_set_new(job, "error",
			    json_is_string(error) ? error
			    : over		  ? json_string("")
				   : json_string("its description was not as graind wrote it"));
	if (error && !json_is_string(error))
		json_decref(error);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		json_t *value = json_object_get(said, keys[i]);

		if (value)
			json_object_set_new(job, keys[i], copy_value(value));
	}
	return job;
}

/* ---- files -------------------------------------------------------------- */

/* Called on a directory that is already taken back, so nobody else can rename its entries. */
static bool is_own_file(int dirfd, const char *name, uid_t owner, int *out)
{
	int fd = openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	bool own = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == owner &&
		   st.st_nlink == 1;

	if (own)
		*out = fd;
	else if (fd >= 0)
		close(fd);
	return own;
}

static int move_file(int from, int to, const char *name, uid_t owner)
{
	int fd, error = 0;
	char path[32];

	if (!is_own_file(from, name, owner, &fd))
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (renameat(from, name, to, name) != 0 || fchownat(fd, "", geteuid(), (gid_t)-1, AT_EMPTY_PATH) != 0)
		error = -errno;
	/* Without /proc the file keeps its old mode. This is harmless, as the directory's mode is 0700. */
	if (!error && fchmodat(AT_FDCWD, path, 0600, 0) != 0 && errno != ENOENT)
		error = -errno;
	close(fd);
	return error;
}

/* Keeps files that were moved before an earlier attempt failed. */
static int keep_moved(int dirfd, const char *name, uid_t owner)
{
	int fd, error = 0;

	if (!is_own_file(dirfd, name, owner, &fd))
		return 0;
	if (fchownat(fd, "", geteuid(), (gid_t)-1, AT_EMPTY_PATH) != 0)
		error = -errno;
	close(fd);
	return error;
}

static json_t *read_said(int dirfd, uid_t owner)
{
	json_t *said = NULL;
	int fd;

	if (!is_own_file(dirfd, JOB_FILE, owner, &fd))
		return NULL;
	close(fd);
	return job_store__read_object(dirfd, &said) == 0 ? said : NULL;
}

/* ---- directories -------------------------------------------------------- */

/*
 * Takes the directory back, so that nobody else can enter it. *changed is its modification time, which its
 * user may have faked.
 */
static int take_back(int jobs, const char *taken, uid_t owner, int *out, time_t *changed)
{
	int fd = openat(jobs, taken, DIR_FLAGS), error = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) != 0)
		error = -errno;
	else if (st.st_uid != owner && st.st_uid != geteuid())
		error = -EPERM;
	else if (st.st_uid != geteuid() && fchown(fd, geteuid(), getegid()) != 0)
		error = -errno;
	if (!error && fchmod(fd, 0700) != 0)
		error = -errno;
	if (error) {
		close(fd);
		return error;
	}
	*changed = st.st_mtime;
	*out = fd;
	return 0;
}

static int fill(int from, int to, uint64_t number, uid_t owner, time_t changed)
{
	static const char *const names[] = {TRACE_FILE, SUMMARY_FILE};
	json_t *said = read_said(from, owner), *job;
	time_t now = time(NULL);
	int error = 0;

	for (size_t i = 0; !error && i < sizeof(names) / sizeof(names[0]); i++) {
		error = keep_moved(to, names[i], owner);
		if (!error)
			error = move_file(from, to, names[i], owner);
	}
	job = describe(said, number, owner, changed > 0 && changed < now ? changed : now);
	json_decref(said);
	if (!error)
		error = job ? job_store__write(to, job) : -ENOMEM;
	json_decref(job);
	return error;
}

/* Makes the job's directory from files in `taken`. Everything else in `taken` counts as deleted. */
static int give_place(struct job_store *store, const char *taken, uint64_t number, uid_t owner)
{
	int jobs = job_store__jobs_fd(store), from = -1, to = -1, error;
	char made[NAME_CHARS], name[NAME_CHARS], deleted[NAME_CHARS];
	time_t changed = 0;

	snprintf(made, sizeof(made), ".new-%" PRIu64, number);
	snprintf(name, sizeof(name), "%" PRIu64, number);
	snprintf(deleted, sizeof(deleted), JOB_STORE_DELETED "%" PRIu64 "-%u", number, (unsigned int)owner);
	error = take_back(jobs, taken, owner, &from, &changed);
	if (error)
		return error;
	/* An earlier attempt failed only at its last step. */
	if (faccessat(jobs, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		goto done;
	if (mkdirat(jobs, made, 0700) != 0 && errno != EEXIST)
		error = -errno;
	if (!error && (to = openat(jobs, made, DIR_FLAGS)) < 0)
		error = -errno;
	if (!error)
		error = fill(from, to, number, owner, changed);
	if (!error && renameat2(jobs, made, jobs, name, RENAME_NOREPLACE) != 0)
		error = -errno;
done:
	if (!error && renameat(jobs, taken, jobs, deleted) != 0)
		error = -errno;
	close(from);
	if (to >= 0)
		close(to);
	return error;
}

static bool parse_taken(const char *name, uint64_t *number, uid_t *owner)
{
	unsigned long long value;
	unsigned int uid;
	int used = 0;

	if (strncmp(name, TAKEN, strlen(TAKEN)) != 0 ||
	    sscanf(name + strlen(TAKEN), "%20llu-%10u%n", &value, &uid, &used) != 2 ||
	    name[strlen(TAKEN) + (size_t)used])
		return false;
	*number = value;
	*owner = uid;
	return true;
}

/*
 * Renames the directory. The new name contains the owner, for a later attempt. Returns 0 if the directory
 * was taken, and -ENOENT if it already is graind's.
 */
static int take(struct job_store *store, uint64_t number, char taken[NAME_CHARS], uid_t *owner)
{
	int jobs = job_store__jobs_fd(store);
	char name[NAME_CHARS];
	struct stat st;

	snprintf(name, sizeof(name), "%" PRIu64, number);
	if (fstatat(jobs, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return -errno;
	if (!S_ISDIR(st.st_mode) || job_store__trusts(store, st.st_uid))
		return -ENOENT;
	*owner = st.st_uid;
	snprintf(taken, NAME_CHARS, TAKEN "%" PRIu64 "-%u", number, (unsigned int)st.st_uid);
	return renameat(jobs, name, jobs, taken) != 0 ? -errno : 0;
}

static bool is_late(uint64_t until)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec >= until;
}

/* Continues with directories that an earlier call began to take back. */
static bool go_on(struct job_store *store, uint64_t until, job_adopt_fn tell, void *ctx)
{
	int fd = openat(job_store__jobs_fd(store), ".", DIR_FLAGS);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	bool late = false;
	uint64_t number;
	uid_t owner;

	if (fd >= 0 && !stream)
		close(fd);
	while (stream && !late && (entry = readdir(stream))) {
		if (!parse_taken(entry->d_name, &number, &owner))
			continue;
		tell(ctx, number, owner, give_place(store, entry->d_name, number, owner));
		late = is_late(until);
	}
	if (stream)
		closedir(stream);
	return late;
}

bool job_adopt__all(struct job_store *store, uint64_t until, job_adopt_fn tell, void *ctx)
{
	uint64_t *numbers = NULL;
	size_t count = 0;
	bool late = go_on(store, until, tell, ctx);

	if (!late)
		job_store__list(store, &numbers, &count);
	for (size_t i = 0; i < count && !late; i++) {
		char taken[NAME_CHARS];
		uid_t owner = 0;
		int error = take(store, numbers[i], taken, &owner);

		if (error == -ENOENT)
			continue;
		if (!error)
			error = give_place(store, taken, numbers[i], owner);
		tell(ctx, numbers[i], owner, error);
		late = is_late(until);
	}
	free(numbers);
	return late;
}
