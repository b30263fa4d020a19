/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The distinct code addresses in the events of one process, at most SITES_MAX. Also used for the addresses
 * of source strings (idents) in these events.
 */
#ifndef GRAIND_SITES_H
#define GRAIND_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SITES_MAX 65536
#define SITE_SLOTS (1u << 17)

struct site {
	uint64_t address;
	const char *kind; /* static: "task", "parallel", ... as in the log's @source */
	bool is_return;	  /* a return address: the site is the call before it */
	bool share;	  /* a call of omp_get_num_threads(): perhaps a static loop whose bounds the compiler
			     computes inline */
	uint64_t ident; /* address of the source string (ident) that the compiler made for this site, 0: none
			 */
	char *text;	/* text of an ident, read while the process ran, or NULL */
};

struct site_set {
	struct site *list; /* in the order of first appearance */
	size_t count;
	uint32_t *slots; /* open addressing; 1 + index into list */
	uint64_t refused;
};

int site_set__init(struct site_set *set);
void site_set__free(struct site_set *set); /* frees the contents, not the set */

struct site *site_set__add_new(struct site_set *set, uint64_t address, const char *kind, bool is_return);

static inline size_t site_set__slot(uint64_t address)
{
	return (size_t)((address * 0x9e3779b97f4a7c15u) >> (64 - 17));
}

/* Adds the address unless it is already there. Returns NULL for address 0 or if there are too many. */
static inline struct site *site_set__add(struct site_set *set, uint64_t address, const char *kind,
					 bool is_return)
{
	uint32_t at = set->slots[site_set__slot(address)];

	if (at && set->list[at - 1].address == address)
		return &set->list[at - 1];
	return address ? site_set__add_new(set, address, kind, is_return) : NULL;
}

#endif
