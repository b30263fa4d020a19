// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/news.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* What starting an interpreter or two tells of each CPU while graind does not run. */
#define DATA_PAGES 32u
#define MAX_RECORD 65536u

struct buffer {
	int fd;
	struct perf_event_mmap_page *page;
	uint64_t tail, head; /* what is still to be told */
	uint64_t time_ns;    /* of the record at `tail`; UINT64_MAX: there is none */
};

struct news {
	struct buffer *buffers;
	size_t count;
	size_t page_size;
	_Alignas(8) char record[MAX_RECORD];
};

static size_t bytes_of(const struct news *news)
{
	return (DATA_PAGES + 1) * news->page_size;
}

void news__close(struct news *news)
{
	if (!news)
		return;
	for (size_t i = 0; i < news->count; i++) {
		munmap(news->buffers[i].page, bytes_of(news));
		close(news->buffers[i].fd);
	}
	free(news->buffers);
	free(news);
}

int news__open(struct news **out)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.task = 1,
		.comm = 1,
		.comm_exec = 1,
		.mmap = 1,
		.mmap2 = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = 1,
	};
	struct news *news = calloc(1, sizeof(*news));
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int error = -ENODEV;

	if (!news)
		return -ENOMEM;
	news->page_size = (size_t)sysconf(_SC_PAGESIZE);
	news->buffers = calloc(cpus > 0 ? (size_t)cpus : 1, sizeof(*news->buffers));
	if (!news->buffers) {
		error = -ENOMEM;
		goto fail;
	}
	for (int cpu = 0; cpu < cpus; cpu++) {
		int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		void *page;

		if (fd < 0 && errno == ENODEV) /* not online */
			continue;
		page = fd < 0 ? MAP_FAILED
			      : mmap(NULL, bytes_of(news), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (page == MAP_FAILED) {
			error = -errno;
			if (fd >= 0)
				close(fd);
			goto fail;
		}
		news->buffers[news->count++] = (struct buffer){.fd = fd, .page = page, .time_ns = UINT64_MAX};
	}
	if (news->count) {
		*out = news;
		return 0;
	}
fail:
	news__close(news);
	return error;
}

size_t news__count(const struct news *news)
{
	return news->count;
}

int news__fd(const struct news *news, size_t index)
{
	return news->buffers[index].fd;
}

/* Copies what may be in two parts. */
static void copy(const struct news *news, const struct buffer *buffer, uint64_t at, void *to, size_t size)
{
	const char *data = (const char *)buffer->page + news->page_size;
	const size_t room = DATA_PAGES * news->page_size, from = at % room;
	const size_t part = room - from < size ? room - from : size;

	memcpy(to, data + from, part);
	memcpy((char *)to + part, data, size - part);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The time is a record's last word (sample_id_all); UINT64_MAX: there is no record. */
static void look_at_next(const struct news *news, struct buffer *buffer)
{
	struct perf_event_header header;

	buffer->time_ns = UINT64_MAX;
	if (buffer->head - buffer->tail < sizeof(header))
		return;
	copy(news, buffer, buffer->tail, &header, sizeof(header));
	if (header.size < sizeof(header) + sizeof(uint64_t) || header.size > buffer->head - buffer->tail)
		return;
	copy(news, buffer, buffer->tail + header.size - sizeof(uint64_t), &buffer->time_ns, sizeof(uint64_t));
}

static void look_at_heads(const struct news *news)
{
	for (size_t i = 0; i < news->count; i++) {
		struct buffer *buffer = &news->buffers[i];

		buffer->head = __atomic_load_n(&buffer->page->data_head, __ATOMIC_ACQUIRE);
		if (buffer->time_ns == UINT64_MAX)
			look_at_next(news, buffer);
	}
}

static struct buffer *earliest(const struct news *news)
{
	struct buffer *first = &news->buffers[0];

	for (size_t i = 1; i < news->count; i++)
		if (news->buffers[i].time_ns < first->time_ns)
			first = &news->buffers[i];
	return first;
}

/*
 * What was written before the heads were read is all there. Of what is written meanwhile one buffer may have
 * been read too early: that is told when all have been read again.
 */
void news__take(struct news *news, void (*tell)(const struct perf_event_header *record, uint64_t time_ns))
{
	const struct perf_event_header *record = (const struct perf_event_header *)news->record;
	struct buffer *first;

	do {
		uint64_t until_ns = now_ns();

		look_at_heads(news);
		while ((first = earliest(news))->time_ns <= until_ns) {
			uint64_t time_ns = first->time_ns;

			copy(news, first, first->tail, news->record, sizeof(*record));
			copy(news, first, first->tail, news->record, record->size);
			first->tail += record->size;
			look_at_next(news, first);
			tell(record, time_ns);
		}
	} while (first->time_ns != UINT64_MAX);
	for (size_t i = 0; i < news->count; i++)
		__atomic_store_n(&news->buffers[i].page->data_tail, news->buffers[i].tail, __ATOMIC_RELEASE);
}
