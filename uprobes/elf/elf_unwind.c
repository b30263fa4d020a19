// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/elf/elf_unwind.h"

#include <stdlib.h>
#include <string.h>

#define MAX_EXTENTS 1000000

/* Pointer encodings of the System V ABI's exception tables that compilers use for code. */
enum encoding {
	ENCODING_ABSOLUTE = 0x00,
	ENCODING_SDATA4 = 0x0b,
	ENCODING_UDATA4 = 0x03,
	ENCODING_PCREL = 0x10
};

struct cursor {
	const uint8_t *at, *end;
	bool bad;
};

static uint64_t take(struct cursor *c, size_t bytes)
{
	uint64_t value = 0;

	if (c->bad || (size_t)(c->end - c->at) < bytes) {
		c->bad = true;
		return 0;
	}
	memcpy(&value, c->at, bytes);
	c->at += bytes;
	return value;
}

/* Skips both kinds of LEB128: only the end matters. */
static void skip_leb(struct cursor *c)
{
	while (take(c, 1) & 0x80)
		;
}

static uint64_t take_pointer(struct cursor *c, unsigned int encoding)
{
	switch (encoding & 0x0f) {
	case ENCODING_ABSOLUTE:
		return take(c, 8);
	case ENCODING_UDATA4:
		return take(c, 4);
	case ENCODING_SDATA4:
		return (uint64_t)(int64_t)(int32_t)take(c, 4);
	default:
		c->bad = true;
		return 0;
	}
}

/* How addresses are encoded in the descriptions that refer to the common one at `at` (behind its length). */
static bool code_encoding(const uint8_t *table, size_t size, size_t at, unsigned int *out)
{
	struct cursor c = {table + at, table + size, false};
	const char *augmentation;
	size_t length;

	if (take(&c, 4) != 0 || c.bad)
		return false;
	take(&c, 1);
	augmentation = (const char *)c.at;
	length = strnlen(augmentation, (size_t)(c.end - c.at));
	if (length > 8 || length == (size_t)(c.end - c.at))
		return false;
	c.at += length + 1;
	*out = ENCODING_ABSOLUTE;
	if (*augmentation != 'z')
		return !*augmentation;
	for (int i = 0; i < 4; i++) /* alignments, return register, length of the rest */
		skip_leb(&c);
	for (const char *letter = augmentation + 1; *letter && !c.bad; letter++) {
		if (*letter == 'R') {
			*out = (unsigned int)take(&c, 1);
			return !c.bad;
		}
		if (*letter == 'P')
			take_pointer(&c, (unsigned int)take(&c, 1));
		else if (*letter == 'L')
			take(&c, 1);
	}
	return !c.bad;
}

static int by_address(const void *a, const void *b)
{
	const struct elf_extent *ea = a, *eb = b;

	return ea->address < eb->address ? -1 : ea->address > eb->address;
}

static bool add(struct elf_extent **list, size_t *count, size_t *room, struct elf_extent extent)
{
	if (*count == *room) {
		size_t larger = *room ? 2 * *room : 1024;
		struct elf_extent *grown = reallocarray(*list, larger, sizeof(**list));

		if (!grown)
			return false;
		*list = grown;
		*room = larger;
	}
	(*list)[(*count)++] = extent;
	return true;
}

size_t elf_unwind__extents(const uint8_t *table, size_t size, uint64_t address, struct elf_extent **out)
{
	struct elf_extent *list = NULL;
	size_t count = 0, room = 0, known = SIZE_MAX;
	unsigned int encoding = 0;

	for (size_t at = 0; size - at >= 8 && count < MAX_EXTENTS;) {
		uint32_t length, id;
		struct elf_extent extent;
		struct cursor c;
		uint64_t place;

		memcpy(&length, table + at, 4);
		memcpy(&id, table + at + 4, 4);
		if (length == 0 || length < 4 || length > size - at - 4)
			break;
		at += 4;
		c = (struct cursor){table + at + 4, table + at + length, false};
		if (id != 0 && id <= at) {
			if (known != at - id && !code_encoding(table, size, at - id + 4, &encoding))
				break;
			known = at - id;
			place = address + (uint64_t)(c.at - table);
			extent.address = take_pointer(&c, encoding);
			if ((encoding & 0x70) == ENCODING_PCREL)
				extent.address += place;
			extent.size = take_pointer(&c, encoding & 0x0f);
			if (!c.bad && extent.size && !add(&list, &count, &room, extent))
				break;
		}
		at += length;
	}
	if (count)
		qsort(list, count, sizeof(*list), by_address);
	*out = list;
	return count;
}
