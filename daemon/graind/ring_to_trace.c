// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/ring_to_trace.h"

#include "analysis/trace_format.h"
#include "bpf/ring_abi.h"

#define BATCH 256

/* What libgomp's GOMP_task is told in its flags argument. */
enum gomp_task_flag {
	GOMP_UNTIED = 1 << 0,
	GOMP_FINAL = 1 << 1,
	GOMP_MERGEABLE = 1 << 2,
	GOMP_DEPEND = 1 << 3,
	GOMP_PRIORITY = 1 << 4,
	GOMP_DETACH = 1 << 13,
};

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
};

static uint32_t task_flags(uint32_t gomp)
{
	return (gomp & GOMP_UNTIED ? TRACE_TASK_UNTIED : 0u) | (gomp & GOMP_FINAL ? TRACE_TASK_FINAL : 0u) |
	       (gomp & GOMP_MERGEABLE ? TRACE_TASK_MERGEABLE : 0u) |
	       (gomp & GOMP_DEPEND ? TRACE_TASK_DEPEND : 0u) |
	       (gomp & GOMP_PRIORITY ? TRACE_TASK_PRIORITY : 0u) |
	       (gomp & GOMP_DETACH ? TRACE_TASK_DETACH : 0u);
}

static uint32_t wait_kind(uint32_t ring)
{
	static const uint8_t waits[] = {
		[RING_WAIT_TASKWAIT] = TRACE_WAIT_TASKWAIT,
		[RING_WAIT_TASKGROUP] = TRACE_WAIT_TASKGROUP,
		[RING_WAIT_BARRIER] = TRACE_WAIT_BARRIER,
		[RING_WAIT_REGION_END] = TRACE_WAIT_REGION_END,
	};

	return ring < sizeof(waits) ? waits[ring] : 0;
}

static const char *wait_name(uint32_t wait)
{
	switch (wait) {
	case TRACE_WAIT_TASKWAIT:
		return "taskwait";
	case TRACE_WAIT_TASKGROUP:
		return "taskgroup";
	default:
		return "barrier";
	}
}

/* arg in the trace's numbers, sites and counters. */
static void interpret(struct ring_to_trace *to, const struct ring_event *in, struct trace_event *out)
{
	struct ring_counts *counts = &to->counts;

	switch (in->kind) {
	case RING_TASK_CREATE:
	case RING_UNDEFERRED_BEGIN:
		counts->grains++;
		out->arg = in->arg & RING_TASK_RAW_GOMP ? task_flags(in->arg) : in->arg;
		site_set__add(to->sites, in->site, "task", true);
		break;
	case RING_TASK_BEGIN:
		site_set__add(to->sites, in->site, "task", false);
		break;
	case RING_REGION_BEGIN:
		site_set__add(to->sites, in->site, "parallel", true);
		break;
	case RING_TEAM_START:
		if (in->arg > counts->largest_team)
			counts->largest_team = in->arg;
		break;
	case RING_MEMBER_BEGIN:
		site_set__add(to->sites, in->site, "parallel", false);
		break;
	case RING_WAIT_BEGIN:
		out->arg = wait_kind(in->arg);
		site_set__add(to->sites, in->site, wait_name(out->arg), true);
		break;
	case RING_WAIT_END:
		out->arg = wait_kind(in->arg);
		break;
	case RING_GROUP_BEGIN:
		site_set__add(to->sites, in->site, "taskgroup", true);
		break;
	case RING_LOST:
		counts->lost_reported += in->arg;
		break;
	default:
		break;
	}
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
		if (in->kind >= RING_KIND_MAX || !kinds[in->kind]) {
			counts->unknown += in->kind != RING_CALIBRATE;
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
		interpret(to, in, out);
		if (!counts->first_ns || in->time_ns < counts->first_ns)
			counts->first_ns = in->time_ns;
		if (in->time_ns > counts->last_ns)
			counts->last_ns = in->time_ns;
		counts->events++;
		if (++filled == BATCH) {
			int failed = trace_writer__events(to->writer, batch, filled);

			error = error ? error : failed;
			filled = 0;
		}
	}
	if (filled) {
		int failed = trace_writer__events(to->writer, batch, filled);

		error = error ? error : failed;
	}
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
