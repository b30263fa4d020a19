// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/base/budget.h"
#include "analysis/base/large.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_MAX_BYTES (UINT64_C(8) << 30)

uint64_t memory_bound(const struct grain_load_opts *opts)
{
	uint64_t machine;
	long pages;

	if (opts && opts->max_bytes)
		return opts->max_bytes;
	if (opts && opts->settings && opts->settings->memory_bytes)
		return opts->settings->memory_bytes;
	pages = sysconf(_SC_PHYS_PAGES);
	machine = pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) / 4 * 3 : DEFAULT_MAX_BYTES;
	return machine < DEFAULT_MAX_BYTES ? machine : DEFAULT_MAX_BYTES;
}

void memory_bound__say(uint64_t bytes, char text[160])
{
	snprintf(text, 160,
		 "needs more than %llu %s of memory: analyse a shorter recording, or allow more (grainctl's "
		 "--set memory=SIZE)",
		 (unsigned long long)(bytes >> (bytes >> 20 ? 20 : 10)), bytes >> 20 ? "MiB" : "KiB");
}

void budget__init(struct budget *budget, const struct grain_load_opts *opts)
{
	budget->left = memory_bound(opts);
}

void budget__give(struct budget *budget, uint64_t bytes)
{
	budget->left += bytes;
}

int load_error(struct grain_error *err, int error, const char *format, ...)
{
	va_list args;

	if (err) {
		va_start(args, format);
		vsnprintf(err->text, sizeof(err->text), format, args);
		va_end(args);
		/* A message may quote any file. It becomes one line without control characters. */
		for (char *p = err->text; *p; p++)
			if ((unsigned char)*p < 0x20 || *p == 0x7f)
				*p = '?';
	}
	return error;
}

int load_error__memory(struct grain_error *err, int error, const char *path,
		       const struct grain_load_opts *opts)
{
	char text[160];

	if (error == -E2BIG) {
		memory_bound__say(memory_bound(opts), text);
		return load_error(err, error, "%s: %s", path, text);
	}
	return load_error(err, error, "%s: %s while reading", path, strerror(-error));
}

int array__grow(void *array_pointer, size_t count, size_t element_bytes, struct budget *budget)
{
	void *array, *grown;
	size_t capacity = count < 8 ? 8 : count * 2;

	memcpy(&array, array_pointer, sizeof(array));
	if (count ? count < 8 || (count & (count - 1)) : array != NULL)
		return 0;
	if (budget__take(budget, (capacity - count) * element_bytes))
		return -E2BIG;
	grown = realloc(array, capacity * element_bytes);
	if (!grown)
		return -ENOMEM;
	memcpy(array_pointer, &grown, sizeof(grown));
	return 0;
}

int array__make_room(void *array_pointer, size_t count, size_t *capacity, size_t element_bytes,
		     struct budget *budget)
{
	size_t more = *capacity ? *capacity : 16;
	void *array, *grown;

	if (count < *capacity)
		return 0;
	if (budget__take(budget, more * element_bytes))
		return -E2BIG;
	memcpy(&array, array_pointer, sizeof(array));
	grown = realloc(array, (*capacity + more) * element_bytes);
	if (!grown)
		return -ENOMEM;
	memcpy(array_pointer, &grown, sizeof(grown));
	*capacity += more;
	return 0;
}
