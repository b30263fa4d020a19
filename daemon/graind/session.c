// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/job.h"
void *session__thread(void *argument)
{
	struct failure failure;
	failure__set(&failure, 503, "profiling every process is not available");
	job__refuse(argument, &failure);
	return NULL;
}
