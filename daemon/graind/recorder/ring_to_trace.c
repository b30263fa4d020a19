// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/recorder/ring_to_trace.h"

#include "analysis/trace/trace_format.h"
#include "bpf/abi/ring_abi.h"
#include "daemon/graind/pages/accesses.h"
#include "daemon/graind/symbols/kernel_symbols.h"
#include "daemon/graind/recorder/live.h"

#include <string.h>

#define BATCH 256
#define AHEAD 4096 /* number of the next events that are searched for further pages to ask for */

/* These have the same numbers and bits in both formats. */
#define SAME(name) _Static_assert((int)RING_##name == (int)TRACE_##name, #name)
SAME(TASK_UNTIED);
SAME(TASK_FINAL);
SAME(TASK_MERGEABLE);
SAME(TASK_PRIORITY);
SAME(TASK_DETACH);
SAME(TASK_OF_TASKLOOP);
SAME(TASK_SPLIT);
SAME(TASK_NOGROUP);
SAME(TASK_TARGET);
SAME(TASK_BODY_KNOWN);
SAME(TASK_ANY_THREAD);
_Static_assert(RING_BEGIN_DATA == TRACE_BEGIN_DATA, "BEGIN_DATA");
_Static_assert((int)RING_TASK_HAS_DEPEND == (int)TRACE_TASK_DEPEND, "TASK_DEPEND");
SAME(DEPEND_IN);
SAME(DEPEND_OUT);
SAME(DEPEND_INOUT);
SAME(DEPEND_MUTEXINOUTSET);
SAME(DEPEND_INOUTSET);
SAME(DEPEND_ALL);
SAME(DEPEND_UNREAD);
SAME(CANCEL_PARALLEL);
SAME(CANCEL_LOOP);
SAME(CANCEL_SECTIONS);
SAME(CANCEL_TASKGROUP);
SAME(CANCEL_POINT);
SAME(LOOP_STATIC);
SAME(LOOP_DYNAMIC);
SAME(LOOP_GUIDED);
SAME(LOOP_AUTO);
SAME(LOOP_RUNTIME);
SAME(LOOP_ORDERED);
SAME(LOOP_NONMONOTONIC);
SAME(LOOP_DOACROSS);
SAME(LOOP_UNSIGNED);
SAME(LOOP_OF_REGION);
SAME(LOOP_UPPER_EXCLUSIVE);
SAME(LOOP_IS_SECTIONS);
SAME(LOOP_BOUNDS_HIDDEN);
SAME(LOOP_DISTRIBUTE);
SAME(LOCK_CRITICAL);
SAME(LOCK_ORDERED);
SAME(LOCK_OMP);
SAME(LOCK_DOACROSS);
SAME(LOCK_ATOMIC);
SAME(WAIT_TASKWAIT);
SAME(WAIT_TASKGROUP);
SAME(WAIT_BARRIER);
SAME(WAIT_REGION_END);
SAME(WAIT_TASKWAIT_DEPEND);
SAME(WAIT_BARRIER_IMPLICIT);
SAME(WAIT_TASKYIELD);
SAME(OFF_PREEMPTED);
SAME(OFF_BLOCKED);
SAME(OFF_YIELDED);
_Static_assert(RING_SECTIONS_OF_REGION == TRACE_SECTIONS_OF_REGION, "SECTIONS_OF_REGION");
_Static_assert(RING_REGION_TEAMS == TRACE_REGION_TEAMS, "REGION_TEAMS");
_Static_assert(RING_TEAMS_OVER == TRACE_TEAMS_OVER, "TEAMS_OVER");
_Static_assert(RING_COUNTERS_MAX == TRACE_READING_MAX && RING_COUNTERS_EACH == TRACE_COUNTERS_EACH,
	       "readings of counters");
_Static_assert(TRACE_COUNTERS_FIRST(RING_COUNTERS_ARG(3, 5, 7)) == 3 &&
		       TRACE_COUNTERS_BLIND(RING_COUNTERS_ARG(3, 5, 7)) == 5 &&
		       TRACE_COUNTERS_KIND(RING_COUNTERS_ARG(3, 5, 7)) == 7,
	       "arg of COUNTERS");
_Static_assert(RING_STACK_MAX == TRACE_STACK_MAX && RING_STACK_EACH == TRACE_STACK_EACH, "samples");
_Static_assert(RING_REGION_OUTERMOST == TRACE_REGION_OUTERMOST, "REGION_OUTERMOST");

static const uint8_t kinds[RING_KIND_MAX] = {
	[RING_TASK_CREATE] = TRACE_TASK_CREATE,
	[RING_TASK_CREATE_END] = TRACE_TASK_CREATE_END,
	[RING_TASK_BEGIN] = TRACE_TASK_BEGIN,
	[RING_TASK_END] = TRACE_TASK_END,
	[RING_UNDEFERRED_BEGIN] = TRACE_UNDEFERRED_BEGIN,
	[RING_UNDEFERRED_END] = TRACE_UNDEFERRED_END,
	[RING_REGION_BEGIN] = TRACE_REGION_BEGIN,
	[RING_REGION_END] = TRACE_REGION_END,
	[RING_TEAM_START] = TRACE_TEAM_START,
	[RING_TEAM_STARTED] = TRACE_TEAM_STARTED,
	[RING_MEMBER_BEGIN] = TRACE_MEMBER_BEGIN,
	[RING_WAIT_BEGIN] = TRACE_WAIT_BEGIN,
	[RING_WAIT_END] = TRACE_WAIT_END,
	[RING_GROUP_BEGIN] = TRACE_GROUP_BEGIN,
	[RING_SINGLE] = TRACE_SINGLE,
	[RING_LOST] = TRACE_LOST,
	[RING_DEPEND] = TRACE_DEPEND,
	[RING_TASK_BOUNDS] = TRACE_TASK_BOUNDS,
	[RING_TASKLOOP_BEGIN] = TRACE_TASKLOOP_BEGIN,
	[RING_TASKLOOP_END] = TRACE_TASKLOOP_END,
	[RING_TASK_FULFILL] = TRACE_TASK_FULFILL,
	[RING_CANCEL] = TRACE_CANCEL,
	[RING_LOOP_BEGIN] = TRACE_LOOP_BEGIN,
	[RING_LOOP_PARAMS] = TRACE_LOOP_PARAMS,
	[RING_CHUNK_NEXT] = TRACE_CHUNK_NEXT,
	[RING_CHUNK_BEGIN] = TRACE_CHUNK_BEGIN,
	[RING_CHUNK_STRIDE] = TRACE_CHUNK_STRIDE,
	[RING_LOOP_END] = TRACE_LOOP_END,
	[RING_SECTIONS_BEGIN] = TRACE_SECTIONS_BEGIN,
	[RING_SECTION_NEXT] = TRACE_SECTION_NEXT,
	[RING_SECTION_BEGIN] = TRACE_SECTION_BEGIN,
	[RING_SECTIONS_END] = TRACE_SECTIONS_END,
	[RING_SINGLE_END] = TRACE_SINGLE_END,
	[RING_LOCK_WAIT] = TRACE_LOCK_WAIT,
	[RING_OFF_CPU] = TRACE_OFF_CPU,
	[RING_ON_CPU] = TRACE_ON_CPU,
	[RING_COUNTERS] = TRACE_COUNTERS,
	[RING_SAMPLE] = TRACE_SAMPLE,
	[RING_SAMPLE_STACK] = TRACE_SAMPLE_STACK,
	[RING_ACCESS] = TRACE_ACCESS,
	[RING_STATIC_SHARE] = TRACE_STATIC_SHARE,
};

static const char *wait_name(uint32_t wait)
{
	switch (wait) {
	case RING_WAIT_TASKWAIT:
	case RING_WAIT_TASKWAIT_DEPEND:
		return "taskwait";
	case RING_WAIT_TASKGROUP:
		return "taskgroup";
	case RING_WAIT_TASKYIELD:
		return "taskyield";
	default:
		return "barrier";
	}
}

static const char *lock_name(uint32_t lock)
{
	switch (lock) {
	case RING_LOCK_CRITICAL:
		return "critical";
	case RING_LOCK_ORDERED:
	case RING_LOCK_DOACROSS:
		return "ordered";
	case RING_LOCK_ATOMIC:
		return "atomic";
	default:
		return "lock";
	}
}

/* Notes a call site, with the compiler's information about it if there is any. */
static void note_call(struct ring_to_trace *to, uint64_t site, uint64_t ident, const char *kind)
{
	struct site *known = site_set__add(to->sites, site, kind, true);

	if (!ident)
		return;
	site_set__add(to->idents, ident, "ident", false);
	if (known && !known->ident)
		known->ident = ident;
}

/* Notes the stack. All addresses except the program's innermost one are return addresses. */
static void note_stack(struct ring_to_trace *to, const struct ring_event *in, struct trace_event *out)
{
	uint32_t first = in->kind == RING_SAMPLE ? 0 : in->arg, kernel = 0;

	if (first == 0 && kernel_symbols__is_kernel(in->key)) {
		out->key = to->kernel_names ? kernel_symbols__number(in->key) : KERNEL_SYMBOLS_UNNAMED;
		kernel = 1;
	}
	if (to->addresses) {
		site_set__add(to->addresses, out->key, "code", first > 0);
		site_set__add(to->addresses, out->frame, "code", first + 1 > kernel);
		site_set__add(to->addresses, out->extra, "code", true);
	}
	to->counts.samples += first == 0;
}

/* Notes the sites of the event and counts it. */
static void interpret(struct ring_to_trace *to, const struct ring_event *in)
{
	struct ring_counts *counts = &to->counts;
	struct site *site;

	switch (in->kind) {
	case RING_TASK_CREATE:
	case RING_UNDEFERRED_BEGIN:
		counts->grains++;
		note_call(to, in->site, in->arg & RING_TASK_BODY_KNOWN ? 0 : in->extra, "task");
		break;
	case RING_TASKLOOP_BEGIN:
		note_call(to, in->site, in->extra, "taskloop");
		break;
	case RING_TASK_BEGIN:
		site_set__add(to->sites, in->site, "task", false);
		break;
	case RING_REGION_BEGIN:
		note_call(to, in->site, in->extra, in->arg & RING_REGION_TEAMS ? "teams" : "parallel");
		site_set__add(to->sites, in->key, "parallel", false);
		break;
	case RING_TEAM_START:
		if (in->arg > counts->largest_team)
			counts->largest_team = in->arg;
		break;
	case RING_MEMBER_BEGIN:
		/* the number tells the size of the team if no other event does */
		if (in->arg >= counts->largest_team && in->arg < UINT32_MAX)
			counts->largest_team = in->arg + 1;
		site_set__add(to->sites, in->site, "parallel", false);
		break;
	case RING_TEAM_STARTED:
		if (in->arg != RING_TEAMS_OVER && in->arg >= counts->largest_team && in->arg < UINT32_MAX)
			counts->largest_team = in->arg + 1;
		break;
	case RING_WAIT_BEGIN:
		note_call(to, in->site, in->extra, wait_name(in->arg));
		break;
	case RING_GROUP_BEGIN:
		note_call(to, in->site, in->extra, "taskgroup");
		break;
	case RING_SINGLE:
		note_call(to, in->site, in->extra, "single");
		break;
	case RING_CANCEL:
		note_call(to, in->site, in->extra, "cancel");
		break;
	case RING_LOOP_BEGIN:
		note_call(to, in->site, 0, in->arg & RING_LOOP_IS_SECTIONS ? "sections" : "loop");
		to->loop_site = in->site;
		to->loop_tid = in->tid;
		break;
	case RING_LOOP_PARAMS:
		note_call(to, to->loop_tid == in->tid ? to->loop_site : 0, in->site, "loop");
		to->loop_site = 0;
		break;
	case RING_CHUNK_BEGIN:
	case RING_SECTION_BEGIN:
		counts->grains++;
		break;
	case RING_SECTIONS_BEGIN:
		note_call(to, in->site, in->extra, "sections");
		break;
	case RING_LOCK_WAIT:
		note_call(to, in->site, 0, lock_name(in->arg));
		break;
	case RING_STATIC_SHARE:
		site = site_set__add(to->sites, in->site, "loop", true);
		if (site)
			site->share = true;
		break;
	case RING_LOST:
		counts->lost_reported += in->arg;
		break;
	default:
		break;
	}
}

/* The kernel is asked for this page together with the pages of the next events. */
static bool find_page(struct ring_to_trace *to, const struct ring_event *events, size_t count,
		      struct trace_event *out)
{
	struct access_at list[ACCESSES_AT_ONCE] = {{out->key, out->time_ns}};
	size_t wanted = 0;

	if (!accesses__knows(to->accesses, list)) {
		for (size_t i = 0; i < count && i < AHEAD && wanted < ACCESSES_AT_ONCE; i++)
			if (events[i].kind == RING_ACCESS && (pid_t)events[i].tgid == to->tgid)
				list[wanted++] = (struct access_at){events[i].key, events[i].time_ns};
		accesses__ask(to->accesses, list, wanted);
	}
	return accesses__find(to->accesses, out);
}

/* The process that took the CPU is recorded only if the thread could have continued. */
static void name_neighbour(struct ring_to_trace *to, const struct ring_event *in, struct trace_event *out)
{
	char command[NEIGHBOUR_COMMAND];
	uint32_t number = 0;

	memcpy(command, &in->key, sizeof(in->key));
	memcpy(command + sizeof(in->key), &in->extra, sizeof(in->extra));
	if (in->arg != RING_OFF_BLOCKED)
		number = neighbours__number(to->neighbours, to->lines, (pid_t)(in->frame >> 32), command);
	out->key = out->extra = out->frame = 0;
	out->arg = (in->arg & TRACE_OFF_REASON) | number << TRACE_OFF_NEIGHBOUR_SHIFT;
}

/* An event may contain the kind of the event that follows. This kind has another number in a trace. */
static void name_event(struct trace_event *out)
{
	uint32_t kind = TRACE_COUNTERS_KIND(out->arg);

	kind = kind < RING_KIND_MAX ? kinds[kind] : 0;
	out->arg = (out->arg & 0xffff) | kind << 16;
}

/* Returns the first error: `error`, or the one of this batch. */
static int write_batch(struct ring_to_trace *to, const struct trace_event *batch, size_t count, int error)
{
	int failed = trace_writer__events(to->writer, batch, count);

	return error ? error : failed;
}

int ring_to_trace__convert(struct ring_to_trace *to, unsigned int cpu, const struct ring_event *events,
			   size_t count)
{
	struct trace_event batch[BATCH];
	struct ring_counts *counts = &to->counts;
	size_t filled = 0;
	int error = 0;

	for (size_t i = 0; i < count; i++) {
		const struct ring_event *in = &events[i];
		struct trace_event *out = &batch[filled];

		if ((pid_t)in->tgid != to->tgid) {
			counts->foreign++;
			continue;
		}
		if (in->kind >= RING_KIND_MAX || !kinds[in->kind] ||
		    (in->kind == RING_ACCESS && !to->accesses)) {
			counts->unknown += in->kind != RING_CALIBRATE && in->kind != RING_BODY;
			continue;
		}
		*out = (struct trace_event){
			.time_ns = in->time_ns,
			.key = in->key,
			.site = in->site,
			.frame = in->frame,
			.extra = in->extra,
			.tid = in->tid,
			.arg = in->arg,
			.cpu = (uint16_t)cpu,
			.kind = kinds[in->kind],
			.flags = in->flags & RING_F_FAULT ? TRACE_F_FAULT : 0,
		};
		if (to->by_itself && in->kind == RING_LOST)
			out->kind = in->flags & RING_F_IN_PROGRAM ? TRACE_LOST : TRACE_LOST_SWITCHES;
		else if (to->by_itself && in->flags & RING_F_IN_PROGRAM)
			out->flags |= TRACE_F_AMONG_WORDS;
		if (in->kind == RING_OFF_CPU)
			name_neighbour(to, in, out);
		if (in->kind == RING_COUNTERS)
			name_event(out);
		if (in->kind == RING_SAMPLE || in->kind == RING_SAMPLE_STACK)
			note_stack(to, in, out);
		interpret(to, in);
		live__saw(to->live, in);
		if (!counts->first_ns || in->time_ns < counts->first_ns)
			counts->first_ns = in->time_ns;
		if (in->time_ns > counts->last_ns)
			counts->last_ns = in->time_ns;
		counts->events += in->kind != RING_COUNTERS && in->kind != RING_SAMPLE_STACK;
		if (in->kind == RING_ACCESS && !find_page(to, in, count - i, out))
			continue;
		if (++filled == BATCH) {
			error = write_batch(to, batch, filled, error);
			filled = 0;
		}
	}
	return filled ? write_batch(to, batch, filled, error) : error;
}

int ring_to_trace__settle(struct ring_to_trace *to, bool now)
{
	struct trace_event batch[BATCH];
	size_t count;
	int error = 0;

	if (!to->accesses)
		return 0;
	while (!error && (count = accesses__take(to->accesses, now, batch, BATCH)))
		error = trace_writer__events(to->writer, batch, count);
	return error;
}

size_t ring_to_trace__same_process(const struct ring_event *events, size_t count, pid_t *tgid)
{
	size_t same = 1;

	*tgid = (pid_t)events[0].tgid;
	while (same < count && events[same].tgid == events[0].tgid)
		same++;
	return same;
}
