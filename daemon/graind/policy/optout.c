// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/policy/optout.h"
#include "daemon/graind/base/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY "optout"
#define TEXT_MAX 64
/*
 * The largest number of opted-out users that this machine does not know. With user namespaces one user has
 * thousands of user ids.
 */
#define MOST_UNKNOWN 1024
#define MOST_SHOWN 100
#define WHY_MAX 512

static struct {
	pthread_mutex_t setting; /* held while a file in the directory is changed */
	int directory;		 /* -1: it is not used */
	char why_none[WHY_MAX];	 /* why the directory is not used; "" = it is used */
	atomic_uint generation;	 /* counts the changes */
} optouts = {.setting = PTHREAD_MUTEX_INITIALIZER, .directory = -1};

static void write_text(uid_t uid, char out[TEXT_MAX])
{
	snprintf(out, TEXT_MAX, "user %u is not to be recorded\n", (unsigned int)uid);
}

static void write_name(uid_t uid, char out[16])
{
	snprintf(out, 16, "%u", (unsigned int)uid);
}

/* Whether only graind or root can have written the file or directory. */
static bool is_own(int fd, mode_t type)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == type &&
	       (st.st_uid == geteuid() || st.st_uid == 0) && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* Whether the user has opted out. 0: yes, -ENOENT: no, -EBADMSG: graind has not written the file. */
static int check(uid_t uid)
{
	char name[16], wanted[TEXT_MAX], text[TEXT_MAX];
	int fd, error = 0;
	ssize_t got;

	if (optouts.directory < 0)
		return -ENOENT;
	write_name(uid, name);
	write_text(uid, wanted);
	fd = openat(optouts.directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ENOENT : -EBADMSG;
	got = is_own(fd, S_IFREG) ? read(fd, text, sizeof(text)) : -1;
	if (got != (ssize_t)strlen(wanted) || memcmp(text, wanted, (size_t)got))
		error = -EBADMSG;
	close(fd);
	return error;
}

bool optout__has(uid_t uid)
{
	return check(uid) == 0;
}

unsigned int optout__generation(void)
{
	return optouts.generation;
}

/* ---- what there is ------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
	uid_t left = *(const uid_t *)a, right = *(const uid_t *)b;

	return left < right ? -1 : left > right;
}

static bool parse_name(const char *name, uid_t *out)
{
	unsigned long long value;
	char *end;

	if (*name < '0' || *name > '9' || (*name == '0' && name[1]))
		return false;
	errno = 0;
	value = strtoull(name, &end, 10);
	*out = (uid_t)value;
	return !errno && !*end && value < UINT_MAX;
}

/*
 * Lists the users who have opted out, in ascending order. *wrong: the number of files that graind has not
 * written; `first`: the name of one of them.
 */
static int list(uid_t **out, size_t *count, size_t *wrong, char first[NAME_MAX + 1])
{
	int fd = openat(optouts.directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = 0;
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	size_t room = 0, found = 0;
	uid_t *uids = NULL;
	const struct dirent *entry;

	*wrong = 0;
	if (!entries) {
		error = -errno;
		if (fd >= 0)
			close(fd);
		return error;
	}
	while (!error && (entry = readdir(entries))) {
		uid_t uid;

		if (entry->d_name[0] == '.')
			continue;
		if (!parse_name(entry->d_name, &uid) || check(uid) != 0) {
			if (!(*wrong)++)
				snprintf(first, NAME_MAX + 1, "%s", entry->d_name);
			continue;
		}
		if (found == room) {
			uid_t *grown = reallocarray(uids, room ? 2 * room : 64, sizeof(*uids));

			if (!grown) {
				error = -ENOMEM;
				continue;
			}
			uids = grown;
			room = room ? 2 * room : 64;
		}
		uids[found++] = uid;
	}
	closedir(entries);
	if (error) {
		free(uids);
		return error;
	}
	if (found)
		qsort(uids, found, sizeof(*uids), compare);
	*out = uids;
	*count = found;
	return 0;
}

static void tell_wrong(size_t wrong, const char *first, char why[WHY_MAX])
{
	why[0] = 0;
	if (wrong)
		snprintf(why, WHY_MAX,
			 "%zu of the files in the state directory's " DIRECTORY
			 " are not as graind wrote them and count for nothing, among them %.200s: delete "
			 "them, and have those users run grainctl optout on again",
			 wrong, first);
	for (char *at = why; *at; at++)
		if (*at < 0x20 || *at >= 0x7f)
			*at = '?';
}

static json_t *describe_user(uid_t uid)
{
	struct passwd entry, *found = NULL;
	char buffer[4096], number[16];
	json_t *name = NULL;

	write_name(uid, number);
	if (getpwuid_r(uid, &entry, buffer, sizeof(buffer), &found) == 0 && found)
		name = json_string(found->pw_name);
	return json_pack("{s:I, s:o}", "uid", (json_int_t)uid, "user", name ? name : json_string(number));
}

json_t *optout__json(void)
{
	char first[NAME_MAX + 1] = "", why[WHY_MAX];
	size_t count = 0, wrong = 0;
	uid_t *uids = NULL;
	json_t *users = json_array();
	int error = optouts.directory < 0 ? 0 : list(&uids, &count, &wrong, first);

	for (size_t i = 0; i < count && i < MOST_SHOWN; i++)
		json_array_append_new(users, describe_user(uids[i]));
	free(uids);
	tell_wrong(wrong, first, why);
	if (error)
		snprintf(why, sizeof(why), "who has opted out cannot be read: %s", strerror(-error));
	return json_pack("{s:I, s:o, s:s}", "count", (json_int_t)count, "users", users, "error",
			 optouts.directory < 0 ? optouts.why_none : why);
}

/* ---- changes ------------------------------------------------------------ */

static void close_to_others(int fd)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && (st.st_mode & 077) && fchmod(fd, 0700) != 0)
		log__line(LOG_WARNING, "cannot make " DIRECTORY " in the state directory graind's alone: %s",
			  strerror(errno));
}

int optout__open(const char *state_dir)
{
	int parent = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd, error = 0;
	char first[NAME_MAX + 1] = "", why[WHY_MAX];
	size_t count, wrong = 0;
	uid_t *uids = NULL;

	if (parent < 0)
		return -errno;
	mkdirat(parent, DIRECTORY, 0700);
	fd = openat(parent, DIRECTORY, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		error = -errno;
	else if (!is_own(fd, S_IFDIR))
		error = -EPERM;
	/* Other users may be able to read a directory of an older version. */
	else
		close_to_others(fd);
	close(parent);
	if (error) {
		if (fd >= 0)
			close(fd);
		snprintf(optouts.why_none, sizeof(optouts.why_none),
			 "nobody's wish not to be recorded is known: %.300s/" DIRECTORY
			 " is not a directory that only graind can write; move it away and restart graind",
			 state_dir);
		log__line(LOG_ERR, "%s", optouts.why_none);
		return error;
	}
	optouts.directory = fd;
	error = list(&uids, &count, &wrong, first);
	free(uids);
	tell_wrong(wrong, first, why);
	if (why[0])
		log__line(LOG_ERR, "%s", why);
	return error;
}

void optout__close(void)
{
	if (optouts.directory >= 0)
		close(optouts.directory);
	optouts.directory = -1;
}

static bool is_known(uid_t uid)
{
	struct passwd entry, *found = NULL;
	char buffer[4096];

	/* If the look-up fails, the user counts as known. */
	return getpwuid_r(uid, &entry, buffer, sizeof(buffer), &found) != 0 || found;
}

static bool is_one_too_many(uid_t uid)
{
	char first[NAME_MAX + 1];
	size_t count = 0, wrong;
	uid_t *uids = NULL;

	if (is_known(uid) || list(&uids, &count, &wrong, first) != 0)
		return false;
	free(uids);
	return count >= MOST_UNKNOWN;
}

/* Writes a user's file. The file gets its name when it is complete. */
static int write_file(uid_t uid)
{
	char name[16], temporary[48], text[TEXT_MAX];
	int fd, error = 0;

	write_name(uid, name);
	write_text(uid, text);
	snprintf(temporary, sizeof(temporary), ".%d-%s", (int)getpid(), name);
	unlinkat(optouts.directory, temporary, 0);
	fd = openat(optouts.directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	errno = 0;
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text) || fsync(fd) != 0 ||
	    renameat(optouts.directory, temporary, optouts.directory, name) != 0)
		error = errno ? -errno : -EIO;
	close(fd);
	if (error)
		unlinkat(optouts.directory, temporary, 0);
	return error;
}

int optout__set(uid_t uid, bool on, bool *changed)
{
	char name[16];
	int error = 0, is;

	*changed = false;
	if (optouts.directory < 0)
		return -EPERM;
	write_name(uid, name);
	pthread_mutex_lock(&optouts.setting);
	is = check(uid);
	if (on && is != 0)
		error = is_one_too_many(uid) ? -EUSERS : write_file(uid);
	else if (!on && is != -ENOENT)
		error = unlinkat(optouts.directory, name, 0) != 0 ? -errno : 0;
	*changed = !error && on != (is == 0);
	if (!error && fsync(optouts.directory) != 0)
		error = -errno;
	optouts.generation += *changed;
	pthread_mutex_unlock(&optouts.setting);
	return error;
}
