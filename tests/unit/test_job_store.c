// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/common/job_store.h"
#include "tests/unit/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
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
	CHECK(job_store__delete(store, number) == -ENOTEMPTY, "a job with a directory in it is not deleted");
	json_decref(job);
	close(dirfd);
	job_store__close(store);
}

static void handed_over(void)
{
	struct job_store *store;
	uint64_t number = 0;
	uid_t owner = 0;
	json_t *job, *read = NULL;
	int dirfd = -1, fd;

	if (geteuid() != 0) {
		printf("skip - jobs of other users: needs root\n");
		return;
	}
	store = open_store();
	job_store__claim(store, &number, &dirfd);
	job = some_job(number);
	json_object_set_new(job, "uid", json_integer(4711));
	job_store__write(dirfd, job);
	put(dirfd, TRACE_FILE, "trace");
	CHECK(job_store__open_job(store, number, &fd, &owner) == 0 && owner == 4711,
	      "while it runs, graind says whose it is");
	close(fd);
	CHECK(job_store__hand_over(dirfd, 4711, 4711) == 0, "hand over");
	CHECK(job_store__open_file(dirfd, TRACE_FILE, &fd) == 0, "the user's trace can be opened");
	close(fd);
	json_object_set_new(job, "uid", json_integer(0));
	put(dirfd, JOB_FILE, "");
	CHECK(fchownat(dirfd, JOB_FILE, 4711, 4711, 0) == 0, "the user writes a description");
	fd = openat(dirfd, JOB_FILE, O_WRONLY | O_CLOEXEC);
	json_dumpfd(job, fd, 0);
	close(fd);
	CHECK(job_store__read(store, number, &read) == 0 &&
		      json_integer_value(json_object_get(read, "uid")) == 4711,
	      "afterwards the directory says whose it is");
	json_decref(read);
	CHECK(linkat(dirfd, TRACE_FILE, dirfd, "other", 0) == 0, "a second name");
	CHECK(job_store__open_file(dirfd, TRACE_FILE, &fd) == -EBADMSG,
	      "a file with two names is not opened");
	unlinkat(dirfd, "other", 0);
	CHECK(fchownat(dirfd, TRACE_FILE, 0, 0, 0) == 0, "root's file in the user's directory");
	CHECK(job_store__open_file(dirfd, TRACE_FILE, &fd) == -EBADMSG, "somebody else's file is not opened");
	CHECK(job_store__delete(store, number) == 0, "delete");
	json_decref(job);
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
	handed_over();
	refused();
	snprintf(command, sizeof(command), "rm -rf %s", base);
	if (system(command) != 0)
		return 1;
	CHECK_DONE();
}
