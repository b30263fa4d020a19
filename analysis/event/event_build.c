// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/event/event_build.h"
#include "analysis/event/folded.h"
#include "analysis/base/fields.h"
#include "analysis/base/large.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOSS_CAUSES 256

int event_stream__new(struct event_stream **out)
{
	struct event_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->info = (struct grain_info){.host = "",
				      .kernel = "",
				      .exe = "",
				      .command = "",
				      .runtime = "",
				      .source = "",
				      .scheduler_absent = "",
				      .pid = -1,
				      .uid = -1,
				      .ns_per_event = __builtin_nan("")};
	s->truth.first_violation = "";
	*out = s;
	return 0;
}

static void free_text(const char *text)
{
	if (text && text[0])
		free((char *)text);
}

void event_source__clear(struct event_source *source)
{
	free(source->file);
	free(source->func);
	free(source->kind);
	free(source->path);
	free(source->module);
	*source = (struct event_source){0};
}

void event_stream__free(struct event_stream *stream)
{
	if (!stream)
		return;
	free(stream->events);
	for (size_t i = 0; i < stream->source_count; i++)
		event_source__clear(&stream->sources[i]);
	free(stream->sources);
	free(stream->cpus);
	free(stream->distances);
	folded__free(stream->folded);
	event_stream__free_counters(stream);
	event_stream__free_samples(stream);
	event_stream__free_numa(stream);
	free(stream->settings.binds);
	free(stream->settings.spins);
	free(stream->settings.spins_cure);
	for (size_t i = 0; i < stream->neighbour_count; i++) {
		free(stream->neighbours[i].command);
		free(stream->neighbours[i].cgroup);
	}
	free(stream->neighbours);
	free(stream->windows);
	for (size_t i = 0; i < stream->loss_count; i++)
		free(stream->losses[i].cause);
	free(stream->losses);
	for (size_t i = 0; i < stream->cause_count; i++)
		free(stream->causes[i]);
	free(stream->causes);
	for (size_t i = 0; i < stream->verbatim_count; i++)
		free(stream->verbatim[i]);
	free(stream->verbatim);
	free(stream->loops);
	free(stream->task_trouble);
	free(stream->region_trouble);
	free_text(stream->info.scheduler_absent);
	free_text(stream->info.host);
	free_text(stream->info.kernel);
	free_text(stream->info.exe);
	free_text(stream->info.command);
	free_text(stream->info.runtime);
	free_text(stream->info.source);
	free(stream);
}

static int add_room(struct event_stream *stream, size_t more, struct budget *budget)
{
	struct event *events;

	if (budget__take(budget, more * sizeof(*events)))
		return -E2BIG;
	events = large__grown(stream->events, (stream->capacity + more) * sizeof(*events));
	if (!events) {
		budget__give(budget, more * sizeof(*events));
		return -ENOMEM;
	}
	stream->events = events;
	stream->capacity += more;
	return 0;
}

int event_stream__grow(struct event_stream *stream, struct budget *budget)
{
	return add_room(stream, stream->capacity < 4096 ? 4096 : stream->capacity / 2, budget);
}

void event_stream__expect(struct event_stream *stream, size_t count, struct budget *budget)
{
	if (count > stream->capacity)
		(void)add_room(stream, count - stream->capacity, budget);
}

int event_stream__add_source(struct event_stream *stream, struct event_source *source, struct budget *budget)
{
	int error = array__grow(&stream->sources, stream->source_count, sizeof(*stream->sources), budget);
	char **text[] = {&source->file, &source->func, &source->kind, &source->path, &source->module};

	for (size_t i = 0; !error && i < sizeof(text) / sizeof(text[0]); i++) {
		if (!*text[i])
			*text[i] = strdup("");
		if (!*text[i])
			error = -ENOMEM;
		else
			error = budget__take(budget, strlen(*text[i]) + 1);
		if (*text[i])
			field__make_printable(*text[i], strlen(*text[i]));
	}
	if (error) {
		event_source__clear(source);
		return error;
	}
	stream->sources[stream->source_count++] = *source;
	*source = (struct event_source){0};
	return 0;
}

bool event_loss__is_of_events(const struct event_loss *loss)
{
	static const char *const others[] = {"read", "unknown-bodies", "unclosed-", "unmatched-",
					     "mismatched-"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strncmp(loss->cause, others[i], strlen(others[i])) == 0)
			return false;
	return true;
}

static bool same_text(const char *text, const char *bytes, size_t count)
{
	return strlen(text) == count && memcmp(text, bytes, count) == 0;
}

int event_stream__add_loss(struct event_stream *stream, const char *cause, size_t cause_bytes, uint64_t count,
			   struct budget *budget)
{
	struct event_loss *loss;
	int error;

	for (size_t i = 0; i < stream->loss_count; i++) {
		loss = &stream->losses[i];
		if (!same_text(loss->cause, cause, cause_bytes))
			continue;
		if (__builtin_add_overflow(loss->count, count, &loss->count))
			loss->count = UINT64_MAX;
		return 0;
	}
	/* The last entry counts all further causes together. */
	if (stream->loss_count >= LOSS_CAUSES - 1 && !same_text("other", cause, cause_bytes))
		return event_stream__add_loss(stream, "other", 5, count, budget);
	error = array__grow(&stream->losses, stream->loss_count, sizeof(*stream->losses), budget);
	if (error)
		return error;
	loss = &stream->losses[stream->loss_count];
	*loss = (struct event_loss){strndup(cause, cause_bytes), count};
	if (!loss->cause)
		return -ENOMEM;
	stream->loss_count++;
	return 0;
}

int event_stream__add_verbatim(struct event_stream *stream, const char *line, size_t bytes,
			       struct budget *budget)
{
	int error = array__grow(&stream->verbatim, stream->verbatim_count, sizeof(*stream->verbatim), budget);

	if (!error)
		error = budget__take(budget, bytes + 1);
	if (error)
		return error;
	stream->verbatim[stream->verbatim_count] = strndup(line, bytes);
	if (!stream->verbatim[stream->verbatim_count])
		return -ENOMEM;
	stream->verbatim_count++;
	return 0;
}

int event_stream__add_cause(struct event_stream *stream, const char *cause, size_t bytes, uint8_t *sub,
			    struct budget *budget)
{
	int error;

	if (bytes > EVENT_CAUSE_MAX)
		bytes = EVENT_CAUSE_MAX;
	for (size_t i = 0; i < stream->cause_count; i++) {
		if (same_text(stream->causes[i], cause, bytes)) {
			*sub = (uint8_t)(i + 1);
			return 0;
		}
	}
	*sub = 0;
	if (stream->cause_count == UINT8_MAX)
		return 0;
	error = array__grow(&stream->causes, stream->cause_count, sizeof(*stream->causes), budget);
	if (error)
		return error;
	stream->causes[stream->cause_count] = strndup(cause, bytes);
	if (!stream->causes[stream->cause_count])
		return -ENOMEM;
	*sub = (uint8_t)++stream->cause_count;
	return 0;
}

void event_stream__summarize(struct event_stream *stream)
{
	struct grain_info *info = &stream->info;

	if (info->threads == 0)
		info->threads = 1;
	if (stream->count == 0)
		return;
	info->start_ns = stream->events[0].time_ns;
	info->end_ns = stream->events[stream->count - 1].time_ns;
}

const char *const event_wait_names[] = {"taskwait",	    "taskwait-depend", "taskgroup", "barrier",
					"barrier-implicit", "taskyield",       NULL};
const char *const event_depend_names[] = {"in",	      "out", "inout",  "mutexinoutset",
					  "inoutset", "all", "unread", NULL};
const char *const event_flag_names[] = {"deferred", "undeferred", "final", "untied",   "mergeable", "detach",
					"taskloop", "target",	  "split", "priority", NULL};
const char *const event_access_names[] = {"unknown", "absent", "unmapped", "ended", "refused", NULL};
const char *const event_lock_names[] = {"critical", "ordered", "lock", "doacross", "atomic", NULL};
const char *const event_cancel_names[] = {"parallel", "loop", "sections", "taskgroup", NULL};
const char *const event_reason_names[] = {"unknown", "preempted", "blocked", "yielded", NULL};
const char *const event_sched_names[] = {
	"unknown",	   "static",	     "dynamic",	     "guided",	"auto", "runtime-static",
	"runtime-dynamic", "runtime-guided", "runtime-auto", "runtime", NULL};
const char *const event_trouble_names[] = {"no-create", "no-begin", "no-end", "lost", "wait", "fault", NULL};

static const char *const kind_names[EVENT_KIND_MAX] = {
	[EVENT_THREAD_BEGIN] = "thread-begin",
	[EVENT_THREAD_END] = "thread-end",
	[EVENT_REGION_BEGIN] = "region-begin",
	[EVENT_REGION_END] = "region-end",
	[EVENT_MEMBER_BEGIN] = "member-begin",
	[EVENT_MEMBER_END] = "member-end",
	[EVENT_CREATE_BEGIN] = "create-begin",
	[EVENT_CREATE_END] = "create-end",
	[EVENT_DEPEND] = "depend",
	[EVENT_TASK_BEGIN] = "task-begin",
	[EVENT_TASK_SWITCH] = "task-switch",
	[EVENT_TASK_END] = "task-end",
	[EVENT_WAIT_BEGIN] = "wait-begin",
	[EVENT_WAIT_END] = "wait-end",
	[EVENT_GROUP_BEGIN] = "group-begin",
	[EVENT_LOOP_BEGIN] = "loop-begin",
	[EVENT_CHUNK_BEGIN] = "chunk-begin",
	[EVENT_CHUNK_END] = "chunk-end",
	[EVENT_LOOP_END] = "loop-end",
	[EVENT_SECTIONS_BEGIN] = "sections-begin",
	[EVENT_SECTION_BEGIN] = "section-begin",
	[EVENT_SECTION_END] = "section-end",
	[EVENT_SECTIONS_END] = "sections-end",
	[EVENT_SINGLE_BEGIN] = "single-begin",
	[EVENT_SINGLE_END] = "single-end",
	[EVENT_LOCK_BEGIN] = "lock-begin",
	[EVENT_LOCK_GOT] = "lock-got",
	[EVENT_LOCK_END] = "lock-end",
	[EVENT_OFF_CPU] = "off-cpu",
	[EVENT_ON_CPU] = "on-cpu",
	[EVENT_SAMPLE] = "sample",
	[EVENT_TASK_SUSPEND] = "task-suspend",
	[EVENT_TASK_BOUNDS] = "task-bounds",
	[EVENT_TASK_FULFILL] = "task-fulfill",
	[EVENT_TASK_DISCARD] = "task-discard",
	[EVENT_CANCEL] = "cancel",
	[EVENT_ACCESS] = "access",
	[EVENT_LOST] = "lost",
};

const char *event_kind__name(enum event_kind kind)
{
	return kind < EVENT_KIND_MAX ? kind_names[kind] : "?";
}

enum event_kind event_kind__find(const char *name, size_t bytes)
{
	for (int i = 0; i < EVENT_KIND_MAX; i++) {
		const char *known = kind_names[i];

		if (known[0] == name[0] && same_text(known, name, bytes))
			return (enum event_kind)i;
	}
	return EVENT_KIND_MAX;
}
