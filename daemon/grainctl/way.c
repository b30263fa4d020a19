// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/grainctl/way.h"
#include "daemon/grainctl/server.h"

#include <jansson.h>

bool way__is_inside(const char *socket, const struct profile_request *request)
{
	json_t *answer = NULL;
	const json_t *policy;
	char ignored[512];
	bool limited;

	if (request->counters || request->samples_only ||
	    server__call(socket, "GET", "/v1/status", NULL, &answer, NULL, ignored) != CTL_DONE)
		return false;
	policy = json_object_get(answer, "policy");
	limited = request->ceiling_percent > 0 ||
		  json_number_value(json_object_get(policy, "process_ceiling_percent")) > 0 ||
		  json_number_value(json_object_get(policy, "host_ceiling_percent")) > 0;
	limited = limited && json_is_true(json_object_get(policy, "allow_fast"));
	json_decref(answer);
	return limited;
}
