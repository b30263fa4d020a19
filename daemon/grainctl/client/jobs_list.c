/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/client/jobs_list.h"
#include "daemon/common/job_store/job_store.h"
#include "daemon/grainctl/client/job.h"
#include "daemon/grainctl/client/server.h"

#include <stdlib.h>

static bool wanted(const json_t *json, bool all)
{
	struct job job;

	return job__parse(json, &job) && (all || !job__is_over(&job));
}

static bool known(const json_t *list, uint64_t number)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		if ((uint64_t)json_integer_value(json_object_get(json_array_get(list, i), "job")) == number)
			return true;
	}
	return false;
}

enum ctl_exit jobs_list__add_served(const struct ctl *ctl, bool all, json_t *list, char why[512])
{
	json_t *answer = NULL;
	enum ctl_exit result =
		server__call(ctl->socket, "GET", all ? "/v1/jobs?all=1" : "/v1/jobs", NULL, &answer, why);
	json_t *served = json_object_get(answer, "jobs");

	for (size_t i = 0; i < json_array_size(served); i++) {
		json_t *job = json_array_get(served, i);

		if (wanted(job, all))
			json_array_append(list, job);
	}
	json_decref(answer);
	return result;
}

int jobs_list__add_stored(const struct ctl *ctl, bool all, json_t *list)
{
	uint64_t *numbers = NULL;
	size_t count = 0;
	int error = ctl->store ? job_store__list(ctl->store, &numbers, &count) : ctl->store_error;

	for (size_t i = 0; i < count; i++) {
		char socket[108], why[512];
		json_t *json = NULL;

		if (known(list, numbers[i]))
			continue;
		/* Jobs that cannot be read belong to other users and are not listed. */
		if (job_store__read(ctl->store, numbers[i], &json))
			continue;
		if (wanted(json, false)) {
			json_decref(json);
			json = NULL;
			if (job__find(ctl, numbers[i], &json, socket, why) != CTL_DONE)
				continue;
		}
		if (wanted(json, all))
			json_array_append(list, json);
		json_decref(json);
	}
	free(numbers);
	return error;
}
