// SPDX-License-Identifier: BSD-2-Clause
/*
 * Written by hand, and run before zstd: zstd does not see that a column holds differences or few distinct
 * values.
 */
#include "daemon/common/trace/column_packer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The largest number of distinct values for which a column gets a table. */
#define TABLE_MAX 4096
#define SLOTS (2 * TABLE_MAX)
/*
 * The largest number of slots that are tried for a value, so that a process cannot make this slow by its
 * choice of addresses.
 */
#define TRIES 128

struct slot {
	uint64_t value;
	uint32_t place, column; /* column: number of the column for which it was filled */
};

struct column_packer {
	struct slot slots[SLOTS];
	uint64_t table[TABLE_MAX];
	uint16_t places[TRACE_CHUNK_MAX_EVENTS];
	uint32_t column, used;
};

int column_packer__new(struct column_packer **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void column_packer__free(struct column_packer *packer)
{
	free(packer);
}

static inline uint64_t value_at(const void *values, unsigned width, size_t i)
{
	switch (width) {
	case 1:
		return ((const uint8_t *)values)[i];
	case 2:
		return ((const uint16_t *)values)[i];
	case 4:
		return ((const uint32_t *)values)[i];
	default:
		return ((const uint64_t *)values)[i];
	}
}

/* Returns the bytes that each value needs: 0, 1, 2, 4 or 8. */
static unsigned needed(const void *values, unsigned width, size_t count)
{
	uint64_t all = 0;

	for (size_t i = 0; i < count; i++)
		all |= value_at(values, width, i);
	return !all ? 0 : all <= UINT8_MAX ? 1 : all <= UINT16_MAX ? 2 : all <= UINT32_MAX ? 4 : 8;
}

/*
 * Returns the slot of the value, or a free slot for it. NULL: the value has no slot, and none of the tried
 * slots is free.
 */
static struct slot *find_slot(struct column_packer *p, uint64_t value)
{
	size_t at = (size_t)((value * 0x9e3779b97f4a7c15u) >> 40);

	for (size_t i = 0; i < TRIES; i++) {
		struct slot *slot = &p->slots[(at + i) % SLOTS];

		if (slot->column != p->column || slot->value == value)
			return slot;
	}
	return NULL;
}

/* Makes a table of values. False: there are so many values that a table saves nothing. */
static bool make_table(struct column_packer *p, const void *values, unsigned width, size_t count)
{
	size_t most = count / 8 < TABLE_MAX ? count / 8 : TABLE_MAX;
	uint64_t last = 0;
	uint32_t place = 0;

	p->column++;
	p->used = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t value = value_at(values, width, i);

		if (value != last || !p->used) {
			struct slot *slot = find_slot(p, value);

			if (!slot)
				return false;
			if (slot->column != p->column) {
				if (p->used == most)
					return false;
				*slot = (struct slot){value, p->used, p->column};
				p->table[p->used++] = value;
			}
			place = slot->place;
			last = value;
		}
		p->places[i] = (uint16_t)place;
	}
	return true;
}

static char *put_numbers(char *to, const void *values, unsigned width, size_t count, unsigned bytes)
{
	if (bytes == width) {
		memcpy(to, values, count * bytes);
		return to + count * bytes;
	}
	/* The file is little-endian, like x86-64 and aarch64. */
	for (size_t i = 0; i < count; i++) {
		uint64_t value = value_at(values, width, i);

		memcpy(to, &value, bytes);
		to += bytes;
	}
	return to;
}

size_t column_packer__write(struct column_packer *packer, char *to, const void *values, unsigned width,
			    size_t count, bool few)
{
	struct trace_column_head head = {.width = needed(values, width, count)};
	char *at = to + sizeof(head);

	if (few && head.width > 1 && make_table(packer, values, width, count)) {
		unsigned bytes = packer->used <= UINT8_MAX + 1 ? 1 : 2;

		if (count * bytes + packer->used * sizeof(uint64_t) < count * head.width) {
			head = (struct trace_column_head){.width = bytes, .values = packer->used};
			memcpy(at, packer->table, packer->used * sizeof(uint64_t));
			at += packer->used * sizeof(uint64_t);
			values = packer->places;
			width = sizeof(packer->places[0]);
		}
	}
	memcpy(to, &head, sizeof(head));
	if (head.width)
		at = put_numbers(at, values, width, count, head.width);
	return (size_t)(at - to);
}
