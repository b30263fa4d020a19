/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gaps SECONDS: a thread that does nothing but look at the clock, and prints how
 * much time it was not let: what interrupts take, of the median tenth of a second.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WINDOW_NS 100000000u
#define GAP_NS 500u
#define WINDOWS_MAX 1000

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t gaps_of_window(void)
{
	uint64_t last = now_ns(), end = last + WINDOW_NS, lost = 0;

	while (last < end) {
		uint64_t now = now_ns();

		if (now - last > GAP_NS)
			lost += now - last;
		last = now;
	}
	return lost;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static uint64_t lost[WINDOWS_MAX];
	size_t windows = argc > 1 ? 10 * (size_t)atol(argv[1]) : 10;

	if (windows == 0 || windows > WINDOWS_MAX)
		return 2;
	for (size_t i = 0; i < windows; i++)
		lost[i] = gaps_of_window();
	qsort(lost, windows, sizeof(*lost), compare);
	printf("{\"lost_percent\":%.4f}\n", 100.0 * (double)lost[windows / 2] / WINDOW_NS);
	return 0;
}
