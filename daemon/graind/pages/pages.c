// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/pages/pages.h"
#include "daemon/graind/base/deadline.h"

#include "daemon/graind/pages/pagemap.h"

#include <errno.h>
#include <numa.h>
#include <numaif.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_PAGES 32768u
#define AT_ONCE 2048u
#define SOON_NS UINT64_C(100000000)
#define LATEST_NS UINT64_C(10000000000)
/*
 * The time between two examinations of a process is this many times the duration of one examination. For
 * all processes together the factor is ALL_SHARE.
 */
#define EACH_SHARE 50
#define ALL_SHARE 20
#define LOW_PRIORITY 10

struct pages {
	struct pages *next; /* next one that is watched */
	struct process process;
	uint64_t device, inode; /* of the process' program; 0: not known */
	uint64_t since_ns, due_ns;
	bool watched, busy; /* busy: the thread is examining it */
	bool ended;
	struct pages_look *first, *last;
	char absent[160];
};

/* The thread exists only while there is something to examine. */
static struct {
	pthread_once_t once;
	pthread_mutex_t lock;	/* guards what follows */
	pthread_cond_t changed; /* made once */
	struct pages *list;
	bool running;
	uint64_t not_before_ns;
} watcher = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static void make_watcher(void)
{
	deadline__make(&watcher.changed);
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

static void free_look(struct pages_look *look)
{
	if (!look)
		return;
	free(look->areas);
	free(look->nodes);
	free(look);
}

static void read_program(pid_t pid, uint64_t *device, uint64_t *inode)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	*device = *inode = 0;
	if (stat(path, &st) == 0) {
		*device = st.st_dev;
		*inode = st.st_ino;
	}
}

/* Whether the process still runs the same program as the same user. */
static bool is_same(const struct pages *pages)
{
	uint64_t device, inode;

	read_program(pages->process.pid, &device, &inode);
	return inode && device == pages->device && inode == pages->inode &&
	       process__is_same_user(&pages->process);
}

static int by_bytes(const void *a, const void *b)
{
	const struct pages_area *x = *(struct pages_area *const *)a, *y = *(struct pages_area *const *)b;
	uint64_t p = x->area.end - x->area.start, q = y->area.end - y->area.start;

	return p < q ? -1 : p > q;
}

/* Small areas are examined completely. Large areas share the rest. */
static int share_out(struct pages_look *look)
{
	struct pages_area **sorted = malloc((look->area_count + 1) * sizeof(struct pages_area *));
	size_t left = MAX_PAGES, first = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < look->area_count; i++)
		sorted[i] = &look->areas[i];
	qsort(sorted, look->area_count, sizeof(struct pages_area *), by_bytes);
	for (size_t i = 0; i < look->area_count; i++) {
		uint64_t pages = (sorted[i]->area.end - sorted[i]->area.start) / PAGES_BYTES;
		uint64_t may = left / (look->area_count - i);

		sorted[i]->step = pages <= may ? 1 : (pages + may - 1) / may;
		sorted[i]->count = (size_t)((pages + sorted[i]->step - 1) / sorted[i]->step);
		left -= sorted[i]->count;
	}
	free(sorted);
	for (size_t i = 0; i < look->area_count; i++) {
		look->areas[i].first = first;
		first += look->areas[i].count;
	}
	look->nodes = malloc((first + 1) * sizeof(*look->nodes));
	return look->nodes ? 0 : -ENOMEM;
}

static bool is_balanced(void)
{
	FILE *file = fopen("/proc/sys/kernel/numa_balancing", "re");
	int mode = 0;

	if (file && fscanf(file, "%d", &mode) != 1)
		mode = 0;
	if (file)
		fclose(file);
	return mode;
}

/* Numbers of nodes must differ from PAGES_ABSENT and PAGES_HIDDEN. */
static uint16_t node_of(int status)
{
	return status >= 0 && status < PAGES_HIDDEN ? (uint16_t)status : PAGES_ABSENT;
}

/* Asks again for a page without a node: the process may have used it since. */
static void ask_again(pid_t pid, void *page, uint16_t *node)
{
	int status = -ENOENT;

	if (numa_move_pages(pid, 1, &page, NULL, &status, 0) == 0 && status >= 0)
		*node = node_of(status);
}

static int ask(pid_t pid, int pagemap, const struct pages_area *area, uint16_t *nodes)
{
	void *at[AT_ONCE];
	int status[AT_ONCE];

	for (size_t done = 0; done < area->count;) {
		size_t count = area->count - done < AT_ONCE ? area->count - done : AT_ONCE;

		for (size_t i = 0; i < count; i++)
			at[i] = (void *)(area->area.start + (done + i) * area->step * PAGES_BYTES);
		if (numa_move_pages(pid, count, at, NULL, status, 0) != 0)
			return -errno;
		for (size_t i = 0; i < count; i++) {
			uint16_t *node = &nodes[area->first + done + i];

			*node = node_of(status[i]);
			if (status[i] != -ENOENT ||
			    !(pagemap__entry(pagemap, (uint64_t)at[i]) & PAGEMAP_PRESENT))
				continue;
			*node = PAGES_HIDDEN;
			ask_again(pid, at[i], node);
		}
		done += count;
	}
	return 0;
}

static int fill(struct pages *pages, struct pages_look *look)
{
	struct area_list list;
	int error = areas__find(pages->process.pid, &list), pagemap;

	if (error)
		return error;
	pagemap = is_balanced() ? pagemap__open(pages->process.pid) : -1;
	look->areas = calloc(list.count + 1, sizeof(*look->areas));
	for (size_t i = 0; look->areas && i < list.count; i++)
		look->areas[i].area = list.areas[i];
	look->area_count = look->areas ? list.count : 0;
	areas__free(&list);
	error = look->areas ? share_out(look) : -ENOMEM;
	for (size_t i = 0; i < look->area_count && !error; i++)
		error = ask(pages->process.pid, pagemap, &look->areas[i], look->nodes);
	if (pagemap >= 0)
		close(pagemap);
	return error;
}

/* If the process must not be examined any more, the last result is kept. */
static void look_at(struct pages *pages)
{
	struct pages_look *look = is_same(pages) ? calloc(1, sizeof(*look)) : NULL;
	int error = look ? fill(pages, look) : -ESRCH;

	if (look)
		look->time_ns = now_ns();
	if (!error && !is_same(pages))
		error = -ESRCH;
	if (!error) {
		if (!pages->first)
			pages->first = look;
		else if (pages->last != pages->first)
			free_look(pages->last);
		pages->last = look;
		return;
	}
	free_look(look);
	pages->ended = true;
	if (error == -ENOSYS || error == -EOPNOTSUPP)
		snprintf(pages->absent, sizeof(pages->absent), "this kernel has no NUMA support");
	else if (error != -ESRCH)
		snprintf(pages->absent, sizeof(pages->absent),
			 "the kernel does not tell where its pages are: %s", strerror(-error));
}

static void plan_next(struct pages *pages, uint64_t took)
{
	uint64_t now = now_ns(), pause = (now - pages->since_ns) / 4;

	pause = pause > EACH_SHARE * took ? pause : EACH_SHARE * took;
	pause = pause < SOON_NS ? SOON_NS : pause > LATEST_NS ? LATEST_NS : pause;
	pages->due_ns = pages->ended ? UINT64_MAX : now + pause;
	watcher.not_before_ns = now + ALL_SHARE * took;
}

static struct pages *most_urgent(void)
{
	struct pages *found = NULL;

	for (struct pages *pages = watcher.list; pages; pages = pages->next)
		if (!found || pages->due_ns < found->due_ns)
			found = pages;
	return found;
}

static void *watch(void *unused)
{
	(void)unused;
	pthread_setname_np(pthread_self(), "graind-pages");
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), LOW_PRIORITY);
	pthread_mutex_lock(&watcher.lock);
	while (watcher.list) {
		struct pages *pages = most_urgent();
		uint64_t due = pages->due_ns, used;

		due = due < watcher.not_before_ns ? watcher.not_before_ns : due;
		if (due > now_ns()) {
			deadline__await(&watcher.changed, &watcher.lock, due);
			continue;
		}
		pages->busy = true;
		pthread_mutex_unlock(&watcher.lock);
		used = read_clock(CLOCK_THREAD_CPUTIME_ID);
		look_at(pages);
		used = read_clock(CLOCK_THREAD_CPUTIME_ID) - used;
		pthread_mutex_lock(&watcher.lock);
		plan_next(pages, used);
		pages->busy = false;
		pthread_cond_broadcast(&watcher.changed);
	}
	watcher.running = false;
	pthread_mutex_unlock(&watcher.lock);
	return NULL;
}

/* Needs the lock. */
static int start_thread(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int error;

	if (watcher.running)
		return 0;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	error = pthread_create(&thread, &attributes, watch, NULL);
	pthread_attr_destroy(&attributes);
	watcher.running = !error;
	return -error;
}

int pages__watch(const struct process *process, struct pages **out)
{
	struct pages *pages = calloc(1, sizeof(*pages));
	int error;

	if (!pages)
		return -ENOMEM;
	pages->process = *process;
	snprintf(pages->absent, sizeof(pages->absent), "it ended before its memory was looked at");
	read_program(process->pid, &pages->device, &pages->inode);
	pages->since_ns = pages->due_ns = now_ns();
	pthread_once(&watcher.once, make_watcher);
	pthread_mutex_lock(&watcher.lock);
	pages->next = watcher.list;
	watcher.list = pages;
	pages->watched = true;
	error = start_thread();
	if (error) {
		watcher.list = pages->next;
		pages->watched = false;
	}
	pthread_cond_broadcast(&watcher.changed);
	pthread_mutex_unlock(&watcher.lock);
	if (error) {
		free(pages);
		return error;
	}
	*out = pages;
	return 0;
}

void pages__stop(struct pages *pages, bool again)
{
	struct pages **at = &watcher.list;

	pthread_mutex_lock(&watcher.lock);
	while (pages->busy)
		pthread_cond_wait(&watcher.changed, &watcher.lock);
	if (pages->watched) {
		while (*at != pages)
			at = &(*at)->next;
		*at = pages->next;
		pages->watched = false;
		pthread_cond_broadcast(&watcher.changed);
	}
	pthread_mutex_unlock(&watcher.lock);
	if (again && !pages->ended)
		look_at(pages);
}

const struct pages_look *pages__first(const struct pages *pages)
{
	return pages->first;
}

const struct pages_look *pages__last(const struct pages *pages)
{
	return pages->last;
}

const char *pages__absent(const struct pages *pages)
{
	return pages->absent;
}

void pages__free(struct pages *pages)
{
	if (!pages)
		return;
	pages__stop(pages, false);
	if (pages->last != pages->first)
		free_look(pages->last);
	free_look(pages->first);
	free(pages);
}
