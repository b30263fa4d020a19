// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/process/watch.h"
#include "daemon/graind/process/kernel_news.h"
#include "daemon/graind/process/seen_maps.h"
#include "daemon/graind/base/urgency.h"

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
/*
 * Most processes of a machine map the same files. So each file is reported only once to watches of
 * everything.
 */
#define SEEN_FILES 8192u
#define KNOWN_FILES 64u
/*
 * The maximum number of processes of a watch. No follower needs more, so further children are children that
 * were not reported yet. The limit also bounds the memory for mappings of one watch, and of all watches of
 * one account.
 */
#define MAX_WATCHED 4096u
#define MAX_MAP_BYTES (4u << 20)
#define MAX_MAP_BYTES_OF_USER (16u << 20)
#define BUCKETS 256u

struct watched {
	struct watched *next; /* next in its hash bucket */
	pid_t pid;
	bool told; /* its WATCH_FORK event was taken */
	bool map_pending;
	unsigned int executed; /* number of its WATCH_EXEC events that were not taken yet */
	bool untold;	       /* it has mapped files that could not be kept */
	struct seen_map *maps; /* its mappings that were not taken yet */
};

struct watch {
	struct watch *next;
	bool everything;
	bool missed; /* WATCH_MISSED is in the queue */
	uid_t account;
	int fd;
	struct watched *pids[BUCKETS];
	size_t pid_count;
	size_t map_bytes;
	uint64_t forgotten; /* number of children that are not watched */
	struct watch_event *queue;
	size_t first, count, room; /* the queue is a ring buffer */
	uint64_t seen[SEEN_FILES];
	struct {
		uint64_t device, inode;
	} known[KNOWN_FILES];
	size_t known_count;
};

static struct {
	pthread_once_t once;
	pthread_mutex_t lock; /* guards the list and its watches; held while news are taken */
	struct watch *list;
	/*
	 * Serialises starting and ending, which are rare. A separate lock is used because the reader needs
	 * the other one.
	 */
	pthread_mutex_t starting;
	/* Valid while there is a watch: */
	struct kernel_news *news;
	int end_fd; /* tells the reader to end; -1: there is no reader */
	pthread_t reader;
} watches = {.once = PTHREAD_ONCE_INIT, .starting = PTHREAD_MUTEX_INITIALIZER, .end_fd = -1};

/* ---- telling, all with the lock held ---------------------------------- */

static void drop_maps(struct watch *watch, struct watched *watched)
{
	watch->map_bytes -= seen_maps__drop(&watched->maps);
}

static struct watched **place_of(struct watch *watch, pid_t pid)
{
	struct watched **at = &watch->pids[(unsigned int)pid % BUCKETS];

	while (*at && (*at)->pid != pid)
		at = &(*at)->next;
	return at;
}

static struct watched *find(struct watch *watch, pid_t pid)
{
	return *place_of(watch, pid);
}

static void take_out(struct watch *watch, struct watched **at)
{
	struct watched *watched = *at;

	*at = watched->next;
	drop_maps(watch, watched);
	free(watched);
	watch->pid_count--;
}

/* Empties the queue. Children that were not reported yet are no longer watched. */
static void forget_queue(struct watch *watch)
{
	watch->count = watch->first = 0;
	watch->missed = false;
	for (size_t i = 0; i < BUCKETS; i++) {
		struct watched **at = &watch->pids[i];

		while (*at) {
			(*at)->map_pending = false;
			(*at)->executed = 0;
			if ((*at)->told) {
				at = &(*at)->next;
				continue;
			}
			take_out(watch, at);
			watch->forgotten++;
		}
	}
}

static void push(struct watch *watch, const struct watch_event *event)
{
	if (watch->count == watch->room) {
		size_t room = watch->room ? 2 * watch->room : 64;
		struct watch_event *queue = room > MAX_QUEUE ? NULL : calloc(room, sizeof(*queue));

		if (!queue) {
			/* A watch that reads this slowly must examine everything again. */
			forget_queue(watch);
			watch->missed = watch->room > 0;
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

/* Watches the process. NULL: this is not possible. */
static struct watched *add(struct watch *watch, pid_t pid)
{
	struct watched **at = place_of(watch, pid);

	if (*at || watch->pid_count == MAX_WATCHED)
		return *at;
	*at = calloc(1, sizeof(**at));
	if (!*at)
		return NULL;
	(*at)->pid = pid;
	watch->pid_count++;
	return *at;
}

/* The fields of a record that come before the fields for its type. */
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
	char path[]; /* ends with NUL; the fields that sample_id_all adds follow */
};

static void on_fork(const struct record_task *record, uint64_t time_ns)
{
	const struct watch_event event = {WATCH_FORK, (pid_t)record->pid, (pid_t)record->parent, time_ns};

	if (record->pid == record->parent)
		return;
	for (struct watch *watch = watches.list; watch; watch = watch->next) {
		const struct watched *parent = watch->everything ? NULL : find(watch, event.parent);
		struct watched *child = parent ? add(watch, event.pid) : NULL;

		if (!child) {
			watch->forgotten += parent != NULL;
			continue;
		}
		/* The child shares the mappings that the parent's watch has not taken yet. */
		drop_maps(watch, child);
		child->maps = seen_maps__share(parent->maps);
		child->untold = parent->untold;
		push(watch, &event);
	}
}

static void on_exit_of(const struct record_task *record, uint64_t time_ns)
{
	const struct watch_event event = {WATCH_LEADER, (pid_t)record->pid, 0, time_ns};

	if (record->pid != record->tid)
		return;
	for (struct watch *watch = watches.list; watch; watch = watch->next)
		if (!watch->everything && find(watch, event.pid))
			push(watch, &event);
}

static void on_exec(const struct record_pid *record, uint64_t time_ns)
{
	const struct watch_event event = {WATCH_EXEC, (pid_t)record->pid, 0, time_ns};

	for (struct watch *watch = watches.list; watch; watch = watch->next) {
		struct watched *watched = watch->everything ? NULL : find(watch, event.pid);

		if (watched) {
			drop_maps(watch, watched);
			watched->untold = false;
			watched->executed++;
		}
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

/* Returns how much memory is left for mappings of the watch's processes, in bytes. */
static size_t map_room(const struct watch *watch)
{
	size_t of_user = 0, room;

	for (const struct watch *other = watches.list; other; other = other->next)
		of_user += other->account == watch->account ? other->map_bytes : 0;
	room = of_user < MAX_MAP_BYTES_OF_USER ? MAX_MAP_BYTES_OF_USER - of_user : 0;
	return room < MAX_MAP_BYTES - watch->map_bytes ? room : MAX_MAP_BYTES - watch->map_bytes;
}

/*
 * A mapping that cannot be kept is reported as WATCH_UNTOLD, so that the caller examines it while it
 * exists.
 */
static void keep_map(struct watch *watch, struct watched *watched, const struct record_map *record)
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
	long took;

	if (!memchr(record->path, 0, room) || record->path[0] != '/' || record->path[1] == '/')
		return;
	took = seen_maps__add(&watched->maps, &module, map_room(watch));
	if (took < 0) {
		drop_maps(watch, watched);
		watched->untold = true;
	} else {
		watch->map_bytes += (size_t)took;
	}
}

static void on_map(const struct record_map *record, uint64_t time_ns)
{
	struct watch_event event = {WATCH_MAP, (pid_t)record->pid, 0, time_ns};

	if (!record->inode)
		return;
	for (struct watch *watch = watches.list; watch; watch = watch->next) {
		struct watched *watched = watch->everything ? NULL : find(watch, event.pid);
		bool known = is_known(watch, record);

		event.kind = known ? WATCH_KNOWN : WATCH_MAP;
		if (known) {
			push(watch, &event);
			continue;
		}
		if (watched)
			keep_map(watch, watched, record);
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

	for (struct watch *watch = watches.list; watch; watch = watch->next) {
		if (!watch->missed)
			push(watch, &event);
		watch->missed = true;
	}
}

/* The record must be complete, with its size in its header. */
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

/* This also wakes threads that wait in ppoll() for their watch. */
static void *read_on(void *argument)
{
	struct pollfd *fds = argument;
	size_t count = kernel_news__count(watches.news);
	bool more;

	pthread_setname_np(pthread_self(), "graind-watch");
	/* If a child is probed late, its recording is incomplete. */
	urgency__set(URGENCY_DRAIN);
	for (;;) {
		if (poll(fds, count + 1, -1) < 0 && errno != EINTR)
			break;
		if (fds[count].revents)
			break;
		do {
			pthread_mutex_lock(&watches.lock);
			more = kernel_news__take(watches.news, dispatch);
			pthread_mutex_unlock(&watches.lock);
		} while (more);
	}
	free(fds);
	return NULL;
}

static int start(void)
{
	struct pollfd *fds;
	size_t count;
	int error = kernel_news__open(&watches.news);

	if (error)
		return error;
	count = kernel_news__count(watches.news);
	fds = calloc(count + 1, sizeof(*fds));
	watches.end_fd = eventfd(0, EFD_CLOEXEC);
	for (size_t i = 0; fds && i < count; i++)
		fds[i] = (struct pollfd){.fd = kernel_news__fd(watches.news, i), .events = POLLIN};
	if (fds)
		fds[count] = (struct pollfd){.fd = watches.end_fd, .events = POLLIN};
	error = fds && watches.end_fd >= 0 ? -pthread_create(&watches.reader, NULL, read_on, fds) : -ENOMEM;
	if (error) {
		free(fds);
		if (watches.end_fd >= 0)
			close(watches.end_fd);
		kernel_news__close(watches.news);
		watches.news = NULL;
	}
	return error;
}

static void make_lock(void)
{
	urgency__make_lock(&watches.lock);
}

int watch__open(bool everything, uid_t account, struct watch **out)
{
	struct watch *watch = calloc(1, sizeof(*watch));
	int error = -ENOMEM;

	pthread_once(&watches.once, make_lock);

	if (!watch)
		return error;
	watch->everything = everything;
	watch->account = account;
	watch->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (watch->fd < 0) {
		free(watch);
		return -errno;
	}
	pthread_mutex_lock(&watches.starting);
	error = watches.list ? 0 : start();
	if (!error) {
		pthread_mutex_lock(&watches.lock);
		watch->next = watches.list;
		watches.list = watch;
		pthread_mutex_unlock(&watches.lock);
		*out = watch;
	}
	pthread_mutex_unlock(&watches.starting);
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
	pthread_mutex_lock(&watches.starting);
	pthread_mutex_lock(&watches.lock);
	for (struct watch **at = &watches.list; *at; at = &(*at)->next) {
		if (*at == watch) {
			*at = watch->next;
			break;
		}
	}
	last = !watches.list;
	pthread_mutex_unlock(&watches.lock);
	if (last) {
		eventfd_write(watches.end_fd, 1);
		pthread_join(watches.reader, NULL);
		close(watches.end_fd);
		watches.end_fd = -1;
		kernel_news__close(watches.news);
		watches.news = NULL;
	}
	pthread_mutex_unlock(&watches.starting);
	close(watch->fd);
	pthread_mutex_lock(&watches.lock);
	for (size_t i = 0; i < BUCKETS; i++)
		while (watch->pids[i])
			take_out(watch, &watch->pids[i]);
	pthread_mutex_unlock(&watches.lock);
	free(watch->queue);
	free(watch);
}

int watch__add(struct watch *watch, pid_t pid)
{
	struct watched *watched;

	pthread_mutex_lock(&watches.lock);
	watched = add(watch, pid);
	if (watched)
		watched->told = true;
	pthread_mutex_unlock(&watches.lock);
	return watched ? 0 : -ENOMEM;
}

void watch__remove(struct watch *watch, pid_t pid)
{
	struct watched **at;

	pthread_mutex_lock(&watches.lock);
	at = place_of(watch, pid);
	if (*at)
		take_out(watch, at);
	pthread_mutex_unlock(&watches.lock);
}

void watch__take_maps(struct watch *watch, pid_t pid, struct module_table *into)
{
	struct seen_map *maps = NULL;
	struct watched *watched;

	pthread_mutex_lock(&watches.lock);
	watched = find(watch, pid);
	if (watched && !watched->executed) {
		maps = watched->maps;
		watched->maps = NULL;
	}
	pthread_mutex_unlock(&watches.lock);
	seen_maps__tell(maps, into);
	pthread_mutex_lock(&watches.lock);
	watch->map_bytes -= seen_maps__drop(&maps);
	pthread_mutex_unlock(&watches.lock);
}

void watch__know(struct watch *watch, uint64_t device, uint64_t inode)
{
	pthread_mutex_lock(&watches.lock);
	if (watch->known_count < KNOWN_FILES) {
		watch->known[watch->known_count].device = device;
		watch->known[watch->known_count++].inode = inode;
	}
	pthread_mutex_unlock(&watches.lock);
}

int watch__fd(const struct watch *watch)
{
	return watch->fd;
}

void watch__sync(struct watch *watch)
{
	eventfd_t ignored;

	eventfd_read(watch->fd, &ignored);
	pthread_mutex_lock(&watches.lock);
	kernel_news__take(watches.news, dispatch);
	pthread_mutex_unlock(&watches.lock);
}

uint64_t watch__forgotten(struct watch *watch)
{
	uint64_t count;

	pthread_mutex_lock(&watches.lock);
	count = watch->forgotten;
	watch->forgotten = 0;
	pthread_mutex_unlock(&watches.lock);
	return count;
}

static void on_told(struct watch *watch, struct watch_event *event)
{
	struct watched *watched = watch->everything ? NULL : find(watch, event->pid);

	if (event->kind == WATCH_MISSED)
		watch->missed = false;
	if (watched && event->kind == WATCH_FORK)
		watched->told = true;
	if (watched && event->kind == WATCH_EXEC)
		watched->executed--;
	if (!watched || event->kind != WATCH_MAP)
		return;
	watched->map_pending = false;
	if (watched->untold)
		event->kind = WATCH_UNTOLD;
	watched->untold = false;
}

bool watch__next(struct watch *watch, struct watch_event *out)
{
	bool any;

	pthread_mutex_lock(&watches.lock);
	any = watch->count > 0;
	if (any) {
		*out = watch->queue[watch->first];
		watch->first = (watch->first + 1) % watch->room;
		watch->count--;
		on_told(watch, out);
	}
	pthread_mutex_unlock(&watches.lock);
	return any;
}
