/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of a process' memory that its data lies in. */
#ifndef GRAIND_AREAS_H
#define GRAIND_AREAS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum area_kind {
	AREA_DATA,	 /* variables of a program or library */
	AREA_HEAP,	 /* what malloc has in the process' own heap */
	AREA_STACK,	 /* of the first thread; those of others are their own and left out */
	AREA_ALLOCATION, /* one of malloc's that has a mapping of its own */
	AREA_ANONYMOUS,
	AREA_SHARED, /* with other processes */
	AREA_FILE,   /* a file that is mapped to be read */
	AREA_KINDS
};

struct area {
	uint64_t start, end;
	enum area_kind kind;
	char name[64]; /* base name of the file, or what the process calls the mapping; "" */
};

struct area_list {
	struct area *areas; /* by start */
	size_t count;
};

/*
 * Those of 64 KiB and more, at most 256: the largest. Mappings that malloc made side by side, which the
 * kernel shows as one, are told apart by what malloc writes before each block. -ESRCH: it has ended.
 */
int areas__find(pid_t pid, struct area_list *out);
void areas__free(struct area_list *list); /* of its contents */

const char *area_kind__name(enum area_kind kind); /* "data", ... */

#endif
