/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Definitions of an OTF2 archive that events refer to by dense numbers: regions of the source and teams of
 * threads. A definition gets its number when it is first used. All are written after the events.
 */
#ifndef GRAIND_RENDER_OTF2_NAMES_H
#define GRAIND_RENDER_OTF2_NAMES_H

#if !__has_include(<otf2/otf2.h>)
#error "libotf2-trace-dev is not installed; make deps installs what is missing"
#endif
#include <otf2/otf2.h>

#include "analysis/include/grain.h"

/* Which aspect of a definition an OTF2 region stands for. */
enum otf2_use {
	OTF2_USE_PROGRAM, /* the initial task */
	OTF2_USE_FORK,	  /* from the start of a region to its end, on the thread that started it */
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
	uint32_t *regions; /* number by use and definition; the last definition is "unknown"; GRAIN_NONE: not
			      used yet */
	uint32_t region_count;
	/* Members of teams: indices of threads, in the order of member numbers. */
	uint32_t *members;
	size_t member_count, member_capacity;
	struct otf2_team *teams;
	size_t team_count, team_capacity;
	uint32_t *slots; /* hash table of teams by their members; GRAIN_NONE: free */
	size_t slot_count;
	const uint32_t *tids;
	size_t thread_count;
	uint32_t strings; /* number of strings written so far */
	bool failed;	  /* out of memory */
};

/* Begins. tids must outlive *names. Returns 0 or -ENOMEM. */
int otf2_names__begin(struct otf2_names *names, const struct grain_graph *graph, const uint32_t *tids,
		      size_t thread_count);
void otf2_names__free(struct otf2_names *names);

uint32_t otf2_names__region(struct otf2_names *names, enum otf2_use use, uint32_t definition);
/* Returns the number of the team of these threads. Equal teams have the same number. */
uint32_t otf2_names__team(struct otf2_names *names, const uint32_t *threads, size_t count);
/* Returns the place of a thread in a team. 0 if the thread is not in it. */
uint32_t otf2_names__rank(const struct otf2_names *names, uint32_t team, uint32_t thread);

/* Writes all definitions of the archive except counters and attributes. Strings are numbered from 0. */
OTF2_ErrorCode otf2_names__write(struct otf2_names *names, OTF2_GlobalDefWriter *writer,
				 const uint64_t *events);
/* Writes a string and returns its number. */
OTF2_StringRef otf2_names__string(struct otf2_names *names, OTF2_GlobalDefWriter *writer, const char *text);

#endif
