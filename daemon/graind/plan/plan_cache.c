// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/plan/plan_cache.h"
#include "daemon/graind/limits/account.h"
#include "daemon/graind/plan/plan_files.h"
#include "daemon/graind/plan/plan_memory.h"
#include "daemon/graind/base/log.h"
#include "daemon/graind/plan/plan_budget.h"
#include "daemon/graind/plan/plan_maker.h"
#include "daemon/graind/worker/worker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * How long to wait for a place among the user's workers. Also how long to wait for another thread that
 * makes the same plan; that thread first waits for a place, too, and then works.
 */
#define PLACE_MS (PLAN_SECONDS * 1000u)
#define SAME_MS (2 * PLACE_MS + 5000u)
/* For this long a file is not tried again after it took too long or made its worker fail. */
#define FAULT_NS UINT64_C(60000000000)

static atomic_bool ending;

void plan_cache__open(const char *state_dir)
{
	int error = plan_files__open(state_dir);

	if (error)
		log__line(LOG_WARNING, "probe plans are not kept in %s: %s", state_dir, strerror(-error));
}

void plan_cache__end(void)
{
	atomic_store(&ending, true);
	plan_budget__wake();
	plan_memory__wake();
}

/* Other users may see messages about a file. So a message names the file as the caller knows it. */
static void name_file(struct uprobes_error *err, const char *name)
{
	const struct uprobes_error said = *err;
	const char *found = strstr(said.text, WORKER_PLAN_NAME);

	if (found && snprintf(err->text, sizeof(err->text), "%.*s%.300s%s", (int)(found - said.text),
			      said.text, name, found + strlen(WORKER_PLAN_NAME)) >= (int)sizeof(err->text))
		strcpy(err->text + sizeof(err->text) - sizeof("..."), "...");
	for (char *at = err->text; *at; at++)
		if ((unsigned char)*at < 0x20)
			*at = ' ';
}

/* If a file was written while it was planned, the plan is useless. */
static int see_unchanged(const struct plan_wish *wish, const struct plan_key *key, struct uprobes_error *err)
{
	struct file_identity now;
	struct stat file;

	if (fstat(wish->fd, &file) == 0) {
		now = file_identity__of(&file);
		if (file_identity__same(&now, &key->file))
			return 0;
	}
	snprintf(err->text, sizeof(err->text),
		 WORKER_PLAN_NAME " was changed while it was looked at; ask again");
	return -ESTALE;
}

static int explain_budget(int error, const struct plan_key *key, unsigned int again_s,
			  struct uprobes_error *err)
{
	if (error == -EDQUOT)
		snprintf(err->text, sizeof(err->text),
			 "looking for probe points in files of user %u has taken more time than one user "
			 "gets; ask again "
			 "in %u s",
			 (unsigned int)key->account, again_s);
	else if (error == -EBUSY)
		snprintf(err->text, sizeof(err->text),
			 "too many files of user %u are being searched for probe points; ask again",
			 (unsigned int)key->account);
	else
		snprintf(err->text, sizeof(err->text), "graind is shutting down");
	return error;
}

static int make_anew(const struct plan_wish *wish, const struct plan_key *key, struct probe_plan **plan,
		     char **text, struct uprobes_error *err)
{
	const struct plan_order order = {.fd = wish->fd,
					 .subject = wish->subject,
					 .offset = wish->offset,
					 .unwanted = &ending};
	unsigned int again_s = 0;
	uint64_t spent_ns;
	int error;

	/* Users cannot add system files, so plans of system files are not limited. */
	if (key->shared)
		return plan_maker__make(&order, plan, text, &spent_ns, err);
	error = plan_budget__enter(key->account, PLACE_MS, &ending, &again_s);
	if (error)
		return explain_budget(error, key, again_s, err);
	error = plan_maker__make(&order, plan, text, &spent_ns, err);
	/* A worker that hangs is charged as if it had computed all the time. */
	if (error == -ETIMEDOUT)
		spent_ns = PLAN_SECONDS * UINT64_C(1000000000);
	plan_budget__leave(key->account, spent_ns);
	return error;
}

static bool is_filed(const struct plan_key *key)
{
	return key->shared && key->subject == PLAN_RUNTIME;
}

/* Returns the text of the plan, which is the form in which it is kept. */
static char *write_text(const struct probe_plan *plan)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int error = out ? probe_plan__write(plan, out) : -ENOMEM;

	if (out && (fclose(out) || error)) {
		free(text);
		text = NULL;
	}
	return text;
}

/*
 * Returns the text of the plan of another file with the same size, the same build-id and the same bytes at
 * all points, or NULL. Many users have copies of the same few libraries.
 */
static char *adopt(const struct plan_wish *wish, const struct plan_key *key)
{
	struct cached_plan *like[PLAN_MEMORY_LIKE];
	size_t count = key->subject != PLAN_RUNTIME ? 0 : plan_memory__like(key, like);
	char *text = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct probe_plan *plan = plan_memory__plan(like[i]);

		if (!text && probe_plan__build_id(plan)[0] && probe_plan__check(plan, wish->fd) == 0)
			text = write_text(plan);
		plan_memory__put(like[i]);
	}
	return text;
}

static int make(const struct plan_wish *wish, const struct plan_key *key, struct probe_plan **plan,
		struct uprobes_error *err)
{
	char *text = NULL;
	int error;

	*plan = NULL;
	if (is_filed(key) && plan_files__read(&key->file, &text) == 0) {
		error = probe_plan__read(WORKER_PLAN_NAME, text, plan);
		free(text);
		if (!error)
			return 0;
		plan_files__drop(&key->file);
		text = NULL;
	}
	text = adopt(wish, key);
	error = text ? probe_plan__read(WORKER_PLAN_NAME, text, plan)
		     : make_anew(wish, key, plan, &text, err);
	if (!error || error == -ETIMEDOUT || error == -ECHILD) {
		int changed = see_unchanged(wish, key, err);

		if (changed) {
			probe_plan__free(*plan);
			*plan = NULL;
			error = changed;
		}
	}
	if (!error && is_filed(key))
		plan_files__write(&key->file, text);
	free(text);
	return error;
}

/*
 * Returns how long a failure is remembered. If the failure is a property of the file, it is remembered as
 * long as a plan.
 */
static uint64_t remembered_ns(int error)
{
	if (error == -ENOENT || error == -ENOEXEC || error == -ENOTSUP)
		return UINT64_MAX;
	return error == -ETIMEDOUT || error == -ECHILD || error == -ENOMEM ? FAULT_NS : 0;
}

/* Gets the kept plan, or makes one. */
static int get(const struct plan_wish *wish, const struct plan_key *key, struct cached_plan **out,
	       struct uprobes_error *err)
{
	struct cached_plan *entry;
	int error = plan_memory__find(key, SAME_MS, &ending, &entry, err);

	if (error == -EINPROGRESS) {
		struct probe_plan *plan;

		error = make(wish, key, &plan, err);
		plan_memory__made(entry, plan, error, remembered_ns(error), err);
		if (error)
			plan_memory__put(entry);
	}
	if (!error)
		*out = entry;
	return error;
}

/* Compares the plan with the file's bytes. Drops a plan that does not fit. */
static int check(const struct plan_wish *wish, const struct plan_key *key, struct cached_plan *plan,
		 struct uprobes_error *err)
{
	int error = probe_plan__check(plan_memory__plan(plan), wish->fd);

	if (!error)
		return 0;
	plan_memory__drop(plan);
	if (is_filed(key))
		plan_files__drop(&key->file);
	snprintf(err->text, sizeof(err->text),
		 "the probe plan of " WORKER_PLAN_NAME " is not for what is in it: %s",
		 error == -ESTALE    ? "it is changing; ask again when nobody writes it"
		 : error == -EBADMSG ? "it is damaged"
				     : strerror(-error));
	return error;
}

static int prepare(const struct plan_wish *wish, struct plan_key *key, struct uprobes_error *err)
{
	struct stat file;

	if (fstat(wish->fd, &file) != 0) {
		int error = -errno;

		snprintf(err->text, sizeof(err->text), "cannot look at %.300s: %s", wish->name,
			 strerror(-error));
		return error;
	}
	*key = (struct plan_key){.file = file_identity__of(&file),
				 .subject = wish->subject,
				 .offset = wish->offset};
	/* A user's process has named a single function (offset), so plans of it are never shared. */
	key->shared = !wish->offset && system_file__is(wish->fd, &file);
	if (!key->shared)
		key->account = account__of(wish->user);
	return 0;
}

int plan_cache__get(const struct plan_wish *wish, struct cached_plan **out, struct uprobes_error *err)
{
	struct cached_plan *plan = NULL;
	struct plan_key key;
	int error = prepare(wish, &key, err);

	for (int tries = 2; !error && tries; tries--) {
		error = get(wish, &key, &plan, err);
		if (!error) {
			error = check(wish, &key, plan, err);
			if (!error) {
				*out = plan;
				return 0;
			}
			plan_memory__put(plan);
			name_file(err, wish->name);
			if (tries == 2)
				log__line(LOG_WARNING, "%s; it is planned anew", err->text);
		}
		/* The file has changed: tries once more, with its present content. */
		if (tries == 2 && (error == -ESTALE || error == -EBADMSG))
			error = prepare(wish, &key, err);
	}
	name_file(err, wish->name);
	return error == -ETIMEDOUT || error == -ECHILD || error == -ESTALE || error == -EBADMSG ? -ENOTSUP
												: error;
}

void plan_cache__put(struct cached_plan *plan)
{
	if (plan)
		plan_memory__put(plan);
}

const struct probe_plan *cached_plan__plan(const struct cached_plan *plan)
{
	return plan_memory__plan(plan);
}
