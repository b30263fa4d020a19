/* SPDX-License-Identifier: BSD-2-Clause */
/* How fast this machine is at what the tests do, in some two seconds: prints one JSON object of nanoseconds,
 * the median of some rounds each. "steal" is the part of the time in which the machine had no CPU although it
 * wanted one. "probe" is null where no uprobe can be set. tests/runner/speed.py compares them with those of a
 * usual machine. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 7, PAGES = 4096, FORKS = 100, HITS = 2000, STEPS = 20 * 1000 * 1000 };

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void arithmetic(void)
{
	volatile uint64_t result;
	uint64_t x = 88172645463325252ULL;

	for (int i = 0; i < STEPS; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	result = x;
	(void)result;
}

static void fresh_pages(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return;
	madvise(p, PAGES * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		p[i * page] = 1;
	munmap(p, PAGES * page);
}

static void forks(void)
{
	char *const arguments[] = {"true", NULL}, *const environment[] = {NULL};

	for (int i = 0; i < FORKS / ROUNDS + 1; i++) {
		pid_t child = fork();

		if (!child) {
			execve("/bin/true", arguments, environment);
			_exit(1);
		}
		if (child > 0)
			waitpid(child, NULL, 0);
	}
}

__attribute__((noinline)) static void probed(void)
{
	__asm__ volatile("nop");
}

static void hits(void)
{
	for (int i = 0; i < HITS; i++)
		probed();
}

/* Where a function of this program is in its file, or 0. */
static uint64_t file_offset(const void *function)
{
	uint64_t address = (uint64_t)(uintptr_t)function, offset = 0;
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long from, to, begin;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &from, &to, &begin) == 3 && address >= from &&
		    address < to)
			offset = address - from + begin;
	}
	if (maps)
		fclose(maps);
	return offset;
}

/* A uprobe at probed() that only counts. A descriptor, or -1. */
static int set_probe(void)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	FILE *type = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	int known = type && fscanf(type, "%u", &attr.type) == 1;

	if (type)
		fclose(type);
	attr.config1 = (uint64_t)(uintptr_t) "/proc/self/exe";
	attr.config2 = file_offset((const void *)(uintptr_t)probed);
	if (!known || !attr.config2)
		return -1;
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_ns(void (*work)(void))
{
	double taken[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		double begin = now_ns();

		work();
		taken[i] = now_ns() - begin;
	}
	qsort(taken, ROUNDS, sizeof(taken[0]), by_size);
	return taken[ROUNDS / 2];
}

/* Seconds that were stolen from all CPUs since the start. */
static double stolen_s(void)
{
	unsigned long long stolen = 0;
	FILE *stat = fopen("/proc/stat", "re");

	if (stat && fscanf(stat, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &stolen) != 1)
		stolen = 0;
	if (stat)
		fclose(stat);
	return (double)stolen / (double)sysconf(_SC_CLK_TCK);
}

int main(void)
{
	double begin = now_ns(), stolen = stolen_s(), probe = 0;
	int event;

	printf("{\"arithmetic\": %.0f", median_ns(arithmetic));
	printf(", \"pages\": %.0f", median_ns(fresh_pages) / PAGES);
	printf(", \"forks\": %.0f", median_ns(forks) / (FORKS / ROUNDS + 1));
	event = set_probe();
	if (event >= 0) {
		probe = median_ns(hits) / HITS;
		close(event);
		printf(", \"probe\": %.0f", probe);
	} else {
		printf(", \"probe\": null");
	}
	stolen = (stolen_s() - stolen) * 1e9 / (now_ns() - begin) / (double)sysconf(_SC_NPROCESSORS_ONLN);
	printf(", \"steal\": %.3f}\n", stolen);
	return ferror(stdout) ? 1 : 0;
}
