// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/rate.h"

#include <pthread.h>
#include <stddef.h>
#include <time.h>

#define USERS 256
#define SECOND_NS 1000000000.0

/* Of those who asked last; who is forgotten begins anew. */
static struct {
	pthread_mutex_t lock;
	struct user {
		uid_t uid;
		uint64_t asked_ns; /* 0: unused */
		double left;
	} users[USERS];
} rate = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint64_t rate__now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct user *find(uid_t uid)
{
	struct user *oldest = &rate.users[0];

	for (size_t i = 0; i < USERS; i++) {
		if (rate.users[i].asked_ns && rate.users[i].uid == uid)
			return &rate.users[i];
		if (rate.users[i].asked_ns < oldest->asked_ns)
			oldest = &rate.users[i];
	}
	*oldest = (struct user){.uid = uid, .left = RATE_AT_ONCE};
	return oldest;
}

bool rate__allows(uid_t uid, uint64_t now_ns)
{
	struct user *user;
	bool allowed;

	pthread_mutex_lock(&rate.lock);
	user = find(uid);
	if (user->asked_ns && now_ns > user->asked_ns)
		user->left += (double)(now_ns - user->asked_ns) / SECOND_NS * RATE_PER_SECOND;
	if (user->left > RATE_AT_ONCE)
		user->left = RATE_AT_ONCE;
	user->asked_ns = now_ns;
	allowed = user->left >= 1;
	if (allowed)
		user->left--;
	pthread_mutex_unlock(&rate.lock);
	return allowed;
}
