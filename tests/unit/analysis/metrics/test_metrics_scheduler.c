/* SPDX-License-Identifier: BSD-2-Clause */
/* What the scheduler took from grains: waiting for a CPU, blocked, moved, and who ran instead. */
#include "analysis/include/grain_scheduler.h"
#include "tests/unit/graph_json.h"

#include <errno.h>

#define NEIGHBOURS                                                                                           \
	"@neighbour 1 pid=7 command=make cgroup=/u/b.scope\n@neighbour 2 pid=8 command=make "                \
	"cgroup=/u/b.scope\n"                                                                                \
	"@neighbour 4 pid=1 command=a\n@neighbour 5 pid=9 command=idle\n"

/* One task from 20 to 100 on thread 1, which waits for it from 10 to 110. */
#define TASK(inside)                                                                                         \
	GRAPH_HEAD NEIGHBOURS                                                                                \
		"0 1 0 create-begin task=1 src=2 flags=deferred\n2 1 0 create-end task=1\n"                  \
		"10 1 0 wait-begin kind=taskwait\n20 1 0 task-begin task=1\n" inside                         \
		"100 1 0 task-end task=1\n110 1 0 wait-end kind=taskwait\n120 1 0 thread-end\n"

static void check_scheduled(const struct grain_scheduled *s, struct grain_scheduled expected,
			    const char *what)
{
	bool same = s->off_ns == expected.off_ns && s->ready_ns == expected.ready_ns &&
		    s->preempted_ns == expected.preempted_ns && s->switches == expected.switches &&
		    s->preemptions == expected.preemptions && s->migrations == expected.migrations;

	CHECK(same, "%s", what);
	if (!same)
		printf("# off %llu ready %llu preempted %llu switches %llu preemptions %llu migrations "
		       "%llu\n",
		       (unsigned long long)s->off_ns, (unsigned long long)s->ready_ns,
		       (unsigned long long)s->preempted_ns, (unsigned long long)s->switches,
		       (unsigned long long)s->preemptions, (unsigned long long)s->migrations);
}

static void check_task(const char *name, const char *text, struct grain_scheduled expected)
{
	struct grain_graph *g = graph_of_text(name, text);
	struct grain_scheduled s;
	struct grain_thread t;

	if (!g)
		return;
	for (uint32_t i = 0; i < grain_graph__context_count(g); i++) {
		struct grain_context c;

		grain_graph__context(g, i, &c);
		if (c.kind != GRAIN_TASK)
			continue;
		grain_graph__scheduled(g, i, &s);
		check_scheduled(&s, expected, name);
		CHECK(c.cpu_ns == c.exec_ns - expected.off_ns, "%s: time on the CPU", name);
	}
	grain_graph__thread(g, 0, &t);
	CHECK(t.tid == 1 && t.scheduled.off_ns >= expected.off_ns, "%s: the thread has it too", name);
	check_round_trip(g, name);
	grain_graph__free(g);
}

static void test_reasons(void)
{
	check_task("preempted", TASK("30 1 0 off-cpu reason=preempted by=1\n45 1 0 on-cpu\n"),
		   (struct grain_scheduled){15, 15, 15, 1, 1, 0});
	check_task("blocked until 40, then without a CPU",
		   TASK("30 1 0 off-cpu reason=blocked\n45 1 0 on-cpu ready=40\n"),
		   (struct grain_scheduled){15, 5, 0, 1, 0, 0});
	check_task("blocked, the wake-up not seen", TASK("30 1 0 off-cpu reason=blocked\n45 1 0 on-cpu\n"),
		   (struct grain_scheduled){15, 0, 0, 1, 0, 0});
	check_task("ready before it was off, by another clock",
		   TASK("30 1 0 off-cpu reason=blocked\n45 1 0 on-cpu ready=3\n"),
		   (struct grain_scheduled){15, 15, 0, 1, 0, 0});
	check_task("ready after it was on, by another clock",
		   TASK("30 1 0 off-cpu reason=blocked\n45 1 0 on-cpu ready=300\n"),
		   (struct grain_scheduled){15, 0, 0, 1, 0, 0});
	check_task("yielded, and moved", TASK("30 1 0 off-cpu reason=yielded by=5\n33 1 1 on-cpu\n"),
		   (struct grain_scheduled){3, 3, 0, 1, 0, 1});
	check_task("off since before it began", TASK("") "5 2 1 off-cpu reason=blocked\n6 2 1 on-cpu\n",
		   (struct grain_scheduled){0, 0, 0, 0, 0, 0});
	check_task("never put back", TASK("30 1 0 off-cpu reason=preempted\n"),
		   (struct grain_scheduled){0, 0, 0, 0, 0, 0});
}

static void check_thread(const char *name, const char *text, uint64_t off_ns, uint64_t cpu_ns,
			 uint64_t unseen)
{
	struct grain_graph *g = graph_of_text(name, text);
	struct grain_thread t;

	if (!g)
		return;
	grain_graph__thread(g, 0, &t);
	CHECK(t.scheduled.off_ns == off_ns && t.cpu_ns == cpu_ns && t.unseen == unseen,
	      "%s: off %llu on %llu unseen %llu", name, (unsigned long long)t.scheduled.off_ns,
	      (unsigned long long)t.cpu_ns, (unsigned long long)t.unseen);
	grain_graph__free(g);
}

static void test_unseen(void)
{
	check_thread("all told", TASK("30 1 0 off-cpu reason=preempted\n45 1 0 on-cpu\n"), 15, 105, 0);
	check_thread("put back twice",
		     TASK("30 1 0 off-cpu reason=preempted\n45 1 0 on-cpu\n50 1 0 on-cpu\n"), 15, 105, 1);
	check_thread("taken off twice",
		     TASK("30 1 0 off-cpu reason=preempted\n45 1 0 off-cpu reason=blocked\n50 1 0 on-cpu\n"),
		     5, 115, 1);
	check_thread("off when the recording began", TASK("30 1 0 on-cpu\n"), 0, 120, 0);
	check_thread("off when it ended", TASK("30 1 0 off-cpu reason=preempted\n"), 0, 120, 0);
}

/* What it did by itself was told all the same: the task is whole, and so is its time off the CPU but for what
 * was lost. */
static void test_lost(void)
{
	struct grain_graph *g =
		graph_of_text("lost",
			      TASK("30 1 0 off-cpu reason=preempted\n45 1 0 lost count=8 of=switches\n"
				   "50 1 0 off-cpu reason=blocked\n60 1 0 on-cpu\n"
				   "70 1 0 lost count=18446744073709551615 of=switches\n72 1 0 on-cpu\n"));
	struct grain_thread t;

	if (!g)
		return;
	grain_graph__thread(g, 0, &t);
	CHECK(t.lost == UINT64_MAX && t.scheduled.off_ns == 10 && t.scheduled.switches == 1 && !t.unseen,
	      "records of switches are lost: nothing is made of those at the edges");
	for (uint32_t i = 0; i < grain_graph__context_count(g); i++) {
		struct grain_context c;

		grain_graph__context(g, i, &c);
		CHECK(!c.incomplete, "what was open then is whole");
	}
	check_round_trip(g, "lost");
	grain_graph__free(g);
}

static void test_neighbours(void)
{
	struct grain_graph *g =
		graph_of_text("neighbours", TASK("30 1 0 off-cpu reason=preempted by=1\n35 1 0 on-cpu\n"
						 "40 1 0 off-cpu reason=preempted by=2\n44 1 0 on-cpu\n"
						 "50 1 0 off-cpu reason=preempted by=4\n56 1 0 on-cpu\n"
						 "60 1 0 off-cpu reason=yielded by=5\n61 1 0 on-cpu\n"
						 "70 1 0 off-cpu reason=preempted by=3\n71 1 0 on-cpu\n"
						 "80 1 0 off-cpu reason=preempted by=99\n81 1 0 on-cpu\n"));
	struct grain_neighbour n;

	if (!g)
		return;
	CHECK(grain_graph__neighbour_count(g) == 3, "three, of what took a CPU from a fragment");
	grain_graph__neighbour(g, 0, &n);
	CHECK(!strcmp(n.command, "make") && !strcmp(n.cgroup, "/u/b.scope") && n.processes == 2 && !n.own,
	      "the first: two processes of one command");
	CHECK(n.preemptions == 2 && n.taken_ns == 9, "what they took");
	grain_graph__neighbour(g, 1, &n);
	CHECK(!strcmp(n.command, "a") && n.own && n.taken_ns == 6 && n.pid == 1, "its own threads");
	grain_graph__neighbour(g, 2, &n);
	CHECK(!strcmp(n.command, "?") && n.pid == -1 && n.taken_ns == 1, "one that was not told of");
	check_round_trip(g, "neighbours");
	grain_graph__free(g);
}

static void check_absent(const char *name, const char *text, const char *why)
{
	struct grain_graph *g = graph_of_text(name, text);
	const char *absent;

	if (!g)
		return;
	absent = grain_graph__scheduler_absent(g);
	CHECK(absent ? why && !strcmp(absent, why) : !why, "%s: %s", name, absent ? absent : "followed");
	grain_graph__free(g);
}

static void check_refused(const char *line, const char *why)
{
	char path[] = "/tmp/graind-unit-scheduler.XXXXXX", text[400];
	struct grain_graph *g = NULL;
	struct grain_error err = {""};
	int fd = mkstemp(path), error;

	snprintf(text, sizeof(text), "grain-log 1\n%s\n", line);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || lseek(fd, 0, SEEK_SET))
		exit(1);
	error = grain_graph__load_fd(fd, "x.log", NULL, &g, &err);
	CHECK(error == -EBADMSG && strstr(err.text, why), "%s", err.text);
	grain_graph__free(g);
	close(fd);
	unlink(path);
}

int main(void)
{
	test_reasons();
	test_unseen();
	test_lost();
	test_neighbours();
	check_absent("no such events", TASK(""), "the capture has no events of the scheduler");
	check_absent("followed, and nothing happened", TASK("") "@capture source=uprobes scheduler=1\n",
		     NULL);
	check_absent("not followed",
		     TASK("") "@capture source=uprobes scheduler=0 scheduler_why=\"no tracepoints\"\n",
		     "no tracepoints");
	check_refused("@neighbour 0 pid=1", "not a number from 1 to");
	check_refused("@neighbour 65537 pid=1", "not a number from 1 to");
	check_refused("@neighbour 1 pid=1\n@neighbour 1 pid=2", "declared twice");
	check_refused("@neighbour pid=1", "needs its number");
	check_refused("@neighbour 1 pid=x", "not a number");
	check_refused("1 1 0 off-cpu reason=tired", "reason");
	check_refused("1 1 0 off-cpu reason=preempted by=x", "by");
	CHECK_DONE();
}
