// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/plan/plan_memory.h"
#include "daemon/graind/base/clock.h"
#include "daemon/graind/base/deadline.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct cached_plan {
	struct cached_plan *next; /* in the list of kept plans */
	struct plan_key key;
	bool kept, making;
	struct probe_plan *plan;
	int error;
	struct uprobes_error why;
	uint64_t until_ns; /* how long an error is remembered */
	unsigned int users;
	unsigned long used; /* number of its last use */
};

static struct {
	pthread_once_t once;
	pthread_mutex_t lock;	/* guards what follows and the plans in it */
	pthread_cond_t changed; /* signalled when a plan is no longer being made */
	struct cached_plan *first;
	unsigned long uses;
} plans = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static void begin(void)
{
	deadline__make(&plans.changed);
}

static bool same_key(const struct plan_key *a, const struct plan_key *b)
{
	return a->shared == b->shared && a->account == b->account && a->subject == b->subject &&
	       a->offset == b->offset && file_identity__same(&a->file, &b->file);
}

/* All functions below need the lock. */
static void release(struct cached_plan *entry)
{
	if (--entry->users)
		return;
	probe_plan__free(entry->plan);
	free(entry);
}

static void take_out(struct cached_plan *entry)
{
	struct cached_plan **at = &plans.first;

	if (!entry->kept)
		return;
	while (*at != entry)
		at = &(*at)->next;
	*at = entry->next;
	entry->kept = false;
	release(entry);
}

/* Each file that a process maps is searched for static loops. These many plans must not push out others. */
static bool same_kind(const struct cached_plan *entry, const struct plan_key *key)
{
	return entry->key.shared == key->shared &&
	       (entry->key.subject == PLAN_LOOPS) == (key->subject == PLAN_LOOPS);
}

/* Counts the kept plans of the key's kind: those of all accounts, or only those of its account. */
static size_t count_of(const struct plan_key *key, bool of_account)
{
	size_t count = 0;

	for (const struct cached_plan *entry = plans.first; entry; entry = entry->next)
		count += same_kind(entry, key) && (!of_account || entry->key.account == key->account);
	return count;
}

/* Drops the oldest plan. Plans that are being made are kept. */
static void drop_oldest(const struct plan_key *key, uid_t account)
{
	struct cached_plan *oldest = NULL;

	for (struct cached_plan *entry = plans.first; entry; entry = entry->next)
		if (same_kind(entry, key) && entry->key.account == account && !entry->making &&
		    (!oldest || entry->used < oldest->used))
			oldest = entry;
	if (oldest)
		take_out(oldest);
}

static uid_t heaviest_account(const struct plan_key *key)
{
	uid_t heaviest = 0;
	size_t most = 0;

	for (const struct cached_plan *entry = plans.first; entry; entry = entry->next) {
		size_t count = !same_kind(entry, key) || entry->key.account == heaviest
				       ? 0
				       : count_of(&entry->key, true);

		if (count > most) {
			most = count;
			heaviest = entry->key.account;
		}
	}
	return heaviest;
}

/* Makes room for one more plan of this kind. */
static void make_room(const struct plan_key *key)
{
	bool loops = key->subject == PLAN_LOOPS;

	if (key->shared) {
		if (count_of(key, false) >= PLAN_MEMORY_SHARED)
			drop_oldest(key, 0);
		return;
	}
	if (count_of(key, true) >= (loops ? PLAN_MEMORY_LOOPS_OF_USER : PLAN_MEMORY_OF_USER))
		drop_oldest(key, key->account);
	else if (count_of(key, false) >= (loops ? PLAN_MEMORY_LOOPS_OF_USERS : PLAN_MEMORY_OF_USERS))
		drop_oldest(key, heaviest_account(key));
}

static struct cached_plan *find(const struct plan_key *key)
{
	struct cached_plan *entry = plans.first;

	while (entry && !same_key(&entry->key, key))
		entry = entry->next;
	if (entry && !entry->making && entry->error && entry->until_ns <= clock__now_ns()) {
		take_out(entry);
		entry = NULL;
	}
	return entry;
}

static struct cached_plan *claim(const struct plan_key *key)
{
	struct cached_plan *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	make_room(key);
	*entry = (struct cached_plan){.next = plans.first,
				      .key = *key,
				      .kept = true,
				      .making = true,
				      .users = 2,
				      .used = ++plans.uses};
	plans.first = entry;
	return entry;
}

static int await(struct cached_plan *entry, unsigned int wait_ms, const atomic_bool *unwanted,
		 struct uprobes_error *err)
{
	uint64_t until = clock__now_ns() + wait_ms * UINT64_C(1000000);

	while (entry->making && !atomic_load(unwanted) && clock__now_ns() < until)
		deadline__await(&plans.changed, &plans.lock, until);
	if (!entry->making)
		return 0;
	snprintf(err->text, sizeof(err->text), "%s",
		 atomic_load(unwanted) ? "graind is shutting down"
				       : "the file is being searched for probe points; ask again");
	return atomic_load(unwanted) ? -ECANCELED : -EBUSY;
}

int plan_memory__find(const struct plan_key *key, unsigned int wait_ms, const atomic_bool *unwanted,
		      struct cached_plan **out, struct uprobes_error *err)
{
	struct cached_plan *entry;
	int error;

	pthread_once(&plans.once, begin);
	pthread_mutex_lock(&plans.lock);
	entry = find(key);
	if (entry) {
		entry->users++;
		error = await(entry, wait_ms, unwanted, err);
		if (!error && entry->error) {
			error = entry->error;
			*err = entry->why;
		}
		entry->used = ++plans.uses;
		if (error)
			release(entry);
	} else {
		entry = claim(key);
		error = entry ? -EINPROGRESS : -ENOMEM;
		if (!entry)
			snprintf(err->text, sizeof(err->text), "graind is out of memory");
	}
	pthread_mutex_unlock(&plans.lock);
	*out = entry;
	return error;
}

size_t plan_memory__like(const struct plan_key *key, struct cached_plan *out[PLAN_MEMORY_LIKE])
{
	size_t count = 0;

	pthread_mutex_lock(&plans.lock);
	for (struct cached_plan *entry = plans.first; entry && count < PLAN_MEMORY_LIKE;
	     entry = entry->next) {
		bool may_say = entry->key.shared || (!key->shared && entry->key.account == key->account);

		if (!may_say || entry->making || entry->error || entry->key.subject != PLAN_RUNTIME ||
		    entry->key.file.size != key->file.size)
			continue;
		entry->users++;
		out[count++] = entry;
	}
	pthread_mutex_unlock(&plans.lock);
	return count;
}

void plan_memory__made(struct cached_plan *entry, struct probe_plan *plan, int error, uint64_t remembered_ns,
		       const struct uprobes_error *err)
{
	uint64_t now = clock__now_ns();

	pthread_mutex_lock(&plans.lock);
	entry->making = false;
	entry->plan = plan;
	entry->error = error;
	if (error)
		entry->why = *err;
	entry->until_ns = remembered_ns < UINT64_MAX - now ? now + remembered_ns : UINT64_MAX;
	if (error && !remembered_ns)
		take_out(entry);
	pthread_cond_broadcast(&plans.changed);
	pthread_mutex_unlock(&plans.lock);
}

void plan_memory__drop(struct cached_plan *entry)
{
	pthread_mutex_lock(&plans.lock);
	take_out(entry);
	pthread_mutex_unlock(&plans.lock);
}

void plan_memory__put(struct cached_plan *entry)
{
	pthread_mutex_lock(&plans.lock);
	release(entry);
	pthread_mutex_unlock(&plans.lock);
}

const struct probe_plan *plan_memory__plan(const struct cached_plan *entry)
{
	return entry->plan;
}

void plan_memory__wake(void)
{
	pthread_once(&plans.once, begin);
	pthread_mutex_lock(&plans.lock);
	pthread_cond_broadcast(&plans.changed);
	pthread_mutex_unlock(&plans.lock);
}
