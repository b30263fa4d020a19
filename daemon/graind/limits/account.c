// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/limits/account.h"
#include "daemon/graind/base/clock.h"

#include <pthread.h>
#include <shadow/subid.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* How long a result is cached. */
#define KNOWN_NS (UINT64_C(60) * 1000000000)
#define KNOWN 1024u

struct known {
	uid_t uid, account;
	uint64_t until_ns; /* 0: unused */
};

static struct {
	pthread_mutex_t lock; /* guards `known` */
	struct known known[KNOWN];
	pthread_mutex_t asking; /* serialises calls of libsubid, which is not thread-safe */
} accounts = {.lock = PTHREAD_MUTEX_INITIALIZER, .asking = PTHREAD_MUTEX_INITIALIZER};

static uid_t ask(uid_t uid)
{
	uid_t *owners = NULL, account = uid;
	int count;

	pthread_mutex_lock(&accounts.asking);
	count = subid_get_uid_owners(uid, &owners);
	pthread_mutex_unlock(&accounts.asking);
	/*
	 * If there are several owners, always chooses the same one. A range that belongs to root gives none
	 * of root's rights.
	 */
	for (int i = 0; i < count; i++)
		if (owners[i] && (account == uid || owners[i] < account))
			account = owners[i];
	free(owners);
	return account;
}

uid_t account__of(uid_t uid)
{
	struct known *place = &accounts.known[uid % KNOWN];
	uint64_t now = clock__now_ns();
	bool hit;
	uid_t account;

	if (uid == 0)
		return 0;
	pthread_mutex_lock(&accounts.lock);
	hit = place->uid == uid && place->until_ns > now;
	account = place->account;
	pthread_mutex_unlock(&accounts.lock);
	if (hit)
		return account;
	account = ask(uid);
	pthread_mutex_lock(&accounts.lock);
	*place = (struct known){uid, account, now + KNOWN_NS};
	pthread_mutex_unlock(&accounts.lock);
	return account;
}

uid_t account__of_process(pid_t pid)
{
	char path[32];
	struct stat directory;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	/*
	 * The directory /proc/PID belongs to the process' user even if its files are root's
	 * (proc_pid_make_base_inode).
	 */
	return stat(path, &directory) == 0 ? account__of(directory.st_uid) : (uid_t)-1;
}
