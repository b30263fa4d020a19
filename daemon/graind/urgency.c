// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/urgency.h"

#include <sched.h>

static _Thread_local enum urgency own;

void urgency__set(enum urgency urgency)
{
	struct sched_param param = {.sched_priority = (int)urgency};

	own = urgency;
	if (urgency == URGENCY_NONE) {
		sched_setscheduler(0, SCHED_OTHER, &param);
		return;
	}
	if (sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &param) == 0)
		return;
	/* LimitRTPRIO= may allow one level only. */
	param.sched_priority = URGENCY_SCOUT;
	sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &param);
}

enum urgency urgency__raise(enum urgency urgency)
{
	enum urgency before = own;

	if (before < urgency)
		urgency__set(urgency);
	return before;
}

void urgency__make_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
}
