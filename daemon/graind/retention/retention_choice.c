// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/retention/retention_choice.h"
#include "daemon/common/job_store/job_space.h"

#include <errno.h>
#include <stdlib.h>

/* A user's jobs: a slice of `order`. */
struct account {
	uid_t account;
	size_t next, end; /* next: the oldest job that is not deleted; end: the position after the newest */
	size_t over;	  /* number of finished jobs that are not deleted */
	uint64_t bytes, finished_bytes;
};

struct retention_choice {
	const struct indexed_job **order; /* sorted by user, then number */
	struct account *accounts;
	size_t account_count;
};

static int compare(const void *a, const void *b)
{
	const struct indexed_job *left = *(const struct indexed_job *const *)a,
				 *right = *(const struct indexed_job *const *)b;

	if (left->account != right->account)
		return left->account < right->account ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

int retention_choice__new(const struct indexed_job *jobs, size_t count, struct retention_choice **out)
{
	struct retention_choice *choice = calloc(1, sizeof(*choice));
	size_t known = 0;

	if (choice) {
		choice->order = calloc(count + 1, sizeof(*choice->order));
		choice->accounts = calloc(count + 1, sizeof(*choice->accounts));
	}
	if (!choice || !choice->order || !choice->accounts) {
		retention_choice__free(choice);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		if (!jobs[i].unknown)
			choice->order[known++] = &jobs[i];
	if (known)
		qsort(choice->order, known, sizeof(*choice->order), compare);
	for (size_t i = 0; i < known; i++) {
		const struct indexed_job *job = choice->order[i];
		struct account *account = &choice->accounts[choice->account_count];

		if (i == 0 || job->account != choice->order[i - 1]->account) {
			account->account = job->account;
			account->next = i;
			choice->account_count++;
		} else {
			account--;
		}
		account->end = i + 1;
		account->over += job->over;
		account->bytes = job_space__add(account->bytes, job->bytes);
		if (job->over)
			account->finished_bytes = job_space__add(account->finished_bytes, job->bytes);
	}
	*out = choice;
	return 0;
}

void retention_choice__free(struct retention_choice *choice)
{
	if (!choice)
		return;
	free(choice->order);
	free(choice->accounts);
	free(choice);
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Chooses the oldest finished job among those before position `end` of the order. */
static const struct indexed_job *take_oldest(struct retention_choice *choice, struct account *account,
					     size_t end)
{
	while (account->next < end) {
		const struct indexed_job *job = choice->order[account->next++];

		if (!job->over)
			continue;
		account->over--;
		account->bytes = less(account->bytes, job->bytes);
		account->finished_bytes = less(account->finished_bytes, job->bytes);
		return job;
	}
	return NULL;
}

void retention_choice__stays(struct retention_choice *choice, const struct indexed_job *job)
{
	for (size_t i = 0; i < choice->account_count; i++) {
		struct account *account = &choice->accounts[i];

		if (account->account == job->account) {
			account->bytes = job_space__add(account->bytes, job->bytes);
			/* The job is not counted as finished any more, so it cannot be chosen again. */
			return;
		}
	}
}

const struct indexed_job *retention_choice__too_many(struct retention_choice *choice, uint64_t most)
{
	for (size_t i = 0; most && i < choice->account_count; i++) {
		struct account *account = &choice->accounts[i];
		const struct indexed_job *job = account->account && account->over > most
							? take_oldest(choice, account, account->end)
							: NULL;

		if (job)
			return job;
	}
	return NULL;
}

const struct indexed_job *retention_choice__too_large(struct retention_choice *choice, uint64_t bytes)
{
	for (size_t i = 0; bytes && i < choice->account_count; i++) {
		struct account *account = &choice->accounts[i];
		const struct indexed_job *job = account->account && account->bytes > bytes
							? take_oldest(choice, account, account->end - 1)
							: NULL;

		if (job)
			return job;
	}
	return NULL;
}

const struct indexed_job *retention_choice__beyond_all(struct retention_choice *choice, uint64_t bytes)
{
	struct account *heaviest = NULL;
	uint64_t all = 0;
	size_t over = 0;

	for (size_t i = 0; i < choice->account_count; i++) {
		struct account *account = &choice->accounts[i];

		all = job_space__add(all, account->finished_bytes);
		over += account->over;
		if (account->over && (!heaviest || account->finished_bytes > heaviest->finished_bytes))
			heaviest = account;
	}
	if (!bytes || all <= bytes || over < 2)
		return NULL;
	return take_oldest(choice, heaviest, heaviest->end);
}

bool retention_choice__exceeds(const struct retention_choice *choice, uint64_t bytes, size_t *at,
			       uid_t *account)
{
	for (; bytes && *at < choice->account_count; ++*at) {
		if (!choice->accounts[*at].account || choice->accounts[*at].bytes <= bytes)
			continue;
		*account = choice->accounts[(*at)++].account;
		return true;
	}
	return false;
}
