// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/common/job_store.h"
#include "daemon/common/read_all.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define NUMBER_CHARS 21

struct job_store {
	char *path;
	int state_fd, jobs_fd;
};

static int fail(struct job_store_error *err, int error, const char *what, const char *path,
		const char *advice)
{
	if (err)
		snprintf(err->text, sizeof(err->text), "%s %.300s: %s%s", what, path, strerror(-error),
			 advice);
	return error;
}

/* Also makes missing parents; an existing directory is fine. */
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
	return mkdir(part, 0755) != 0 && errno != EEXIST ? -errno : 0;
}

int job_store__open(const char *state_dir, bool create, struct job_store **out, struct job_store_error *err)
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
	store->path = realpath(state_dir, NULL);
	if (!store->path && create && errno == ENOENT) {
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
	if (create && mkdirat(store->state_fd, "jobs", 0755) != 0 && errno != EEXIST) {
		error = fail(err, -errno, "cannot write to the state directory", state_dir,
			     "; make it writable or choose another with --state-dir");
		goto out;
	}
	store->jobs_fd = openat(store->state_fd, "jobs", DIR_FLAGS);
	if (store->jobs_fd < 0 && (create || errno != ENOENT)) {
		error = fail(err, -errno, "cannot read jobs/ in the state directory", state_dir,
			     "; choose another with --state-dir");
		goto out;
	}
	if (create && faccessat(store->jobs_fd, ".", R_OK | W_OK | X_OK, AT_EACCESS) != 0) {
		error = fail(err, -errno, "cannot write to jobs/ in the state directory", state_dir,
			     "; make it writable or choose another with --state-dir");
		goto out;
	}
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
	free(store->path);
	free(store);
}

const char *job_store__path(const struct job_store *store)
{
	return store->path;
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

int job_store__list(const struct job_store *store, uint64_t **numbers, size_t *count)
{
	uint64_t *list = NULL, number;
	size_t used = 0, capacity = 0;
	struct dirent *entry;
	DIR *directory;
	int fd;

	if (store->jobs_fd < 0) {
		*numbers = NULL;
		*count = 0;
		return 0;
	}
	fd = openat(store->jobs_fd, ".", DIR_FLAGS);
	directory = fd < 0 ? NULL : fdopendir(fd);
	if (!directory) {
		int error = -errno;

		if (fd >= 0)
			close(fd);
		return error;
	}
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

/* The largest number known: that in `last`, or of an existing job when that file says less or nothing. */
static int largest_number(const struct job_store *store, int last_fd, uint64_t *out)
{
	char text[NUMBER_CHARS + 2];
	uint64_t *numbers, largest = 0;
	size_t count;
	ssize_t got = pread(last_fd, text, sizeof(text) - 1, 0);
	int error;

	if (got > 0) {
		text[got] = 0;
		text[strcspn(text, "\n")] = 0;
		if (!parse_number(text, &largest))
			largest = 0;
	}
	error = job_store__list(store, &numbers, &count);
	if (error)
		return error;
	if (count && numbers[count - 1] > largest)
		largest = numbers[count - 1];
	free(numbers);
	*out = largest;
	return 0;
}

int job_store__claim(struct job_store *store, uint64_t *number, int *dirfd)
{
	char name[NUMBER_CHARS], line[NUMBER_CHARS + 1];
	uint64_t claimed = 0;
	int last_fd, fd = -1, error, length;

	last_fd = openat(store->state_fd, "last", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (last_fd < 0)
		return -errno;
	while ((error = flock(last_fd, LOCK_EX) ? -errno : 0) == -EINTR)
		;
	if (!error)
		error = largest_number(store, last_fd, &claimed);
	if (!error && claimed >= (uint64_t)INT64_MAX / 100)
		error = -EOVERFLOW;
	if (error)
		goto out;
	/* The number is used up before the directory exists: a crash in between only skips it. */
	claimed++;
	errno = 0;
	length = snprintf(line, sizeof(line), "%" PRIu64 "\n", claimed);
	snprintf(name, sizeof(name), "%" PRIu64, claimed);
	if (pwrite(last_fd, line, (size_t)length, 0) != length || ftruncate(last_fd, length) != 0) {
		error = errno ? -errno : -EIO;
		goto out;
	}
	if (mkdirat(store->jobs_fd, name, 0700) != 0) {
		error = -errno;
		goto out;
	}
	fd = openat(store->jobs_fd, name, DIR_FLAGS);
	if (fd < 0) {
		error = -errno;
		unlinkat(store->jobs_fd, name, AT_REMOVEDIR);
		goto out;
	}
	*number = claimed;
	*dirfd = fd;
out:
	close(last_fd);
	return error;
}

static int read_job(int dirfd, uint64_t number, json_t **out)
{
	char *text = NULL;
	size_t used = 0;
	json_t *json = NULL;
	int fd, error = job_store__open_file(dirfd, JOB_FILE, &fd);

	if (error)
		return error;
	text = malloc(JOB_JSON_MAX);
	if (!text)
		error = -ENOMEM;
	if (!error)
		error = read_all(fd, text, JOB_JSON_MAX, &used);
	close(fd);
	if (!error && used == JOB_JSON_MAX)
		error = -EBADMSG;
	if (!error)
		json = json_loadb(text, used, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	if (error)
		return error;
	if (!json_is_object(json) || json_integer_value(json_object_get(json, "job")) != (json_int_t)number) {
		json_decref(json);
		return -EBADMSG;
	}
	*out = json;
	return 0;
}

int job_store__open_job(const struct job_store *store, uint64_t number, int *dirfd, uid_t *owner)
{
	char name[NUMBER_CHARS];
	struct stat st;
	int fd;

	if (store->jobs_fd < 0 || number == 0 || number > INT64_MAX)
		return -ENOENT;
	snprintf(name, sizeof(name), "%" PRIu64, number);
	fd = openat(store->jobs_fd, name, DIR_FLAGS);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) != 0) {
		int error = -errno;

		close(fd);
		return error;
	}
	if (owner) {
		*owner = st.st_uid;
		/* Not handed over: only the graind that runs it writes there, and its word counts. */
		if (st.st_uid == 0 || st.st_uid == geteuid()) {
			json_t *job;

			if (read_job(fd, number, &job) == 0) {
				json_t *uid = json_object_get(job, "uid");

				if (json_is_integer(uid) && json_integer_value(uid) >= 0 &&
				    json_integer_value(uid) < UINT32_MAX)
					*owner = (uid_t)json_integer_value(uid);
				json_decref(job);
			}
		}
	}
	*dirfd = fd;
	return 0;
}

int job_store__read(const struct job_store *store, uint64_t number, json_t **out)
{
	json_t *job = NULL;
	uid_t owner;
	int fd, error = job_store__open_job(store, number, &fd, &owner);

	if (error)
		return error;
	error = read_job(fd, number, &job);
	close(fd);
	if (error)
		return error;
	if (json_object_set_new(job, "uid", json_integer((json_int_t)owner)) != 0) {
		json_decref(job);
		return -ENOMEM;
	}
	*out = job;
	return 0;
}

int job_store__write_file(int dirfd, const char *name, const void *data, size_t size)
{
	char temporary[64];
	size_t done = 0;
	int fd, error = 0;

	if (snprintf(temporary, sizeof(temporary), ".%s.new", name) >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	unlinkat(dirfd, temporary, 0);
	fd = openat(dirfd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	while (!error && done < size) {
		ssize_t put = write(fd, (const char *)data + done, size - done);

		if (put < 0 && errno != EINTR)
			error = -errno;
		if (put > 0)
			done += (size_t)put;
	}
	if (close(fd) != 0 && !error)
		error = -errno;
	if (!error && renameat(dirfd, temporary, dirfd, name) != 0)
		error = -errno;
	if (error)
		unlinkat(dirfd, temporary, 0);
	return error;
}

int job_store__write(int dirfd, const json_t *job)
{
	char *text = json_dumps(job, JSON_COMPACT | JSON_REAL_PRECISION(9));
	int error;

	if (!text)
		return -ENOMEM;
	error = job_store__write_file(dirfd, JOB_FILE, text, strlen(text));
	free(text);
	return error;
}

int job_store__open_file(int dirfd, const char *name, int *out)
{
	int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st, directory;
	int error = 0;

	if (fd < 0)
		return errno == ELOOP ? -EBADMSG : -errno;
	if (fstat(fd, &st) != 0 || fstat(dirfd, &directory) != 0)
		error = -errno;
	else if (!S_ISREG(st.st_mode))
		error = -EBADMSG;
	/* A user may have put a name of somebody else's file there, for us to read it out. */
	else if (directory.st_uid != geteuid() && (st.st_uid != directory.st_uid || st.st_nlink != 1))
		error = -EBADMSG;
	if (error)
		close(fd);
	else
		*out = fd;
	return error;
}

int job_store__hand_over(int dirfd, uid_t uid, gid_t gid)
{
	static const char *const names[] = {JOB_FILE, TRACE_FILE, SUMMARY_FILE};

	if (uid == geteuid())
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (fchownat(dirfd, names[i], uid, gid, AT_SYMLINK_NOFOLLOW) != 0 && errno != ENOENT)
			return -errno;
	}
	return fchown(dirfd, uid, gid) ? -errno : 0;
}

int job_store__delete(struct job_store *store, uint64_t number)
{
	char name[NUMBER_CHARS];
	struct dirent *entry;
	DIR *directory;
	struct stat st;
	int fd, error = job_store__open_job(store, number, &fd, NULL);

	if (error)
		return error;
	/* Without CAP_DAC_OVERRIDE the entries of another user's directory cannot be removed. */
	if (fstat(fd, &st) != 0 || (st.st_uid != geteuid() && fchown(fd, geteuid(), (gid_t)-1) != 0))
		error = -errno;
	directory = error ? NULL : fdopendir(fd);
	if (!directory) {
		error = error ? error : -errno;
		close(fd);
		return error;
	}
	while ((entry = readdir(directory))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (unlinkat(fd, entry->d_name, 0) != 0 && !error)
			error = errno == EISDIR || errno == EPERM ? -ENOTEMPTY : -errno;
	}
	closedir(directory);
	snprintf(name, sizeof(name), "%" PRIu64, number);
	if (!error && unlinkat(store->jobs_fd, name, AT_REMOVEDIR) != 0)
		error = -errno;
	return error;
}
