/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a Perfetto trace: a track of slices for each thread, arrows between them, counters. */
#include "render/include/render_export.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/traces/flows.h"
#include "render/base/format.h"
#include "render/traces/perfetto.h"
#include "render/traces/slices.h"

/* The number of an interned text is its place + 1. */
#define INTERNED(place) ((uint64_t)(place) + 1)
/* Names and paths of C++ programs are long. Names longer than this are shortened in the middle. */
#define MOST_TEXT 1000

static const char *const categories[] = {"task on thread", "loop",	   "create",   "region",
					 "wait",	   "book-keeping", "initial",  "implicit",
					 "task",	   "chunk",	   "critical", "incomplete"};
enum { CATEGORY_INITIAL = 6, CATEGORY_CRITICAL = 10, CATEGORY_INCOMPLETE, CATEGORY_PROBLEM };

/* Names of slices that no definition names. The names of definitions follow them. */
static const char *const plain_names[] = {"initial task", "implicit task", "task",	"chunk",
					  "create task",  "parallel",	   "loop",	"sections",
					  "book-keeping", "taskwait",	   "taskgroup", "barrier",
					  "region end",	  "end of loop"};
enum {
	NAME_CREATE = 4,
	NAME_REGION,
	NAME_LOOP,
	NAME_SECTIONS,
	NAME_BOOKKEEPING,
	NAME_JOIN,
	NAME_DEFINITION = NAME_JOIN + 5
};

static const char *const annotations[] = {"context", "cpu",	  "id",		"depth",	  "exec_ns",
					  "cpu_ns",  "create_ns", "wait_ns",	"bookkeeping_ns", "lock_ns",
					  "lower",   "upper",	  "incomplete", "undeferred",	  "child",
					  "join",    "region",	  "threads",	"own_ns"};
enum annotation {
	A_CONTEXT,
	A_CPU,
	A_ID,
	A_DEPTH,
	A_EXEC,
	A_CPU_TIME,
	A_CREATE,
	A_WAIT,
	A_BOOKKEEPING,
	A_LOCK,
	A_LOWER,
	A_UPPER,
	A_INCOMPLETE,
	A_UNDEFERRED,
	A_CHILD,
	A_JOIN,
	A_REGION,
	A_THREADS,
	A_OWN,
	A_METRIC, /* one for each problem */
	A_COUNTER = A_METRIC + GRAIN_PROBLEM_COUNT,
};

struct writer {
	struct perfetto p;
	const struct export_opts *opts;
	struct slices slices;
	struct flows flows;
	const char *problem[GRAIN_PROBLEM_COUNT];
	char *id; /* buffer; it grows to the longest identifier */
	size_t id_size;
};

/* ---- annotations --------------------------------------------------------- */

static void note_number(struct writer *w, unsigned name, uint64_t value)
{
	size_t a = protobuf__begin(&w->p.packets, EVENT_ANNOTATION);

	protobuf__number(&w->p.packets, ANNOTATION_NAME, INTERNED(name));
	protobuf__number(&w->p.packets, ANNOTATION_UINT, value);
	protobuf__end(&w->p.packets, a);
}

static void note_signed(struct writer *w, unsigned name, int64_t value)
{
	size_t a = protobuf__begin(&w->p.packets, EVENT_ANNOTATION);

	protobuf__number(&w->p.packets, ANNOTATION_NAME, INTERNED(name));
	protobuf__number(&w->p.packets, ANNOTATION_INT, (uint64_t)value);
	protobuf__end(&w->p.packets, a);
}

static void note_text(struct writer *w, unsigned name, const char *text)
{
	size_t a = protobuf__begin(&w->p.packets, EVENT_ANNOTATION);

	protobuf__number(&w->p.packets, ANNOTATION_NAME, INTERNED(name));
	protobuf__text(&w->p.packets, ANNOTATION_TEXT, text);
	protobuf__end(&w->p.packets, a);
}

static void note_true(struct writer *w, unsigned name)
{
	size_t a = protobuf__begin(&w->p.packets, EVENT_ANNOTATION);

	protobuf__number(&w->p.packets, ANNOTATION_NAME, INTERNED(name));
	protobuf__number(&w->p.packets, ANNOTATION_BOOL, 1);
	protobuf__end(&w->p.packets, a);
}

/* Adds a ratio as an annotation, unless it is absent. */
static void note_ratio(struct writer *w, unsigned name, double value)
{
	size_t a;

	if (!isfinite(value))
		return;
	a = protobuf__begin(&w->p.packets, EVENT_ANNOTATION);
	protobuf__number(&w->p.packets, ANNOTATION_NAME, INTERNED(name));
	protobuf__double(&w->p.packets, ANNOTATION_DOUBLE, value);
	protobuf__end(&w->p.packets, a);
}

static void note_id(struct writer *w, unsigned name,
		    size_t (*id_of)(const struct grain_graph *, uint32_t, char *, size_t), uint32_t index)
{
	size_t length = id_of(w->p.graph, index, w->id, w->id_size);

	if (length >= w->id_size) {
		char *longer = realloc(w->id, length * 2);

		if (!longer) {
			w->p.packets.failed = true;
			return;
		}
		w->id = longer;
		w->id_size = length * 2;
		id_of(w->p.graph, index, w->id, w->id_size);
	}
	note_text(w, name, w->id);
}

/* Adds everything that is known about a context to its first slice. */
static void note_context(struct writer *w, uint32_t context, const struct grain_context *c)
{
	const double metrics[GRAIN_PROBLEM_COUNT] = {
		[GRAIN_PROBLEM_PARALLEL_BENEFIT] = c->parallel_benefit,
		[GRAIN_PROBLEM_LOAD_BALANCE] = c->load_balance,
		[GRAIN_PROBLEM_WORK_DEVIATION] = c->work_deviation,
		[GRAIN_PROBLEM_INSTANTANEOUS_PARALLELISM] = c->instantaneous_parallelism,
		[GRAIN_PROBLEM_SCATTER] = c->scatter,
		[GRAIN_PROBLEM_MEMORY_HIERARCHY_UTILIZATION] = c->memory_hierarchy_utilization,
		[GRAIN_PROBLEM_CACHE_MISS_RATIO] = c->cache_miss_ratio,
	};
	struct grain_iterations it;
	uint64_t value;

	note_id(w, A_ID, grain_graph__context_id, context);
	note_number(w, A_DEPTH, c->depth);
	note_number(w, A_EXEC, c->exec_ns);
	if (c->cpu_known)
		note_number(w, A_CPU_TIME, c->cpu_ns);
	if (c->create_ns)
		note_number(w, A_CREATE, c->create_ns);
	if (c->wait_ns)
		note_number(w, A_WAIT, c->wait_ns);
	if (c->bookkeeping_ns)
		note_number(w, A_BOOKKEEPING, c->bookkeeping_ns);
	if (c->lock_ns)
		note_number(w, A_LOCK, c->lock_ns);
	if (grain_graph__iterations(w->p.graph, context, &it) && !it.hidden) {
		if (it.is_unsigned) {
			note_number(w, A_LOWER, (uint64_t)it.lower);
			note_number(w, A_UPPER, (uint64_t)it.upper);
		} else {
			note_signed(w, A_LOWER, it.lower);
			note_signed(w, A_UPPER, it.upper);
		}
	}
	if (c->undeferred)
		note_true(w, A_UNDEFERRED);
	if (c->incomplete)
		note_true(w, A_INCOMPLETE);
	for (unsigned i = 0; i < GRAIN_PROBLEM_COUNT; i++)
		note_ratio(w, A_METRIC + i, metrics[i]);
	for (size_t i = 0; i < grain_graph__counter_count(w->p.graph); i++)
		if (grain_graph__counter(w->p.graph, context, i, &value))
			note_number(w, (unsigned)(A_COUNTER + i), value);
}

/* ---- slices -------------------------------------------------------------- */

static void put_flows(struct writer *w, uint32_t item)
{
	const struct flows *f = &w->flows;

	for (uint32_t i = f->out_first[item]; i < f->out_first[item + 1]; i++)
		protobuf__fixed64(&w->p.packets, EVENT_FLOW, INTERNED(f->out[i]));
	for (uint32_t i = f->in_first[item]; i < f->in_first[item + 1]; i++)
		protobuf__fixed64(&w->p.packets, EVENT_TERMINATING_FLOW, INTERNED(f->in[i]));
}

static void put_category(struct writer *w, unsigned category)
{
	protobuf__number(&w->p.packets, EVENT_CATEGORY, INTERNED(category));
}

static void put_name(struct writer *w, unsigned plain, uint32_t definition, unsigned use)
{
	uint64_t name = plain;

	if (definition != GRAIN_NONE)
		name = NAME_DEFINITION + (uint64_t)definition * 2 + use;
	protobuf__number(&w->p.packets, EVENT_NAME, INTERNED(name));
	if (definition != GRAIN_NONE)
		protobuf__number(&w->p.packets, EVENT_SOURCE_LOCATION, INTERNED(definition));
}

/* Usually the first item is the first fragment. */
static bool is_first(const struct grain_graph *graph, const struct grain_context *c, uint32_t fragment)
{
	struct grain_item item;

	for (uint32_t i = c->first_item; i < fragment; i++) {
		grain_graph__item(graph, i, &item);
		if (item.kind == GRAIN_FRAGMENT)
			return false;
	}
	return true;
}

static void put_fragment(struct writer *w, const struct slice *s)
{
	struct grain_context c;

	grain_graph__context(w->p.graph, s->context, &c);
	put_category(w, CATEGORY_INITIAL + c.kind);
	for (unsigned i = 0; i < GRAIN_PROBLEM_COUNT; i++)
		if (c.problems & 1u << i)
			put_category(w, CATEGORY_PROBLEM + i);
	if (c.incomplete)
		put_category(w, CATEGORY_INCOMPLETE);
	put_name(w, c.kind, c.definition, 0);
	note_number(w, A_CONTEXT, s->context);
	note_number(w, A_CPU, s->cpu);
	if (is_first(w->p.graph, &c, s->item))
		note_context(w, s->context, &c);
}

static void put_join(struct writer *w, const struct slice *s)
{
	struct grain_join join;

	grain_graph__join(w->p.graph, s->ref, &join);
	put_name(w, NAME_JOIN + join.kind, GRAIN_NONE, 0);
	if (join.definition != GRAIN_NONE)
		protobuf__number(&w->p.packets, EVENT_SOURCE_LOCATION, INTERNED(join.definition));
	note_id(w, A_JOIN, grain_graph__join_id, s->ref);
}

static void put_other(struct writer *w, const struct slice *s)
{
	struct grain_context child;
	struct grain_region region;
	struct grain_loop loop;

	put_category(w, s->kind);
	if (s->kind == SLICE_JOIN) {
		put_join(w, s);
	} else if (s->kind == SLICE_FORK) {
		grain_graph__context(w->p.graph, s->ref, &child);
		put_name(w, NAME_CREATE, child.definition, 1);
		note_number(w, A_CHILD, s->ref);
	} else if (s->kind == SLICE_REGION) {
		grain_graph__region(w->p.graph, s->ref, &region);
		put_name(w, NAME_REGION, region.definition, 1);
		note_id(w, A_REGION, grain_graph__region_id, s->ref);
		note_number(w, A_THREADS, region.threads);
	} else {
		grain_graph__loop(w->p.graph, s->ref, &loop);
		if (s->kind == SLICE_LOOP)
			put_name(w, loop.sections ? NAME_SECTIONS : NAME_LOOP, loop.definition, 1);
		else
			put_name(w, NAME_BOOKKEEPING, GRAIN_NONE, 0);
	}
}

static int begin_slice(void *ctx, const struct slice *s)
{
	struct writer *w = ctx;
	struct grain_item item;
	size_t event;

	grain_graph__item(w->p.graph, s->item, &item);
	perfetto__begin(&w->p);
	event = perfetto__begin_event(&w->p, s->start_ns, EVENT_BEGIN, PERFETTO_THREAD_TRACKS + s->thread);
	if (s->kind == SLICE_FRAGMENT)
		put_fragment(w, s);
	else
		put_other(w, s);
	if (s->critical && s->kind != SLICE_LOOP)
		put_category(w, CATEGORY_CRITICAL);
	if (s->kind != SLICE_FRAGMENT && s->kind != SLICE_LOOP && item.own_ns != s->end_ns - s->start_ns)
		note_number(w, A_OWN, item.own_ns);
	if (s->kind != SLICE_LOOP)
		put_flows(w, s->item);
	protobuf__end(&w->p.packets, event);
	return perfetto__end(&w->p);
}

static int end_slice(void *ctx, const struct slice *s)
{
	struct writer *w = ctx;
	size_t event;

	perfetto__begin(&w->p);
	event = perfetto__begin_event(&w->p, s->end_ns, EVENT_END, PERFETTO_THREAD_TRACKS + s->thread);
	protobuf__end(&w->p.packets, event);
	return perfetto__end(&w->p);
}

/* ---- the head ------------------------------------------------------------ */

static void intern(struct protobuf *p, uint32_t field, size_t place, const char *text)
{
	char clean[4 * MOST_TEXT + 8];
	size_t entry = protobuf__begin(p, field);

	protobuf__number(p, INTERNED_ID, INTERNED(place));
	protobuf__text(p, INTERNED_TEXT, format__clean(clean, sizeof(clean), text, MOST_TEXT));
	protobuf__end(p, entry);
}

/* Interns the two names of a definition: that of what it executes, and that of its creation or construct. */
static void intern_definition(struct protobuf *p, uint32_t index, const struct grain_definition *d)
{
	static const char *const verbs[] = {"", "create "};
	char clean[4 * MOST_TEXT + 8];
	struct format_text name = {0};
	size_t entry;

	for (unsigned use = 0; use < 2; use++) {
		bool task = !strncmp(d->kind, "task", 4);

		name.length = 0;
		format__printf(&name, "%s", use && task ? verbs[use] : "");
		if (use && !task)
			format__printf(&name, "%s ", d->kind);
		if (d->function[0])
			format__printf(&name, "%s ", d->function);
		format__printf(&name, d->function[0] ? "(%s)" : "%s", d->source);
		if (name.failed)
			p->failed = true;
		else
			intern(p, INTERNED_NAME, NAME_DEFINITION + (size_t)index * 2 + use, name.data);
	}
	entry = protobuf__begin(p, INTERNED_LOCATION);
	protobuf__number(p, INTERNED_ID, INTERNED(index));
	protobuf__text(p, LOCATION_FILE,
		       format__clean(clean, sizeof(clean), d->file[0] ? d->file : d->source, MOST_TEXT));
	if (d->function[0])
		protobuf__text(p, LOCATION_FUNCTION,
			       format__clean(clean, sizeof(clean), d->function, MOST_TEXT));
	if (d->line)
		protobuf__number(p, LOCATION_LINE, d->line);
	protobuf__end(p, entry);
	format__free(&name);
}

static int write_names(struct writer *w)
{
	struct protobuf *p = &w->p.packets;
	char name[300];
	size_t names;

	perfetto__begin(&w->p);
	names = protobuf__begin(p, PACKET_INTERNED);
	for (size_t i = 0; i < sizeof(categories) / sizeof(categories[0]); i++)
		intern(p, INTERNED_CATEGORY, i, categories[i]);
	for (unsigned i = 0; i < GRAIN_PROBLEM_COUNT; i++) {
		snprintf(name, sizeof(name), "problem.%s", w->problem[i]);
		intern(p, INTERNED_CATEGORY, CATEGORY_PROBLEM + i, name);
		intern(p, INTERNED_ANNOTATION_NAME, A_METRIC + i, w->problem[i]);
	}
	for (size_t i = 0; i < sizeof(plain_names) / sizeof(plain_names[0]); i++)
		intern(p, INTERNED_NAME, i, plain_names[i]);
	for (size_t i = 0; i < sizeof(annotations) / sizeof(annotations[0]); i++)
		intern(p, INTERNED_ANNOTATION_NAME, i, annotations[i]);
	for (size_t i = 0; i < grain_graph__counter_count(w->p.graph); i++) {
		snprintf(name, sizeof(name), "counter_%s", grain_graph__counter_name(w->p.graph, i));
		intern(p, INTERNED_ANNOTATION_NAME, A_COUNTER + i, name);
	}
	for (size_t i = 0; i < grain_graph__definition_count(w->p.graph); i++) {
		struct grain_definition d;

		grain_graph__definition(w->p.graph, (uint32_t)i, &d);
		intern_definition(p, (uint32_t)i, &d);
	}
	protobuf__end(p, names);
	return perfetto__end(&w->p);
}

static uint64_t process_number(const struct grain_info *info)
{
	return info->pid > 0 ? (uint64_t)info->pid : 1;
}

static int write_process(struct writer *w)
{
	const struct grain_info *info = grain_graph__info(w->p.graph);
	const char *slash = strrchr(info->exe, '/'), *program = slash && slash[1] ? slash + 1 : info->exe;
	struct protobuf *p = &w->p.packets;
	char clean[4 * MOST_TEXT + 8];
	size_t track, process;

	perfetto__begin(&w->p);
	track = protobuf__begin(p, PACKET_TRACK);
	protobuf__number(p, TRACK_UUID, PERFETTO_PROCESS_TRACK);
	process = protobuf__begin(p, TRACK_PROCESS);
	protobuf__number(p, PROCESS_PID, process_number(info));
	protobuf__text(p, PROCESS_COMMAND, format__clean(clean, sizeof(clean), info->command, MOST_TEXT));
	protobuf__text(p, PROCESS_NAME,
		       format__clean(clean, sizeof(clean), *program ? program : "program", MOST_TEXT));
	protobuf__end(p, process);
	protobuf__end(p, track);
	return perfetto__end(&w->p);
}

static int write_threads(struct writer *w)
{
	const struct grain_info *info = grain_graph__info(w->p.graph);
	struct protobuf *p = &w->p.packets;
	int error = 0;

	for (size_t i = 0; i < w->slices.thread_count && !error; i++) {
		size_t track, thread;
		uint32_t tid = w->slices.tids[i];

		perfetto__begin(&w->p);
		track = protobuf__begin(p, PACKET_TRACK);
		protobuf__number(p, TRACK_UUID, PERFETTO_THREAD_TRACKS + i);
		protobuf__number(p, TRACK_PARENT, PERFETTO_PROCESS_TRACK);
		thread = protobuf__begin(p, TRACK_THREAD);
		protobuf__number(p, THREAD_PID, process_number(info));
		protobuf__number(p, THREAD_TID, (uint64_t)(int64_t)(int32_t)tid);
		protobuf__text(p, THREAD_NAME, tid == info->pid ? "main thread" : "OpenMP thread");
		protobuf__end(p, thread);
		protobuf__end(p, track);
		error = perfetto__end(&w->p);
	}
	return error;
}

static void note_named(struct writer *w, const char *name, const char *text)
{
	char clean[4 * MOST_TEXT + 8];
	size_t a = protobuf__begin(&w->p.packets, EVENT_ANNOTATION);

	protobuf__text(&w->p.packets, ANNOTATION_PLAIN_NAME, name);
	protobuf__text(&w->p.packets, ANNOTATION_TEXT, format__clean(clean, sizeof(clean), text, MOST_TEXT));
	protobuf__end(&w->p.packets, a);
}

static void note_count(struct writer *w, const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	note_named(w, name, text);
}

/*
 * Writes what the recording says about itself, as an event of the process at its start. Returns 0 or a
 * negative errno.
 */
static int write_truth(struct writer *w)
{
	const struct grain_info *info = grain_graph__info(w->p.graph);
	const struct grain_truth *truth = grain_graph__truth(w->p.graph);
	const struct grain_totals *t = grain_graph__totals(w->p.graph);
	char text[32];
	size_t event;

	perfetto__begin(&w->p);
	event = perfetto__begin_event(&w->p, info->start_ns, EVENT_INSTANT, PERFETTO_PROCESS_TRACK);
	protobuf__text(&w->p.packets, EVENT_PLAIN_NAME, "recording");
	if (w->opts->job)
		note_count(w, "job", w->opts->job);
	note_named(w, "host", info->host);
	note_named(w, "command", info->command);
	note_named(w, "runtime", info->runtime);
	note_named(w, "unit of times", info->cycles ? "processor cycles" : "ns");
	note_count(w, "threads", info->threads);
	note_count(w, "grains", t->grains);
	note_count(w, "work", t->work_ns);
	note_count(w, "span", t->span_ns);
	note_count(w, "events", truth->events);
	note_count(w, "events lost", truth->lost);
	note_count(w, "grains incomplete", truth->incomplete_grains);
	if (isfinite(t->measuring_percent)) {
		snprintf(text, sizeof(text), "%.2f %%", t->measuring_percent);
		note_named(w, "cost of measuring", text);
	}
	protobuf__end(&w->p.packets, event);
	return perfetto__end(&w->p);
}

static int write_all(struct writer *w)
{
	const struct slice_visitor visitor = {.ctx = w,
					      .begin = begin_slice,
					      .end = end_slice,
					      .progress = w->opts->progress,
					      .progress_ctx = w->opts->progress_ctx};
	int error = slices__fill(&w->slices, w->p.graph, SLICES_FRAGMENTS);

	if (!error)
		error = flows__fill(&w->flows, w->p.graph);
	if (!error)
		error = write_names(w);
	if (!error)
		error = write_process(w);
	if (!error)
		error = write_threads(w);
	if (!error)
		error = write_truth(w);
	if (!error)
		error = perfetto__write_counters(&w->p);
	if (!error)
		error = slices__walk(&w->slices, &visitor);
	return error ? error : perfetto__flush(&w->p);
}

int export__perfetto(const struct grain_graph *graph, const struct export_opts *opts, FILE *out,
		     struct grain_error *err)
{
	struct writer w = {.p = {.graph = graph, .out = out}, .opts = opts, .id_size = 256};
	int error = -ENOMEM;

	for (unsigned i = 0; i < GRAIN_PROBLEM_COUNT; i++) {
		struct grain_problem_summary summary;

		grain_graph__problem(graph, (enum grain_problem)i, &summary);
		w.problem[i] = summary.name;
	}
	w.id = malloc(w.id_size);
	if (w.id)
		error = write_all(&w);
	if (!error && (fflush(out) || ferror(out)))
		error = errno ? -errno : -EIO;
	(void)err;
	slices__free(&w.slices);
	flows__free(&w.flows);
	protobuf__free(&w.p.packets);
	free(w.id);
	return error;
}
