/* SPDX-License-Identifier: BSD-2-Clause */
/* Dependences, by hand: which tasks wait for which, and what that makes of the span. */
#include "tests/unit/graph_json.h"

/* Creates the tasks, in the order of the text: "3 in:a out:b" makes task 3; "wait in:a" a taskwait. */
static struct grain_graph *graph_of_tasks(const char *name, const char *const *tasks, size_t n)
{
	static char text[65536];
	unsigned now = 100, body = 10000;
	size_t used = (size_t)sprintf(text, GRAPH_HEAD);

	for (size_t i = 0; i < n; i++) {
		char line[256], *rest = line, *word;
		bool wait = strncmp(tasks[i], "wait", 4) == 0;

		snprintf(line, sizeof line, "%s", tasks[i]);
		word = strsep(&rest, " ");
		used += (size_t)sprintf(text + used,
					wait ? "%u 1 0 wait-begin kind=taskwait-depend\n"
					     : "%u 1 0 create-begin task=%s src=2 flags=deferred\n",
					now, word);
		while (rest && (word = strsep(&rest, " "))) {
			char *at = strchr(word, ':');

			*at = '\0';
			used += (size_t)sprintf(text + used,
						wait ? "%u 1 0 depend%s addr=0x%x kind=%s\n"
						     : "%u 1 0 depend task=%s addr=0x%x kind=%s\n",
						now, wait ? "" : line, at[1], word);
		}
		used += (size_t)sprintf(text + used,
					wait ? "%u 1 0 wait-end kind=taskwait-depend\n"
					     : "%u 1 0 create-end task=%s\n",
					now, line);
		now += 10;
	}
	/* Task n runs for n0 ns, all on thread 2. */
	used += (size_t)sprintf(text + used, "%u 1 0 wait-begin kind=taskwait\n", now);
	for (size_t i = 0; i < n; i++) {
		if (strncmp(tasks[i], "wait", 4) == 0)
			continue;
		used += (size_t)sprintf(text + used, "%u 2 1 task-begin task=%d\n%u 2 1 task-end task=%d\n",
					body, atoi(tasks[i]), body + 10 * (unsigned)atoi(tasks[i]),
					atoi(tasks[i]));
		body += 10 * (unsigned)atoi(tasks[i]);
	}
	sprintf(text + used, "%u 1 0 wait-end kind=taskwait\n", body);
	return graph_of_text(name, text);
}
#define GRAPH_OF_TASKS(name, tasks) graph_of_tasks(name, tasks, sizeof(tasks) / sizeof *(tasks))

/* Reads after a write, a write after reads, and the same location twice. */
static void test_chain(void)
{
	static const char *const tasks[] = {"1 out:a",		 "2 in:a", "3 in:a in:b",
					    "4 inout:a inout:b", "5 in:a", "6 out:c in:a",
					    "7 in:c out:c",	 "8 in:d", "9 out:d in:d"};
	struct grain_graph *g = GRAPH_OF_TASKS("chain", tasks);

	if (!g)
		return;
	check_grain(g, "0.0", "depends_on", "[]");
	check_grain(g, "0.1", "depends_on", "[\"0.0\"]");
	check_grain(g, "0.2", "depends_on", "[\"0.0\"]");
	check_grain(g, "0.3", "depends_on", "[\"0.1\",\"0.2\"]");
	check_grain(g, "0.4", "depends_on", "[\"0.3\"]");
	check_grain(g, "0.5", "depends_on", "[\"0.3\"]");
	check_grain(g, "0.6", "depends_on", "[\"0.5\"]");
	check_grain(g, "0.7", "depends_on", "[]");
	check_grain(g, "0.8", "depends_on", "[\"0.7\"]");
	CHECK(grain_graph__dependence_count(g) == 8 && grain_graph__totals(g)->dependences == 8,
	      "chain: its edges");
	/* The initial task creates for 10 ns each: 70 until task 8; 1, 3, 4, 6, 7 take 20 + 200. */
	check_totals(g, "chain", 450 + 90, 70 + 80 + 90);
	CHECK(context_at(g, "0.7").critical && context_at(g, "0.8").critical && context_at(g, "0").critical &&
		      !context_at(g, "0.6").critical && !context_at(g, "0.0").critical,
	      "chain: the critical path follows dependences");
	check_round_trip(g, "chain");
	grain_graph__free(g);
}

/* Runs of mutexinoutset and of inoutset are sets; each waits for the one before. */
static void test_sets(void)
{
	static const char *const tasks[] = {"1 in:a",
					    "2 in:a",
					    "3 mutexinoutset:a",
					    "4 mutexinoutset:a",
					    "5 inoutset:a",
					    "6 inoutset:a",
					    "7 mutexinoutset:a",
					    "8 in:a inout:a",
					    "9 in:a mutexinoutset:a"};
	struct grain_graph *g = GRAPH_OF_TASKS("sets", tasks);

	if (!g)
		return;
	check_grain(g, "0.1", "depends_on", "[]");
	check_grain(g, "0.2", "depends_on", "[\"0.0\",\"0.1\"]");
	check_grain(g, "0.3", "depends_on", "[\"0.0\",\"0.1\"]");
	check_grain(g, "0.4", "depends_on", "[\"0.2\",\"0.3\"]");
	check_grain(g, "0.5", "depends_on", "[\"0.2\",\"0.3\"]");
	check_grain(g, "0.6", "depends_on", "[\"0.4\",\"0.5\"]");
	check_grain(g, "0.7", "depends_on", "[\"0.6\"]");
	check_grain(g, "0.8", "depends_on", "[\"0.7\"]");
	check_round_trip(g, "sets");
	grain_graph__free(g);
}

/* omp_all_memory is after everything and before everything, also of locations not met before. */
static void test_all(void)
{
	static const char *const tasks[] = {"1 in:a", "2 out:b", "3 all:0", "4 in:c",
					    "5 in:a", "6 all:0", "7 all:0", "8 out:a out:q"};
	struct grain_graph *g = GRAPH_OF_TASKS("all", tasks);

	if (!g)
		return;
	check_grain(g, "0.2", "depends_on", "[\"0.0\",\"0.1\"]");
	check_grain(g, "0.3", "depends_on", "[\"0.2\"]");
	check_grain(g, "0.4", "depends_on", "[\"0.2\"]");
	check_grain(g, "0.5", "depends_on", "[\"0.2\",\"0.3\",\"0.4\"]");
	check_grain(g, "0.6", "depends_on", "[\"0.5\"]");
	check_grain(g, "0.7", "depends_on", "[\"0.6\"]");
	check_round_trip(g, "all");
	grain_graph__free(g);
}

/* A taskwait with depend waits for those it names; the ordinary join is still the taskwait's. */
static void test_wait(void)
{
	static const char *const tasks[] = {"1 out:a",		 "2 in:a", "3 in:a", "4 out:b", "wait in:a",
					    "wait inout:a in:b", "5 in:a"};
	struct grain_graph *g = GRAPH_OF_TASKS("wait", tasks);
	struct grain_dependence d;
	char id[64];

	if (!g)
		return;
	check_grain(
		g, "0", "depend_waits",
		"[{\"join\":\"0/y0\",\"depends_on\":[\"0.0\"]},{\"join\":\"0/y1\",\"depends_on\":[\"0.1\","
		"\"0.2\",\"0.3\"]}]");
	check_joined(g, "0.3", "0", "0/j0");
	check_grain(g, "0.4", "depends_on", "[\"0.0\"]");
	CHECK(grain_graph__dependence_count(g) == 7, "wait: edges to tasks and waits");
	grain_graph__dependence(g, 6, &d);
	grain_graph__join_id(g, d.join, id, sizeof id);
	CHECK(d.to == GRAIN_NONE && strcmp(id, "0/y1") == 0, "wait: the last edge leads to the second wait");
	/* Task 4 is created at 30 and holds up the second wait; task 5 is created 10 after that. */
	check_totals(g, "wait", 150 + 70, 30 + 40 + 10 + 50);
	check_round_trip(g, "wait");
	grain_graph__free(g);
}

/* Only children of the same task; dependences that are not known are counted. */
static void test_siblings(void)
{
	struct grain_graph *g =
		graph_of_text("siblings",
			      GRAPH_HEAD "1 1 0 create-begin task=1 src=2 flags=undeferred\n"
					 "1 1 0 depend task=1 addr=0x1 kind=out\n"
					 "2 1 0 task-begin task=1\n"
					 "3 1 0 create-begin task=2 src=2 flags=deferred\n"
					 "3 1 0 depend task=2 addr=0x1 kind=in\n"
					 "3 1 0 depend task=2 addr=0x5 kind=unread\n"
					 "4 1 0 create-end task=2\n5 1 0 task-end task=1\n"
					 "5 1 0 create-end task=1\n"
					 "6 1 0 create-begin task=3 src=2 flags=deferred\n"
					 "6 1 0 depend task=3 addr=0x1 kind=in\n7 1 0 create-end task=3\n"
					 "8 2 0 task-begin task=2\n9 2 0 task-end task=2\n"
					 "8 3 0 task-begin task=3\n9 3 0 task-end task=3\n");

	if (!g)
		return;
	check_grain(g, "0.0.0", "depends_on", "[]");
	check_grain(g, "0.1", "depends_on", "[\"0.0\"]");
	CHECK(grain_graph__totals(g)->unread_dependences == 5, "siblings: what is not known is counted");
	check_sound(g, "siblings");
	check_round_trip(g, "siblings");
	grain_graph__free(g);
}

int main(void)
{
	test_chain();
	test_sets();
	test_all();
	test_wait();
	test_siblings();
	CHECK_DONE();
}
