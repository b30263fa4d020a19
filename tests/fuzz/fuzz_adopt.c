// SPDX-License-Identifier: BSD-2-Clause
/*
 * Directories of jobs that a user could write in: whatever job.json says, the one that graind writes anew is
 * of that user, of that number, small, and has nothing within that is deeper than it should be. As root only,
 * as the directory has to be another one's.
 */
#include "daemon/common/job_store/job_adopt.h"
#include "tests/fuzz/target.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWNER 64001
#define NUMBER 7

static struct job_store *store;
static char state[] = "/tmp/graind-fuzz.XXXXXX";

static bool open_store(void)
{
	struct job_store_error err;

	if (store)
		return true;
	return geteuid() == 0 && mkdtemp(state) && job_store__open(state, true, &store, &err) == 0;
}

static void give(const uint8_t *data, size_t size)
{
	int jobs = job_store__jobs_fd(store), job, fd;

	MUST(mkdirat(jobs, "7", 0755) == 0);
	job = openat(jobs, "7", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = openat(job, JOB_FILE, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	MUST(job >= 0 && fd >= 0 && write(fd, data, size) == (ssize_t)size);
	MUST(fchown(fd, OWNER, OWNER) == 0 && fchown(job, OWNER, OWNER) == 0);
	close(fd);
	close(job);
}

static void tell(void *ctx, uint64_t number, uid_t owner, int error)
{
	MUST(number == NUMBER && owner == OWNER && !error);
	++*(int *)ctx;
}

static bool is_plain(const json_t *value)
{
	return !json_is_array(value) && !json_is_object(value);
}

static void check_value(const json_t *value)
{
	const json_t *element;
	const char *key;
	size_t i;

	json_array_foreach((json_t *)value, i, element) MUST(is_plain(element));
	json_object_foreach((json_t *)value, key, element) MUST(is_plain(element));
}

static void check(const json_t *job)
{
	const char *said = json_string_value(json_object_get(job, "state"));
	const json_t *value;
	const char *key;

	MUST(json_integer_value(json_object_get(job, "job")) == NUMBER);
	MUST(json_integer_value(json_object_get(job, "uid")) == OWNER);
	MUST(json_is_string(json_object_get(job, "error")));
	MUST(said && (!strcmp(said, "finished") || !strcmp(said, "failed")));
	json_object_foreach((json_t *)job, key, value) check_value(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *job = NULL;
	int taken = 0;

	if (!open_store())
		return 0;
	give(data, size);
	MUST(!job_adopt__all(store, UINT64_MAX, tell, &taken) && taken == 1);
	MUST(job_store__read(store, NUMBER, &job) == 0);
	check(job);
	json_decref(job);
	MUST(job_store__delete(store, NUMBER) == 0);
	job_store__clear(store, 1000);
	return 0;
}
