// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/watch.h"
#include "daemon/graind/news.h"
#include "daemon/graind/urgency.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define MAX_QUEUE 65536u
/* Files that a machine's processes map are mostly the same: each is told once to those who watch everything.
 */
#define SEEN_FILES 8192u
#define KNOWN_FILES 64u
#define MAX_MAPS 256u

struct watched {
	pid_t pid;
	bool map_pending;
	struct module_table maps; /* not yet taken */
};

struct watch {
	struct watch *next;
	bool everything;
	int fd;
	struct watched *pids;
	size_t pid_count, pid_room;
	struct watch_event *queue;
	size_t first, count, room; /* the queue's: a ring */
	uint64_t seen[SEEN_FILES];
	struct {
		uint64_t device, inode;
	} known[KNOWN_FILES];
	size_t known_count;
};

static pthread_mutex_t lock; /* made once */
static struct watch *watches;
static struct news *news;
static int end_fd = -1;
static pthread_t reader;

/* ---- telling, all with the lock held ---------------------------------- */

static void push(struct watch *watch, const struct watch_event *event)
{
	if (watch->count == watch->room) {
		size_t room = watch->room ? 2 * watch->room : 64;
		struct watch_event *queue = room > MAX_QUEUE ? NULL : calloc(room, sizeof(*queue));

		if (!queue) {
			/* Who reads so slowly looks at everything anew. */
			watch->count = watch->first = 0;
			if (watch->room)
				watch->queue[watch->count++] = (struct watch_event){.kind = WATCH_MISSED};
			return;
		}
		for (size_t i = 0; i < watch->count; i++)
			queue[i] = watch->queue[(watch->first + i) % watch->room];
		free(watch->queue);
		watch->queue = queue;
		watch->room = room;
		watch->first = 0;
	}
	watch->queue[(watch->first + watch->count++) % watch->room] = *event;
	eventfd_write(watch->fd, 1);
}

static struct watched *find(const struct watch *watch, pid_t pid)
{
	for (size_t i = 0; i < watch->pid_count; i++)
		if (watch->pids[i].pid == pid)
			return &watch->pids[i];
	return NULL;
}

static int add(struct watch *watch, pid_t pid)
{
	if (find(watch, pid))
		return 0;
	if (watch->pid_count == watch->pid_room) {
		size_t room = watch->pid_room ? 2 * watch->pid_room : 16;
		struct watched *pids = reallocarray(watch->pids, room, sizeof(*pids));

		if (!pids)
			return -ENOMEM;
		watch->pids = pids;
		watch->pid_room = room;
	}
	watch->pids[watch->pid_count++] = (struct watched){.pid = pid};
	return 0;
}

/* Fields in front of those that the record's type has. */
struct record_task {
	struct perf_event_header header;
	uint32_t pid, parent, tid, parent_tid;
};
struct record_pid {
	struct perf_event_header header;
	uint32_t pid, tid;
};
struct record_map {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, length, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
	char path[]; /* with its end, and what sample_id_all adds */
};

/* What the parent's own reader has not taken yet is not missing from the child. */
static void copy_maps(struct watch *watch, pid_t from, pid_t to)
{
	const struct watched *parent = find(watch, from);
	struct watched *child = find(watch, to);

	for (size_t i = 0; i < parent->maps.count; i++)
		module_table__add(&child->maps, &parent->maps.modules[i]);
}

static void on_fork(const struct record_task *record, uint64_t time_ns)
{
	const struct watch_event event = {WATCH_FORK, (pid_t)record->pid, (pid_t)record->parent, time_ns};

	if (record->pid == record->parent)
		return;
	for (struct watch *watch = watches; watch; watch = watch->next) {
		if (watch->everything || !find(watch, event.parent) || add(watch, event.pid) != 0)
			continue;
		copy_maps(watch, event.parent, event.pid);
		push(watch, &event);
	}
}

static void on_exit_of(const struct record_task *record, uint64_t time_ns)
{
	const struct watch_event event = {WATCH_LEADER, (pid_t)record->pid, 0, time_ns};

	if (record->pid != record->tid)
		return;
	for (struct watch *watch = watches; watch; watch = watch->next)
		if (!watch->everything && find(watch, event.pid))
			push(watch, &event);
}

static void on_exec(const struct record_pid *record, uint64_t time_ns)
{
	const struct watch_event event = {WATCH_EXEC, (pid_t)record->pid, 0, time_ns};

	for (struct watch *watch = watches; watch; watch = watch->next) {
		struct watched *watched = watch->everything ? NULL : find(watch, event.pid);

		if (watched)
			module_table__free(&watched->maps);
		if (watch->everything || watched)
			push(watch, &event);
	}
}

static bool seen_before(struct watch *watch, const struct record_map *record)
{
	uint64_t key = (record->inode * 0x9e3779b97f4a7c15u) ^ record->generation ^
		       ((uint64_t)record->major << 40) ^ ((uint64_t)record->minor << 52);
	uint64_t *place = &watch->seen[key % SEEN_FILES];
	bool seen = *place == (key | 1);

	*place = key | 1;
	return seen;
}

static bool is_known(const struct watch *watch, const struct record_map *record)
{
	for (size_t i = 0; i < watch->known_count; i++)
		if (watch->known[i].inode == record->inode &&
		    watch->known[i].device == makedev(record->major, record->minor))
			return true;
	return false;
}

/* Those of the dynamic linker and of a program's plugins; not endless ones of a program that only maps. */
static void keep_map(struct watched *watched, const struct record_map *record)
{
	const size_t room = record->header.size - sizeof(*record);
	const struct module module = {
		.start = record->address,
		.end = record->address + record->length,
		.offset = record->offset,
		.device = makedev(record->major, record->minor),
		.inode = record->inode,
		.path = (char *)record->path,
	};

	if (watched->maps.count < MAX_MAPS && memchr(record->path, 0, room) && record->path[0] == '/' &&
	    record->path[1] != '/')
		module_table__add(&watched->maps, &module);
}

static void on_map(const struct record_map *record, uint64_t time_ns)
{
	struct watch_event event = {WATCH_MAP, (pid_t)record->pid, 0, time_ns};

	if (!record->inode)
		return;
	for (struct watch *watch = watches; watch; watch = watch->next) {
		struct watched *watched = watch->everything ? NULL : find(watch, event.pid);
		bool known = is_known(watch, record);

		event.kind = known ? WATCH_KNOWN : WATCH_MAP;
		if (known) {
			push(watch, &event);
			continue;
		}
		if (watched)
			keep_map(watched, record);
		if (watch->everything ? seen_before(watch, record) : !watched || watched->map_pending)
			continue;
		if (watched)
			watched->map_pending = true;
		push(watch, &event);
	}
}

static void on_missed(void)
{
	const struct watch_event event = {.kind = WATCH_MISSED};

	for (struct watch *watch = watches; watch; watch = watch->next)
		push(watch, &event);
}

/* The record is whole and as large as its header says. */
static void dispatch(const struct perf_event_header *header, uint64_t time_ns)
{
	if (header->type == PERF_RECORD_LOST)
		on_missed();
	else if (header->type == PERF_RECORD_FORK && header->size >= sizeof(struct record_task))
		on_fork((const struct record_task *)header, time_ns);
	else if (header->type == PERF_RECORD_EXIT && header->size >= sizeof(struct record_task))
		on_exit_of((const struct record_task *)header, time_ns);
	else if (header->type == PERF_RECORD_COMM && header->misc & PERF_RECORD_MISC_COMM_EXEC &&
		 header->size >= sizeof(struct record_pid))
		on_exec((const struct record_pid *)header, time_ns);
	else if (header->type == PERF_RECORD_MMAP2 && header->size >= sizeof(struct record_map))
		on_map((const struct record_map *)header, time_ns);
}

/* Wakes those who wait in ppoll for their watch; they would otherwise sleep on. */
static void *read_on(void *argument)
{
	struct pollfd *fds = argument;
	size_t count = news__count(news);

	/* A child that is probed late is recorded incompletely. */
	urgency__set(URGENCY_DRAIN);
	for (;;) {
		if (poll(fds, count + 1, -1) < 0 && errno != EINTR)
			break;
		if (fds[count].revents)
			break;
		pthread_mutex_lock(&lock);
		news__take(news, dispatch);
		pthread_mutex_unlock(&lock);
	}
	free(fds);
	return NULL;
}

static int start(void)
{
	struct pollfd *fds;
	size_t count;
	int error = news__open(&news);

	if (error)
		return error;
	count = news__count(news);
	fds = calloc(count + 1, sizeof(*fds));
	end_fd = eventfd(0, EFD_CLOEXEC);
	for (size_t i = 0; fds && i < count; i++)
		fds[i] = (struct pollfd){.fd = news__fd(news, i), .events = POLLIN};
	if (fds)
		fds[count] = (struct pollfd){.fd = end_fd, .events = POLLIN};
	error = fds && end_fd >= 0 ? -pthread_create(&reader, NULL, read_on, fds) : -ENOMEM;
	if (error) {
		free(fds);
		if (end_fd >= 0)
			close(end_fd);
		news__close(news);
		news = NULL;
	}
	return error;
}

/* Starting and ending are rare and exclude each other; the reader needs the other lock. */
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;

static void make_lock(void)
{
	urgency__make_lock(&lock);
}

int watch__open(bool everything, struct watch **out)
{
	static pthread_once_t made = PTHREAD_ONCE_INIT;
	struct watch *watch = calloc(1, sizeof(*watch));
	int error = -ENOMEM;

	pthread_once(&made, make_lock);

	if (!watch)
		return error;
	watch->everything = everything;
	watch->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (watch->fd < 0) {
		free(watch);
		return -errno;
	}
	pthread_mutex_lock(&starting);
	error = watches ? 0 : start();
	if (!error) {
		pthread_mutex_lock(&lock);
		watch->next = watches;
		watches = watch;
		pthread_mutex_unlock(&lock);
		*out = watch;
	}
	pthread_mutex_unlock(&starting);
	if (error) {
		close(watch->fd);
		free(watch);
	}
	return error;
}

void watch__close(struct watch *watch)
{
	bool last;

	if (!watch)
		return;
	pthread_mutex_lock(&starting);
	pthread_mutex_lock(&lock);
	for (struct watch **at = &watches; *at; at = &(*at)->next) {
		if (*at == watch) {
			*at = watch->next;
			break;
		}
	}
	last = !watches;
	pthread_mutex_unlock(&lock);
	if (last) {
		eventfd_write(end_fd, 1);
		pthread_join(reader, NULL);
		close(end_fd);
		end_fd = -1;
		news__close(news);
		news = NULL;
	}
	pthread_mutex_unlock(&starting);
	close(watch->fd);
	for (size_t i = 0; i < watch->pid_count; i++)
		module_table__free(&watch->pids[i].maps);
	free(watch->pids);
	free(watch->queue);
	free(watch);
}

int watch__add(struct watch *watch, pid_t pid)
{
	int error;

	pthread_mutex_lock(&lock);
	error = add(watch, pid);
	pthread_mutex_unlock(&lock);
	return error;
}

void watch__remove(struct watch *watch, pid_t pid)
{
	struct watched *watched;

	pthread_mutex_lock(&lock);
	watched = find(watch, pid);
	if (watched) {
		module_table__free(&watched->maps);
		*watched = watch->pids[--watch->pid_count];
	}
	pthread_mutex_unlock(&lock);
}

void watch__take_maps(struct watch *watch, pid_t pid, struct module_table *into)
{
	struct watched *watched;

	pthread_mutex_lock(&lock);
	watched = find(watch, pid);
	if (watched)
		module_table__move(&watched->maps, into);
	pthread_mutex_unlock(&lock);
}

void watch__know(struct watch *watch, uint64_t device, uint64_t inode)
{
	pthread_mutex_lock(&lock);
	if (watch->known_count < KNOWN_FILES) {
		watch->known[watch->known_count].device = device;
		watch->known[watch->known_count++].inode = inode;
	}
	pthread_mutex_unlock(&lock);
}

int watch__fd(const struct watch *watch)
{
	return watch->fd;
}

void watch__sync(struct watch *watch)
{
	eventfd_t ignored;

	eventfd_read(watch->fd, &ignored);
	pthread_mutex_lock(&lock);
	news__take(news, dispatch);
	pthread_mutex_unlock(&lock);
}

bool watch__next(struct watch *watch, struct watch_event *out)
{
	struct watched *watched;
	bool any;

	pthread_mutex_lock(&lock);
	any = watch->count > 0;
	if (any) {
		*out = watch->queue[watch->first];
		watch->first = (watch->first + 1) % watch->room;
		watch->count--;
		watched = out->kind == WATCH_MAP ? find(watch, out->pid) : NULL;
		if (watched)
			watched->map_pending = false;
	}
	pthread_mutex_unlock(&lock);
	return any;
}
