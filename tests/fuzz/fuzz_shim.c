// SPDX-License-Identifier: BSD-2-Clause
/*
 * graind's side of the rings, with a process that writes what it likes into the
 * memory that they share, between drains: nothing beyond the memory is read, what
 * is handed on fits into a chunk, and the analysis copes with it. The input is a
 * list of writes, each a place and a value of few bytes, and of drains.
 */
#include "daemon/graind/shim/shim_rings.h"
#include "bpf/abi/shim_abi.h"
#include "daemon/common/process/pass_fd.h"
#include "tests/fuzz/fuzz_analysis.h"
#include "tests/fuzz/trace_chunks.h"

#include <sys/socket.h>

enum { FILE_BYTES = 1 << 18, WORDS_KEPT = 4096, DRAINS_MAX = 12 };

static struct {
	const uint8_t *at, *end;
	uint8_t file[FILE_BYTES], raw[FILE_BYTES];
	size_t used;
	uint64_t sequence;
	struct trace_word_site sites[TRACE_WORD_SITES];
	uint32_t site_count;
} f;

void recorder__word_site(struct recorder *recorder, uint32_t number, uint64_t address, const char *kind,
			 bool is_return, bool is_share)
{
	(void)recorder;
	(void)is_return;
	(void)is_share;
	MUST(number > 0 && number < TRACE_WORD_SITES && kind && f.site_count < TRACE_WORD_SITES);
	f.sites[f.site_count++] = (struct trace_word_site){.number = number, .address = address};
}

void recorder__counters(struct recorder *recorder, const struct counter_set *set)
{
	(void)recorder;
	for (size_t i = 0; i < set->counter_count; i++)
		MUST(memchr(set->counters[i].absent, 0, sizeof(set->counters[i].absent)) != NULL);
}

/* Of many words only the first are analysed: a ring has half a million. */
bool recorder__has_room(const struct recorder *recorder)
{
	(void)recorder;
	return true;
}

void recorder__words(struct recorder *recorder, const struct trace_words_head *head, const uint64_t *words)
{
	struct trace_words_head whole = *head;
	uint64_t all = 0;
	size_t size;

	(void)recorder;
	MUST(head->words > 0 && head->words <= TRACE_WORDS_MAX && head->ticks[1] > head->ticks[0] &&
	     head->ns[1] > head->ns[0]);
	for (uint32_t i = 0; i < head->words; i++)
		all ^= words[i];
	__asm__ volatile("" ::"r"(all));
	whole.words = head->words < WORDS_KEPT ? head->words : WORDS_KEPT;
	whole.sites = f.site_count < 64 ? f.site_count : 64;
	size = trace_chunks__lay_out(f.raw, sizeof(f.raw), &whole, f.sites, words);
	f.site_count = 0;
	if (size)
		f.used = trace_chunks__put(f.file, f.used, FILE_BYTES - 4096, TRACE_CHUNK_WORDS,
					   TRACE_CODEC_NONE, f.raw, size, f.sequence++);
}

static uint64_t bytes(size_t count)
{
	uint64_t value = 0;

	for (size_t i = 0; i < count && f.at < f.end; i++)
		value |= (uint64_t)*f.at++ << 8 * i;
	return value;
}

static uint64_t number(void)
{
	static const uint64_t edges[] = {UINT64_MAX, INT64_MAX, UINT32_MAX, 1u << 19, (1u << 19) + 1};
	uint64_t first = bytes(1);

	if (first < 247)
		return first;
	if (first < 251)
		return bytes(UINT64_C(1) << (first - 247));
	return edges[first - 251];
}

static struct shim_header *take_over(int fd)
{
	struct shim_welcome welcome;
	struct shim_header *header;
	int memory;

	MUST(pass_fd__receive(fd, &welcome, sizeof(welcome), &memory) == sizeof(welcome) && memory >= 0);
	header = mmap(NULL, shim__bytes(256, 1u << 19), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
		      memory, 0);
	MUST(header != MAP_FAILED && header->threads == 256 && header->ring_words == 1u << 19);
	close(memory);
	return header;
}

/* Anything of what the process may write to. */
static void scribble(struct shim_header *header)
{
	struct shim_thread *thread =
		(struct shim_thread *)((char *)header + SHIM_THREADS_AT) + (number() & 255);
	uint64_t *words = (uint64_t *)((char *)header + shim__rings_at(256));
	size_t ring = (number() & 255) << 19;

	switch (bytes(1) & 7) {
	case 0:
		((uint32_t *)header)[number() & 31] = (uint32_t)number();
		break;
	case 1:
		((uint64_t *)((char *)header + SHIM_SITES_AT))[number() & (SHIM_SITES - 1)] = number();
		header->site_count++;
		break;
	case 2:
		((uint64_t *)thread)[number() % (sizeof(*thread) / 8)] = number();
		break;
	case 3:
		thread->head += number();
		header->claimed = 256;
		break;
	case 4:
		thread->state = (uint32_t)bytes(1) & 3;
		header->claimed = 256;
		break;
	default:
		for (uint64_t n = 1 + (bytes(1) & 15), at = number(); n; n--, at++)
			words[ring + (at & ((1u << 19) - 1))] =
				SHIM_WORD(bytes(1) & 63, number() & 63, number() & SHIM_ARG_MAX) |
				number() << 32;
		break;
	}
}

static void check_counts(struct shim_rings *rings)
{
	struct shim_losses losses;
	struct inside_counts counts;
	double ns = shim_rings__ns_per_event(rings);

	shim_rings__losses(rings, &losses);
	shim_rings__counts(rings, &counts);
	MUST(ns >= 0 && ns < 1e6 && counts.grains <= INT64_MAX && counts.lost <= INT64_MAX &&
	     counts.threads <= 256);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char text[] = "@capture source=shim late=0\n";
	const struct counter_set counters = {
		.counter_count = 2,
		.event_count = 1,
		.counters = {{.name = "page-faults"}, {.name = "cycles", .absent = "there are none"}},
		.events[0].term.source = RING_COUNTER_FAULTS,
	};
	struct shim_header *header;
	struct shim_rings *rings;
	uint64_t most, all, how;
	int ends[2], drains = 0;

	f.at = data;
	f.end = data + size;
	f.sequence = f.site_count = 0;
	f.used = trace_chunks__begin(f.file, FILE_BYTES, 0);
	f.used = trace_chunks__put(f.file, f.used, FILE_BYTES, TRACE_CHUNK_TEXT, TRACE_CODEC_NONE,
				   (const uint8_t *)text, sizeof(text) - 1, f.sequence++);
	MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
	how = bytes(1);
	MUST(shim_rings__new(getpid(), ends[0],
			     &(struct shim_rings_opts){.lossless = how & 1,
						       .pauses = how & 2,
						       .counters = how & 4 ? &counters : NULL},
			     &rings) == 0);
	header = take_over(ends[1]);
	while (f.at < f.end && drains < DRAINS_MAX) {
		if (bytes(1) & 15) {
			scribble(header);
			continue;
		}
		shim_rings__drain(rings, NULL, true);
		check_counts(rings);
		shim_rings__pace(rings, &most, &all);
		MUST(most <= all);
		if (drains++ & 1)
			shim_rings__pause(rings);
		else
			shim_rings__resume(rings);
	}
	shim_rings__disable(rings);
	shim_rings__drain(rings, NULL, true);
	check_counts(rings);
	shim_rings__free(rings);
	munmap(header, shim__bytes(256, 1u << 19));
	close(ends[1]);
	f.used = trace_chunks__put(f.file, f.used, FILE_BYTES, TRACE_CHUNK_END, TRACE_CODEC_NONE, NULL, 0,
				   f.sequence);
	analysis_fuzz(f.file, f.used);
	return 0;
}
