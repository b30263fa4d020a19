// SPDX-License-Identifier: BSD-2-Clause
/*
 * Requests of the API, behind HTTP: the first line of the input is the method,
 * the second one the path, the third one the query's words, the rest the body.
 * What the requests would do to jobs is left out: each is refused, once its
 * parameters were seen to be what routes.h promises.
 */
#include "daemon/graind/summary/deliver.h"
#include "daemon/graind/requests/job_requests.h"
#include "daemon/graind/base/log.h"
#include "daemon/graind/metrics/metrics.h"
#include "daemon/graind/metrics/metrics_server.h"
#include "daemon/graind/policy/optout.h"
#include "daemon/graind/requests/past_job.h"
#include "daemon/graind/policy/policy.h"
#include "daemon/graind/policy/privileges.h"
#include "daemon/graind/api/reports.h"
#include "daemon/graind/api/routes.h"
#include "tests/fuzz/target.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refuse(struct failure *failure)
{
	*failure = (struct failure){.status = 404, .text = "left out"};
	return -1;
}

static int refuse_job(uint64_t number, struct failure *failure)
{
	MUST(number > 0 && number <= INT64_MAX);
	return refuse(failure);
}

int jobs__start(struct jobs *jobs, const struct job_request *request, json_t **job, struct failure *failure)
{
	size_t i;
	json_t *name;

	(void)jobs, (void)job;
	MUST(request->peer == 1000 && request->pid >= 0 && !request->by_policy);
	json_array_foreach((json_t *)request->counters, i, name)
	{
		MUST(json_is_string(name));
	}
	return refuse(failure);
}

int jobs__get(struct jobs *jobs, uint64_t number, uid_t peer, json_t **job, struct failure *failure)
{
	(void)jobs, (void)peer, (void)job;
	return refuse_job(number, failure);
}

int jobs__detach(struct jobs *jobs, uint64_t number, uid_t peer, json_t **job, struct failure *failure)
{
	return jobs__get(jobs, number, peer, job, failure);
}

int jobs__delete(struct jobs *jobs, uint64_t number, uid_t peer, struct failure *failure)
{
	(void)jobs, (void)peer;
	return refuse_job(number, failure);
}

int jobs__list(struct jobs *jobs, uid_t peer, json_t **list, struct failure *failure)
{
	(void)jobs, (void)peer, (void)list;
	return refuse(failure);
}

int job_list__open(struct jobs *jobs, uid_t peer, uid_t uid, struct job_list **list, struct failure *failure)
{
	(void)jobs, (void)peer, (void)uid, (void)list;
	return refuse(failure);
}

int jobs__open_summary(struct jobs *jobs, uint64_t number, uid_t peer, int *fd, struct failure *failure)
{
	(void)jobs, (void)peer, (void)fd;
	return refuse_job(number, failure);
}

int jobs__open_trace(struct jobs *jobs, uint64_t number, uid_t peer, int *fd, struct failure *failure)
{
	return jobs__open_summary(jobs, number, peer, fd, failure);
}

int reports__make(struct jobs *jobs, uint64_t number, uid_t peer, const struct report_order *order,
		  struct answer *answer, struct failure *failure)
{
	(void)jobs, (void)peer, (void)order, (void)answer;
	return refuse_job(number, failure);
}

const char *jobs__state_dir(const struct jobs *jobs)
{
	(void)jobs;
	return "/var/lib/graind";
}

void jobs__method(struct jobs *jobs, char method[32])
{
	(void)jobs;
	strcpy(method, "auto");
}

size_t jobs__running(struct jobs *jobs)
{
	(void)jobs;
	return 0;
}

char *metrics__text(struct jobs *jobs, uid_t peer)
{
	(void)jobs, (void)peer;
	return strdup("# EOF\n");
}

json_t *policy__json(void)
{
	return json_object();
}

json_t *privileges__json(void)
{
	return json_array();
}

bool metrics_server__serves(void)
{
	return false;
}

bool deliver__is_open(char why[400])
{
	why[0] = '\0';
	return true;
}

size_t jobs__stop_user(struct jobs *jobs, uid_t uid)
{
	(void)jobs;
	MUST(uid == 1000);
	return 0;
}

bool optout__has(uid_t uid)
{
	MUST(uid == 1000);
	return false;
}

int optout__set(uid_t uid, bool on, bool *changed)
{
	(void)on;
	*changed = false;
	return optout__has(uid) ? -1 : 0;
}

json_t *optout__json(void)
{
	MUST(!"for administrators only");
	return NULL;
}

void log__line(int priority, const char *format, ...)
{
	(void)priority, (void)format;
}

/* One line of the input, which it ends with a zero byte. */
static char *take_line(char **at)
{
	char *line = *at, *end = line + strcspn(line, "\n");

	*at = end + (*end != 0);
	*end = 0;
	return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *at = text;
	struct request request = {.peer = 1000, .uid = 1000};
	struct answer answer;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	request.method = take_line(&at);
	request.path = take_line(&at);
	request.all = request.format = request.view = take_line(&at);
	request.body = at;
	request.body_size = size - (size_t)(at - text);
	routes__serve(NULL, &request, &answer);
	MUST(answer.status >= 200 && answer.status < 600);
	MUST(answer.status < 400 || json_is_string(json_object_get(answer.json, "error")));
	json_decref(answer.json);
	free(answer.text);
	free(text);
	return 0;
}
