/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists of files that processes were seen to map. They are kept until a caller asks for them. A list grows
 * only at its front, so a new process can share its parent's list at no cost. The caller holds a lock that
 * guards all lists.
 */
#ifndef GRAIND_SEEN_MAPS_H
#define GRAIND_SEEN_MAPS_H

#include "daemon/graind/process/modules.h"

/* The limit for one process. The dynamic linker and a program's plugins map fewer files. */
#define SEEN_MAPS_MAX 256u

struct seen_map; /* NULL: the empty list */

/* Adds one more reference to the list. */
struct seen_map *seen_maps__share(struct seen_map *list);

/*
 * Adds a copy of the mapping to the list, unless the list has it or has SEEN_MAPS_MAX already. Returns how
 * many bytes this took; -ENOSPC: it would take more than `room`; -ENOMEM.
 */
long seen_maps__add(struct seen_map **list, const struct module *mapping, size_t room);

/* Empties the list. Returns how many bytes were freed. */
size_t seen_maps__drop(struct seen_map **list);

/* Adds the list's mappings to a table, in the order in which they were seen. */
void seen_maps__tell(const struct seen_map *list, struct module_table *into);

#endif
