// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/requests/job_list.h"
#include "daemon/graind/limits/account.h"
#include "daemon/graind/jobs/job.h"
#include "daemon/graind/requests/job_requests.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATIENCE_S 10
#define USUAL_BYTES 2048
/* The largest number of users who have lists at a time. */
#define MOST_USERS 256

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uid_t users[MOST_USERS];
	size_t count;
} reading = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

struct job_list {
	struct jobs *jobs;
	uid_t peer, account;
	uint64_t *numbers;
	size_t count, at, left_out;
	bool begun, any, ended;
	char *text; /* the text that is sent now; NULL: none */
	size_t sent, length;
};

static bool has_list(uid_t account)
{
	for (size_t i = 0; i < reading.count; i++)
		if (reading.users[i] == account)
			return true;
	return false;
}

static int begin(uid_t account, struct failure *failure)
{
	struct timespec until;
	int late = 0;

	if (account == 0)
		return 0;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&reading.lock);
	while ((has_list(account) || reading.count == MOST_USERS) && !late)
		late = pthread_cond_timedwait(&reading.changed, &reading.lock, &until);
	if (!late)
		reading.users[reading.count++] = account;
	pthread_mutex_unlock(&reading.lock);
	return late ? failure__set(failure, 429,
				   "a list of your jobs is being read already; ask when it is done")
		    : 0;
}

static void finish(uid_t account)
{
	size_t i = 0;

	if (account == 0)
		return;
	pthread_mutex_lock(&reading.lock);
	while (reading.users[i] != account)
		i++;
	reading.users[i] = reading.users[--reading.count];
	pthread_cond_broadcast(&reading.changed);
	pthread_mutex_unlock(&reading.lock);
}

int job_list__open(struct jobs *jobs, uid_t peer, uid_t uid, struct job_list **out, struct failure *failure)
{
	struct job_list *list = calloc(1, sizeof(*list));

	if (!list)
		return failure__set(failure, 503, "graind is out of memory");
	*list = (struct job_list){.jobs = jobs, .peer = peer, .account = account__of(uid)};
	if (begin(list->account, failure) != 0) {
		free(list);
		return -1;
	}
	job_index__refresh(jobs->index, false);
	list->numbers = job_index__numbers(jobs->index, peer, JOB_LIST_MOST, &list->count, &list->left_out);
	if (!list->numbers) {
		job_list__close(list);
		return failure__set(failure, 503, "graind is out of memory");
	}
	*out = list;
	return 0;
}

void job_list__close(struct job_list *list)
{
	if (!list)
		return;
	finish(list->account);
	free(list->numbers);
	free(list->text);
	free(list);
}

/*
 * Returns the text of a job, with the text that comes before it. NULL: the job does not exist any more, or
 * must not be shown yet.
 */
static char *text_of(struct job_list *list, uint64_t number)
{
	struct failure ignored;
	char *text, *whole = NULL;
	json_t *json;

	if (jobs__get(list->jobs, number, list->peer, &json, &ignored) != 0)
		return NULL;
	text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(9));
	json_decref(json);
	if (text && asprintf(&whole, "%s%s", list->any ? "," : "", text) < 0)
		whole = NULL;
	free(text);
	list->any |= whole != NULL;
	return whole;
}

static char *end_of(const struct job_list *list)
{
	char *text;

	if (!list->left_out)
		return strdup("]}");
	return asprintf(&text, "],\"left_out\":%zu}", list->left_out) < 0 ? NULL : text;
}

/* Prepares the next text; at the end there is none. False: out of memory. */
static bool next(struct job_list *list)
{
	free(list->text);
	list->text = NULL;
	list->sent = 0;
	if (list->ended)
		return true;
	if (!list->begun) {
		list->begun = true;
		list->text = strdup("{\"jobs\":[");
	} else {
		while (!list->text && list->at < list->count)
			list->text = text_of(list, list->numbers[list->at++]);
		if (!list->text) {
			list->ended = true;
			list->text = end_of(list);
		}
	}
	list->length = list->text ? strlen(list->text) : 0;
	return list->text != NULL;
}

uint64_t job_list__bytes(const struct job_list *list)
{
	return (uint64_t)list->count * USUAL_BYTES;
}

ssize_t job_list__read(struct job_list *list, char *bytes, size_t room)
{
	size_t done = 0, part;

	while (done < room) {
		if (!list->text || list->sent == list->length) {
			if (list->begun && !list->text)
				break;
			if (!next(list))
				return -ENOMEM;
			if (!list->text)
				break;
		}
		part = list->length - list->sent < room - done ? list->length - list->sent : room - done;
		memcpy(bytes + done, list->text + list->sent, part);
		list->sent += part;
		done += part;
	}
	return (ssize_t)done;
}
