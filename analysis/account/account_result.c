// SPDX-License-Identifier: BSD-2-Clause
/* Finishes the account, and gives access to it. */
#include "analysis/account/account.h"

#include <math.h>
#include <stdlib.h>

uint64_t grain_account_part__lost_ns(const struct grain_account_part *part)
{
	return part->capacity_ns - part->cause_ns[GRAIN_CAUSE_USEFUL] -
	       part->cause_ns[GRAIN_CAUSE_SERIAL_WORK];
}

enum grain_cause grain_account_part__worst(const struct grain_account_part *part)
{
	enum grain_cause worst = GRAIN_CAUSE_SERIAL;

	for (int i = 0; i < GRAIN_CAUSE_COUNT; i++) {
		enum grain_cause cause = (enum grain_cause)i;

		if (grain_cause__lost(cause) && part->cause_ns[cause] > part->cause_ns[worst])
			worst = cause;
	}
	return worst;
}

static int by_loss(const void *a, const void *b)
{
	const struct grain_account_part *x = a, *y = b;
	uint64_t lost_x = grain_account_part__lost_ns(x), lost_y = grain_account_part__lost_ns(y);

	if (lost_x != lost_y)
		return lost_x < lost_y ? 1 : -1;
	return (x->definition > y->definition) - (x->definition < y->definition);
}

/* Takes the causes away from *left. Returns which part of *left remains. */
static double factor(const struct grain_account_part *all, uint64_t *left, const enum grain_cause *causes,
		     size_t count)
{
	uint64_t before = *left;

	for (size_t i = 0; i < count; i++)
		*left -= all->cause_ns[causes[i]];
	return before ? (double)*left / (double)before : NAN;
}

#define FACTOR(all, left, ...)                                                                               \
	factor(all, left, (const enum grain_cause[]){__VA_ARGS__},                                           \
	       sizeof((const enum grain_cause[]){__VA_ARGS__}) / sizeof(enum grain_cause))

void account__finish(struct account *account)
{
	struct grain_account *a = &account->public;
	struct grain_account_part *all = &a->all;
	uint64_t left;

	*all = (struct grain_account_part){.definition = GRAIN_NONE};
	for (size_t i = 0; i < account->part_count; i++) {
		all->capacity_ns += account->parts[i].capacity_ns;
		all->regions += account->parts[i].regions;
		for (int c = 0; c < GRAIN_CAUSE_COUNT; c++)
			all->cause_ns[c] += account->parts[i].cause_ns[c];
	}
	left = all->capacity_ns;
	a->serial = FACTOR(all, &left, GRAIN_CAUSE_SERIAL);
	a->load_balance = FACTOR(all, &left, GRAIN_CAUSE_IMBALANCE);
	a->synchronisation =
		FACTOR(all, &left, GRAIN_CAUSE_FORK_JOIN, GRAIN_CAUSE_LACK_OF_WORK, GRAIN_CAUSE_LOCKS);
	a->scheduling = FACTOR(all, &left, GRAIN_CAUSE_MANAGEMENT);
	a->system = FACTOR(all, &left, GRAIN_CAUSE_PREEMPTED, GRAIN_CAUSE_OVERSUBSCRIBED, GRAIN_CAUSE_BLOCKED,
			   GRAIN_CAUSE_MEASURING, GRAIN_CAUSE_UNKNOWN);
	a->parallel = all->capacity_ns ? (double)left / (double)all->capacity_ns : NAN;
	qsort(account->parts, account->part_count, sizeof(*account->parts), by_loss);
	while (account->part_count && !account->parts[account->part_count - 1].capacity_ns)
		account->part_count--;
}

void account__free(struct account *account)
{
	if (account) {
		free(account->parts);
		account_serial__free(&account->serial);
	}
	free(account);
}

const struct grain_account *grain_graph__account(const struct grain_graph *graph)
{
	return &graph->account->public;
}

size_t grain_graph__account_part_count(const struct grain_graph *graph)
{
	return graph->account->part_count;
}

const struct grain_account_part *grain_graph__account_part(const struct grain_graph *graph, size_t index)
{
	return &graph->account->parts[index];
}
