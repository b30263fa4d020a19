// SPDX-License-Identifier: BSD-2-Clause
/*
 * Regions that a worker has kept: their way into the trace, what a graph of it says, and that neither the
 * worker's lines nor its file are believed.
 */
#include "daemon/graind/spool/kept_regions.h"
#include "tests/unit/check.h"
#include "tests/unit/word_trace.h"

#include "analysis/fold/fold_regions.h"
#include "analysis/include/grain.h"
#include "analysis/include/grain_windows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>

#define TASK_NS 100
#define EVENTS 14
#define MOST (UINT64_C(8) << 20)

static char directory[] = "/tmp/graind-unit-kept.XXXXXX";
static int dirfd;

/* A region of one thread and one task of `ns`; it begins at `at` and ends at at + 90 + ns. */
static void region(struct trace_event events[EVENTS], uint64_t at, uint64_t ns)
{
	const struct {
		enum trace_kind kind;
		uint64_t after, key, frame;
		uint32_t arg;
	} steps[EVENTS] = {
		{TRACE_REGION_BEGIN, 0, 0x402000, 900, 1},
		{TRACE_TEAM_START, 10, 0x77, 890, 1},
		{TRACE_TEAM_STARTED, 10, 0, 898, 0},
		{TRACE_SINGLE, 0, 0, 880, 1},
		{TRACE_TASK_CREATE, 10, 0x99, 870, 0},
		{TRACE_TASK_CREATE_END, 10, 0, 878, 0},
		{TRACE_WAIT_BEGIN, 0, 0, 860, TRACE_WAIT_TASKWAIT},
		{TRACE_TASK_BEGIN, 20, 0x99, 800, 0},
		{TRACE_TASK_END, ns, 0, 800, 0},
		{TRACE_WAIT_END, 10, 0, 868, TRACE_WAIT_TASKWAIT},
		{TRACE_WAIT_BEGIN, 10, 0, 860, TRACE_WAIT_REGION_END},
		{TRACE_WAIT_END, 0, 0, 868, TRACE_WAIT_REGION_END},
		{TRACE_REGION_END, 10, 0, 908, 0},
		{TRACE_GROUP_BEGIN, 0, 0, 950, 0},
	};

	for (size_t i = 0; i < EVENTS; i++) {
		at += steps[i].after;
		events[i] = (struct trace_event){.time_ns = at,
						 .key = steps[i].key,
						 .site = 0x401000,
						 .frame = steps[i].frame,
						 .tid = 7,
						 .arg = steps[i].arg,
						 .kind = (uint8_t)steps[i].kind};
	}
}
#define KEPT_EVENTS (EVENTS - 1) /* without what comes after it */

static void wrong_lines(void)
{
	static const char *const before = "@folded-part begin_ns=10 end_ns=1000 every=4";
	static const char *const bad[] = {
		"@folded-part begin_ns=10 end_ns=9 every=4",
		"@folded-part begin_ns=10 end_ns=1000",
		"@folded-part begin_ns=10 end_ns=1000 every=4 more",
		"@folded-region begin_ns=1000 end_ns=1001 first=0 count=1 why=1",
		"@folded-region begin_ns=1002 end_ns=1001 first=0 count=1 why=1",
		"@folded-region begin_ns=1002 end_ns=18446744073709551615 first=0 count=1 why=1",
		"@folded-region begin_ns=1002 end_ns=1003 first=99999999999 count=1 why=1",
		"@folded-region begin_ns=1002 end_ns=1003 first=0 count=99999999999 why=1",
		"@folded-region begin_ns=x end_ns=1003 first=0 count=1 why=1",
		"@folded-region begin_ns=1002 end_ns=1003 first=0 count=1 why=1 @window begin_ns=1",
	};
	struct kept_regions regions;
	size_t refused = 0;
	char line[200];
	int error;

	for (size_t i = 0; i < COUNT(bad); i++) {
		regions = (struct kept_regions){.count = 0};
		if (strncmp(bad[i], "@folded-region", 14) == 0 &&
		    (!kept_regions__line(&regions, before, &error) || error))
			continue;
		if (kept_regions__line(&regions, bad[i], &error) && error == -EBADMSG && !regions.count)
			refused++;
		else
			printf("# taken: %s\n", bad[i]);
	}
	CHECK(refused == COUNT(bad), "lines that cannot be are refused");
	regions = (struct kept_regions){.count = 0};
	CHECK(kept_regions__line(&regions, "@folded-region begin_ns=5 end_ns=6 first=0 count=1 why=1",
				 &error) &&
		      error == -EBADMSG,
	      "so are regions without a first part");
	CHECK(!kept_regions__line(&regions, "@folded events=1", &error), "others are not theirs");
	kept_regions__line(&regions, before, &error);
	for (unsigned i = 0; !error && i <= KEPT_REGIONS_MAX; i++) {
		snprintf(line, sizeof(line), "@folded-region begin_ns=%u end_ns=%u first=0 count=1 why=1",
			 2000 + 10 * i, 2005 + 10 * i);
		kept_regions__line(&regions, line, &error);
	}
	CHECK(error == -EBADMSG && regions.count == KEPT_REGIONS_MAX, "there is an end to them");
}

/* Two regions in the first part, two that were kept: 500 ns and 300 ns of tasks. */
static int make(const struct kept_region *kept, size_t count, uint64_t max_bytes,
		void (*change)(struct trace_event *events), int *file)
{
	struct kept_regions regions = {.begin_ns = 1000, .end_ns = 1390, .every = 4};
	struct trace_writer *trace = create_at(dirfd, "trace");
	struct trace_event events[2 * EVENTS];
	int error, fd = kept_regions__open(dirfd);

	if (fd < 0)
		exit(1);
	region(events, 1000, TASK_NS);
	region(events + EVENTS, 1200, TASK_NS);
	if (trace_writer__events(trace, events, COUNT(events)))
		exit(1);
	/* The later one stands first. */
	region(events, 9000, 300);
	region(events + KEPT_EVENTS, 5000, 500);
	if (change)
		change(events);
	if (write(fd, events, 2 * KEPT_EVENTS * sizeof(*events)) !=
	    (ssize_t)(2 * KEPT_EVENTS * sizeof(*events)))
		exit(1);
	for (size_t i = 0; i < count; i++)
		regions.list[regions.count++] = kept[i];
	error = kept_regions__append(&regions, fd, max_bytes, trace);
	trace_writer__text(trace, "@folded events=1000 tasks=900 regions=400 work_ns=99000 first_ns=1000 "
				  "last_ns=99000 regions_seen=390 unkept_large=3 unkept_room=2");
	trace_writer__finish(trace, NULL);
	*file = fd;
	return error;
}

static const struct kept_region two[] = {
	{.begin_ns = 5000,
	 .end_ns = 5590,
	 .first = KEPT_EVENTS,
	 .count = KEPT_EVENTS,
	 .why = FOLD_WHY_SLOWEST | FOLD_WHY_EVERY},
	{.begin_ns = 9000, .end_ns = 9390, .first = 0, .count = KEPT_EVENTS, .why = FOLD_WHY_LAST},
};

static struct grain_graph *load(const struct grain_load_opts *opts)
{
	struct grain_error err = {.text = ""};
	struct grain_graph *graph = NULL;
	char path[64];

	snprintf(path, sizeof(path), "%s/trace", directory);
	if (grain_graph__load(path, opts, &graph, &err))
		printf("# %s\n", err.text);
	return graph;
}

static void into_the_trace(void)
{
	const struct grain_coverage *c;
	struct grain_kept_region kept[2];
	struct grain_windows windows;
	struct grain_graph *graph;
	struct stat st;
	int fd;

	CHECK(faccessat(dirfd, KEPT_REGIONS_FILE, F_OK, 0) != 0, "the file has no name");
	CHECK(make(two, 2, MOST, NULL, &fd) == 0, "regions go into the trace");
	CHECK(fstat(fd, &st) == 0 && st.st_size > 0, "as they are in the file");
	close(fd);
	graph = load(NULL);
	if (!graph) {
		CHECK(false, "which can be read");
		return;
	}
	c = grain_graph__coverage(graph);
	CHECK(c->partial && c->grains == 4 && c->regions == 4 && c->first_ns == 390 &&
		      c->wall_ns == 390 + 590 + 390 && c->kept_regions == 2 && c->regions_seen == 390 &&
		      c->unkept_large == 3 && c->unkept_room == 2 && !c->unkept_why[0],
	      "the graph has the first part and the regions, and says so");
	CHECK(grain_graph__kept_region(graph, 0, &kept[0]) && grain_graph__kept_region(graph, 1, &kept[1]) &&
		      !grain_graph__kept_region(graph, 2, &kept[1]) && kept[0].start_ns == 5000 &&
		      kept[0].end_ns == 5590 && kept[0].slowest && !kept[0].last && kept[0].every == 4 &&
		      kept[1].start_ns == 9000 && !kept[1].slowest && kept[1].last && !kept[1].every,
	      "which ones, and why");
	for (uint32_t i = 0; i < grain_graph__region_count(graph); i++) {
		struct grain_region r;

		grain_graph__region(graph, i, &r);
		CHECK(!r.incomplete && r.tasks == 1 && r.threads == 1, "region %u is whole", i);
	}
	CHECK(grain_graph__truth(graph)->conservation_violations == 0 &&
		      grain_graph__totals(graph)->tasks == 900,
	      "times add up, and totals are those of the run");
	/* Nothing runs beside anything: all of the work is on the path. */
	CHECK(grain_graph__totals(graph)->span_ns == c->work_ns &&
		      grain_graph__totals(graph)->average_parallelism == 1,
	      "the span is that of all parts, one after the other: %llu of %llu",
	      (unsigned long long)grain_graph__totals(graph)->span_ns, (unsigned long long)c->work_ns);
	grain_graph__windows(graph, &windows);
	CHECK(windows.windows == 0, "it was recorded all the time");
	grain_graph__free(graph);
}

static void wrong_kind(struct trace_event *events)
{
	events[KEPT_EVENTS + 3].kind = TRACE_KIND_MAX;
}

static void wrong_time(struct trace_event *events)
{
	events[KEPT_EVENTS + 3].time_ns = 4999;
}

static void wrong_file(void)
{
	struct kept_region beyond = two[0];
	struct grain_graph *graph;
	int fd, kind, time, end;

	kind = make(two, 2, MOST, wrong_kind, &fd);
	close(fd);
	time = make(two, 2, MOST, wrong_time, &fd);
	close(fd);
	beyond.count = 1000;
	end = make(&beyond, 1, MOST, NULL, &fd);
	close(fd);
	CHECK(kind == -EBADMSG && time == -EBADMSG && end == -EBADMSG,
	      "events of no kind, of another time and none at all are refused");
	graph = load(NULL);
	CHECK(graph && grain_graph__coverage(graph)->grains >= 2, "the trace can be read all the same");
	grain_graph__free(graph);
}

int main(void)
{
	if (!mkdtemp(directory) || (dirfd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return 1;
	wrong_lines();
	into_the_trace();
	wrong_file();
	unlinkat(dirfd, "trace", 0);
	close(dirfd);
	rmdir(directory);
	CHECK_DONE();
}
