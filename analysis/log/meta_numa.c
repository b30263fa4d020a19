// SPDX-License-Identifier: BSD-2-Clause
/* The lines about NUMA nodes and CPUs: which there are, which the process may use, where its memory was. */
#include "analysis/log/meta_parse.h"

#include <stdlib.h>
#include <string.h>

/* Reads the number that a line begins with. `what` names it in an error. */
static int number(struct parse *p, uint32_t *out, const char *what)
{
	struct field f;
	int rc = parse__next(p, &f);

	if (rc < 0)
		return rc;
	if (rc == 0 || f.key_bytes || !field__u32(&f, out)) {
		snprintf(p->why, 128, "%s", what);
		return -EBADMSG;
	}
	return 0;
}

/* @node NUMBER memory=BYTES */
int parse__node(struct parse *p)
{
	struct event_numa *numa = &p->stream->numa;
	struct event_node node = {0};
	const struct parse_into memory = PARSE_INTO("memory", &node.memory);
	int error = number(p, &node.node, "@node needs the number of a node");

	if (!error && node.node >= EVENT_NODES_MAX) {
		snprintf(p->why, 128, "node %u is not below %d", node.node, EVENT_NODES_MAX);
		error = -EBADMSG;
	}
	if (!error)
		error = parse__fields(p, &memory, 1);
	if (!error)
		error = array__grow(&numa->nodes, numa->node_count, sizeof(*numa->nodes), p->budget);
	if (!error)
		numa->nodes[numa->node_count++] = node;
	return error;
}

/* @allowed cpus=LIST nodes=LIST */
int parse__allowed(struct parse *p)
{
	struct event_numa *numa = &p->stream->numa;
	const struct parse_into into[] = {
		PARSE_INTO("cpus", &numa->allowed_cpus),
		PARSE_INTO("nodes", &numa->allowed_nodes),
	};

	return parse__fields(p, into, sizeof(into) / sizeof(into[0]));
}

/* @settings quota=THOUSANDTHS binds=SETTING spins=SETTING spins_cure=SETTING */
int parse__settings(struct parse *p)
{
	struct event_settings *settings = &p->stream->settings;
	const struct parse_into into[] = {
		PARSE_INTO("quota", &settings->quota),
		PARSE_INTO("binds", &settings->binds),
		PARSE_INTO("spins", &settings->spins),
		PARSE_INTO("spins_cure", &settings->spins_cure),
	};

	return parse__fields(p, into, sizeof(into) / sizeof(into[0]));
}

/* @placement first_ns=TIME last_ns=TIME, or why=REASON */
int parse__placement(struct parse *p)
{
	struct event_numa *numa = &p->stream->numa;
	const struct parse_into into[] = {
		PARSE_INTO("first_ns", &numa->first_ns),
		PARSE_INTO("last_ns", &numa->last_ns),
		PARSE_INTO("why", &numa->why),
	};

	return parse__fields(p, into, sizeof(into) / sizeof(into[0]));
}

/* @accesses hz=N event=NAME or why=REASON; lost=COUNT may come later. */
int parse__accesses(struct parse *p)
{
	struct event_numa *numa = &p->stream->numa;
	const struct parse_into into[] = {
		PARSE_INTO("hz", &numa->access_hz),
		PARSE_INTO("event", &numa->access_event),
		PARSE_INTO("why", &numa->access_why),
		PARSE_INTO("lost", &numa->access_lost),
	};

	return parse__fields(p, into, sizeof(into) / sizeof(into[0]));
}

static int area_fields(struct parse *p, struct event_area *area)
{
	const struct parse_into into[] = {
		PARSE_INTO("kind", &area->kind),     PARSE_INTO("name", &area->name),
		PARSE_INTO("module", &area->module), PARSE_INTO("bytes", &area->bytes),
		PARSE_INTO("start", &area->start),
	};
	int error = parse__fields(p, into, sizeof(into) / sizeof(into[0]));

	if (!error && !area->kind)
		area->kind = strdup("unknown");
	if (!error && !area->name)
		area->name = strdup("");
	if (!error && !area->module)
		area->module = strdup("");
	return error || (area->kind && area->name && area->module) ? error : -ENOMEM;
}

/* @area NUMBER kind=KIND name=NAME module=FILE bytes=BYTES start=ADDRESS */
int parse__area(struct parse *p)
{
	struct event_area area = {0};
	uint32_t numbered;
	int error = number(p, &area.number, "@area needs its number");

	if (!error)
		error = area_fields(p, &area);
	if (error) {
		free(area.kind);
		free(area.name);
		free(area.module);
		return error;
	}
	numbered = area.number;
	error = event_stream__add_area(p->stream, &area, p->budget);
	if (error == -EEXIST)
		snprintf(p->why, 128, "area %u is declared twice", numbered);
	else if (error == -EDOM)
		snprintf(p->why, 128, "more than %d areas", EVENT_AREAS_MAX);
	return error == -EEXIST || error == -EDOM ? -EBADMSG : error;
}

/* "0:12,3:4": pages by node */
static int counts(struct parse *p, const struct field *f, uint32_t area, uint8_t look)
{
	struct event_numa *numa = &p->stream->numa;
	char *text, *cursor, *end;
	int error = 0;

	if (field__value_is(f, "none"))
		return 0;
	text = cursor = field__string(f);
	if (!text)
		return -ENOMEM;
	for (bool more = true; more && !error;) {
		struct event_pages pages = {.area = area, .look = look};
		unsigned long long node = strtoull(cursor, &end, 10);

		if (end == cursor || *end != ':' || node >= EVENT_NODES_MAX || cursor[0] == '-')
			error = parse__bad(p, "not pages by node:", f);
		if (error)
			break;
		cursor = end + 1;
		pages.node = (uint32_t)node;
		pages.pages = strtoull(cursor, &end, 10);
		more = *end == ',';
		if (end == cursor || (*end && !more) || cursor[0] == '-' || pages.pages > EVENT_PAGES_MAX)
			error = parse__bad(p, "not pages by node:", f);
		cursor = end + 1;
		if (!error)
			error = array__grow(&numa->pages, numa->page_count, sizeof(*numa->pages), p->budget);
		if (!error)
			numa->pages[numa->page_count++] = pages;
	}
	free(text);
	return error;
}

/* @pages AREA look=first|last step=N absent=N hidden=N nodes=NODE:PAGES,... */
int parse__pages(struct parse *p)
{
	struct event_numa *numa = &p->stream->numa;
	size_t known = numa->page_count;
	struct field f, nodes = {0};
	uint64_t step = 1, absent = 0, hidden = 0;
	uint8_t look = EVENT_LOOK_LAST;
	uint32_t area, index;
	int rc, error = number(p, &area, "@pages needs the number of an area");

	while (!error && (rc = parse__next(p, &f)) != 0) {
		if (rc < 0)
			return rc;
		if (field__is(&f, "look"))
			look = field__value_is(&f, "first") ? EVENT_LOOK_FIRST : EVENT_LOOK_LAST;
		else if (field__is(&f, "step"))
			error = parse__u64(p, &step, &f);
		else if (field__is(&f, "absent"))
			error = parse__u64(p, &absent, &f);
		else if (field__is(&f, "hidden"))
			error = parse__u64(p, &hidden, &f);
		else if (field__is(&f, "nodes"))
			nodes = f;
	}
	if (error)
		return error;
	index = event_stream__find_area(p->stream, area);
	if (index == GRAIN_NONE || !step || step > EVENT_STEP_MAX || absent > EVENT_PAGES_MAX ||
	    hidden > EVENT_PAGES_MAX || numa->areas[index].step[look]) {
		snprintf(p->why, 128,
			 "@pages of area %u, which is not declared, or said twice, or its numbers", area);
		return -EBADMSG;
	}
	if (nodes.value_bytes)
		error = counts(p, &nodes, index, look);
	if (error) {
		numa->page_count = known;
		return error;
	}
	numa->areas[index].step[look] = step;
	numa->areas[index].absent[look] = absent;
	numa->areas[index].hidden[look] = hidden;
	return 0;
}
