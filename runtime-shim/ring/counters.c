// SPDX-License-Identifier: BSD-2-Clause
#include "runtime-shim/ring/counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EVENTS SHIM_COUNTERS_MAX
#define PAGE 4096u

struct perf_reading {
	uint64_t value, enabled, running;
};

struct thread_counters {
	int fd[EVENTS];
	volatile struct perf_event_mmap_page *page[EVENTS]; /* NULL: the kernel is asked each time */
	struct perf_reading last[EVENTS];
	uint64_t own_faults;
};

static __thread struct thread_counters *mine __attribute__((tls_model("initial-exec")));

static int open_event(const struct shim_counter_event *event)
{
	struct perf_event_attr attr = {
		.type = event->type,
		.size = sizeof(attr),
		.config = event->config,
		.config1 = event->config1,
		.config2 = event->config2,
		.exclude_user = event->exclude & 1,
		.exclude_kernel = event->exclude >> 1 & 1,
		.exclude_hv = event->exclude >> 2 & 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static bool ask(int fd, struct perf_reading *out)
{
	/* Unlike read(), this is no cancellation point. */
	return syscall(SYS_read, fd, out, sizeof(*out)) == (long)sizeof(*out) && out->running <= out->enabled;
}

/*
 * Reads the counter by the protocol of struct perf_event_mmap_page. False: this is not possible on this
 * processor, or not at the moment.
 */
static bool look(const volatile struct perf_event_mmap_page *page, struct perf_reading *out)
{
#if defined(__x86_64__)
	uint32_t lock, index;
	int64_t count;

	do {
		lock = page->lock;
		__asm__ volatile("" ::: "memory");
		index = page->index;
		if (!page->cap_user_rdpmc || !index || !page->pmc_width || page->pmc_width > 64)
			return false;
		out->enabled = page->time_enabled;
		out->running = page->time_running;
		count = (int64_t)((uint64_t)__builtin_ia32_rdpmc((int)index - 1) << (64 - page->pmc_width)) >>
			(64 - page->pmc_width);
		out->value = (uint64_t)(page->offset + count);
		__asm__ volatile("" ::: "memory");
	} while (page->lock != lock);
	return true;
#else
	(void)page;
	(void)out;
	return false;
#endif
}

/*
 * The page is used only if its value is between two values that the kernel returns, one before and one
 * after.
 */
static void *map_page(int fd)
{
	struct perf_reading before, shown, after;
	void *page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return NULL;
	if (ask(fd, &before) && look(page, &shown) && ask(fd, &after) && before.value <= shown.value &&
	    shown.value <= after.value)
		return page;
	munmap(page, PAGE);
	return NULL;
}

static struct thread_counters *enter(struct shim_header *header)
{
	struct thread_counters *t =
		mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (t == MAP_FAILED)
		return NULL;
	for (uint32_t i = 0; i < EVENTS; i++) {
		const struct shim_counter_event *event = &header->counter_events[i];
		int error = 0;

		t->fd[i] = -1;
		if (i >= header->counter_event_count)
			continue;
		if (event->source == SHIM_COUNTER_PERF) {
			t->fd[i] = open_event(event);
			error = t->fd[i] < 0 ? -t->fd[i] : 0;
			t->page[i] = error ? NULL : map_page(t->fd[i]);
			if (!error)
				ask(t->fd[i], &t->last[i]);
		} else if (event->source > SHIM_COUNTER_SWITCHES) {
			error = ENOSYS;
		}
		if (error && event->counter < SHIM_COUNTERS_MAX)
			__atomic_store_n(&header->counter_errors[event->counter], error, __ATOMIC_RELAXED);
	}
	return t;
}

/* False: the value is unknown, or incomplete since the last reading because others used the counter. */
static bool read_perf(struct thread_counters *t, uint32_t i, uint64_t *value)
{
	struct perf_reading now, last = t->last[i];

	if (t->fd[i] < 0 || !((t->page[i] && look(t->page[i], &now)) || ask(t->fd[i], &now)))
		return false;
	t->last[i] = now;
	*value = now.value;
	/* The page has the times of the thread's last switch. */
	return now.enabled - last.enabled == now.running - last.running;
}

static uint64_t kept(const struct thread_counters *t, const struct rusage *usage, uint32_t source)
{
	switch (source) {
	case SHIM_COUNTER_FAULTS:
		return (uint64_t)usage->ru_minflt + (uint64_t)usage->ru_majflt - t->own_faults;
	case SHIM_COUNTER_MINOR_FAULTS:
		return (uint64_t)usage->ru_minflt - t->own_faults;
	case SHIM_COUNTER_MAJOR_FAULTS:
		return (uint64_t)usage->ru_majflt;
	default:
		return (uint64_t)usage->ru_nvcsw + (uint64_t)usage->ru_nivcsw;
	}
}

static bool read_event(struct thread_counters *t, const struct shim_counter_event *event, uint32_t i,
		       struct rusage *usage, bool *has_usage, uint64_t *value)
{
	struct timespec cpu;

	switch (event->source) {
	case SHIM_COUNTER_PERF:
		return read_perf(t, i, value);
	case SHIM_COUNTER_CLOCK:
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
		*value = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
		return true;
	case SHIM_COUNTER_FAULTS:
	case SHIM_COUNTER_MINOR_FAULTS:
	case SHIM_COUNTER_MAJOR_FAULTS:
	case SHIM_COUNTER_SWITCHES:
		if (!*has_usage)
			getrusage(RUSAGE_THREAD, usage);
		*has_usage = true;
		*value = kept(t, usage, event->source);
		return true;
	default:
		return false;
	}
}

void counters__read(struct shim_header *header, struct shim_readings *out)
{
	bool has_usage = false, has[SHIM_COUNTERS_MAX] = {false};
	struct thread_counters *t = mine;
	struct rusage usage;
	int error = errno;

	*out = (struct shim_readings){.blind = 0};
	if (!t)
		t = mine = enter(header);
	for (uint32_t i = 0; t && i < EVENTS && i < header->counter_event_count; i++) {
		const struct shim_counter_event *event = &header->counter_events[i];
		uint32_t counter = event->counter % SHIM_COUNTERS_MAX;
		uint64_t value = 0;

		if (!read_event(t, event, i, &usage, &has_usage, &value))
			out->blind |= 1u << counter;
		out->value[counter] += event->minus ? 0 - value : value;
		has[counter] = true;
	}
	for (uint32_t i = 0; i < SHIM_COUNTERS_MAX; i++)
		if (!has[i])
			out->blind |= 1u << i;
	errno = error;
}

uint64_t counters__faults(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_minflt : 0;
}

void counters__own_faults(uint64_t since)
{
	if (mine)
		mine->own_faults += counters__faults() - since;
}

void counters__leave(bool is_child)
{
	struct thread_counters *t = mine;

	mine = NULL;
	if (!t)
		return;
	for (uint32_t i = 0; i < EVENTS; i++) {
		/* A fork does not copy these mappings. */
		if (t->page[i] && !is_child)
			munmap((void *)t->page[i], PAGE);
		if (t->fd[i] >= 0)
			close(t->fd[i]);
	}
	munmap(t, sizeof(*t));
}
