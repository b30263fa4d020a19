/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Definitions of an OTF2 archive that events refer to by dense numbers:
 * regions of the source and teams of threads. They are numbered when they are
 * first asked for and written when all events are.
 */
#ifndef GRAIND_RENDER_OTF2_NAMES_H
#define GRAIND_RENDER_OTF2_NAMES_H

#if !__has_include(<otf2/otf2.h>)
#error "libotf2-trace-dev is not installed; make deps installs what is missing"
#endif
#include <otf2/otf2.h>

#include "analysis/grain.h"

/* What a region is of a definition. */
enum otf2_use {
	OTF2_USE_PROGRAM, /* the initial task */
	OTF2_USE_FORK,	  /* from the start of a region to its end, for who started it */
	OTF2_USE_PARALLEL,
	OTF2_USE_TASK,
	OTF2_USE_CHUNK,
	OTF2_USE_SECTION,
	OTF2_USE_CREATE,
	OTF2_USE_LOOP,
	OTF2_USE_SECTIONS,
	OTF2_USE_BOOKKEEPING,
	OTF2_USE_JOIN, /* one for each kind of join */
	OTF2_USES = OTF2_USE_JOIN + GRAIN_JOIN_LOOP + 1
};

struct otf2_names {
	const struct grain_graph *graph;
	size_t definitions;
	uint32_t *regions; /* by use and definition, the last being "unknown"; the number, GRAIN_NONE: not
			      asked for */
	uint32_t region_count;
	/* Teams: indices of threads in the order of members. */
	uint32_t *members;
	size_t member_count, member_capacity;
	struct otf2_team *teams;
	size_t team_count, team_capacity;
	uint32_t *slots; /* teams by hash of their members, GRAIN_NONE */
	size_t slot_count;
	const uint32_t *tids;
	size_t thread_count;
	uint32_t strings; /* so many are written */
	bool failed;	  /* memory was short */
};

/* tids must outlive it. 0 or -ENOMEM. */
int otf2_names__begin(struct otf2_names *names, const struct grain_graph *graph, const uint32_t *tids,
		      size_t thread_count);
void otf2_names__free(struct otf2_names *names);

uint32_t otf2_names__region(struct otf2_names *names, enum otf2_use use, uint32_t definition);
/* The team of these threads; equal ones are one. */
uint32_t otf2_names__team(struct otf2_names *names, const uint32_t *threads, size_t count);
/* The place of a thread in a team; the first where it is none of it. */
uint32_t otf2_names__rank(const struct otf2_names *names, uint32_t team, uint32_t thread);

/* All definitions of the archive but counters and attributes; strings are numbered from 0 on. */
OTF2_ErrorCode otf2_names__write(struct otf2_names *names, OTF2_GlobalDefWriter *writer,
				 const uint64_t *events);
/* Another string; its number. */
OTF2_StringRef otf2_names__string(struct otf2_names *names, OTF2_GlobalDefWriter *writer, const char *text);

#endif
