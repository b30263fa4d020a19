// SPDX-License-Identifier: BSD-2-Clause
/*
 * check_fold TRACE: whether statistics that are made record by record say what the graph of the same trace
 * says: instances, sums, extremes and deviation of all tasks and of all chunks, and the work. One line as
 * JSON; exit status 1 where they differ.
 */
#include "analysis/include/grain.h"
#include "analysis/include/grain_fold.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RANGE 10000u

enum { INSTANCES, LEAVES, UNDEFERRED, INCOMPLETE, EXEC, CREATE, WAIT, LONGEST, NUMBERS };
static const char *const names[NUMBERS] = {"instances", "leaves",    "undeferred", "incomplete",
					   "exec_ns",	"create_ns", "wait_ns",	   "longest_ns"};

struct sums {
	uint64_t of[2][NUMBERS]; /* tasks, chunks */
	uint64_t work_ns;
};

static int of_graph(const char *path, struct sums *out)
{
	const struct grain_load_opts opts = {.keep_going = true};
	struct grain_error err = {.text = ""};
	struct grain_graph *graph;

	if (grain_graph__load(path, &opts, &graph, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return -1;
	}
	for (size_t i = 0; i < grain_graph__profile_count(graph); i++) {
		struct grain_profile p;
		uint64_t *to;

		grain_graph__profile(graph, i, &p);
		to = out->of[p.of != GRAIN_PROFILE_TASKS];
		to[INSTANCES] += p.instances;
		to[LEAVES] += p.leaves;
		to[UNDEFERRED] += p.undeferred;
		to[INCOMPLETE] += p.incomplete;
		to[EXEC] += p.exec.sum;
		to[CREATE] += p.create.sum;
		to[WAIT] += p.wait.sum;
		to[LONGEST] = p.exec.max > to[LONGEST] ? p.exec.max : to[LONGEST];
	}
	out->work_ns = grain_graph__totals(graph)->work_ns;
	grain_graph__free(graph);
	return 0;
}

static uint64_t value_of(const char *line, const char *key, int column)
{
	const char *at = strstr(line, key);

	for (at = at ? at + strlen(key) : NULL; at && column; column--) {
		at = strchr(at, ',');
		at = at ? at + 1 : NULL;
	}
	return at ? strtoull(at, NULL, 10) : 0;
}

static int of_fold(const char *path, struct sums *out)
{
	static const char *const keys[] = {" instances=", " leaves=", " undeferred=", " incomplete="};
	struct trace_folder *folder;
	char *text = NULL, *line, *rest;
	size_t size;
	FILE *memory = open_memstream(&text, &size);
	int fd = open(path, O_RDONLY | O_CLOEXEC), error = 0;
	struct stat st;

	if (!memory || fd < 0 || fstat(fd, &st) || trace_folder__new(0, &folder))
		return -1;
	/* As the worker gets them: a range may end inside of a chunk. */
	for (uint64_t at = 0; !error && at < (uint64_t)st.st_size; at = trace_folder__reached(folder))
		error = trace_folder__range(folder, fd, at,
					    at + RANGE < (uint64_t)st.st_size ? at + RANGE
									      : (uint64_t)st.st_size);
	if (!error)
		error = trace_folder__finish(folder, memory);
	trace_folder__free(folder);
	close(fd);
	fclose(memory);
	for (line = strtok_r(text, "\n", &rest); line && !error; line = strtok_r(NULL, "\n", &rest)) {
		bool chunks = strstr(line, " kind=loop ") || strstr(line, " kind=sections ");
		uint64_t *to = out->of[chunks];

		if (strncmp(line, "@folded-row ", 12) != 0) {
			out->work_ns = value_of(line, " work_ns=", 0);
			continue;
		}
		for (int i = INSTANCES; i <= INCOMPLETE; i++)
			to[i] += value_of(line, keys[i], 0);
		to[EXEC] += value_of(line, " exec=", 1);
		to[CREATE] += value_of(line, " create=", 1);
		to[WAIT] += value_of(line, " wait=", 1);
		if (value_of(line, " exec=", 3) > to[LONGEST])
			to[LONGEST] = value_of(line, " exec=", 3);
	}
	free(text);
	return error;
}

int main(int argc, char **argv)
{
	struct sums graph = {0}, fold = {0};
	int different = 0;

	if (argc != 2 || of_graph(argv[1], &graph) || of_fold(argv[1], &fold))
		return 2;
	printf("{");
	for (int k = 0; k < 2; k++)
		for (int i = 0; i < NUMBERS; i++) {
			printf("\"%s_%s\":[%" PRIu64 ",%" PRIu64 "],", k ? "chunk" : "task", names[i],
			       graph.of[k][i], fold.of[k][i]);
			different |= graph.of[k][i] != fold.of[k][i];
		}
	different |= graph.work_ns != fold.work_ns;
	printf("\"work_ns\":[%" PRIu64 ",%" PRIu64 "],\"same\":%s}\n", graph.work_ns, fold.work_ns,
	       different ? "false" : "true");
	return different;
}
