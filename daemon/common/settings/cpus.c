// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/common/settings/cpus.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS (CPUS_MAX / 64)

void cpus__add(struct cpus *cpus, unsigned int cpu)
{
	if (cpu < CPUS_MAX)
		cpus->bits[cpu / 64] |= 1ULL << cpu % 64;
}

bool cpus__has(const struct cpus *cpus, unsigned int cpu)
{
	return cpu < CPUS_MAX && (cpus->bits[cpu / 64] >> cpu % 64 & 1);
}

bool cpus__read(const char *list, struct cpus *out)
{
	*out = (struct cpus){0};
	while (isdigit((unsigned char)*list)) {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (*end == '-' && isdigit((unsigned char)end[1]))
			last = strtoul(end + 1, &end, 10);
		for (unsigned long cpu = first; cpu <= last && cpu < CPUS_MAX; cpu++)
			cpus__add(out, (unsigned int)cpu);
		list = end;
		if (*list == ',')
			list++;
	}
	if (*list == '\0' || *list == '\n')
		return true;
	*out = (struct cpus){0};
	return false;
}

const char *cpus__text(const struct cpus *cpus, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned int first = 0; first < CPUS_MAX; first++) {
		unsigned int last = first;
		char part[32];
		int bytes;

		if (!cpus__has(cpus, first))
			continue;
		while (cpus__has(cpus, last + 1))
			last++;
		bytes = last == first ? snprintf(part, sizeof(part), "%s%u", used ? "," : "", first)
				      : snprintf(part, sizeof(part), "%s%u-%u", used ? "," : "", first, last);
		if (used + (size_t)bytes + sizeof("...") > size) {
			snprintf(text + used, size - used, "...");
			return text;
		}
		memcpy(text + used, part, (size_t)bytes + 1);
		used += (size_t)bytes;
		first = last;
	}
	return text;
}

unsigned int cpus__count(const struct cpus *cpus)
{
	unsigned int count = 0;

	for (int i = 0; i < WORDS; i++)
		count += (unsigned int)__builtin_popcountll(cpus->bits[i]);
	return count;
}

struct cpus cpus__both(const struct cpus *a, const struct cpus *b)
{
	struct cpus out;

	for (int i = 0; i < WORDS; i++)
		out.bits[i] = a->bits[i] & b->bits[i];
	return out;
}

struct cpus cpus__either(const struct cpus *a, const struct cpus *b)
{
	struct cpus out;

	for (int i = 0; i < WORDS; i++)
		out.bits[i] = a->bits[i] | b->bits[i];
	return out;
}

struct cpus cpus__without(const struct cpus *a, const struct cpus *b)
{
	struct cpus out;

	for (int i = 0; i < WORDS; i++)
		out.bits[i] = a->bits[i] & ~b->bits[i];
	return out;
}

struct cpus cpus__first(const struct cpus *cpus, unsigned int count)
{
	struct cpus out = {0};

	for (unsigned int cpu = 0; cpu < CPUS_MAX && count; cpu++) {
		if (cpus__has(cpus, cpu)) {
			cpus__add(&out, cpu);
			count--;
		}
	}
	return out;
}
