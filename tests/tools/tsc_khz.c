// SPDX-License-Identifier: BSD-2-Clause
/* tsc_khz: the frequency of this machine's time-stamp counter in kHz; guests under QEMU read that counter. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#ifdef __x86_64__
struct instant {
	uint64_t ticks, ns;
};

/* Of several readings the one that took least: nothing came between its two halves. */
static struct instant read_both(void)
{
	struct instant best = {0};
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < 100; i++) {
		uint64_t before = __builtin_ia32_rdtsc(), after;
		struct timespec t;

		clock_gettime(CLOCK_MONOTONIC_RAW, &t);
		after = __builtin_ia32_rdtsc();
		if (after - before >= shortest)
			continue;
		shortest = after - before;
		best.ticks = before + shortest / 2;
		best.ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	}
	return best;
}

int main(void)
{
	struct instant first = read_both(), last;

	usleep(200000);
	last = read_both();
	printf("%.0f\n", 1e6 * (double)(last.ticks - first.ticks) / (double)(last.ns - first.ns));
	return 0;
}
#else
int main(void)
{
	fprintf(stderr, "tsc_khz: this processor has no time-stamp counter\n");
	return 1;
}
#endif
