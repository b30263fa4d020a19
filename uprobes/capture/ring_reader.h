/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a capture's rings; private to uprobes/. */
#ifndef GRAIND_RING_READER_H
#define GRAIND_RING_READER_H

#include "uprobes/capture/capture.h"
#include "uprobes/capture/ring_memory.h"

#include <bpf/libbpf.h>

struct ring_reader {
	struct ring_memory *rings;
	unsigned cpus;
	uint32_t slots; /* of each ring, a power of two */
	uint64_t overwritten;
};

/* See capture__poll(). */
long ring_reader__poll(struct ring_reader *reader, capture_events_fn on_events, void *ctx);

/* The losses of all processes. */
void ring_reader__losses(const struct ring_reader *reader, struct capture_losses *out);
/* See capture__losses_of(); `map` has a struct ring_losses for each process. */
void ring_reader__losses_of(const struct ring_reader *reader, const struct bpf_map *map, pid_t pid,
			    struct capture_losses *out);

#endif
