/* SPDX-License-Identifier: BSD-2-Clause */
/* Of a process: the code in which a thread may hold a lock that loading a library needs. */
#ifndef GRAINCTL_INJECT_CLOSED_H
#define GRAINCTL_INJECT_CLOSED_H

#include "daemon/grainctl/inject_symbols.h"
#include "daemon/grainctl/inject_target.h"

struct inject_mapping {
	uint64_t from, to, offset, inode;
	bool code, writable;
};

/* In the order of addresses. */
struct inject_mappings {
	struct inject_mapping *all;
	size_t count, room;
};

/* These return 0 or a negative errno. */
int inject_mappings__add(struct inject_mappings *mappings, const struct inject_mapping *mapping);
int inject_ranges__add(struct inject_ranges *ranges, uint64_t from, uint64_t to);

/* All code of the object whose first mapping this is: the loader, an allocator that is not libc's. */
int inject_closed__all(struct inject_target *target, const struct inject_mappings *mappings, size_t first);
/* Of the C library, or a part of it, only some functions; it also says where signal handlers return to. */
int inject_closed__c_library(struct inject_target *target, const struct inject_mappings *mappings,
			     size_t first, const struct inject_symbols *symbols);

#endif
