/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes an OTF2 archive. It has a location for each thread, with what the thread entered and left, its teams
 * and its tasks. The order of records is as in Score-P: a team's begin and end are around each member's part
 * of the region. The switch to a task comes before the task's region is entered, its completion after that
 * region is left.
 */
#include "render/include/render_export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "render/traces/otf2_names.h"
#include "render/traces/slices.h"

#define EVENT_CHUNK (1024 * 1024)
#define DEFINITION_CHUNK (4 * 1024 * 1024)
#define MOST_COUNTERS 64

enum attribute { ATTRIBUTE_CONTEXT, ATTRIBUTE_CPU, ATTRIBUTE_CRITICAL, ATTRIBUTE_PROBLEMS, ATTRIBUTES };

struct otf2 {
	const struct grain_graph *graph;
	const struct export_opts *opts;
	struct slices slices;
	struct otf2_names names;
	OTF2_Archive *archive;
	OTF2_EvtWriter **writers;	/* by thread */
	OTF2_AttributeList *attributes; /* attributes of the next event */
	uint32_t *teams; /* team per region; after the last region: per thread, the team outside of regions */
	uint32_t *creators; /* per context: the thread that created it, or GRAIN_NONE */
	size_t counters;
	uint64_t *counted; /* sums, by thread * number of counters + counter */
	OTF2_Type types[MOST_COUNTERS];
};

/* Errors of the OTF2 library. The first one is kept; nothing is printed. */
static struct {
	int error; /* negative errno */
	char text[256];
} library;

/* An OTF2_ErrorCallback. */
static OTF2_ErrorCode keep_error(void *ctx, const char *file, uint64_t line, const char *function,
				 OTF2_ErrorCode code, const char *format, va_list args)
{
	(void)ctx;
	(void)file;
	(void)line;
	(void)function;
	(void)format;
	(void)args;
	/* Warnings are negative. */
	if (code > OTF2_SUCCESS && !library.error) {
		library.error = code == OTF2_ERROR_ENOSPC      ? -ENOSPC
				: code == OTF2_ERROR_EACCES    ? -EACCES
				: code == OTF2_ERROR_EDQUOT    ? -EDQUOT
				: code == OTF2_ERROR_EMFILE    ? -EMFILE
				: code == OTF2_ERROR_MEM_FAULT ? -ENOMEM
							       : -EIO;
		snprintf(library.text, sizeof(library.text), "%s", OTF2_Error_GetDescription(code));
	}
	return code;
}

static int result(OTF2_ErrorCode code)
{
	if (code <= OTF2_SUCCESS)
		return 0;
	return library.error ? library.error : -EIO;
}

/* ---- teams and tasks ----------------------------------------------------- */

static uint32_t team_of(const struct otf2 *o, const struct grain_context *c, uint32_t thread)
{
	size_t regions = grain_graph__region_count(o->graph);

	return o->teams[c->region == GRAIN_NONE ? regions + thread : c->region];
}

static uint32_t thread_of_context(const struct otf2 *o, uint32_t context)
{
	struct grain_context c;
	struct grain_item item;

	if (context == GRAIN_NONE)
		return GRAIN_NONE;
	grain_graph__context(o->graph, context, &c);
	if (!c.item_count)
		return GRAIN_NONE;
	grain_graph__item(o->graph, c.first_item, &item);
	for (uint32_t t = 0; t < o->slices.thread_count; t++)
		if (o->slices.tids[t] == item.tid)
			return t;
	return GRAIN_NONE;
}

static int find_teams(struct otf2 *o)
{
	size_t regions = grain_graph__region_count(o->graph), threads = o->slices.thread_count;
	uint32_t *members = malloc((threads + 1) * sizeof(*members));

	o->teams = malloc((regions + threads + 1) * sizeof(*o->teams));
	if (!o->teams || !members) {
		free(members);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < regions; i++) {
		struct grain_region r;
		size_t count = 0;

		grain_graph__region(o->graph, i, &r);
		for (uint32_t k = 0; k < r.threads && count < threads; k++) {
			uint32_t t = thread_of_context(o, grain_graph__member(o->graph, r.first_member + k));

			if (t != GRAIN_NONE)
				members[count++] = t;
		}
		o->teams[i] = otf2_names__team(&o->names, members, count);
	}
	for (uint32_t t = 0; t < threads; t++)
		o->teams[regions + t] = otf2_names__team(&o->names, &t, 1);
	free(members);
	return o->names.failed ? -ENOMEM : 0;
}

static int find_creators(struct otf2 *o)
{
	size_t contexts = grain_graph__context_count(o->graph);

	o->creators = malloc((contexts + 1) * sizeof(*o->creators));
	if (!o->creators)
		return -ENOMEM;
	memset(o->creators, 0xff, (contexts + 1) * sizeof(*o->creators));
	return 0;
}

struct task {
	uint32_t team, creator, number;
};

/*
 * Returns the task of a context. Implicit tasks have number 0 on their thread. An explicit task has the
 * number of its context.
 */
static struct task task_of(const struct otf2 *o, uint32_t context, uint32_t thread)
{
	struct grain_context c;
	struct task task;
	uint32_t creator = thread;

	grain_graph__context(o->graph, context, &c);
	/* A chunk is part of the task that executes it. */
	while (c.kind == GRAIN_CHUNK && c.parent != GRAIN_NONE) {
		context = c.parent;
		grain_graph__context(o->graph, context, &c);
	}
	task.team = team_of(o, &c, thread);
	if (c.kind == GRAIN_TASK && o->creators[context] != GRAIN_NONE)
		creator = o->creators[context];
	task.creator = otf2_names__rank(&o->names, task.team, creator);
	task.number = c.kind == GRAIN_TASK ? context : 0;
	return task;
}

/* ---- events -------------------------------------------------------------- */

static enum otf2_use use_of_context(const struct otf2 *o, uint32_t context, const struct grain_context *c)
{
	struct grain_iterations it;
	struct grain_loop loop;

	switch (c->kind) {
	case GRAIN_INITIAL:
		return OTF2_USE_PROGRAM;
	case GRAIN_IMPLICIT:
		return OTF2_USE_PARALLEL;
	case GRAIN_TASK:
		return OTF2_USE_TASK;
	default:
		if (!grain_graph__iterations(o->graph, context, &it) || it.loop == GRAIN_NONE)
			return OTF2_USE_CHUNK;
		grain_graph__loop(o->graph, it.loop, &loop);
		return loop.sections ? OTF2_USE_SECTION : OTF2_USE_CHUNK;
	}
}

static uint32_t region_of(struct otf2 *o, const struct slice *s)
{
	struct grain_context c;
	struct grain_region region;
	struct grain_join join;
	struct grain_loop loop;

	switch (s->kind) {
	case SLICE_REGION:
		grain_graph__region(o->graph, s->ref, &region);
		return otf2_names__region(&o->names, OTF2_USE_FORK, region.definition);
	case SLICE_STRETCH:
		grain_graph__context(o->graph, s->context, &c);
		return otf2_names__region(&o->names, use_of_context(o, s->context, &c), c.definition);
	case SLICE_FORK:
		grain_graph__context(o->graph, s->ref, &c);
		return otf2_names__region(&o->names, OTF2_USE_CREATE, c.definition);
	case SLICE_JOIN:
		grain_graph__join(o->graph, s->ref, &join);
		return otf2_names__region(&o->names, OTF2_USE_JOIN + join.kind, join.definition);
	default:
		grain_graph__loop(o->graph, s->ref, &loop);
		if (s->kind == SLICE_BOOKKEEPING)
			return otf2_names__region(&o->names, OTF2_USE_BOOKKEEPING, loop.definition);
		return otf2_names__region(&o->names, loop.sections ? OTF2_USE_SECTIONS : OTF2_USE_LOOP,
					  loop.definition);
	}
}

static OTF2_ErrorCode switch_to(struct otf2 *o, uint32_t thread, uint64_t time_ns, uint32_t context)
{
	struct task task = task_of(o, context, thread);

	return OTF2_EvtWriter_ThreadTaskSwitch(o->writers[thread], NULL, time_ns, task.team, task.creator,
					       task.number);
}

/* Writes the records that come before the region of a stretch is entered. */
static OTF2_ErrorCode begin_stretch(struct otf2 *o, const struct slice *s)
{
	struct grain_context c;

	grain_graph__context(o->graph, s->context, &c);
	OTF2_AttributeList_AddUint32(o->attributes, ATTRIBUTE_CONTEXT, s->context);
	OTF2_AttributeList_AddUint16(o->attributes, ATTRIBUTE_CPU, s->cpu);
	OTF2_AttributeList_AddUint8(o->attributes, ATTRIBUTE_CRITICAL, c.critical);
	OTF2_AttributeList_AddUint32(o->attributes, ATTRIBUTE_PROBLEMS, c.problems);
	if (c.kind == GRAIN_IMPLICIT)
		return OTF2_EvtWriter_ThreadTeamBegin(o->writers[s->thread], NULL, s->start_ns,
						      team_of(o, &c, s->thread));
	return c.kind == GRAIN_TASK ? switch_to(o, s->thread, s->start_ns, s->context) : OTF2_SUCCESS;
}

/* Writes the sums of counters over everything that has ended on the thread. */
static OTF2_ErrorCode write_counters(struct otf2 *o, const struct slice *s)
{
	OTF2_MetricValue values[MOST_COUNTERS];
	uint64_t *counted = o->counted + s->thread * o->counters, value;
	bool any = false;

	for (size_t i = 0; i < o->counters; i++) {
		if (grain_graph__counter(o->graph, s->context, i, &value)) {
			counted[i] += value;
			any = true;
		}
		values[i].unsigned_int = counted[i];
	}
	if (!any)
		return OTF2_SUCCESS;
	return OTF2_EvtWriter_Metric(o->writers[s->thread], NULL, s->end_ns, 0, (uint8_t)o->counters,
				     o->types, values);
}

/*
 * Writes the records that come after the region of a stretch is left. The thread is back in what the stretch
 * ran in.
 */
static OTF2_ErrorCode end_stretch(struct otf2 *o, const struct slice *s, bool last)
{
	OTF2_EvtWriter *writer = o->writers[s->thread];
	OTF2_ErrorCode error = OTF2_SUCCESS;
	struct grain_context c;
	uint32_t below = slices__context_on(&o->slices, s->thread);

	grain_graph__context(o->graph, s->context, &c);
	if (c.kind == GRAIN_IMPLICIT) {
		error = OTF2_EvtWriter_ThreadTeamEnd(writer, NULL, s->end_ns, team_of(o, &c, s->thread));
		if (below == GRAIN_NONE)
			return error;
		/* The tasks of an inner team belonged to that team. The task that started it continues. */
		grain_graph__context(o->graph, below, &c);
		return error || c.kind != GRAIN_TASK ? error : switch_to(o, s->thread, s->end_ns, below);
	}
	if (c.kind != GRAIN_TASK)
		return error;
	if (last) {
		struct task task = task_of(o, s->context, s->thread);

		error = OTF2_EvtWriter_ThreadTaskComplete(writer, NULL, s->end_ns, task.team, task.creator,
							  task.number);
	}
	return error || below == GRAIN_NONE ? error : switch_to(o, s->thread, s->end_ns, below);
}

static int begin_slice(void *ctx, const struct slice *s)
{
	struct otf2 *o = ctx;
	OTF2_EvtWriter *writer = o->writers[s->thread];
	OTF2_ErrorCode error = OTF2_SUCCESS;
	struct grain_region r;

	if (s->kind == SLICE_STRETCH)
		error = begin_stretch(o, s);
	if (!error)
		error = OTF2_EvtWriter_Enter(writer, s->kind == SLICE_STRETCH ? o->attributes : NULL,
					     s->start_ns, region_of(o, s));
	OTF2_AttributeList_RemoveAllAttributes(o->attributes);
	if (!error && s->kind == SLICE_REGION) {
		grain_graph__region(o->graph, s->ref, &r);
		error = OTF2_EvtWriter_ThreadFork(writer, NULL, s->start_ns, OTF2_PARADIGM_OPENMP, r.threads);
	} else if (!error && s->kind == SLICE_FORK) {
		struct task task;

		o->creators[s->ref] = s->thread;
		task = task_of(o, s->ref, s->thread);
		error = OTF2_EvtWriter_ThreadTaskCreate(writer, NULL, s->start_ns, task.team, task.creator,
							task.number);
	}
	return o->names.failed ? -ENOMEM : result(error);
}

static int end_slice(void *ctx, const struct slice *s)
{
	struct otf2 *o = ctx;
	OTF2_EvtWriter *writer = o->writers[s->thread];
	OTF2_ErrorCode error = OTF2_SUCCESS;
	struct grain_context c;
	bool last;

	if (s->kind == SLICE_REGION)
		error = OTF2_EvtWriter_ThreadJoin(writer, NULL, s->end_ns, OTF2_PARADIGM_OPENMP);
	grain_graph__context(o->graph, s->context, &c);
	last = s->kind == SLICE_STRETCH && s->past == c.first_item + c.item_count;
	if (!error && last && o->counters)
		error = write_counters(o, s);
	if (!error)
		error = OTF2_EvtWriter_Leave(writer, NULL, s->end_ns, region_of(o, s));
	if (!error && s->kind == SLICE_STRETCH)
		error = end_stretch(o, s, last);
	return result(error);
}

/* ---- the archive --------------------------------------------------------- */

static OTF2_ErrorCode write_counter_definitions(struct otf2 *o, OTF2_GlobalDefWriter *writer)
{
	OTF2_MetricMemberRef members[MOST_COUNTERS];
	OTF2_StringRef unit, what;
	OTF2_ErrorCode error = OTF2_SUCCESS;

	if (!o->counters)
		return error;
	unit = otf2_names__string(&o->names, writer, "#");
	what = otf2_names__string(&o->names, writer, "of all that has ended on the thread");
	for (size_t i = 0; i < o->counters && !error; i++) {
		const char *name = grain_graph__counter_name(o->graph, i);
		OTF2_StringRef string = otf2_names__string(&o->names, writer, name);

		members[i] = (OTF2_MetricMemberRef)i;
		error = OTF2_GlobalDefWriter_WriteMetricMember(writer, members[i], string, what,
							       strncmp(name, "PAPI_", 5)
								       ? OTF2_METRIC_TYPE_OTHER
								       : OTF2_METRIC_TYPE_PAPI,
							       OTF2_METRIC_ACCUMULATED_START,
							       OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0, unit);
	}
	return error ? error
		     : OTF2_GlobalDefWriter_WriteMetricClass(writer, 0, (uint8_t)o->counters, members,
							     OTF2_METRIC_SYNCHRONOUS, OTF2_RECORDER_KIND_CPU);
}

static OTF2_ErrorCode write_attribute_definitions(struct otf2 *o, OTF2_GlobalDefWriter *writer)
{
	static const struct {
		const char *name, *description;
		OTF2_Type type;
	} attributes[ATTRIBUTES] = {
		[ATTRIBUTE_CONTEXT] = {"context", "its line in grainctl's JSON and CSV, the first being 0",
				       OTF2_TYPE_UINT32},
		[ATTRIBUTE_CPU] = {"cpu", "where it began", OTF2_TYPE_UINT16},
		[ATTRIBUTE_CRITICAL] = {"critical", "1: part of it is on the critical path", OTF2_TYPE_UINT8},
		[ATTRIBUTE_PROBLEMS] = {"problems",
					"1 parallel_benefit, 2 load_balance, 4 work_deviation, 8 "
					"instantaneous_parallelism, 16 scatter, 32 "
					"memory_hierarchy_utilization, 64 cache_miss_ratio",
					OTF2_TYPE_UINT32},
	};
	OTF2_ErrorCode error = OTF2_SUCCESS;

	for (unsigned i = 0; i < ATTRIBUTES && !error; i++) {
		OTF2_StringRef name = otf2_names__string(&o->names, writer, attributes[i].name);
		OTF2_StringRef text = otf2_names__string(&o->names, writer, attributes[i].description);

		error = OTF2_GlobalDefWriter_WriteAttribute(writer, i, name, text, attributes[i].type);
	}
	return error;
}

static OTF2_FlushType flush_always(void *ctx, OTF2_FileType type, OTF2_LocationRef location, void *caller,
				   bool final)
{
	(void)ctx;
	(void)type;
	(void)location;
	(void)caller;
	(void) final;
	return OTF2_FLUSH;
}

static int write_events(struct otf2 *o, uint64_t *events)
{
	const struct slice_visitor visitor = {.ctx = o,
					      .begin = begin_slice,
					      .end = end_slice,
					      .progress = o->opts->progress,
					      .progress_ctx = o->opts->progress_ctx};
	OTF2_ErrorCode code = OTF2_Archive_OpenEvtFiles(o->archive);
	int error = result(code);

	for (size_t i = 0; i < o->slices.thread_count && !error; i++) {
		o->writers[i] = OTF2_Archive_GetEvtWriter(o->archive, i);
		error = o->writers[i] ? 0 : result(OTF2_ERROR_INVALID);
	}
	if (!error)
		error = slices__walk(&o->slices, &visitor);
	for (size_t i = 0; i < o->slices.thread_count && o->writers[i]; i++) {
		OTF2_EvtWriter_GetNumberOfEvents(o->writers[i], &events[i]);
		code = OTF2_Archive_CloseEvtWriter(o->archive, o->writers[i]);
		error = error ? error : result(code);
	}
	code = OTF2_Archive_CloseEvtFiles(o->archive);
	return error ? error : result(code);
}

static int write_definitions(struct otf2 *o, const uint64_t *events)
{
	OTF2_GlobalDefWriter *writer;
	OTF2_ErrorCode code = OTF2_Archive_OpenDefFiles(o->archive);

	for (size_t i = 0; i < o->slices.thread_count && !code; i++) {
		OTF2_DefWriter *local = OTF2_Archive_GetDefWriter(o->archive, i);

		code = local ? OTF2_Archive_CloseDefWriter(o->archive, local) : OTF2_ERROR_INVALID;
	}
	if (!code)
		code = OTF2_Archive_CloseDefFiles(o->archive);
	writer = code ? NULL : OTF2_Archive_GetGlobalDefWriter(o->archive);
	if (!code && !writer)
		code = OTF2_ERROR_INVALID;
	if (!code)
		code = otf2_names__write(&o->names, writer, events);
	if (!code)
		code = write_attribute_definitions(o, writer);
	if (!code)
		code = write_counter_definitions(o, writer);
	if (writer) {
		OTF2_ErrorCode closed = OTF2_Archive_CloseGlobalDefWriter(o->archive, writer);

		code = code ? code : closed;
	}
	return o->names.failed ? -ENOMEM : result(code);
}

static int write_archive(struct otf2 *o, const char *directory)
{
	static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = flush_always};
	uint64_t *events = calloc(o->slices.thread_count + 1, sizeof(*events));
	OTF2_ErrorCode code;
	int error = events ? 0 : -ENOMEM;

	if (error)
		return error;
	o->archive = OTF2_Archive_Open(directory, "grains", OTF2_FILEMODE_WRITE, EVENT_CHUNK,
				       DEFINITION_CHUNK, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	if (!o->archive) {
		free(events);
		return result(OTF2_ERROR_INVALID);
	}
	code = OTF2_Archive_SetFlushCallbacks(o->archive, &flush, NULL);
	if (!code)
		code = OTF2_Archive_SetSerialCollectiveCallbacks(o->archive);
	if (!code)
		code = OTF2_Archive_SetCreator(o->archive, "grainctl");
	error = result(code);
	if (!error)
		error = write_events(o, events);
	if (!error)
		error = write_definitions(o, events);
	code = OTF2_Archive_Close(o->archive);
	free(events);
	return error ? error : result(code);
}

static int fill(struct otf2 *o)
{
	int error = slices__fill(&o->slices, o->graph, SLICES_STRETCHES);
	size_t threads = o->slices.thread_count;

	if (!error)
		error = otf2_names__begin(&o->names, o->graph, o->slices.tids, threads);
	if (!error)
		error = find_teams(o);
	if (!error)
		error = find_creators(o);
	if (error)
		return error;
	o->writers = calloc(threads + 1, sizeof(*o->writers));
	o->counted = calloc((threads + 1) * (o->counters + 1), sizeof(*o->counted));
	o->attributes = OTF2_AttributeList_New();
	return o->writers && o->counted && o->attributes ? 0 : -ENOMEM;
}

int export__otf2(const struct grain_graph *graph, const struct export_opts *opts, const char *directory,
		 struct grain_error *err)
{
	struct otf2 o = {.graph = graph, .opts = opts, .counters = grain_graph__counter_count(graph)};
	int error;

	if (o.counters > MOST_COUNTERS)
		o.counters = MOST_COUNTERS;
	for (size_t i = 0; i < MOST_COUNTERS; i++)
		o.types[i] = OTF2_TYPE_UINT64;
	memset(&library, 0, sizeof(library));
	OTF2_Error_RegisterCallback(keep_error, NULL);
	error = fill(&o);
	if (!error && !o.slices.thread_count) {
		/* Readers reject an archive without locations. */
		error = -ENODATA;
		snprintf(err->text, sizeof(err->text), "nothing that a thread did was recorded");
	}
	if (!error)
		error = write_archive(&o, directory);
	if (error == -EIO && library.text[0])
		snprintf(err->text, sizeof(err->text), "%s", library.text);
	OTF2_AttributeList_Delete(o.attributes);
	slices__free(&o.slices);
	otf2_names__free(&o.names);
	free(o.teams);
	free(o.creators);
	free(o.writers);
	free(o.counted);
	return error;
}
