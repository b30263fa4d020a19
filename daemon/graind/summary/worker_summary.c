// SPDX-License-Identifier: BSD-2-Clause
/* Reads the trace on standard input and writes the summary's JSON, or {"error":"why not"}. */
#include "daemon/graind/summary/job_conclude.h"

#include "analysis/include/grain.h"

#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#define MEMORY_BYTES (3ull << 30)

int worker__summary(uint64_t job)
{
	/* If a daemon was killed, its traces have no proper end. */
	const struct grain_load_opts opts = {.keep_going = true, .max_bytes = MEMORY_BYTES};
	struct grain_graph *graph = NULL;
	struct grain_error err = {.text = ""};
	int status = 1;

	if (grain_graph__load_fd(STDIN_FILENO, "the trace", &opts, &graph, &err) == 0) {
		status = grain_graph__write_summary_json(graph, job, stdout) != 0;
	} else {
		json_t *answer = json_pack("{s:s}", "error", err.text);

		status = !answer || json_dumpf(answer, stdout, JSON_COMPACT) != 0;
		json_decref(answer);
	}
	status |= fflush(stdout) != 0;
	grain_graph__free(graph);
	return status;
}
