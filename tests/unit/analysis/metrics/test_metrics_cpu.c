/* SPDX-License-Identifier: BSD-2-Clause */
/* Time on the CPU and what the scheduler took: in own fragments only, absent where it was not seen. */
#include "tests/unit/graph_json.h"

#define TASKS(off, on)                                                                                       \
	GRAPH_HEAD                                                                                           \
	"0 1 0 create-begin task=1 src=2 flags=deferred\n2 1 0 create-end task=1\n"                          \
	"2 1 0 create-begin task=2 src=2 flags=deferred\n4 1 0 create-end task=2\n"                          \
	"10 1 0 wait-begin kind=taskwait\n20 1 0 task-begin task=1\n" off "70 1 0 task-end task=1\n"         \
	"70 1 0 task-begin task=2\n" on "100 1 0 task-end task=2\n110 1 0 wait-end kind=taskwait\n"          \
	"120 1 0 thread-end\n"

static void check_cpu(const struct grain_graph *g, const char *id, bool known, uint64_t cpu)
{
	struct grain_context c = context_at(g, id);

	CHECK(c.cpu_known == known && c.cpu_ns == cpu, "%s: %llu ns on the CPU", id, (unsigned long long)cpu);
	if (c.cpu_known != known || c.cpu_ns != cpu)
		printf("# got %d %llu\n", c.cpu_known, (unsigned long long)c.cpu_ns);
}

static void check_share(const struct grain_graph *g, double share, const char *json)
{
	struct grain_profile p;
	json_t *summary = summary_of(g);

	grain_graph__profile(g, 0, &p);
	check_near(p.preemption_share, share, "preemption share of the definition");
	check_json(json_array_get(json_object_get(summary, "definitions"), 0), "preemption_share", json,
		   "the definition");
	json_decref(summary);
}

int main(void)
{
	/* Task 1 is off the CPU for 10 + 5 of its 50, task 2 for none of its 30; the wait for 3. */
	struct grain_graph *g = graph_of_text(
		"preempted", TASKS("30 1 0 off-cpu reason=preempted\n40 1 0 on-cpu reason=preempted\n"
				   "45 1 0 off-cpu reason=blocked\n50 1 0 on-cpu reason=blocked\n",
				   "") "112 2 1 off-cpu reason=preempted\n115 2 1 on-cpu reason=preempted\n");

	if (g) {
		check_cpu(g, "0.0", true, 35);
		check_cpu(g, "0.1", true, 30);
		/* 10 - 4 before the wait, 120 - 110 behind it; its creations and its wait do not count. */
		check_cpu(g, "0", true, 16);
		check_grain(g, "0.0", "cpu_ns", "35");
		/* 1 - 65 / 80 */
		check_share(g, 0.1875, "0.1875");
		check_round_trip(g, "preempted");
		grain_graph__free(g);
	}
	g = graph_of_text("in the wait", GRAPH_HEAD
			  "0 1 0 create-begin task=1 src=2 flags=deferred\n2 1 0 create-end task=1\n"
			  "10 1 0 wait-begin kind=taskwait\n12 1 0 off-cpu reason=blocked\n"
			  "18 1 0 on-cpu reason=blocked\n20 1 0 task-begin task=1\n"
			  "30 1 0 task-end task=1\n40 1 0 wait-end kind=taskwait\n");
	if (g) {
		check_cpu(g, "0", true, 8);
		check_cpu(g, "0.0", true, 10);
		check_share(g, 0, "0");
		grain_graph__free(g);
	}
	/* An on-cpu without its off-cpu, an off-cpu without its on-cpu: no time is known to be lost. */
	g = graph_of_text("halves",
			  TASKS("30 1 0 on-cpu reason=preempted\n", "80 1 0 off-cpu reason=preempted\n"));
	if (g) {
		check_cpu(g, "0.0", true, 50);
		check_cpu(g, "0.1", true, 30);
		grain_graph__free(g);
	}
	g = graph_of_text("not seen", TASKS("", ""));
	if (g) {
		check_cpu(g, "0.0", false, 0);
		check_grain(g, "0.0", "cpu_ns", "null");
		check_share(g, NAN, "null");
		grain_graph__free(g);
	}
	CHECK_DONE();
}
