// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/detach_gate.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
/* Who waits to hold counts, so that closing many links does not keep them out. */
static unsigned int holds, closes;

void detach_gate__hold(void)
{
	pthread_mutex_lock(&lock);
	holds++;
	while (closes)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

void detach_gate__release(void)
{
	pthread_mutex_lock(&lock);
	holds--;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

void detach_gate__enter(unsigned int at_once)
{
	pthread_mutex_lock(&lock);
	while (holds || closes >= at_once)
		pthread_cond_wait(&changed, &lock);
	closes++;
	pthread_mutex_unlock(&lock);
}

void detach_gate__leave(void)
{
	pthread_mutex_lock(&lock);
	closes--;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}
