// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/process/kernel_news.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * Pages per CPU. They have room for the news of starting one or two interpreters while graind does not run.
 */
#define DATA_PAGES 32u
#define MAX_RECORD 65536u
/* The largest number of rounds in one call, even if news arrive fast. */
#define ROUNDS 4u

struct buffer {
	int fd;
	struct perf_event_mmap_page *page;
	uint64_t tail, head; /* the records between these positions were not reported yet */
	uint64_t time_ns;    /* time of the record at `tail`; UINT64_MAX: there is none */
};

struct kernel_news {
	struct buffer *buffers;
	size_t count;
	size_t page_size;
	_Alignas(8) char record[MAX_RECORD];
};

static size_t bytes_of(const struct kernel_news *news)
{
	return (DATA_PAGES + 1) * news->page_size;
}

void kernel_news__close(struct kernel_news *news)
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

int kernel_news__open(struct kernel_news **out)
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
	struct kernel_news *news = calloc(1, sizeof(*news));
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

		if (fd < 0 && errno == ENODEV) /* the CPU is not online */
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
	kernel_news__close(news);
	return error;
}

size_t kernel_news__count(const struct kernel_news *news)
{
	return news->count;
}

int kernel_news__fd(const struct kernel_news *news, size_t index)
{
	return news->buffers[index].fd;
}

/* Copies bytes. They may wrap around the end of the buffer. */
static void copy(const struct kernel_news *news, const struct buffer *buffer, uint64_t at, void *to,
		 size_t size)
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

/*
 * Reads the time of the next record, which is its last word (sample_id_all); UINT64_MAX: there is no record.
 */
static void look_at_next(const struct kernel_news *news, struct buffer *buffer)
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

static void look_at_heads(const struct kernel_news *news)
{
	for (size_t i = 0; i < news->count; i++) {
		struct buffer *buffer = &news->buffers[i];

		buffer->head = __atomic_load_n(&buffer->page->data_head, __ATOMIC_ACQUIRE);
		if (buffer->time_ns == UINT64_MAX)
			look_at_next(news, buffer);
	}
}

static struct buffer *earliest(const struct kernel_news *news)
{
	struct buffer *first = &news->buffers[0];

	for (size_t i = 1; i < news->count; i++)
		if (news->buffers[i].time_ns < first->time_ns)
			first = &news->buffers[i];
	return first;
}

/*
 * Records that were written before the heads were read are complete. For records that are written
 * meanwhile, some buffers may have been read too early. These records are reported in the next round, after
 * all buffers are read again.
 */
bool kernel_news__take(struct kernel_news *news,
		       void (*tell)(const struct perf_event_header *record, uint64_t time_ns))
{
	const struct perf_event_header *record = (const struct perf_event_header *)news->record;
	struct buffer *first;
	unsigned int round = 0;

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
	} while (first->time_ns != UINT64_MAX && ++round < ROUNDS);
	for (size_t i = 0; i < news->count; i++)
		__atomic_store_n(&news->buffers[i].page->data_tail, news->buffers[i].tail, __ATOMIC_RELEASE);
	return first->time_ns != UINT64_MAX;
}
