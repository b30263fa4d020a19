/* SPDX-License-Identifier: BSD-2-Clause */
/* The areas of a process' memory that contain its data. */
#ifndef GRAIND_AREAS_H
#define GRAIND_AREAS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum area_kind {
	AREA_DATA,	 /* variables of a program or library */
	AREA_HEAP,	 /* the heap that malloc grows with brk(2) */
	AREA_STACK,	 /* of the first thread; each other thread's stack is used only by that thread */
	AREA_ALLOCATION, /* a block for which malloc made a separate mapping */
	AREA_ANONYMOUS,
	AREA_SHARED, /* memory shared with other processes */
	AREA_FILE,   /* a mapped file */
	AREA_KINDS
};

struct area {
	uint64_t start, end;
	enum area_kind kind;
	char name[64]; /* base name of the file, or the name that the process gave the mapping; "": none */
};

struct area_list {
	struct area *areas; /* sorted by start */
	size_t count;
};

/*
 * Finds the process' areas of at least 64 KiB. If there are more than 256, takes the largest. Neighbouring
 * blocks of malloc are one mapping for the kernel. They are separated by the size that malloc writes before
 * each block. The caller frees the result with areas__free(). -ESRCH: the process has ended.
 */
int areas__find(pid_t pid, struct area_list *out);
void areas__free(struct area_list *list); /* frees the contents, not the list */

const char *area_kind__name(enum area_kind kind); /* "data", ... */

#endif
