// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/fork_gate.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
/* Forks that wait count, so that closing many links does not keep them out. */
static unsigned int forks, closes;

void fork_gate__fork_begin(void)
{
	pthread_mutex_lock(&lock);
	forks++;
	while (closes)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

void fork_gate__fork_end(void)
{
	pthread_mutex_lock(&lock);
	forks--;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

void fork_gate__close_begin(void)
{
	pthread_mutex_lock(&lock);
	while (forks)
		pthread_cond_wait(&changed, &lock);
	closes++;
	pthread_mutex_unlock(&lock);
}

void fork_gate__close_end(void)
{
	pthread_mutex_lock(&lock);
	closes--;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}
