/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the code of a process in which a thread may hold a lock that loading a library needs. */
#ifndef GRAINCTL_INJECT_UNSAFE_CODE_H
#define GRAINCTL_INJECT_UNSAFE_CODE_H

#include "daemon/grainctl/inject/inject_symbols.h"
#include "daemon/grainctl/inject/inject_target.h"

struct inject_mapping {
	uint64_t from, to, offset, inode;
	bool code, writable;
};

/* Sorted by address. */
struct inject_mappings {
	struct inject_mapping *all;
	size_t count, room;
};

/* These functions return 0 or a negative errno. */
int inject_mappings__add(struct inject_mappings *mappings, const struct inject_mapping *mapping);

/* Marks all code of the object with this first mapping: the loader, or an allocator outside libc. */
int inject_unsafe_code__all(struct inject_target *target, const struct inject_mappings *mappings,
			    size_t first);
/*
 * Marks only some functions of the C library or of a part of it. Also finds the addresses to which signal
 * handlers return.
 */
int inject_unsafe_code__c_library(struct inject_target *target, const struct inject_mappings *mappings,
				  size_t first, const struct inject_symbols *symbols);

#endif
