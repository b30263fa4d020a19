/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graind-render: graind's worker that makes reports, so that graind itself needs no Graphviz. It becomes
 * the job's user, loads what it needs for drawing, and closes all files that it was not given. Only then it
 * reads the trace.
 */
#include "daemon/common/process/confine.h"
#include "daemon/common/programs/render_worker.h"
#include "render/include/render.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define LESS_URGENT 10
#define ANALYSIS_BYTES (UINT64_C(3) << 30)
#define STATUS_FAILED 1
#define STATUS_USAGE 2
#define STATUS_CONFINE 125

struct order {
	const char *format, *view;
	uint64_t uid, gid, job, complaints;
};

static const struct confine_limits limits = {
	.cpu_seconds = 60,
	.memory_bytes = UINT64_C(4) << 30,
	.open_files = 64,
	.file_bytes = RENDER_SAYS_MAX,
};

static bool parse_number(const char *text, uint64_t most, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	return !errno && end != text && !*end && *out <= most;
}

static bool parse(int argc, char **argv, struct order *order)
{
	if (argc != 7)
		return false;
	order->format = argv[1];
	order->view = argv[5];
	/* The descriptor's number may be large, as graind may have many open files. */
	return parse_number(argv[2], UINT32_MAX - 1, &order->uid) &&
	       parse_number(argv[3], UINT32_MAX - 1, &order->gid) &&
	       parse_number(argv[4], INT64_MAX, &order->job) &&
	       parse_number(argv[6], INT_MAX, &order->complaints) && order->complaints > STDERR_FILENO;
}

static int confine(const struct order *order)
{
	int error;

	/* Closes all other files: the process that started graind may have left some open. */
	close_range(STDERR_FILENO + 1, (unsigned int)order->complaints - 1, 0);
	close_range((unsigned int)order->complaints + 1, ~0u, 0);
	confine__give_way(LESS_URGENT);
	error = confine__limit(&limits);
	if (!error)
		error = confine__become((uid_t)order->uid, (gid_t)order->gid);
	if (!error)
		error = render__prepare();
	return error ? error : confine__filter(CONFINE_OPEN_FILES);
}

static int complain(const struct order *order, char how, const char *what)
{
	char text[RENDER_SAYS_MAX];
	int length = snprintf(text, sizeof(text), "%c%s", how, what);

	if (length >= (int)sizeof(text))
		length = sizeof(text) - 1;
	return write((int)order->complaints, text, (size_t)length) == length ? STATUS_FAILED : STATUS_CONFINE;
}

static int make_report(const struct order *order, const struct render_opts *opts)
{
	/* The trace may be incomplete: its job may still run, or its graind was killed. */
	const struct grain_load_opts load = {.keep_going = true, .max_bytes = ANALYSIS_BYTES};
	struct grain_graph *graph = NULL;
	struct grain_error err = {""};
	int error = grain_graph__load_fd(STDIN_FILENO, "the trace", &load, &graph, &err);

	if (!error)
		error = render__report(graph, order->format, opts, stdout, &err);
	if (!error && fflush(stdout))
		error = -errno;
	grain_graph__free(graph);
	return error ? complain(order, RENDER_FAILS, err.text[0] ? err.text : strerror(-error)) : 0;
}

int main(int argc, char **argv)
{
	struct order order;
	struct render_opts opts = {.open_depth = RENDER_OPEN_AUTO};
	struct grain_error err = {""};

	if (!parse(argc, argv, &order))
		return STATUS_USAGE;
	opts.job = order.job;
	if (write(STDOUT_FILENO, &(const char){WORKER_READY}, 1) != 1 || confine(&order) != 0)
		return STATUS_CONFINE;
	if (!render_report__has_format(order.format))
		return complain(&order, RENDER_REFUSES, "there is no such format");
	if (*order.view && render_views__parse(order.view, &opts, &err))
		return complain(&order, RENDER_REFUSES, err.text);
	return make_report(&order, &opts);
}
