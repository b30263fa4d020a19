/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/top/top_threads.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads a small file of /proc. Returns its length; 0: it cannot be read. */
static size_t read_file(const char *path, char *out, size_t size)
{
	FILE *file = fopen(path, "re");
	size_t length;

	if (!file)
		return 0;
	length = fread(out, 1, size - 1, file);
	fclose(file);
	out[length] = 0;
	return length;
}

/*
 * Parses a line of stat. The name may contain any characters, so its end is searched from the end of the
 * line.
 */
static bool parse_stat(char *text, char *name, size_t size, char *state, uint64_t *ran_ns, int *cpu)
{
	char *open = strchr(text, '('), *close = strrchr(text, ')');
	uint64_t user, kernel;
	long ticks = sysconf(_SC_CLK_TCK);

	if (!open || !close || close < open || ticks <= 0)
		return false;
	snprintf(name, size, "%.*s", (int)(close - open - 1), open + 1);
	if (sscanf(close + 1,
		   " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64 " %" SCNu64
		   " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		   "%*s %*s %*s %*s %*s %d",
		   state, &user, &kernel, cpu) != 4)
		return false;
	*ran_ns = (user + kernel) * (1000000000u / (uint64_t)ticks);
	return true;
}

uint64_t top_threads__process_ns(int64_t pid)
{
	char path[64], text[1024], name[64], state;
	uint64_t ran_ns;
	int cpu;

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/stat", pid);
	if (pid <= 0 || !read_file(path, text, sizeof(text)) ||
	    !parse_stat(text, name, sizeof(name), &state, &ran_ns, &cpu))
		return 0;
	return ran_ns;
}

static bool read_thread(int64_t pid, int tid, struct top_thread *out)
{
	char path[96], text[4096], *found;

	*out = (struct top_thread){.tid = tid,
				   .cpu_percent = NAN,
				   .wait_percent = NAN,
				   .preemptions_per_s = NAN};
	snprintf(path, sizeof(path), "/proc/%" PRId64 "/task/%d/stat", pid, tid);
	if (!read_file(path, text, sizeof(text)) ||
	    !parse_stat(text, out->name, sizeof(out->name), &out->state, &out->ran_ns, &out->cpu))
		return false;
	/* This file has nanoseconds, but not every kernel has the file. */
	snprintf(path, sizeof(path), "/proc/%" PRId64 "/task/%d/schedstat", pid, tid);
	if (read_file(path, text, sizeof(text)))
		sscanf(text, "%" SCNu64 " %" SCNu64, &out->ran_ns, &out->waited_ns);
	snprintf(path, sizeof(path), "/proc/%" PRId64 "/task/%d/status", pid, tid);
	if (read_file(path, text, sizeof(text)) && (found = strstr(text, "\nnonvoluntary_ctxt_switches:")))
		sscanf(found, "\nnonvoluntary_ctxt_switches: %" SCNu64, &out->preemptions);
	return true;
}

static int compare_threads(const void *a, const void *b)
{
	return ((const struct top_thread *)a)->tid - ((const struct top_thread *)b)->tid;
}

int top_threads__read(int64_t pid, struct top_thread **out, size_t *count)
{
	struct top_thread *threads;
	const struct dirent *entry;
	char path[64];
	size_t used = 0;
	DIR *directory;

	if (pid <= 0)
		return -ESRCH;
	snprintf(path, sizeof(path), "/proc/%" PRId64 "/task", pid);
	directory = opendir(path);
	if (!directory)
		return -errno;
	threads = calloc(TOP_THREADS, sizeof(*threads));
	while (threads && used < TOP_THREADS && (entry = readdir(directory))) {
		int tid = atoi(entry->d_name);

		if (tid > 0 && read_thread(pid, tid, &threads[used]))
			used++;
	}
	closedir(directory);
	if (!threads)
		return -ENOMEM;
	qsort(threads, used, sizeof(*threads), compare_threads);
	*out = threads;
	*count = used;
	return 0;
}

static double rate(uint64_t now, uint64_t before, double seconds)
{
	return now > before ? (double)(now - before) / seconds : 0;
}

void top_threads__rate(struct top_thread *threads, size_t count, const struct top_thread *before,
		       size_t before_count, double seconds)
{
	for (size_t i = 0; before && seconds > 0 && i < count; i++) {
		struct top_thread *thread = &threads[i];
		const struct top_thread *old =
			bsearch(thread, before, before_count, sizeof(*before), compare_threads);

		if (!old)
			continue;
		thread->cpu_percent = rate(thread->ran_ns, old->ran_ns, seconds) / 1e7;
		thread->wait_percent = rate(thread->waited_ns, old->waited_ns, seconds) / 1e7;
		thread->preemptions_per_s = rate(thread->preemptions, old->preemptions, seconds);
	}
}
