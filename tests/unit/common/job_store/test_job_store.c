// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/common/job_store/job_adopt.h"
#include "daemon/common/job_store/job_store.h"
#include "tests/unit/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char state[256];

static struct job_store *open_store(void)
{
	struct job_store_error err = {.text = ""};
	struct job_store *store = NULL;

	if (job_store__open(state, true, &store, &err))
		printf("# %s\n", err.text);
	return store;
}

static mode_t stat_mode(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

/* Names in jobs/ that are no jobs, but for the lock. */
static int others_in_jobs(void)
{
	char path[600];
	const struct dirent *entry;
	DIR *jobs;
	int count = 0;

	snprintf(path, sizeof(path), "%s/jobs", state);
	jobs = opendir(path);
	while (jobs && (entry = readdir(jobs)))
		count += entry->d_name[0] == '.' && strcmp(entry->d_name, ".") &&
			 strcmp(entry->d_name, "..") && strcmp(entry->d_name, ".lock");
	closedir(jobs);
	return count;
}

static json_t *some_job(uint64_t number)
{
	return json_pack("{s:I, s:s, s:I}", "job", (json_int_t)number, "state", "finished", "uid",
			 (json_int_t)geteuid());
}

static void put(int dirfd, const char *name, const char *text)
{
	int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		printf("# cannot write %s\n", name);
	close(fd);
}

static void numbers(void)
{
	struct job_store *store = open_store();
	uint64_t first = 0, second = 0, third = 0, *list = NULL;
	size_t count = 0;
	int a = -1, b = -1, c = -1, fd;
	char path[512];

	CHECK(store != NULL, "a state directory is made with its parents");
	CHECK(job_store__claim(store, &first, &a) == 0 && first == 1, "the first number is 1");
	CHECK(job_store__claim(store, &second, &b) == 0 && second == 2, "the next number is 2");
	CHECK(job_store__list(store, &list, &count) == 0 && count == 2 && list[0] == 1 && list[1] == 2,
	      "the list has both");
	free(list);
	CHECK(job_store__delete(store, 2) == 0, "delete");
	CHECK(job_store__open_job(store, 2, &fd, NULL) == -ENOENT, "it is gone");
	CHECK(job_store__delete(store, 2) == -ENOENT, "deleting it again");
	CHECK(job_store__claim(store, &third, &c) == 0 && third == 3, "its number is not used again");
	close(a);
	close(b);
	close(c);

	snprintf(path, sizeof(path), "%s/last", state);
	unlink(path);
	CHECK(job_store__claim(store, &third, &c) == 0 && third == 4,
	      "without `last` it goes on after the largest");
	close(c);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	CHECK(write(fd, "rubbish\n", 8) == 8, "`last` is damaged");
	close(fd);
	CHECK(job_store__claim(store, &third, &c) == 0 && third == 5, "a damaged `last` is repaired");
	close(c);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	CHECK(write(fd, "99999999999999999999999\n", 24) == 24, "`last` is beyond all numbers");
	close(fd);
	CHECK(job_store__claim(store, &third, &c) == 0 && third == 6, "a number beyond all is not believed");
	close(c);
	job_store__close(store);
	job_store__close(NULL);
}

/* Several processes at a time never get the same number. */
static void concurrent(void)
{
	enum { PROCESSES = 4, EACH = 50 };
	struct job_store *store = open_store();
	uint64_t *before = NULL, *after = NULL;
	size_t count_before = 0, count_after = 0;
	int failed = 0, status;

	job_store__list(store, &before, &count_before);
	fflush(stdout);
	for (int p = 0; p < PROCESSES; p++) {
		if (fork() == 0) {
			struct job_store *own = open_store();
			uint64_t number;
			int fd, error = 0;

			for (int i = 0; i < EACH && !error; i++) {
				error = job_store__claim(own, &number, &fd);
				if (!error)
					close(fd);
			}
			job_store__close(own);
			_exit(error != 0);
		}
	}
	for (int p = 0; p < PROCESSES; p++) {
		if (wait(&status) < 0 || status != 0)
			failed++;
	}
	job_store__list(store, &after, &count_after);
	CHECK(!failed && count_after == count_before + PROCESSES * EACH, "%d processes claim %d numbers each",
	      PROCESSES, EACH);
	free(before);
	free(after);
	job_store__close(store);
}

static void descriptions(void)
{
	struct job_store *store = open_store();
	json_t *job, *read = NULL;
	uint64_t number = 0;
	char *text;
	int dirfd = -1, fd;

	job_store__claim(store, &number, &dirfd);
	CHECK(job_store__read(store, number, &read) == -ENOENT, "a job without description");
	job = some_job(number);
	CHECK(job_store__write(dirfd, job) == 0, "write");
	CHECK(job_store__read(store, number, &read) == 0 && json_equal(job, read),
	      "what is read was written");
	json_decref(read);
	json_object_set_new(job, "state", json_string("failed"));
	CHECK(job_store__write(dirfd, job) == 0, "write again");
	read = NULL;
	CHECK(job_store__read(store, number, &read) == 0, "read again");
	CHECK_STR(json_string_value(json_object_get(read, "state")), "failed", "it was replaced");
	json_decref(read);

	put(dirfd, JOB_FILE, "{\"job\":");
	CHECK(job_store__read(store, number, &read) == -EBADMSG, "a description that is cut short");
	put(dirfd, JOB_FILE, "{\"job\":4711}");
	CHECK(job_store__read(store, number, &read) == -EBADMSG, "another job's description");
	put(dirfd, JOB_FILE, "[]");
	CHECK(job_store__read(store, number, &read) == -EBADMSG, "a description that is no object");
	text = malloc(JOB_JSON_MAX + 1);
	memset(text, ' ', JOB_JSON_MAX);
	text[JOB_JSON_MAX] = 0;
	put(dirfd, JOB_FILE, text);
	free(text);
	CHECK(job_store__read(store, number, &read) == -EBADMSG, "a huge description");
	unlinkat(dirfd, JOB_FILE, 0);
	CHECK(symlinkat("/etc/passwd", dirfd, JOB_FILE) == 0, "a link in its place");
	CHECK(job_store__read(store, number, &read) == -EBADMSG, "links are not followed");
	CHECK(job_store__write(dirfd, job) == 0 && job_store__read(store, number, &read) == 0,
	      "the link is replaced, not what it leads to");
	json_decref(read);
	unlinkat(dirfd, TRACE_FILE, 0);
	CHECK(mkfifoat(dirfd, TRACE_FILE, 0600) == 0, "a pipe in a file's place");
	CHECK(job_store__open_file(dirfd, TRACE_FILE, &fd) == -EBADMSG, "pipes are not opened");
	CHECK(mkdirat(dirfd, "mine", 0700) == 0, "a directory in the job's");
	CHECK(job_store__delete(store, number) == 0 && job_store__read(store, number, &read) == -ENOENT,
	      "a job with a directory in it is deleted");
	CHECK(job_store__clear(store, 100) == 0 && others_in_jobs() == 0, "with all that was in it");
	json_decref(job);
	close(dirfd);
	job_store__close(store);
}

/* A directory where the next job.json would be made stands for a disk without room. */
static void last_descriptions(void)
{
	struct job_store *store = open_store();
	json_t *job, *read = NULL;
	uint64_t number = 0;
	struct stat st = {0};
	int dirfd = -1;

	job_store__claim(store, &number, &dirfd);
	job = some_job(number);
	CHECK(job_store__write(dirfd, job) == 0 && job_store__reserve(dirfd) == 0 &&
		      job_store__reserve(dirfd) == 0,
	      "room for the last description is taken, once");
	CHECK(fstatat(dirfd, ".job.json.spare", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		      st.st_blocks * 512 >= 16 << 10,
	      "its blocks are there: %lld", (long long)st.st_blocks);
	CHECK(mkdirat(dirfd, ".job.json.new", 0700) == 0, "there is no other room");
	CHECK(job_store__write(dirfd, job) < 0, "so the description cannot be replaced");
	json_object_set_new(job, "state", json_string("failed"));
	CHECK(job_store__write_last(dirfd, job) == 0, "but by the last one");
	CHECK(job_store__read(store, number, &read) == 0 && json_equal(job, read),
	      "what is read was written");
	json_decref(read);
	CHECK(faccessat(dirfd, ".job.json.spare", F_OK, 0) != 0, "the room is used up");
	CHECK(job_store__write_last(dirfd, job) < 0, "without it the last cannot be written");
	read = NULL;
	CHECK(job_store__read(store, number, &read) == 0 && json_equal(job, read),
	      "what was written is as it was");
	json_decref(read);
	CHECK(unlinkat(dirfd, ".job.json.new", AT_REMOVEDIR) == 0 && job_store__reserve(dirfd) == 0 &&
		      job_store__write_last(dirfd, job) == 0 &&
		      faccessat(dirfd, ".job.json.spare", F_OK, 0) != 0,
	      "room that is not needed is given back");
	json_decref(job);
	close(dirfd);
	job_store__close(store);
}

/* ---- directories that an older graind gave to a user ---------------------- */

#define ANN 4711
#define BEN 4712

static void tell(void *ctx, uint64_t number, uid_t owner, int error)
{
	int *seen = ctx;

	(void)number;
	seen[0] += !error && owner == ANN;
	seen[1] += error != 0;
}

/* As it was left to ann. Takes what is in it along. */
static int give(struct job_store *store, uint64_t *number)
{
	json_t *job;
	int dirfd = -1;

	job_store__claim(store, number, &dirfd);
	job = some_job(*number);
	json_object_set_new(job, "uid", json_integer(0));
	json_object_set_new(job, "exe", json_string("/opt/fib"));
	json_object_set_new(job, "socket", json_string("/run/evil"));
	job_store__write(dirfd, job);
	json_decref(job);
	put(dirfd, TRACE_FILE, "trace");
	put(dirfd, SUMMARY_FILE, "{}");
	CHECK(fchownat(dirfd, JOB_FILE, ANN, ANN, 0) == 0 && fchownat(dirfd, TRACE_FILE, ANN, ANN, 0) == 0 &&
		      fchownat(dirfd, SUMMARY_FILE, ANN, ANN, 0) == 0 && fchown(dirfd, ANN, ANN) == 0 &&
		      fchmod(dirfd, 0777) == 0,
	      "a directory of a user");
	return dirfd;
}

static uid_t owner_of(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 ? st.st_uid : (uid_t)-1;
}

static bool adopt(struct job_store *store, int taken, int failed)
{
	int seen[2] = {0};
	bool more = job_adopt__all(store, UINT64_MAX, tell, seen);

	if (more || seen[0] != taken || seen[1] != failed)
		printf("# %d taken, %d failed\n", seen[0], seen[1]);
	return !more && seen[0] == taken && seen[1] == failed;
}

static void take_back_job(struct job_store *store)
{
	uint64_t number = 0;
	json_t *read = NULL;
	char path[600];
	int dirfd, fd;
	uid_t owner = 0;

	dirfd = give(store, &number);
	CHECK(job_store__read(store, number, &read) == -ENOENT, "it is no job until it is taken back");
	CHECK(adopt(store, 1, 0), "it is taken back");
	CHECK(job_store__read(store, number, &read) == 0 &&
		      json_integer_value(json_object_get(read, "uid")) == ANN &&
		      !json_object_get(read, "socket") &&
		      !strcmp(json_string_value(json_object_get(read, "exe")), "/opt/fib"),
	      "it is its user's, whatever is written there");
	json_decref(read);
	close(dirfd);
	CHECK(job_store__open_job(store, number, &dirfd, &owner) == 0 && owner == ANN, "as can be asked");
	CHECK(job_store__open_file(dirfd, TRACE_FILE, &fd) == 0, "its trace is there");
	close(fd);
	close(dirfd);
	snprintf(path, sizeof(path), "%s/jobs/%llu", state, (unsigned long long)number);
	CHECK(owner_of(path) == 0, "its directory is graind's");
	CHECK(job_store__clear(store, 1000) == 0 && others_in_jobs() == 0, "nothing else is left");
}

/* Ann has put other files, links and directories into the job. */
static void take_back_changed_job(struct job_store *store)
{
	uint64_t forged = 0;
	json_t *read = NULL;
	char outside[512];
	int dirfd, fd;

	snprintf(outside, sizeof(outside), "%s/../file", state);
	put(AT_FDCWD, outside, "secret");
	CHECK(chown(outside, BEN, BEN) == 0, "a file of ben");
	dirfd = give(store, &forged);
	unlinkat(dirfd, TRACE_FILE, 0);
	unlinkat(dirfd, SUMMARY_FILE, 0);
	unlinkat(dirfd, JOB_FILE, 0);
	CHECK(linkat(AT_FDCWD, outside, dirfd, TRACE_FILE, 0) == 0, "ben's file is a trace");
	CHECK(symlinkat(outside, dirfd, SUMMARY_FILE) == 0, "a link to it the summary");
	CHECK(mkfifoat(dirfd, JOB_FILE, 0600) == 0, "and a pipe the description");
	CHECK(mkdirat(dirfd, "deep", 0700) == 0 && mkdirat(dirfd, "deep/deeper", 0) == 0, "directories");
	CHECK(fchownat(dirfd, "deep", ANN, ANN, 0) == 0 && fchownat(dirfd, "deep/deeper", ANN, ANN, 0) == 0,
	      "of ann's");
	CHECK(adopt(store, 1, 0) && adopt(store, 0, 0), "it is taken back once");
	close(dirfd);
	CHECK(owner_of(outside) == BEN, "ben's file is ben's");
	CHECK(job_store__read(store, forged, &read) == 0 &&
		      !strcmp(json_string_value(json_object_get(read, "state")), "failed"),
	      "the job is there, and says that something is wrong");
	json_decref(read);
	CHECK(job_store__open_job(store, forged, &dirfd, NULL) == 0 &&
		      job_store__open_file(dirfd, TRACE_FILE, &fd) == -ENOENT &&
		      job_store__open_file(dirfd, SUMMARY_FILE, &fd) == -ENOENT,
	      "without what was not ann's");
	close(dirfd);
	CHECK(job_store__clear(store, 1000) == 0 && others_in_jobs() == 0, "nothing is left of the rest");
}

/* There is a directory of somebody else in the job. */
static void take_back_with_others(struct job_store *store)
{
	uint64_t foreign = 0;
	json_t *read = NULL;
	char path[600];
	int dirfd;

	dirfd = give(store, &foreign);
	CHECK(mkdirat(dirfd, "ben", 0700) == 0 && mkdirat(dirfd, "ben/data", 0700) == 0 &&
		      fchownat(dirfd, "ben", BEN, BEN, 0) == 0,
	      "ben's directory in ann's");
	close(dirfd);
	CHECK(adopt(store, 1, 0) && job_store__clear(store, 1000) == -EPERM, "it is not removed");
	snprintf(path, sizeof(path), "%s/jobs/" JOB_STORE_DELETED "%llu-%d/ben", state,
		 (unsigned long long)foreign, ANN);
	CHECK(owner_of(path) == BEN, "nor anybody else's");
	CHECK(job_store__read(store, foreign, &read) == 0, "the job is there");
	json_decref(read);
	CHECK(chown(path, ANN, ANN) == 0 && job_store__clear(store, 1000) == 0 && others_in_jobs() == 0,
	      "once it is ann's it goes");
}

/* graind was killed while it took the job back. */
static void take_back_again(struct job_store *store)
{
	uint64_t number = 0;
	char taken[512], path[600];
	int dirfd, fd;

	dirfd = give(store, &number);
	snprintf(path, sizeof(path), "%s/jobs/%llu", state, (unsigned long long)number);
	snprintf(taken, sizeof(taken), "%s/jobs/.taken-%llu-%d", state, (unsigned long long)number, ANN);
	CHECK(rename(path, taken) == 0, "it has another name");
	snprintf(path, sizeof(path), "%s/jobs/.new-%llu", state, (unsigned long long)number);
	CHECK(mkdir(path, 0700) == 0, "and a new directory");
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(renameat(dirfd, TRACE_FILE, fd, TRACE_FILE) == 0, "to which the trace has gone");
	close(fd);
	close(dirfd);
	CHECK(adopt(store, 1, 0) && job_store__open_job(store, number, &dirfd, NULL) == 0 &&
		      job_store__open_file(dirfd, TRACE_FILE, &fd) == 0,
	      "it goes on where it was");
	close(fd);
	CHECK(job_store__open_file(dirfd, SUMMARY_FILE, &fd) == 0, "with the rest");
	close(fd);
	close(dirfd);
	CHECK(job_store__clear(store, 1000) == 0 && others_in_jobs() == 0, "and leaves nothing");
}

static void taken_back(void)
{
	struct job_store *store;

	if (geteuid() != 0) {
		printf("skip - jobs of other users: needs root\n");
		return;
	}
	store = open_store();
	take_back_job(store);
	take_back_changed_job(store);
	take_back_with_others(store);
	take_back_again(store);
	job_store__close(store);
}

/* A client reads what belongs to somebody else. */
static void of_others(void)
{
	struct job_store_error err = {.text = ""};
	struct job_store *store;
	uint64_t number = 0;
	uid_t owner = 0;
	json_t *read = NULL;
	char path[600];
	int dirfd, fd;

	if (geteuid() != 0)
		return;
	store = open_store();
	dirfd = give(store, &number);
	job_store__close(store);
	snprintf(path, sizeof(path), "%s/jobs", state);
	CHECK(chown(path, ANN, ANN) == 0, "a state directory of ann's");
	store = NULL;
	CHECK(job_store__open(state, true, &store, &err) == -EPERM && !strchr(err.text, '\n'),
	      "root's graind does not serve it: %s", err.text);
	CHECK(job_store__open(state, false, &store, &err) == 0 && !job_store__is_trusted(store, &owner) &&
		      owner == ANN,
	      "a client can read it, and knows whose word it is");
	CHECK(job_store__read(store, number, &read) == 0 &&
		      json_integer_value(json_object_get(read, "uid")) == ANN,
	      "the directory says whose the job is");
	json_decref(read);
	CHECK(job_store__open_file(dirfd, TRACE_FILE, &fd) == 0, "its trace can be opened");
	close(fd);
	CHECK(linkat(dirfd, TRACE_FILE, dirfd, "other", 0) == 0, "a second name");
	CHECK(job_store__open_file(dirfd, TRACE_FILE, &fd) == -EBADMSG,
	      "a file with two names is not opened");
	unlinkat(dirfd, "other", 0);
	CHECK(fchownat(dirfd, TRACE_FILE, 0, 0, 0) == 0, "root's file in the user's directory");
	CHECK(job_store__open_file(dirfd, TRACE_FILE, &fd) == -EBADMSG, "somebody else's file is not opened");
	CHECK(chown(path, 0, 0) == 0 && chmod(path, 0777) == 0, "root's, but for all to write");
	job_store__close(store);
	store = open_store();
	CHECK(store && stat_mode(path) == 0700, "is closed to others when graind serves it");
	close(dirfd);
	job_store__close(store);
}

/* Whoever holds the lock that numbers are claimed under is not waited for without end. */
static void held(void)
{
	struct job_store *store = open_store();
	uint64_t number;
	char path[600];
	int fd, dirfd;

	CHECK(job_store__claim(store, &number, &dirfd) == 0, "a number");
	close(dirfd);
	snprintf(path, sizeof(path), "%s/last", state);
	CHECK(stat_mode(path) == 0600, "`last` is for graind alone");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(flock(fd, LOCK_EX) == 0 && job_store__claim(store, &number, &dirfd) == 0,
	      "a lock on `last` is nobody's affair");
	close(fd);
	close(dirfd);
	snprintf(path, sizeof(path), "%s/jobs/.lock", state);
	CHECK(stat_mode(path) == 0600, "the lock is for graind alone");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(flock(fd, LOCK_EX) == 0 && job_store__claim(store, &number, &dirfd) == -EBUSY,
	      "it is waited for some seconds");
	close(fd);
	CHECK(job_store__claim(store, &number, &dirfd) == 0, "and had again");
	close(dirfd);
	job_store__close(store);
}

static void refused(void)
{
	struct job_store_error err = {.text = ""};
	struct job_store *store = NULL;
	char path[512];
	uint64_t *list;
	size_t count;

	CHECK(job_store__open("", true, &store, &err) == -EINVAL && err.text[0], "no name");
	CHECK(job_store__open("/proc/nowhere", true, &store, &err) < 0 && err.text[0] &&
		      !strchr(err.text, '\n'),
	      "a place where nothing can be made: %s", err.text);
	snprintf(path, sizeof(path), "%s/last", state);
	CHECK(job_store__open(path, true, &store, &err) < 0 && !strchr(err.text, '\n'), "a file: %s",
	      err.text);
	snprintf(path, sizeof(path), "%s/nothing", state);
	CHECK(job_store__open(path, false, &store, &err) == -ENOENT,
	      "a directory that is only read must exist");
	CHECK(mkdir(path, 0755) == 0 && job_store__open(path, false, &store, &err) == 0,
	      "one without jobs can be read");
	CHECK(job_store__list(store, &list, &count) == 0 && count == 0, "and has none");
	job_store__close(store);
}

int main(void)
{
	char base[] = "/tmp/graind-store.XXXXXX", command[128];

	if (!mkdtemp(base))
		return 1;
	snprintf(state, sizeof(state), "%s/some/where", base);
	numbers();
	concurrent();
	descriptions();
	last_descriptions();
	taken_back();
	of_others();
	held();
	refused();
	snprintf(command, sizeof(command), "rm -rf %s", base);
	if (system(command) != 0)
		return 1;
	CHECK_DONE();
}
