// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/plan_cache.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define KEPT 8

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

/* The planner knows the file by its descriptor only. */
static void name_file(struct uprobes_error *err, const char *path, const char *name)
{
	char text[sizeof(err->text)], *found;

	while ((found = strstr(err->text, path))) {
		snprintf(text, sizeof(text), "%.*s%.200s%s", (int)(found - err->text), err->text, name,
			 found + strlen(path));
		strcpy(err->text, text);
		if (strstr(name, path))
			return;
	}
}

static int create(int fd, const char *name, const struct stat *file, struct cached_plan **out,
		  struct uprobes_error *err)
{
	struct cached_plan *made = calloc(1, sizeof(*made));
	char path[64];
	int error;

	if (!made) {
		snprintf(err->text, sizeof(err->text), "out of memory");
		return -ENOMEM;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	error = probe_plan__create(path, &made->plan, err);
	if (error) {
		name_file(err, path, name);
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
