// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/common/job_store/job_store.h"
#include "daemon/common/job_store/job_space.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define NUMBER_CHARS 21
#define NAME_CHARS 64
#define LOCK_FILE ".lock"
#define LAST_FILE "last"
#define LOCK_PATIENCE_MS 5000
#define LOCK_NAP_MS 2
/* Steps to delete a job that graind has written: it has three files. */
#define DELETE_STEPS 64
#define SERVICE_USER "graind"

struct job_store {
	char *path;
	int state_fd, jobs_fd;
	bool serves, trusted;
	uid_t owner;	       /* of jobs/ */
	pthread_mutex_t claim; /* Allows one thread of this process at a time to wait for the lock file. */
};

static int fail(struct job_store_error *err, int error, const char *what, const char *path,
		const char *advice)
{
	if (err)
		snprintf(err->text, sizeof(err->text), "%s %.300s: %s%s", what, path, strerror(-error),
			 advice);
	return error;
}

/* Also makes missing parents. An existing directory is no error. */
static int make_directories(const char *path)
{
	char part[PATH_MAX];

	if (snprintf(part, sizeof(part), "%s", path) >= (int)sizeof(part))
		return -ENAMETOOLONG;
	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		if (mkdir(part, 0755) != 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return mkdir(part, 0711) != 0 && errno != EEXIST ? -errno : 0;
}

static bool is_service(uid_t uid)
{
	struct passwd entry, *found = NULL;
	char buffer[4096];

	return getpwnam_r(SERVICE_USER, &entry, buffer, sizeof(buffer), &found) == 0 && found &&
	       found->pw_uid == uid;
}

/* The owner of jobs/ can move everything in it. An older graind made jobs/ readable for all. */
static int look_at_jobs(struct job_store *store, const char *state_dir, struct job_store_error *err)
{
	struct stat st;

	if (fstat(store->jobs_fd, &st) != 0)
		return fail(err, -errno, "cannot read jobs/ in the state directory", state_dir, "");
	store->owner = st.st_uid;
	store->trusted = (st.st_uid == geteuid() || st.st_uid == 0 || is_service(st.st_uid)) &&
			 !(st.st_mode & (S_IWGRP | S_IWOTH));
	if (!store->serves)
		return 0;
	if (st.st_uid == geteuid() && (st.st_mode & 07777) != 0700)
		store->trusted = fchmod(store->jobs_fd, 0700) == 0;
	if (!store->trusted)
		return fail(err, -EPERM, "cannot trust jobs/ in the state directory", state_dir,
			    "; others could change what is in it: give it to the user that graind runs as, "
			    "or choose another with --state-dir");
	if (faccessat(store->jobs_fd, ".", R_OK | W_OK | X_OK, AT_EACCESS) != 0)
		return fail(err, -errno, "cannot write to jobs/ in the state directory", state_dir,
			    "; make it writable or choose another with --state-dir");
	return 0;
}

int job_store__open(const char *state_dir, bool serve, struct job_store **out, struct job_store_error *err)
{
	struct job_store *store;
	int error = 0;

	if (!*state_dir)
		return fail(err, -EINVAL, "cannot use the state directory", "\"\"",
			    "; name one with --state-dir");
	store = calloc(1, sizeof(*store));
	if (!store)
		return fail(err, -ENOMEM, "cannot use the state directory", state_dir, "");
	store->state_fd = store->jobs_fd = -1;
	store->serves = serve;
	pthread_mutex_init(&store->claim, NULL);
	store->path = realpath(state_dir, NULL);
	if (!store->path && serve && errno == ENOENT) {
		error = make_directories(state_dir);
		if (error) {
			fail(err, error, "cannot create the state directory", state_dir,
			     "; create it or choose another with --state-dir");
			goto out;
		}
		store->path = realpath(state_dir, NULL);
	}
	if (store->path)
		store->state_fd = open(store->path, DIR_FLAGS);
	if (store->state_fd < 0) {
		error = fail(err, -errno, "cannot open the state directory", state_dir,
			     "; choose another with --state-dir");
		goto out;
	}
	if (serve && mkdirat(store->state_fd, "jobs", 0700) != 0 && errno != EEXIST) {
		error = fail(err, -errno, "cannot write to the state directory", state_dir,
			     "; make it writable or choose another with --state-dir");
		goto out;
	}
	store->jobs_fd = openat(store->state_fd, "jobs", DIR_FLAGS);
	if (store->jobs_fd < 0 && (serve || errno != ENOENT)) {
		error = fail(err, -errno, "cannot read jobs/ in the state directory", state_dir,
			     "; choose another with --state-dir");
		goto out;
	}
	if (store->jobs_fd >= 0)
		error = look_at_jobs(store, state_dir, err);
	if (error)
		goto out;
	*out = store;
	store = NULL;
out:
	job_store__close(store);
	return error;
}

void job_store__close(struct job_store *store)
{
	if (!store)
		return;
	if (store->jobs_fd >= 0)
		close(store->jobs_fd);
	if (store->state_fd >= 0)
		close(store->state_fd);
	pthread_mutex_destroy(&store->claim);
	free(store->path);
	free(store);
}

const char *job_store__path(const struct job_store *store)
{
	return store->path;
}

int job_store__jobs_fd(const struct job_store *store)
{
	return store->jobs_fd;
}

bool job_store__is_trusted(const struct job_store *store, uid_t *owner)
{
	*owner = store->owner;
	return store->jobs_fd < 0 || store->trusted;
}

void job_store__trust(struct job_store *store)
{
	struct stat st;

	store->trusted = fstat(store->jobs_fd, &st) == 0 && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

bool job_store__trusts(const struct job_store *store, uid_t owner)
{
	return store->trusted && (owner == 0 || owner == geteuid() || owner == store->owner);
}

static bool parse_number(const char *text, uint64_t *out)
{
	uint64_t value = 0;

	if (text[0] < '1' || text[0] > '9')
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || value > (uint64_t)INT64_MAX / 10 - 1)
			return false;
		value = value * 10 + (uint64_t)(*text - '0');
	}
	*out = value;
	return true;
}

static int compare_numbers(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* Opens a stream of jobs/ with its own position, at the beginning. NULL with errno set. */
static DIR *open_jobs(const struct job_store *store)
{
	int fd = openat(store->jobs_fd, ".", DIR_FLAGS);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !stream)
		close(fd);
	return stream;
}

int job_store__list(const struct job_store *store, uint64_t **numbers, size_t *count)
{
	uint64_t *list = NULL, number;
	size_t used = 0, capacity = 0;
	struct dirent *entry;
	DIR *directory;

	if (store->jobs_fd < 0) {
		*numbers = NULL;
		*count = 0;
		return 0;
	}
	directory = open_jobs(store);
	if (!directory)
		return -errno;
	while ((entry = readdir(directory))) {
		if (!parse_number(entry->d_name, &number))
			continue;
		if (used == capacity) {
			size_t larger = capacity ? capacity * 2 : 64;
			uint64_t *grown = reallocarray(list, larger, sizeof(*list));

			if (!grown) {
				free(list);
				closedir(directory);
				return -ENOMEM;
			}
			list = grown;
			capacity = larger;
		}
		list[used++] = number;
	}
	closedir(directory);
	if (used)
		qsort(list, used, sizeof(*list), compare_numbers);
	*numbers = list;
	*count = used;
	return 0;
}

/* ---- numbers ------------------------------------------------------------ */

/*
 * Users cannot open the lock file, as the directory's mode is 0700. The wait is limited, in case another
 * graind hangs while it holds the lock.
 */
static int lock(const struct job_store *store, int *out)
{
	const struct timespec nap = {.tv_nsec = LOCK_NAP_MS * 1000000L};
	int fd = openat(store->jobs_fd, LOCK_FILE,
			O_RDONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600),
	    error = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) != 0)
		error = -errno;
	else if (!S_ISREG(st.st_mode) || !job_store__trusts(store, st.st_uid) || st.st_mode & 077)
		error = -EPERM;
	for (int waited = 0; !error && flock(fd, LOCK_EX | LOCK_NB) != 0; waited += LOCK_NAP_MS) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			error = -errno;
		else if (waited >= LOCK_PATIENCE_MS)
			error = -EBUSY;
		else
			nanosleep(&nap, NULL);
	}
	if (error)
		close(fd);
	else
		*out = fd;
	return error;
}

/* The number in the file `last`; 0: there is no valid one. */
static uint64_t read_last(const struct job_store *store)
{
	int fd =
		openat(store->state_fd, LAST_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char text[NUMBER_CHARS + 2];
	uint64_t last = 0;
	struct stat st;
	ssize_t got;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && job_store__trusts(store, st.st_uid) &&
	    !(st.st_mode & (S_IWGRP | S_IWOTH))) {
		got = read(fd, text, sizeof(text) - 1);
		text[got > 0 ? got : 0] = 0;
		text[strcspn(text, "\n")] = 0;
		if (!parse_number(text, &last))
			last = 0;
	}
	close(fd);
	return last;
}

/*
 * The largest known number: from the file `last`, or from an existing job if that number is larger or the
 * file has none.
 */
static int largest_number(const struct job_store *store, uint64_t *out)
{
	uint64_t *numbers, largest = read_last(store);
	size_t count;
	int error = job_store__list(store, &numbers, &count);

	if (error)
		return error;
	if (count && numbers[count - 1] > largest)
		largest = numbers[count - 1];
	free(numbers);
	*out = largest;
	return 0;
}

static int make_job(const struct job_store *store, uint64_t number, int *dirfd)
{
	char name[NUMBER_CHARS], line[NUMBER_CHARS + 1];
	int fd, error, length = snprintf(line, sizeof(line), "%" PRIu64 "\n", number);

	/*
	 * The number is stored as used before the directory exists. A crash in between only skips the
	 * number.
	 */
	error = job_store__write_file(store->state_fd, LAST_FILE, line, (size_t)length);
	if (error)
		return error;
	snprintf(name, sizeof(name), "%" PRIu64, number);
	if (mkdirat(store->jobs_fd, name, 0700) != 0)
		return -errno;
	fd = openat(store->jobs_fd, name, DIR_FLAGS);
	if (fd < 0) {
		error = -errno;
		unlinkat(store->jobs_fd, name, AT_REMOVEDIR);
		return error;
	}
	*dirfd = fd;
	return 0;
}

int job_store__claim(struct job_store *store, uint64_t *number, int *dirfd)
{
	uint64_t claimed = 0;
	int held = -1, error;

	pthread_mutex_lock(&store->claim);
	error = lock(store, &held);
	if (!error)
		error = largest_number(store, &claimed);
	if (!error && claimed >= (uint64_t)INT64_MAX / 100)
		error = -EOVERFLOW;
	if (!error)
		error = make_job(store, claimed + 1, dirfd);
	if (!error)
		*number = claimed + 1;
	if (held >= 0)
		close(held);
	pthread_mutex_unlock(&store->claim);
	return error;
}

/* ---- one job ------------------------------------------------------------ */

static int read_job(int dirfd, uint64_t number, json_t **out)
{
	json_t *json = NULL;
	int error = job_store__read_object(dirfd, &json);

	if (!error && json_integer_value(json_object_get(json, "job")) != (json_int_t)number) {
		json_decref(json);
		error = -EBADMSG;
	}
	if (!error)
		*out = json;
	return error;
}

static bool get_uid(const json_t *job, uid_t *out)
{
	const json_t *uid = json_object_get(job, "uid");
	bool is =
		json_is_integer(uid) && json_integer_value(uid) >= 0 && json_integer_value(uid) < UINT32_MAX;

	if (is)
		*out = (uid_t)json_integer_value(uid);
	return is;
}

int job_store__open_job(const struct job_store *store, uint64_t number, int *dirfd, uid_t *owner)
{
	char name[NUMBER_CHARS];
	struct stat st;
	int fd, error = 0;
	json_t *job;

	if (store->jobs_fd < 0 || number == 0 || number > INT64_MAX)
		return -ENOENT;
	snprintf(name, sizeof(name), "%" PRIu64, number);
	fd = openat(store->jobs_fd, name, DIR_FLAGS);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) != 0)
		error = -errno;
	else if (store->serves && !job_store__trusts(store, st.st_uid))
		error = -ENOENT;
	if (error) {
		close(fd);
		return error;
	}
	if (owner) {
		*owner = st.st_uid;
		if (job_store__trusts(store, st.st_uid) && read_job(fd, number, &job) == 0) {
			get_uid(job, owner);
			json_decref(job);
		}
	}
	*dirfd = fd;
	return 0;
}

int job_store__read(const struct job_store *store, uint64_t number, json_t **out)
{
	json_t *job = NULL;
	struct stat st;
	uid_t owner;
	int fd, error = job_store__open_job(store, number, &fd, NULL);

	if (error)
		return error;
	error = read_job(fd, number, &job);
	if (!error && fstat(fd, &st) != 0)
		error = -errno;
	close(fd);
	if (!error && (!job_store__trusts(store, st.st_uid) || !get_uid(job, &owner)) &&
	    json_object_set_new(job, "uid", json_integer((json_int_t)st.st_uid)) != 0)
		error = -ENOMEM;
	if (error)
		json_decref(job);
	else
		*out = job;
	return error;
}

/* ---- deleting ----------------------------------------------------------- */

/* The name is `.deleted-NUMBER-UID`. UID owned the directory and may own its content. */
static bool parse_deleted(const char *name, uid_t *owner)
{
	unsigned long long number;
	unsigned int uid;
	int used = 0;

	if (strncmp(name, JOB_STORE_DELETED, strlen(JOB_STORE_DELETED)) != 0 ||
	    sscanf(name + strlen(JOB_STORE_DELETED), "%20llu-%10u%n", &number, &uid, &used) != 2 ||
	    name[strlen(JOB_STORE_DELETED) + (size_t)used])
		return false;
	*owner = uid;
	return true;
}

static int remove_deleted(const struct job_store *store, const char *name, uid_t owner, size_t *steps)
{
	int fd = openat(store->jobs_fd, name, DIR_FLAGS), error = fd < 0 ? -errno : 0;

	if (!error)
		error = job_space__empty(fd, owner, steps);
	if (fd >= 0)
		close(fd);
	if (!error && unlinkat(store->jobs_fd, name, AT_REMOVEDIR) != 0)
		error = -errno;
	return error;
}

int job_store__delete(struct job_store *store, uint64_t number)
{
	char name[NUMBER_CHARS], deleted[NAME_CHARS];
	size_t steps = DELETE_STEPS;
	struct stat st;
	int fd, error = job_store__open_job(store, number, &fd, NULL);

	if (error)
		return error;
	error = fstat(fd, &st) != 0 ? -errno : 0;
	close(fd);
	if (error)
		return error;
	snprintf(name, sizeof(name), "%" PRIu64, number);
	snprintf(deleted, sizeof(deleted), JOB_STORE_DELETED "%" PRIu64 "-%u", number,
		 (unsigned int)st.st_uid);
	if (renameat(store->jobs_fd, name, store->jobs_fd, deleted) != 0)
		return -errno;
	remove_deleted(store, deleted, st.st_uid, &steps);
	return 0;
}

int job_store__clear(struct job_store *store, size_t steps)
{
	DIR *directory = open_jobs(store);
	const struct dirent *entry;
	int error = 0;
	uid_t owner;

	while (error != -EAGAIN && directory && (entry = readdir(directory))) {
		if (parse_deleted(entry->d_name, &owner)) {
			int failed = remove_deleted(store, entry->d_name, owner, &steps);

			error = failed ? failed : error;
		}
	}
	if (directory)
		closedir(directory);
	return error;
}
