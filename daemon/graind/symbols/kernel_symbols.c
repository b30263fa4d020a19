// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/symbols/kernel_symbols.h"

#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers look like kernel addresses, so that they differ from addresses of the program. */
#define NUMBERS KERNEL_SYMBOLS_UNNAMED

struct function {
	uint64_t start;
	uint32_t name; /* position in `names` */
};

static struct {
	pthread_mutex_t lock;
	size_t holders;
	bool read;
	struct function *functions; /* sorted by start; number n means function n - 1 */
	size_t count, capacity;
	char *names;
	size_t name_bytes, name_capacity;
} kernel = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int by_start(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static bool keep(uint64_t start, const char *name)
{
	size_t bytes = strlen(name) + 1;

	if (kernel.count == kernel.capacity) {
		size_t capacity = kernel.capacity ? kernel.capacity * 2 : 65536;
		struct function *grown = realloc(kernel.functions, capacity * sizeof(*grown));

		if (!grown)
			return false;
		kernel.functions = grown;
		kernel.capacity = capacity;
	}
	if (kernel.name_bytes + bytes > kernel.name_capacity) {
		size_t capacity = kernel.name_capacity ? kernel.name_capacity * 2 : 1u << 20;
		char *grown = capacity <= UINT32_MAX ? realloc(kernel.names, capacity) : NULL;

		if (!grown)
			return false;
		kernel.names = grown;
		kernel.name_capacity = capacity;
	}
	memcpy(kernel.names + kernel.name_bytes, name, bytes);
	kernel.functions[kernel.count++] =
		(struct function){.start = start, .name = (uint32_t)kernel.name_bytes};
	kernel.name_bytes += bytes;
	return true;
}

/*
 * A process without the right to see the kernel's addresses reads 0 for all of them. Then it gets no names.
 */
static void read_names(void)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[768], type, name[512];
	uint64_t start;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 " %c %511s", &start, &type, name) != 3 || !start ||
		    !strchr("tTwW", type))
			continue;
		if (!keep(start, name))
			break;
	}
	if (f)
		fclose(f);
	if (kernel.count)
		qsort(kernel.functions, kernel.count, sizeof(*kernel.functions), by_start);
}

void kernel_symbols__hold(void)
{
	pthread_mutex_lock(&kernel.lock);
	kernel.holders++;
	/* The names are read now, because reading them later would delay the emptying of rings. */
	if (!kernel.read)
		read_names();
	kernel.read = true;
	pthread_mutex_unlock(&kernel.lock);
}

void kernel_symbols__release(void)
{
	bool last;

	pthread_mutex_lock(&kernel.lock);
	last = --kernel.holders == 0;
	if (last) {
		free(kernel.functions);
		free(kernel.names);
		kernel.functions = NULL;
		kernel.names = NULL;
		kernel.count = kernel.capacity = kernel.name_bytes = kernel.name_capacity = 0;
		kernel.read = false;
	}
	pthread_mutex_unlock(&kernel.lock);
	if (last)
		malloc_trim(0);
}

uint64_t kernel_symbols__number(uint64_t address)
{
	size_t low = 0, high = kernel.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (kernel.functions[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return NUMBERS + low;
}

const char *kernel_symbols__name(uint64_t number)
{
	size_t index = (uint32_t)number;

	if (number < NUMBERS || index == 0 || index > kernel.count)
		return "";
	return kernel.names + kernel.functions[index - 1].name;
}
