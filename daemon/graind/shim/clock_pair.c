// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/shim/clock_pair.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return now_ns();
#endif
}

/* Reads both clocks at one moment. Of several readings it uses the one that took least time. */
static void read_both(bool use_counter, uint64_t *ticks, uint64_t *ns)
{
	uint64_t least = UINT64_MAX;

	if (!use_counter) {
		*ticks = *ns = now_ns();
		return;
	}
	for (int i = 0; i < 4; i++) {
		uint64_t before = counter(), time = now_ns(), took = counter() - before;

		if (took >= least)
			continue;
		least = took;
		*ticks = before + took / 2;
		*ns = time;
	}
}

void clock_pair__read(struct clock_pair *clock)
{
	uint64_t ticks = clock->ticks, ns = clock->ns;

	while (ticks <= clock->ticks || ns <= clock->ns)
		read_both(clock->use_counter, &ticks, &ns);
	clock->ticks = ticks;
	clock->ns = ns;
}

/* If the kernel's own clock uses the processor's counter, the counter is the same on all CPUs. */
static bool counter_is_sound(void)
{
	static const char *const sound[] = {"tsc\n", "arch_sys_counter\n"};
	char name[64] = "";
	FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
	bool found = false;

	if (!file)
		return false;
	if (fgets(name, sizeof(name), file))
		for (size_t i = 0; i < sizeof(sound) / sizeof(sound[0]); i++)
			found |= !strcmp(name, sound[i]);
	fclose(file);
	return found;
}

void clock_pair__start(struct clock_pair *clock)
{
	const struct timespec while_ticking = {.tv_nsec = 1000000};
	uint64_t ticks = 0, ns = 0;

	*clock = (struct clock_pair){.use_counter = counter_is_sound()};
	read_both(clock->use_counter, &ticks, &ns);
	nanosleep(&while_ticking, NULL);
	read_both(clock->use_counter, &clock->ticks, &clock->ns);
	clock->ticks_per_second = (double)(clock->ticks - ticks) * 1e9 / (double)(clock->ns - ns);
}
