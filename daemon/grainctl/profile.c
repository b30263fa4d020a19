/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/profile.h"
#include "daemon/grainctl/server.h"

#include <string.h>
#include <time.h>

/* graind is asked again after 2 ms, 4 ms, ... 256 ms. */
#define LONGEST_NAP_MS 256
/* A job should end soon after its process; one that does not is ended by hand. */
#define PATIENCE_MS 10000

enum ctl_exit profile__start(const char *socket, pid_t pid, bool at_start, uint64_t duration_s,
			     struct job *out, char why[512])
{
	json_t *body = json_pack("{s:i, s:b, s:I}", "pid", (int)pid, "at_start", at_start, "duration_s",
				 (json_int_t)duration_s);
	json_t *answer = NULL;
	enum ctl_exit result;

	if (!body) {
		snprintf(why, 512, "out of memory");
		return CTL_FAILED;
	}
	result = server__call(socket, "POST", "/v1/jobs", body, &answer, NULL, why);
	json_decref(body);
	if (result == CTL_DONE && !job__parse(answer, out)) {
		snprintf(why, 512, "graind did not say which job it made");
		result = CTL_FAILED;
	}
	json_decref(answer);
	return result;
}

enum ctl_exit profile__wait(const char *socket, struct job *job, char why[512])
{
	uint64_t number = job->number;
	bool asked = false;
	long waited = 0;
	char path[64];

	for (long nap = 2;; nap = nap < LONGEST_NAP_MS ? nap * 2 : nap) {
		const struct timespec time = {.tv_sec = nap / 1000, .tv_nsec = nap % 1000 * 1000000L};
		json_t *answer = NULL;
		enum ctl_exit result;

		snprintf(path, sizeof(path), "/v1/jobs/%llu", (unsigned long long)number);
		result = server__call(socket, "GET", path, NULL, &answer, NULL, why);
		if (result == CTL_DONE && (!job__parse(answer, job) || job->number != number)) {
			snprintf(why, 512, "graind no longer knows job %llu", (unsigned long long)number);
			result = CTL_FAILED;
		}
		json_decref(answer);
		if (result != CTL_DONE || job__is_over(job))
			return result;
		if (waited >= PATIENCE_MS && !asked && strcmp(job->state, "finishing")) {
			asked = true;
			snprintf(path, sizeof(path), "/v1/jobs/%llu/detach", (unsigned long long)number);
			answer = NULL;
			result = server__call(socket, "POST", path, NULL, &answer, NULL, why);
			json_decref(answer);
			if (result != CTL_DONE)
				return result;
			continue;
		}
		nanosleep(&time, NULL);
		waited += nap;
	}
}
