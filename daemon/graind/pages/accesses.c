// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/pages/accesses.h"

#include "analysis/trace/trace_format.h"
#include "daemon/common/trace/trace_writer.h"
#include "daemon/graind/pages/pages.h"

#include <errno.h>
#include <numa.h>
#include <numaif.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KNOWN 4096u /* pages; a power of two */
#define KEPT 1024
/* How long an answer is valid: pages may move or be freed. */
#define VALID_NS UINT64_C(20000000)
/* How often to check whether the process has ended or changed its user. */
#define CHECK_NS UINT64_C(200000000)
/* For this long a page may be missing because the sampled access is still causing a page fault. */
#define YOUNG_NS UINT64_C(200000000)
#define ABSENT (TRACE_ACCESS_UNKNOWN + TRACE_ACCESS_ABSENT)
#define UNMAPPED (TRACE_ACCESS_UNKNOWN + TRACE_ACCESS_UNMAPPED)

struct known_page {
	uint64_t page; /* its address, 0: none */
	uint64_t asked_ns;
	uint32_t where; /* as arg of TRACE_ACCESS */
};

struct accesses {
	struct process process;
	uint64_t checked_ns;
	bool other; /* the process has ended or changed its user */
	size_t kept;
	struct trace_event late[KEPT];
	struct known_page known[KNOWN];
};

int accesses__new(const struct process *process, struct accesses **out)
{
	struct accesses *accesses = calloc(1, sizeof(*accesses));

	if (!accesses)
		return -ENOMEM;
	accesses->process = *process;
	*out = accesses;
	return 0;
}

void accesses__free(struct accesses *accesses)
{
	free(accesses);
}

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t page_of(uint64_t address)
{
	return address & ~(uint64_t)(PAGES_BYTES - 1);
}

static struct known_page *slot_of(struct accesses *a, uint64_t page)
{
	return &a->known[(page / PAGES_BYTES * UINT64_C(0x9e3779b97f4a7c15)) >> 52 & (KNOWN - 1)];
}

/* A page that was missing in the last answer may be present for a later access. */
static bool is_known(struct accesses *a, const struct access_at *access, uint64_t now)
{
	const struct known_page *slot = slot_of(a, page_of(access->address));

	return slot->page == page_of(access->address) && now - slot->asked_ns < VALID_NS &&
	       (slot->where < TRACE_ACCESS_UNKNOWN || access->time_ns < slot->asked_ns);
}

static uint32_t where_of(int status)
{
	if (status >= 0)
		return (uint32_t)status;
	return status == -ENOENT   ? ABSENT
	       : status == -EFAULT ? UNMAPPED
				   : TRACE_ACCESS_UNKNOWN + TRACE_ACCESS_REFUSED;
}

/* If a process has ended, the kernel reports that it does not exist or has no memory. */
static uint32_t where_if(int error)
{
	return TRACE_ACCESS_UNKNOWN +
	       (error == ESRCH || error == EINVAL ? TRACE_ACCESS_ENDED : TRACE_ACCESS_REFUSED);
}

static void ask(struct accesses *a, void **pages, size_t count, uint64_t now, uint32_t *where)
{
	int status[ACCESSES_AT_ONCE], error = 0;

	if (now - a->checked_ns >= CHECK_NS) {
		a->checked_ns = now;
		a->other = !process__is_same_user(&a->process);
	}
	if (a->other)
		error = ESRCH;
	else if (numa_move_pages(a->process.pid, count, pages, NULL, status, 0) != 0)
		error = errno;
	for (size_t i = 0; i < count; i++) {
		where[i] = error ? where_if(error) : where_of(status[i]);
		*slot_of(a, (uint64_t)pages[i]) =
			(struct known_page){.page = (uint64_t)pages[i], .asked_ns = now, .where = where[i]};
	}
}

bool accesses__knows(struct accesses *a, const struct access_at *access)
{
	return is_known(a, access, now_ns());
}

void accesses__ask(struct accesses *a, const struct access_at *list, size_t count)
{
	uint64_t now = now_ns();
	uint32_t where[ACCESSES_AT_ONCE];
	void *pages[ACCESSES_AT_ONCE];
	size_t wanted = 0;

	for (size_t i = 0; i < count && wanted < ACCESSES_AT_ONCE; i++) {
		uint64_t page = page_of(list[i].address);

		if (is_known(a, &list[i], now))
			continue;
		/* Asks for each page once, as far as slots allow. */
		*slot_of(a, page) = (struct known_page){.page = page, .asked_ns = now};
		pages[wanted++] = (void *)page;
	}
	if (wanted)
		ask(a, pages, wanted, now, where);
}

bool accesses__find(struct accesses *a, struct trace_event *access)
{
	const struct access_at at = {access->key, access->time_ns};
	uint64_t page = page_of(access->key), now = now_ns();
	const struct known_page *slot = slot_of(a, page);

	/* Another page of the same request may have taken the slot of this page. */
	if (slot->page != page)
		accesses__ask(a, &at, 1);
	access->key = page;
	access->arg = slot->where;
	if ((access->arg != ABSENT && access->arg != UNMAPPED) || now - access->time_ns >= YOUNG_NS ||
	    a->kept == KEPT)
		return true;
	a->late[a->kept++] = *access;
	return false;
}

size_t accesses__take(struct accesses *a, bool all, struct trace_event *out, size_t room)
{
	uint64_t now = now_ns();
	uint32_t where[ACCESSES_AT_ONCE];
	void *pages[ACCESSES_AT_ONCE];
	size_t n = 0;

	while (n < a->kept && n < room && n < ACCESSES_AT_ONCE &&
	       (all || now - a->late[n].time_ns >= YOUNG_NS)) {
		pages[n] = (void *)a->late[n].key;
		n++;
	}
	if (!n)
		return 0;
	ask(a, pages, n, now, where);
	for (size_t i = 0; i < n; i++) {
		out[i] = a->late[i];
		out[i].arg = where[i];
	}
	a->kept -= n;
	memmove(a->late, a->late + n, a->kept * sizeof(*a->late));
	return n;
}
