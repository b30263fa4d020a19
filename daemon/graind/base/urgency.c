// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/base/urgency.h"

#include <sched.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * A thread may be urgent for 1/RUSH_SHARE of the time. The other two limit the debt, and the CPU time at
 * once.
 */
#define RUSH_SHARE 2
#define RUSH_DEBT_NS UINT64_C(100000000)
#define RUSH_AT_ONCE_NS UINT64_C(20000000)
/* With this nice value a thread gets nine times the CPU time of others. */
#define PREFERRED -10

/* The state of the calling thread. */
static _Thread_local struct {
	enum urgency urgency;
	bool rushing;
	uint64_t rush_began_ns; /* CPU time */
} own;

void urgency__set(enum urgency urgency)
{
	struct sched_param param = {.sched_priority = (int)urgency};

	own.urgency = urgency;
	if (urgency == URGENCY_NONE) {
		sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &param);
		return;
	}
	if (sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &param) == 0)
		return;
	/* systemd's LimitRTPRIO= may allow only one level. */
	param.sched_priority = URGENCY_LOOK;
	sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &param);
}

enum urgency urgency__raise(enum urgency urgency)
{
	enum urgency before = own.urgency;

	if (before < urgency)
		urgency__set(urgency);
	return before;
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t urgency__cpu_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void urgency__rush(struct urgency_budget *budget, enum urgency urgency)
{
	const uint64_t now = read_clock(CLOCK_MONOTONIC), due = (now - budget->at_ns) / RUSH_SHARE;

	if (own.rushing)
		return;
	budget->debt_ns = budget->debt_ns > due ? budget->debt_ns - due : 0;
	budget->at_ns = now;
	if (budget->debt_ns >= RUSH_DEBT_NS)
		return;
	own.rush_began_ns = urgency__cpu_ns();
	own.rushing = true;
	urgency__set(urgency);
}

void urgency__rest(struct urgency_budget *budget)
{
	if (!own.rushing)
		return;
	budget->debt_ns += urgency__cpu_ns() - own.rush_began_ns;
	own.rushing = false;
	if (own.urgency != URGENCY_NONE)
		urgency__set(URGENCY_NONE);
}

void urgency__pause(void)
{
	if (own.rushing && own.urgency != URGENCY_NONE &&
	    urgency__cpu_ns() - own.rush_began_ns > RUSH_AT_ONCE_NS)
		urgency__set(URGENCY_NONE);
}

void urgency__prefer(void)
{
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), PREFERRED);
	urgency__set(URGENCY_NONE);
}

void urgency__make_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
}
