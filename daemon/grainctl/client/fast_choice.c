// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/grainctl/client/fast_choice.h"
#include "daemon/grainctl/client/server.h"

#include <jansson.h>

bool fast_choice__is_fast(const char *socket, const struct profile_request *request)
{
	json_t *answer = NULL;
	const json_t *policy;
	char ignored[512];
	bool limited;

	if (request->counters || request->samples_only ||
	    server__call(socket, "GET", "/v1/status", NULL, &answer, ignored) != CTL_DONE)
		return false;
	policy = json_object_get(answer, "policy");
	limited = request->ceiling_percent > 0 ||
		  json_number_value(json_object_get(policy, "process_ceiling_percent")) > 0 ||
		  json_number_value(json_object_get(policy, "host_ceiling_percent")) > 0;
	limited = limited && json_is_true(json_object_get(policy, "allow_fast"));
	json_decref(answer);
	return limited;
}
