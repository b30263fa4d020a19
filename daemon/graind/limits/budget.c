// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/limits/budget.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

struct user {
	uid_t account;
	uint64_t taken[BUDGET_RESOURCES];
};

struct budget {
	pthread_mutex_t lock;
	struct budget_limits limits[BUDGET_RESOURCES];
	uint64_t taken[BUDGET_RESOURCES]; /* by all accounts, including root */
	struct user *users;		  /* accounts that have taken anything, and root */
	size_t count, room;
};

static const char *const names[BUDGET_RESOURCES] = {
	[BUDGET_SAMPLES] = "samples a second",
	[BUDGET_CPU_SAMPLES] = "samples a second of each CPU",
	[BUDGET_EVENTS] = "perf events (a counter is one on each CPU, a sampled thread is one)",
	[BUDGET_SESSIONS] = "sessions of every process",
	[BUDGET_CAPTURES] = "sets of probes (those of jobs that have just ended are still being taken out)",
	[BUDGET_PROCESSES] = "processes with probes",
};

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

int budget__new(const struct budget_limits limits[BUDGET_RESOURCES], struct budget **out)
{
	struct budget *budget = calloc(1, sizeof(*budget));

	if (!budget)
		return -ENOMEM;
	pthread_mutex_init(&budget->lock, NULL);
	for (int i = 0; i < BUDGET_RESOURCES; i++)
		budget->limits[i] = limits[i];
	*out = budget;
	return 0;
}

void budget__free(struct budget *budget)
{
	if (!budget)
		return;
	pthread_mutex_destroy(&budget->lock);
	free(budget->users);
	free(budget);
}

static struct budget *host;

static void make_host(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t per_cpu = cpus > 0 ? (uint64_t)cpus : 1, files = 65536;
	struct rlimit limit;
	struct budget_limits limits[BUDGET_RESOURCES] = {
		[BUDGET_SAMPLES] = {.user = 20000, .host = 100000, .reserve = 20000},
		/*
		 * An interrupt takes some microseconds: samples of ordinary users take less than one percent
		 * of a CPU.
		 */
		[BUDGET_CPU_SAMPLES] = {.user = 1000, .host = 12000, .reserve = 10000},
		[BUDGET_SESSIONS] = {.user = 1, .host = 4, .reserve = 4},
		[BUDGET_CAPTURES] = {.user = 32, .host = 640, .reserve = 64},
		[BUDGET_PROCESSES] = {.user = 256, .host = 2048, .reserve = 512},
	};

	/*
	 * All accounts may use half of graind's descriptors. A user may have an eighth of that, or all
	 * counters on each CPU if this is more.
	 */
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < files)
		files = limit.rlim_cur;
	limits[BUDGET_EVENTS] = (struct budget_limits){
		.user = files / 16 > 16 * per_cpu ? files / 16 : 16 * per_cpu,
		.host = files / 2,
		.reserve = files / 16,
	};
	budget__new(limits, &host);
}

struct budget *budget__host(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_host);
	return host;
}

static struct user *find(const struct budget *budget, uid_t account)
{
	for (size_t i = 0; i < budget->count; i++)
		if (budget->users[i].account == account)
			return &budget->users[i];
	return NULL;
}

/* A list is enough: there are at most as many users as running recordings. */
static struct user *get(struct budget *budget, uid_t account)
{
	struct user *user = find(budget, account);

	if (user)
		return user;
	if (budget->count == budget->room) {
		size_t room = budget->room ? 2 * budget->room : 16;
		struct user *users = reallocarray(budget->users, room, sizeof(*users));

		if (!users)
			return NULL;
		budget->users = users;
		budget->room = room;
	}
	user = &budget->users[budget->count++];
	*user = (struct user){.account = account};
	return user;
}

static void forget_if_empty(struct budget *budget, struct user *user)
{
	for (int i = 0; i < BUDGET_RESOURCES; i++)
		if (user->taken[i])
			return;
	*user = budget->users[--budget->count];
}

static int refuse_user(const struct budget_limits *limits, const struct user *user,
		       enum budget_resource resource, uint64_t amount, char *why, size_t size)
{
	snprintf(why, size,
		 "your jobs take %" PRIu64 " of at most %" PRIu64 " %s already, and %" PRIu64
		 " more were asked for; ask for less, or detach one",
		 user->taken[resource], limits->user, names[resource], amount);
	return -EDQUOT;
}

static int refuse_all(uint64_t taken, uint64_t limit, enum budget_resource resource, uint64_t amount,
		      char *why, size_t size)
{
	snprintf(why, size,
		 "all users' jobs together take %" PRIu64 " of at most %" PRIu64 " %s already, and %" PRIu64
		 " more were asked for; ask for less, or later",
		 taken, limit, names[resource], amount);
	return -EBUSY;
}

static int may_take(const struct budget *budget, const struct user *user, enum budget_resource resource,
		    uint64_t amount, char *why, size_t size)
{
	const struct budget_limits *limits = &budget->limits[resource];
	const struct user *root = find(budget, 0);
	uint64_t roots = root ? root->taken[resource] : 0, users = less(budget->taken[resource], roots),
		 rest = less(limits->host, limits->reserve);

	if (user->account && sum(user->taken[resource], amount) > limits->user)
		return refuse_user(limits, user, resource, amount, why, size);
	if (user->account && sum(users, amount) > rest)
		return refuse_all(users, rest, resource, amount, why, size);
	if (sum(budget->taken[resource], amount) > limits->host)
		return refuse_all(budget->taken[resource], limits->host, resource, amount, why, size);
	return 0;
}

int budget__take(struct budget *budget, struct budget_share *share, enum budget_resource resource,
		 uint64_t amount, char *why, size_t size)
{
	struct user *user;
	int error = -ENOMEM;

	if (!amount)
		return 0;
	snprintf(why, size, "graind is out of memory");
	if (!budget)
		return error;
	pthread_mutex_lock(&budget->lock);
	user = get(budget, share->account);
	if (user)
		error = may_take(budget, user, resource, amount, why, size);
	if (!error) {
		user->taken[resource] += amount;
		budget->taken[resource] += amount;
		share->taken[resource] += amount;
	} else if (user) {
		forget_if_empty(budget, user);
	}
	pthread_mutex_unlock(&budget->lock);
	return error;
}

void budget__give_back(struct budget *budget, struct budget_share *share)
{
	struct user *user;

	if (!budget)
		return;
	pthread_mutex_lock(&budget->lock);
	user = find(budget, share->account);
	for (int i = 0; user && i < BUDGET_RESOURCES; i++) {
		user->taken[i] = less(user->taken[i], share->taken[i]);
		budget->taken[i] = less(budget->taken[i], share->taken[i]);
		share->taken[i] = 0;
	}
	if (user)
		forget_if_empty(budget, user);
	pthread_mutex_unlock(&budget->lock);
}

uint64_t budget__of(struct budget *budget, uid_t account, enum budget_resource resource)
{
	const struct user *user;
	uint64_t taken;

	pthread_mutex_lock(&budget->lock);
	user = find(budget, account);
	taken = user ? user->taken[resource] : 0;
	pthread_mutex_unlock(&budget->lock);
	return taken;
}
