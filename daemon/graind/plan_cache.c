// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/plan_cache.h"
#include "daemon/graind/filed_plans.h"
#include "daemon/graind/log.h"
#include "daemon/graind/worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEPT 32
#define PLAN_SECONDS 20
#define PLAN_BYTES (1u << 20)

struct cached_plan {
	struct probe_plan *plan;
	struct stat file; /* what it was made of */
	unsigned int users;
	unsigned long used; /* for the least recently used one */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cached_plan *kept[KEPT]; /* each of them one user by being kept */
static unsigned long uses;

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static void drop_user(struct cached_plan *plan)
{
	if (plan && --plan->users == 0) {
		probe_plan__free(plan->plan);
		free(plan);
	}
}

void plan_cache__open(const char *state_dir)
{
	int error = filed_plans__open(state_dir);

	if (error)
		log__line(LOG_WARNING, "probe plans are not kept in %s: %s", state_dir, strerror(-error));
}

/* The worker does not know the file's name. */
static void name_file(struct uprobes_error *err, const char *text, const char *name)
{
	const char *found = strstr(text, WORKER_PLAN_NAME);
	size_t before = found ? (size_t)(found - text) : 0;

	snprintf(err->text, sizeof(err->text), "%.*s%.300s%.400s", (int)before, text, found ? name : "",
		 found ? found + strlen(WORKER_PLAN_NAME) : text);
	for (char *at = err->text; *at; at++)
		if ((unsigned char)*at < 0x20)
			*at = ' ';
}

/* "error CODE TEXT" of the worker. */
static int take_error(char *text, const char *name, struct uprobes_error *err)
{
	char *rest;
	long code;

	if (strncmp(text, "error\t", 6))
		return 0;
	code = strtol(text + 6, &rest, 10);
	rest[strcspn(rest, "\n")] = 0;
	name_file(err, rest + (*rest == '\t'), name);
	return code == ENOENT || code == ENOEXEC || code == ENOMEM ? (int)-code : -ENOTSUP;
}

/* What the worker says is checked like what a file says. */
static int ask_worker(const char *work, uint64_t detail, int fd, const char *name, char **text,
		      struct uprobes_error *err)
{
	const struct worker worker = {
		.work = work,
		.job = detail,
		.uid = WORKER_NOBODY,
		.gid = WORKER_NOBODY,
		.input = fd,
		.seconds = PLAN_SECONDS,
		.max_output = PLAN_BYTES,
	};
	size_t size;
	int error = worker__run(&worker, text, &size);

	if (error)
		snprintf(err->text, sizeof(err->text), "looking for probe points in %.300s failed: %s", name,
			 error == -ETIMEDOUT ? "it took too long"
			 : error == -ECHILD  ? "the file is damaged"
					     : strerror(-error));
	return error == -ECHILD || error == -ETIMEDOUT || error == -EFBIG ? -ENOTSUP : error;
}

static int take_plan(int fd, const char *name, char *text, struct probe_plan **out, struct uprobes_error *err)
{
	int error = take_error(text, name, err);

	if (error)
		return error;
	error = probe_plan__read(name, text, out);
	if (!error) {
		error = probe_plan__check(*out, fd);
		if (error)
			probe_plan__free(*out);
	}
	if (error)
		snprintf(err->text, sizeof(err->text), "the probe plan of %.300s is not usable", name);
	return error == -EBADMSG ? -ENOTSUP : error;
}

static int make_plan(int fd, const char *name, struct probe_plan **out, struct uprobes_error *err)
{
	char *text = NULL;
	bool filed = filed_plans__read(fd, &text) == 0;
	int error = filed ? 0 : ask_worker(WORKER_PLAN, 0, fd, name, &text, err);

	if (!error)
		error = take_plan(fd, name, text, out, err);
	if (!error && !filed)
		filed_plans__write(fd, text);
	free(text);
	return error;
}

int plan_cache__bodies(int fd, const char *name, uint64_t offset, struct probe_plan **out,
		       struct uprobes_error *err)
{
	char *text = NULL;
	int error = ask_worker(WORKER_BODIES, offset, fd, name, &text, err);

	if (!error)
		error = take_plan(fd, name, text, out, err);
	if (!error && probe_plan__runtime(*out) != RUNTIME_PROGRAM) {
		probe_plan__free(*out);
		snprintf(err->text, sizeof(err->text), "the probe plan of %.300s is not usable", name);
		error = -ENOTSUP;
	}
	free(text);
	return error;
}

static int create(int fd, const char *name, const struct stat *file, struct cached_plan **out,
		  struct uprobes_error *err)
{
	struct cached_plan *made = calloc(1, sizeof(*made));
	int error;

	if (!made) {
		snprintf(err->text, sizeof(err->text), "out of memory");
		return -ENOMEM;
	}
	error = make_plan(fd, name, &made->plan, err);
	if (error) {
		free(made);
		return error;
	}
	made->file = *file;
	made->users = 1;
	*out = made;
	return 0;
}

int plan_cache__get(int fd, const char *name, struct cached_plan **out, struct uprobes_error *err)
{
	struct cached_plan *found = NULL;
	size_t oldest = 0;
	struct stat file;
	int error = 0;

	if (fstat(fd, &file) != 0) {
		snprintf(err->text, sizeof(err->text), "cannot look at %.300s: %s", name, strerror(errno));
		return -errno;
	}
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < KEPT && !found; i++) {
		if (kept[i] && same_file(&kept[i]->file, &file))
			found = kept[i];
		else if (!kept[i] || (kept[oldest] && kept[i]->used < kept[oldest]->used))
			oldest = i;
	}
	if (!found) {
		error = create(fd, name, &file, &found, err);
		if (!error) {
			drop_user(kept[oldest]);
			kept[oldest] = found;
		}
	}
	if (!error) {
		found->used = ++uses;
		found->users++;
		*out = found;
	}
	pthread_mutex_unlock(&lock);
	return error;
}

void plan_cache__put(struct cached_plan *plan)
{
	pthread_mutex_lock(&lock);
	drop_user(plan);
	pthread_mutex_unlock(&lock);
}

const struct probe_plan *cached_plan__plan(const struct cached_plan *plan)
{
	return plan->plan;
}
