// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/capture/ring_reader.h"

/* Reads one CPU's ring. Returns the number of events, or the callback's non-zero result. */
static long poll_cpu(struct ring_reader *reader, unsigned cpu, capture_events_fn on_events, void *ctx)
{
	struct ring_ctl *ctl = ring_memory__ctl(reader->rings, cpu);
	const struct ring_event *ring = ring_memory__ring(reader->rings, cpu);
	uint64_t head = __atomic_load_n(&ctl->head, __ATOMIC_ACQUIRE), position = ctl->tail;
	uint32_t mask = reader->slots - 1;
	long handed = 0;

	while (position < head) {
		uint64_t first = position;
		uint32_t seq = 0;
		int r;

		while (position < head && (position & mask) >= (first & mask)) {
			seq = __atomic_load_n(&ring[position & mask].seq, __ATOMIC_ACQUIRE);
			if (seq != (uint32_t)position + 1)
				break;
			position++;
		}
		if (position > first) {
			r = on_events(ctx, cpu, &ring[first & mask], position - first);
			if (r)
				return r;
			handed += (long)(position - first);
		} else if ((int32_t)(seq - (uint32_t)position - 1) > 0) {
			__atomic_add_fetch(&reader->overwritten, 1, __ATOMIC_RELAXED);
			position++;
		} else {
			break;
		}
		__atomic_store_n(&ctl->tail, position, __ATOMIC_RELEASE);
	}
	return handed;
}

long ring_reader__poll(struct ring_reader *reader, capture_events_fn on_events, void *ctx)
{
	long total = 0;

	for (unsigned cpu = 0; cpu < reader->cpus; cpu++) {
		long n = poll_cpu(reader, cpu, on_events, ctx);

		if (n < 0)
			return n;
		ring_memory__count(reader->rings, cpu, (uint64_t)n);
		total += n;
	}
	return total;
}

/* The sum over all CPUs. */
static struct ring_losses sum_losses(const struct ring_reader *reader)
{
	struct ring_losses sum = {.loss = {0}};

	for (unsigned cpu = 0; cpu < reader->cpus; cpu++) {
		const struct ring_ctl *ctl = ring_memory__ctl(reader->rings, cpu);

		for (int i = 0; i < RING_LOSS_MAX; i++)
			sum.loss[i] += __atomic_load_n(&ctl->loss[i], __ATOMIC_RELAXED);
	}
	return sum;
}

static struct capture_losses name_losses(const struct ring_reader *reader, const struct ring_losses *losses)
{
	return (struct capture_losses){
		.ring_full = losses->loss[RING_LOSS_FULL],
		.read_faults = losses->loss[RING_LOSS_FAULT],
		.storage = losses->loss[RING_LOSS_STORAGE],
		.overwritten = __atomic_load_n(&reader->overwritten, __ATOMIC_RELAXED),
		.bodies = losses->loss[RING_LOSS_BODY],
		.samples = losses->loss[RING_LOSS_SAMPLE],
		.accesses = losses->loss[RING_LOSS_ACCESS],
	};
}

void ring_reader__losses(const struct ring_reader *reader, struct capture_losses *out)
{
	struct ring_losses sum = sum_losses(reader);

	*out = name_losses(reader, &sum);
}

void ring_reader__losses_of(const struct ring_reader *reader, const struct bpf_map *map, pid_t pid,
			    struct capture_losses *out)
{
	struct ring_losses losses = {.loss = {0}}, all = sum_losses(reader);
	const uint32_t key = (uint32_t)pid;

	if (bpf_map__lookup_elem(map, &key, sizeof(key), &losses, sizeof(losses), 0) != 0)
		losses = (struct ring_losses){.loss = {0}};
	losses.loss[RING_LOSS_FULL] += all.loss[RING_LOSS_NOBODYS];
	losses.loss[RING_LOSS_FAULT] = all.loss[RING_LOSS_FAULT];
	*out = name_losses(reader, &losses);
}
