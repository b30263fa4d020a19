/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Streams that break every rule of event.h but the order in time: no crash,
 * no hang, and what is said of them still adds up.
 */
#include "analysis/event/event_build.h"
#include "analysis/include/grain_tasking.h"
#include "analysis/graph/graph.h"
#include "tests/unit/graph_text.h"

#define STREAMS 3000
#define EVENTS 120

static uint32_t state = 1;

static uint32_t below(uint32_t n)
{
	state = state * 1664525u + 1013904223u;
	return (state >> 8) % n;
}

/* Kinds that make structure, more often than by chance. */
static uint8_t any_kind(void)
{
	static const uint8_t frequent[] = {EVENT_CREATE_BEGIN, EVENT_CREATE_END, EVENT_TASK_BEGIN,
					   EVENT_TASK_END,     EVENT_WAIT_BEGIN, EVENT_WAIT_END,
					   EVENT_TASK_SWITCH,  EVENT_DEPEND,	 EVENT_LOOP_BEGIN,
					   EVENT_CHUNK_BEGIN,  EVENT_CHUNK_END,	 EVENT_TASK_SUSPEND,
					   EVENT_TASK_BOUNDS};

	return below(3) ? frequent[below(sizeof frequent)] : (uint8_t)below(EVENT_KIND_MAX);
}

static struct event_stream *hostile_stream(void)
{
	struct event_stream *s = NULL;
	struct budget budget = {UINT64_MAX};
	uint64_t now = below(2) ? 0 : UINT64_MAX - 1000000;
	uint32_t threads = 1 + below(4), ids = 1 + below(12);

	if (event_stream__new(&s) < 0)
		return NULL;
	s->task_count = s->region_count = s->loop_count = ids;
	if (below(2))
		s->loops = calloc(ids, sizeof *s->loops);
	for (int i = 0; i < EVENTS; i++) {
		struct event *e = event_stream__push(s, &budget);

		if (!e)
			break;
		now += below(3) ? below(50) : 0;
		e->time_ns = now;
		e->tid = below(20) ? 1 + below(threads) : 0;
		e->cpu = (uint16_t)below(65536);
		e->kind = any_kind();
		e->id = below(30) ? below(ids) : GRAIN_NONE;
		e->sub = (uint8_t)below(9);
		if (e->kind == EVENT_CREATE_BEGIN)
			e->value = below(1 << 10);
		else
			e->value = below(10) ? below(4) : UINT64_MAX - below(3);
		e->extra = below(5);
		e->src = below(3) ? below(4) : GRAIN_NONE - below(2);
	}
	return s;
}

static int contexts_wrong(const struct grain_graph *g)
{
	int wrong = 0;
	char text[16];

	for (uint32_t i = 0; i < grain_graph__context_count(g); i++) {
		struct grain_context c;

		grain_graph__context(g, i, &c);
		wrong += c.parent != GRAIN_NONE && c.parent >= i;
		wrong += c.join != GRAIN_NONE && c.join >= grain_graph__join_count(g);
		wrong += grain_graph__context_id(g, i, text, sizeof text) == 0;
		for (uint32_t k = 0; k < c.item_count; k++) {
			struct grain_item item;

			grain_graph__item(g, c.first_item + k, &item);
			wrong += item.end_ns < item.start_ns || item.own_ns > item.end_ns - item.start_ns;
			wrong += item.kind == GRAIN_FORK && item.ref >= grain_graph__context_count(g);
			wrong += item.kind == GRAIN_JOIN && item.ref >= grain_graph__join_count(g);
			wrong += item.kind == GRAIN_REGION && item.ref >= grain_graph__region_count(g);
			wrong += item.kind == GRAIN_BOOKKEEPING && item.ref >= grain_graph__loop_count(g);
		}
	}
	return wrong;
}

static int elements_wrong(const struct grain_graph *g)
{
	int wrong = contexts_wrong(g);
	char text[16];

	for (uint32_t i = 0; i < grain_graph__join_count(g); i++) {
		struct grain_join j;

		grain_graph__join(g, i, &j);
		wrong += grain_graph__join_id(g, i, text, sizeof text) == 0 || j.end_ns < j.start_ns;
	}
	for (uint32_t i = 0; i < grain_graph__region_count(g); i++) {
		struct grain_region region;

		grain_graph__region(g, i, &region);
		wrong += grain_graph__region_id(g, i, text, sizeof text) == 0 ||
			 region.end_ns < region.start_ns;
		wrong += region.end_join != GRAIN_NONE && region.end_join >= grain_graph__join_count(g);
	}
	for (size_t i = 0; i < grain_graph__dependence_count(g); i++) {
		struct grain_dependence d;

		grain_graph__dependence(g, i, &d);
		wrong += d.from >= grain_graph__context_count(g) || d.from == d.to;
		wrong += d.to == GRAIN_NONE ? d.join >= grain_graph__join_count(g)
					    : d.to >= grain_graph__context_count(g);
	}
	for (size_t i = 0; i < grain_graph__scheduling_point_count(g); i++) {
		struct grain_scheduling_point p;

		grain_graph__scheduling_point(g, i, &p);
		wrong += p.executing_ns > p.time_ns || p.management_ns > p.time_ns || p.idle_ns > p.time_ns ||
			 p.nested_ns > p.executing_ns ||
			 p.executing_ns + p.management_ns + p.idle_ns != p.time_ns;
	}
	for (size_t i = 0; i < grain_graph__task_construct_count(g); i++) {
		struct grain_task_construct c;

		grain_graph__task_construct(g, i, &c);
		wrong += c.complete > c.instances || c.switches > c.fragments ||
			 c.management.max > c.task.max || c.max_concurrent > c.instances;
	}
	for (uint32_t i = 0; i < grain_graph__loop_count(g); i++) {
		struct grain_loop l;

		grain_graph__loop(g, i, &l);
		wrong += l.context != GRAIN_NONE && grain_graph__loop_id(g, i, text, sizeof text) == 0;
		wrong += l.end_ns < l.start_ns || (l.chunks && l.context == GRAIN_NONE);
	}
	return wrong;
}

int main(void)
{
	int failed = 0, violations = 0, wrong = 0, heavier = 0, unwritten = 0;
	FILE *null = fopen("/dev/null", "w");

	for (int i = 0; i < STREAMS; i++) {
		struct event_stream *s = hostile_stream();
		struct grain_graph *g = NULL;

		if (!s || grain_graph__build(s, NULL, &g, NULL) < 0) {
			failed++;
			continue;
		}
		violations += grain_graph__truth(g)->conservation_violations > 0;
		if (grain_graph__truth(g)->conservation_violations && violations == 1)
			printf("# %s\n", grain_graph__truth(g)->first_violation);
		heavier += grain_graph__totals(g)->span_ns > grain_graph__totals(g)->work_ns;
		wrong += elements_wrong(g);
		unwritten += grain_graph__write_summary_json(g, 1, null) < 0 ||
			     grain_graph__write_grains_json(g, null) < 0;
		grain_graph__free(g);
	}
	fclose(null);
	CHECK(failed == 0, "hostile: all %d streams give a graph", STREAMS);
	CHECK(violations == 0, "hostile: time is conserved");
	CHECK(heavier == 0, "hostile: work >= span");
	CHECK(wrong == 0, "hostile: indices and times are in range");
	CHECK(unwritten == 0, "hostile: JSON is written");
	if (check_failures)
		printf("# failed %d, violations %d, heavier %d, wrong %d, unwritten %d\n", failed, violations,
		       heavier, wrong, unwritten);
	CHECK_DONE();
}
