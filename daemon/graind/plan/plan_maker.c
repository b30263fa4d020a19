// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/plan/plan_maker.h"
#include "daemon/graind/worker/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PLAN_BYTES (1u << 20)

/* Parses the worker's "error CODE TEXT". */
static int take_error(char *text, struct uprobes_error *err)
{
	char *rest; /* the message, without the file's name, which the worker does not know */
	long code;

	if (strncmp(text, "error\t", 6))
		return 0;
	code = strtol(text + 6, &rest, 10);
	rest[strcspn(rest, "\n")] = 0;
	snprintf(err->text, sizeof(err->text), "%s", rest + (*rest == '\t'));
	return code == ENOENT || code == ENOEXEC || code == ENOMEM ? (int)-code : -ENOTSUP;
}

static const struct {
	const char *work;
	enum probe_runtime runtime;
} subjects[] = {[PLAN_RUNTIME] = {WORKER_PLAN, RUNTIME_LIBGOMP},
		[PLAN_BODIES] = {WORKER_BODIES, RUNTIME_PROGRAM},
		[PLAN_LOOPS] = {WORKER_LOOPS, RUNTIME_LOOPS}};

/* Whether the worker made a plan of the requested subject. */
static bool is_of(const struct probe_plan *plan, enum plan_subject subject)
{
	enum probe_runtime runtime = probe_plan__runtime(plan);

	return subject == PLAN_RUNTIME ? runtime == RUNTIME_LIBGOMP || runtime == RUNTIME_LIBOMP
				       : runtime == subjects[subject].runtime;
}

static int ask_worker(const struct plan_order *order, char **text, uint64_t *spent_ns,
		      struct uprobes_error *err)
{
	const struct worker worker = {
		.work = subjects[order->subject].work,
		.job = order->offset,
		.uid = WORKER_NOBODY,
		.gid = WORKER_NOBODY,
		.input = order->fd,
		.seconds = PLAN_SECONDS,
		.max_output = PLAN_BYTES,
		.unwanted = order->unwanted,
		.spent_ns = spent_ns,
	};
	size_t size;
	int error = worker__run(&worker, text, &size);

	if (error)
		snprintf(err->text, sizeof(err->text),
			 "looking for probe points in " WORKER_PLAN_NAME " failed: %s",
			 error == -ETIMEDOUT   ? "it took too long"
			 : error == -ECHILD    ? "the file is damaged"
			 : error == -ECANCELED ? "graind is shutting down"
					       : strerror(-error));
	return error == -EFBIG ? -ECHILD : error;
}

int plan_maker__make(const struct plan_order *order, struct probe_plan **out, char **text, uint64_t *spent_ns,
		     struct uprobes_error *err)
{
	int error;

	*text = NULL;
	*spent_ns = 0;
	error = ask_worker(order, text, spent_ns, err);
	if (!error)
		error = take_error(*text, err);
	if (!error) {
		error = probe_plan__read(WORKER_PLAN_NAME, *text, out);
		if (!error && !is_of(*out, order->subject)) {
			probe_plan__free(*out);
			error = -EBADMSG;
		}
		if (error)
			snprintf(err->text, sizeof(err->text),
				 "the probe plan of " WORKER_PLAN_NAME " is not usable");
	}
	if (error) {
		free(*text);
		*text = NULL;
	}
	return error == -EBADMSG ? -ECHILD : error;
}
