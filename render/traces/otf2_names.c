/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/traces/otf2_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "render/base/format.h"
#include "render/base/array.h"

#define MOST_TEXT 1000
#define FIRST_SLOTS 64

struct otf2_team {
	size_t first, count; /* members */
	uint64_t hash;
};

static const struct {
	const char *name;
	OTF2_RegionRole role;
} uses[OTF2_USES] = {
	[OTF2_USE_PROGRAM] = {"initial task", OTF2_REGION_ROLE_CODE},
	[OTF2_USE_FORK] = {"fork and join", OTF2_REGION_ROLE_ARTIFICIAL},
	[OTF2_USE_PARALLEL] = {"parallel", OTF2_REGION_ROLE_PARALLEL},
	[OTF2_USE_TASK] = {"task", OTF2_REGION_ROLE_TASK},
	[OTF2_USE_CHUNK] = {"chunk", OTF2_REGION_ROLE_WORKSHARE},
	[OTF2_USE_SECTION] = {"section", OTF2_REGION_ROLE_SECTION},
	[OTF2_USE_CREATE] = {"create task", OTF2_REGION_ROLE_TASK_CREATE},
	[OTF2_USE_LOOP] = {"loop", OTF2_REGION_ROLE_LOOP},
	[OTF2_USE_SECTIONS] = {"sections", OTF2_REGION_ROLE_SECTIONS},
	[OTF2_USE_BOOKKEEPING] = {"book-keeping", OTF2_REGION_ROLE_ARTIFICIAL},
	[OTF2_USE_JOIN + GRAIN_JOIN_TASKWAIT] = {"taskwait", OTF2_REGION_ROLE_TASK_WAIT},
	[OTF2_USE_JOIN + GRAIN_JOIN_TASKGROUP] = {"taskgroup", OTF2_REGION_ROLE_TASK_WAIT},
	[OTF2_USE_JOIN + GRAIN_JOIN_BARRIER] = {"barrier", OTF2_REGION_ROLE_BARRIER},
	[OTF2_USE_JOIN + GRAIN_JOIN_REGION_END] = {"implicit barrier", OTF2_REGION_ROLE_IMPLICIT_BARRIER},
	[OTF2_USE_JOIN + GRAIN_JOIN_LOOP] = {"barrier of a loop", OTF2_REGION_ROLE_IMPLICIT_BARRIER},
};

int otf2_names__begin(struct otf2_names *names, const struct grain_graph *graph, const uint32_t *tids,
		      size_t thread_count)
{
	size_t regions;

	*names = (struct otf2_names){.graph = graph,
				     .definitions = grain_graph__definition_count(graph),
				     .tids = tids,
				     .thread_count = thread_count,
				     .slot_count = FIRST_SLOTS};
	regions = (names->definitions + 1) * OTF2_USES;
	names->regions = malloc(regions * sizeof(*names->regions));
	names->slots = malloc(FIRST_SLOTS * sizeof(*names->slots));
	if (!names->regions || !names->slots)
		return -ENOMEM;
	memset(names->regions, 0xff, regions * sizeof(*names->regions));
	memset(names->slots, 0xff, FIRST_SLOTS * sizeof(*names->slots));
	return 0;
}

void otf2_names__free(struct otf2_names *names)
{
	free(names->regions);
	free(names->members);
	free(names->teams);
	free(names->slots);
	memset(names, 0, sizeof(*names));
}

uint32_t otf2_names__region(struct otf2_names *names, enum otf2_use use, uint32_t definition)
{
	size_t d = definition == GRAIN_NONE ? names->definitions : definition;
	uint32_t *region = &names->regions[use * (names->definitions + 1) + d];

	if (*region == GRAIN_NONE)
		*region = names->region_count++;
	return *region;
}

/* ---- teams --------------------------------------------------------------- */

static uint64_t hash_of(const uint32_t *threads, size_t count)
{
	uint64_t hash = 14695981039346656037u;

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ threads[i]) * 1099511628211u;
	return hash ^ hash >> 32;
}

static uint32_t *find_slot(struct otf2_names *names, uint64_t hash, const uint32_t *threads, size_t count)
{
	size_t mask = names->slot_count - 1, at = hash & mask;

	for (; names->slots[at] != GRAIN_NONE; at = (at + 1) & mask) {
		const struct otf2_team *t = &names->teams[names->slots[at]];

		if (t->hash == hash && t->count == count &&
		    (!count || !memcmp(names->members + t->first, threads, count * sizeof(*threads))))
			break;
	}
	return &names->slots[at];
}

static bool grow_slots(struct otf2_names *names)
{
	size_t count = names->slot_count * 2;
	uint32_t *slots = malloc(count * sizeof(*slots));

	if (!slots)
		return false;
	memset(slots, 0xff, count * sizeof(*slots));
	for (size_t i = 0; i < names->team_count; i++) {
		size_t at = names->teams[i].hash & (count - 1);

		while (slots[at] != GRAIN_NONE)
			at = (at + 1) & (count - 1);
		slots[at] = (uint32_t)i;
	}
	free(names->slots);
	names->slots = slots;
	names->slot_count = count;
	return true;
}

uint32_t otf2_names__team(struct otf2_names *names, const uint32_t *threads, size_t count)
{
	uint64_t hash = hash_of(threads, count);
	uint32_t *slot = find_slot(names, hash, threads, count);

	if (*slot != GRAIN_NONE)
		return *slot;
	if (!array__reserve((void **)&names->teams, &names->team_capacity, names->team_count,
			    sizeof(*names->teams)) ||
	    !array__reserve((void **)&names->members, &names->member_capacity, names->member_count + count,
			    sizeof(*names->members))) {
		names->failed = true;
		return 0;
	}
	*slot = (uint32_t)names->team_count;
	names->teams[names->team_count++] =
		(struct otf2_team){.first = names->member_count, .count = count, .hash = hash};
	if (count)
		memcpy(names->members + names->member_count, threads, count * sizeof(*threads));
	names->member_count += count;
	if (names->team_count * 2 > names->slot_count && !grow_slots(names))
		names->failed = true;
	return (uint32_t)names->team_count - 1;
}

uint32_t otf2_names__rank(const struct otf2_names *names, uint32_t team, uint32_t thread)
{
	const struct otf2_team *t = &names->teams[team];

	for (size_t i = 0; i < t->count; i++)
		if (names->members[t->first + i] == thread)
			return (uint32_t)i;
	return 0;
}

/* ---- writing ------------------------------------------------------------- */

OTF2_StringRef otf2_names__string(struct otf2_names *names, OTF2_GlobalDefWriter *writer, const char *text)
{
	char clean[4 * MOST_TEXT + 8];

	OTF2_GlobalDefWriter_WriteString(writer, names->strings,
					 format__clean(clean, sizeof(clean), text, MOST_TEXT));
	return names->strings++;
}

static OTF2_ErrorCode write_region(struct otf2_names *names, OTF2_GlobalDefWriter *writer, unsigned use,
				   uint32_t definition, uint32_t number)
{
	struct grain_definition d = {.source = "", .file = "", .function = "", .kind = ""};
	struct format_text name = {0};
	OTF2_StringRef name_ref, function, file, kind;
	OTF2_ErrorCode error;

	if (definition < names->definitions)
		grain_graph__definition(names->graph, definition, &d);
	format__printf(&name, "%s%s%s%s", uses[use].name, d.source[0] ? " " : "", d.source,
		       d.source[0] && d.function[0] ? " " : "");
	format__add(&name, d.function);
	if (name.failed) {
		names->failed = true;
		return OTF2_ERROR_MEM_ALLOC_FAILED;
	}
	name_ref = otf2_names__string(names, writer, name.data);
	function = otf2_names__string(names, writer, d.function);
	file = otf2_names__string(names, writer, d.file[0] ? d.file : d.source);
	kind = otf2_names__string(names, writer, uses[use].name);
	error = OTF2_GlobalDefWriter_WriteRegion(writer, number, name_ref, function, kind, uses[use].role,
						 OTF2_PARADIGM_OPENMP, OTF2_REGION_FLAG_NONE, file, d.line,
						 d.line);
	format__free(&name);
	return error;
}

/* Writes regions in the order of their numbers, which readers expect. */
static OTF2_ErrorCode write_regions(struct otf2_names *names, OTF2_GlobalDefWriter *writer)
{
	size_t per_use = names->definitions + 1;
	size_t *places = calloc(names->region_count + 1, sizeof(*places));
	OTF2_ErrorCode error = OTF2_SUCCESS;

	if (!places) {
		names->failed = true;
		return OTF2_ERROR_MEM_ALLOC_FAILED;
	}
	for (size_t i = 0; i < per_use * OTF2_USES; i++)
		if (names->regions[i] != GRAIN_NONE)
			places[names->regions[i]] = i;
	for (uint32_t i = 0; i < names->region_count && !error; i++)
		error = write_region(names, writer, (unsigned)(places[i] / per_use),
				     (uint32_t)(places[i] % per_use), i);
	free(places);
	return error;
}

static OTF2_ErrorCode write_locations(struct otf2_names *names, OTF2_GlobalDefWriter *writer,
				      const uint64_t *events)
{
	const struct grain_info *info = grain_graph__info(names->graph);
	const char *slash = strrchr(info->exe, '/'), *program = slash && slash[1] ? slash + 1 : info->exe;
	OTF2_StringRef name = otf2_names__string(names, writer, info->host[0] ? info->host : "host");
	OTF2_StringRef node = otf2_names__string(names, writer, "node");
	OTF2_StringRef process = otf2_names__string(names, writer, program[0] ? program : "program");
	OTF2_ErrorCode error = OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, 0, name, node,
									OTF2_UNDEFINED_SYSTEM_TREE_NODE);

	if (!error)
		error = OTF2_GlobalDefWriter_WriteLocationGroup(writer, 0, process,
								OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
								OTF2_UNDEFINED_LOCATION_GROUP);
	for (size_t i = 0; i < names->thread_count && !error; i++) {
		char text[64];

		snprintf(text, sizeof(text), "%s %u", names->tids[i] == info->pid ? "main thread" : "thread",
			 names->tids[i]);
		error = OTF2_GlobalDefWriter_WriteLocation(writer, i, otf2_names__string(names, writer, text),
							   OTF2_LOCATION_TYPE_CPU_THREAD, events[i], 0);
	}
	return error;
}

/* Writes a group of all locations, then a group and a communicator for each team. */
static OTF2_ErrorCode write_teams(struct otf2_names *names, OTF2_GlobalDefWriter *writer)
{
	size_t most = names->thread_count > names->member_count ? names->thread_count : names->member_count;
	uint64_t *members = malloc((most + 1) * sizeof(*members));
	OTF2_StringRef name;
	OTF2_ErrorCode error;

	if (!members) {
		names->failed = true;
		return OTF2_ERROR_MEM_ALLOC_FAILED;
	}
	for (size_t i = 0; i < names->thread_count; i++)
		members[i] = i;
	name = otf2_names__string(names, writer, "");
	error = OTF2_GlobalDefWriter_WriteGroup(writer, 0, name, OTF2_GROUP_TYPE_COMM_LOCATIONS,
						OTF2_PARADIGM_OPENMP, OTF2_GROUP_FLAG_NONE,
						(uint32_t)names->thread_count, members);
	name = otf2_names__string(names, writer, "OpenMP team");
	for (size_t i = 0; i < names->team_count && !error; i++) {
		const struct otf2_team *t = &names->teams[i];

		for (size_t k = 0; k < t->count; k++)
			members[k] = names->members[t->first + k];
		error = OTF2_GlobalDefWriter_WriteGroup(writer, (OTF2_GroupRef)(i + 1), name,
							OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_OPENMP,
							OTF2_GROUP_FLAG_NONE, (uint32_t)t->count, members);
		if (!error)
			error = OTF2_GlobalDefWriter_WriteComm(writer, (OTF2_CommRef)i, name,
							       (OTF2_GroupRef)(i + 1), OTF2_UNDEFINED_COMM,
							       OTF2_COMM_FLAG_NONE);
	}
	free(members);
	return error;
}

OTF2_ErrorCode otf2_names__write(struct otf2_names *names, OTF2_GlobalDefWriter *writer,
				 const uint64_t *events)
{
	const struct grain_info *info = grain_graph__info(names->graph);
	OTF2_StringRef name = otf2_names__string(names, writer, "OpenMP");
	OTF2_ErrorCode error;

	/* The unit of time of MIR profiles is a processor cycle. Its length is not known. */
	error = OTF2_GlobalDefWriter_WriteClockProperties(writer, 1000000000, info->start_ns,
							  info->end_ns - info->start_ns + 1,
							  OTF2_UNDEFINED_TIMESTAMP);
	if (!error)
		error = OTF2_GlobalDefWriter_WriteParadigm(writer, OTF2_PARADIGM_OPENMP, name,
							   OTF2_PARADIGM_CLASS_THREAD_FORK_JOIN);
	if (!error)
		error = write_locations(names, writer, events);
	if (!error)
		error = write_regions(names, writer);
	return error ? error : write_teams(names, writer);
}
