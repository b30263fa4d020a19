// SPDX-License-Identifier: BSD-2-Clause
/* Sampled addresses: from a trace and a log, in which grains, near or remote, and why a node is not known. */
#include "analysis/include/grain_numa.h"
#include "tests/unit/graph_json.h"
#include "tests/unit/resolve_case.h"

#include <math.h>

#define FOUR                                                                                                 \
	"@cpu 0 core=0 socket=0 node=0\n@cpu 1 core=1 socket=0 node=1\n@cpu 2 core=2 socket=1 node=2\n"      \
	"@cpu 3 core=3 socket=1 node=3\n"
#define SAID                                                                                                 \
	"@accesses hz=99 event=mem-loads\n@accesses lost=3\n@placement first_ns=1 last_ns=2\n"               \
	"@area 0 kind=data name=\"\" module=a bytes=65536 start=0x1000\n@pages 0 nodes=0:16\n"               \
	"@area 1 kind=data name=grid module=a bytes=4096 start=0x3000\n@pages 1 nodes=0:1\n"                 \
	"@area 2 kind=other name=\"\" module=\"\" bytes=65536\n@pages 2 nodes=0:1\n"
#define HEAD                                                                                                 \
	"grain-log 1\n@process pid=1 uid=0 exe=/a cmd=a runtime=libgomp threads=2\n"                         \
	"@source 1 file=a.c line=10 func=main kind=parallel\n@source 2 file=a.c line=20 func=f kind=task\n"  \
	"@source 3 file=a.c line=30 func=g kind=task\n"

/*
 * Before the region one; in it two tasks on CPU 0, the first moves to CPU 3 in its midst, and one on CPU 1;
 * in the barrier one, which is the runtime's.
 */
#define EVENTS                                                                                               \
	"50 10 0 access addr=0x1000 node=0\n"                                                                \
	"100 10 0 region-begin region=1 src=1 threads=2\n100 10 0 member-begin region=1 num=0\n"             \
	"100 11 1 member-begin region=1 num=1\n110 10 0 access node=2\n"                                     \
	"120 10 0 create-begin task=1 src=2\n130 10 0 access addr=0x2000 node=0\n140 10 0 create-end "       \
	"task=1\n"                                                                                           \
	"150 10 0 create-begin task=2 src=3\n160 10 0 create-end task=2\n"                                   \
	"170 10 0 wait-begin kind=barrier-implicit src=1\n170 11 1 wait-begin kind=barrier-implicit src=1\n" \
	"200 10 0 task-begin task=1\n210 10 0 access addr=0x3000 node=0\n220 10 0 access addr=0x3000 "       \
	"node=3\n"                                                                                           \
	"230 10 0 off-cpu reason=blocked\n240 10 3 on-cpu ready=235\n250 10 3 access addr=0x3000 node=3\n"   \
	"260 10 3 access addr=0x4000 why=absent\n300 10 3 task-end task=1\n"                                 \
	"200 11 1 task-begin task=2\n210 11 1 access addr=0x5000 node=0\n220 11 1 access addr=0x5000 "       \
	"node=2\n"                                                                                           \
	"230 11 1 access why=unmapped\n240 11 1 access\n250 11 1 access node=9\n260 11 1 access why=ended\n" \
	"270 11 1 access why=refused\n300 11 1 task-end task=2\n310 11 1 access node=2\n"                    \
	"400 10 3 wait-end kind=barrier-implicit src=1\n400 11 1 wait-end kind=barrier-implicit src=1\n"     \
	"400 10 3 member-end region=1 num=0\n400 11 1 member-end region=1 num=1\n400 10 3 region-end "       \
	"region=1\n"                                                                                         \
	"500 10 3 access addr=0x1000 node=1\n"

static bool counts_are(const struct grain_access_counts *c, uint64_t local, uint64_t remote, uint64_t unknown)
{
	return c->local == local && c->remote == remote && c->unknown == unknown;
}

static uint32_t grain_named(const struct grain_graph *g, const char *id)
{
	for (uint32_t i = 0; i < grain_graph__context_count(g); i++) {
		char text[64];

		grain_graph__context_id(g, i, text, sizeof(text));
		if (!strcmp(text, id))
			return i;
	}
	return GRAIN_NONE;
}

static void test_graph(void)
{
	struct grain_graph *g = graph_of_text("accesses", HEAD FOUR SAID EVENTS);
	struct grain_access_counts of;
	struct grain_accesses a;
	struct grain_area area;
	json_t *summary, *task;

	if (!g)
		return;
	grain_graph__accesses(g, &a);
	CHECK_STR(a.event, "mem-loads", "the event");
	CHECK(a.hz == 99 && a.lost == 3, "how often, and how many were lost");
	CHECK(counts_are(&a.all, 4, 6, 6), "all, of which the node is known of 10 (%llu %llu %llu)",
	      (unsigned long long)a.all.local, (unsigned long long)a.all.remote,
	      (unsigned long long)a.all.unknown);
	CHECK(a.unknown[GRAIN_ACCESS_UNKNOWN] == 2 && a.unknown[GRAIN_ACCESS_ABSENT] == 1 &&
		      a.unknown[GRAIN_ACCESS_UNMAPPED] == 1 && a.unknown[GRAIN_ACCESS_ENDED] == 1 &&
		      a.unknown[GRAIN_ACCESS_REFUSED] == 1,
	      "why not of the others");
	CHECK(counts_are(&a.grains, 2, 3, 6), "in tasks, and not in creations, waits and before the region");
	CHECK(counts_are(&a.teams, 2, 4, 6), "and in the code around them");
	CHECK(fabs(a.remote - 4. / 6) < 1e-9, "two thirds are remote");
	grain_graph__accesses_of(g, grain_named(g, "0.p0.0.0"), &of);
	CHECK(counts_are(&of, 2, 1, 1), "one task, which moves: near is where it is at the time");
	grain_graph__accesses_of(g, grain_named(g, "0.p0.0.1"), &of);
	CHECK(counts_are(&of, 0, 2, 5), "the other");
	CHECK(fabs(grain_access_counts__remote(&of) - 1) < 1e-9, "all of it that is known is remote");
	CHECK(grain_graph__accesses_between(g, 0, 0) == 1 && grain_graph__accesses_between(g, 0, 3) == 1 &&
		      grain_graph__accesses_between(g, 3, 3) == 1 &&
		      grain_graph__accesses_between(g, 1, 0) == 1 &&
		      grain_graph__accesses_between(g, 1, 2) == 1 &&
		      grain_graph__accesses_between(g, 0, 2) == 1,
	      "between nodes");
	grain_graph__area(g, 0, &area);
	CHECK(counts_are(&area.accesses, 0, 2, 1), "of the file's data but its variable, by teams");
	grain_graph__area(g, 1, &area);
	CHECK(counts_are(&area.accesses, 2, 1, 0), "of the variable");
	grain_graph__area(g, 2, &area);
	CHECK(counts_are(&area.accesses, 0, 0, 0), "none of what is nowhere");
	summary = summary_of(g);
	CHECK(!strcmp(json_string_value(json_object_get(
			      json_object_get(json_object_get(summary, "numa"), "remote"), "by")),
		      "addresses"),
	      "the share is of addresses, not of pages");
	json_decref(summary);
	task = grain_of(g, "0.p0.0.0");
	CHECK(json_integer_value(json_object_get(json_object_get(task, "accesses"), "samples")) == 4 &&
		      json_integer_value(json_object_get(json_object_get(task, "accesses"), "remote")) == 1,
	      "in the grain's own line");
	json_decref(task);
	check_round_trip(g, "accesses");
	grain_graph__free(g);
}

/* Without samples, or of nothing in a team, the share is that of pages. */
static void test_absent(void)
{
	static const struct {
		const char *what, *lines, *why;
	} cases[] = {
		{"not asked for", FOUR, "addresses of accesses are not sampled"},
		{"none to be had", FOUR "@accesses hz=99 why=\"this machine takes no samples\"\n",
		 "this machine takes no samples"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[2000];
		struct grain_graph *g;
		struct grain_accesses a;

		snprintf(text, sizeof(text),
			 HEAD "%s"
			      "100 10 0 region-begin region=1 src=1 threads=1\n100 10 0 member-begin "
			      "region=1 num=0\n"
			      "400 10 0 member-end region=1 num=0\n400 10 0 region-end region=1\n",
			 cases[i].lines);
		g = graph_of_text(cases[i].what, text);
		if (!g)
			continue;
		grain_graph__accesses(g, &a);
		CHECK(!a.event && isnan(a.remote), "%s: none", cases[i].what);
		CHECK_STR(a.why, cases[i].why, "%s: why", cases[i].what);
		grain_graph__free(g);
	}
}

static void test_damaged(void)
{
	static const char *const bad[] = {
		"50 10 0 access node=1024\n", "50 10 0 access node=-1\n", "50 10 0 access why=because\n",
		"50 10 0 access addr=x\n",    "@accesses hz=x event=a\n", "@accesses lost=-1\n",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct grain_graph *g = NULL;
		struct grain_error err = {.text = ""};
		char text[4000];
		int error;

		snprintf(text, sizeof(text), HEAD FOUR "%s", bad[i]);
		error = grain_graph__load(temporary(text, strlen(text)), NULL, &g, &err);
		CHECK(error < 0 && err.text[0], "refused: %.*s", (int)strcspn(bad[i], "\n"), bad[i]);
		if (!error)
			grain_graph__free(g);
	}
}

static const char *const lines[] = {"@accesses hz=99 event=ibs_op", NULL};
static const struct trace_event events[] = {
	E(1, 1, ACCESS, 0, .key = 0x7000, .arg = 0),
	E(2, 1, REGION_BEGIN, 2000, .site = 0xa0),
	E(3, 1, TEAM_START, 1900, .key = 5, .arg = 1),
	E(5, 1, TEAM_STARTED, 1908),
	E(6, 1, ACCESS, 0, .key = 0x8000, .arg = 3),
	/* It is no event of the thread's own: the reading is of the one behind it. */
	E(7, 1, ACCESS, 0, .key = 0x9000, .arg = TRACE_ACCESS_UNKNOWN + TRACE_ACCESS_ENDED),
	E(8, 1, ACCESS, 0, .key = 0x9000, .arg = 5000),
	E(9, 1, ACCESS, 0, .key = 0x9000, .arg = UINT32_MAX),
	E(10, 1, WAIT_BEGIN, 1700, .arg = TRACE_WAIT_REGION_END),
	E(60, 1, WAIT_END, 1708, .arg = TRACE_WAIT_REGION_END),
	E(62, 1, REGION_END, 2008),
};

static void test_trace(void)
{
	struct event_stream *s = resolve("trace", lines, events, sizeof(events) / sizeof(*events));
	char *log;

	if (!s)
		return;
	log = log_of(s, 1);
	CHECK(strstr(log, "@accesses hz=99 event=ibs_op\n") != NULL, "how they were sampled");
	CHECK(strstr(log, "1 1 0 access addr=0x7000 node=0\n") &&
		      strstr(log, "6 1 0 access addr=0x8000 node=3\n"),
	      "pages and their nodes");
	CHECK(strstr(log, "7 1 0 access addr=0x9000 why=ended\n") != NULL, "why not");
	CHECK(strstr(log, "8 1 0 access addr=0x9000 why=unknown\n") &&
		      strstr(log, "9 1 0 access addr=0x9000 why=unknown\n"),
	      "nonsense is not known");
	free(log);
	event_stream__free(s);
}

int main(void)
{
	if (resolve_begin())
		return 1;
	test_graph();
	test_absent();
	test_damaged();
	test_trace();
	resolve_end();
	CHECK_DONE();
}
