/* SPDX-License-Identifier: BSD-2-Clause */
/* What the operating system's scheduler did to the grains, in the text summary. */
#include "analysis/include/grain_scheduler.h"
#include "render/text/summary.h"

#include <math.h>

#define NEIGHBOURS_SHOWN 8
#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

struct sum {
	struct grain_scheduled scheduled;
	uint64_t exec_ns;
};

static struct sum sum_of_grains(const struct grain_graph *graph)
{
	struct sum sum = {0};

	for (uint32_t i = 0; i < grain_graph__context_count(graph); i++) {
		struct grain_scheduled part;
		struct grain_context c;

		grain_graph__context(graph, i, &c);
		if (c.kind != GRAIN_TASK && c.kind != GRAIN_CHUNK)
			continue;
		sum.exec_ns += c.exec_ns;
		if (c.cpu_ns == c.exec_ns)
			continue;
		grain_graph__scheduled(graph, i, &part);
		sum.scheduled.off_ns += part.off_ns;
		sum.scheduled.ready_ns += part.ready_ns;
		sum.scheduled.preempted_ns += part.preempted_ns;
		sum.scheduled.preemptions += part.preemptions;
		sum.scheduled.migrations += part.migrations;
	}
	return sum;
}

/*
 * Returns the name of a neighbour's control group. The innermost part says most: a unit, a container, a step
 * of a job.
 */
static const char *name_group(const struct grain_neighbour *neighbour)
{
	const char *last = neighbour->cgroup;

	for (const char *at = last; *at; at++)
		if (*at == '/' && at[1])
			last = at + 1;
	return *last ? last : "-";
}

static void add_neighbour(const struct summary *s, struct columns *table, size_t index, uint64_t taken_ns)
{
	struct grain_neighbour n;
	char command[128];

	grain_graph__neighbour(s->graph, index, &n);
	if (n.own)
		snprintf(command, sizeof(command), "%s (own threads)", n.command);
	else if (n.processes > 1)
		snprintf(command, sizeof(command), "%s (%s processes)", n.command,
			 format__count(n.processes).text);
	else
		snprintf(command, sizeof(command), "%s (PID %lld)", n.command, (long long)n.pid);
	columns__add(table, command);
	columns__add(table, name_group(&n));
	summary__add_count(table, n.preemptions);
	summary__add_time(table, (double)n.taken_ns);
	columns__add_share(table, taken_ns ? (double)n.taken_ns / (double)taken_ns : 0);
}

static void tell_unseen(struct summary *s)
{
	uint64_t unseen = 0, lost = 0;
	char line[256];

	for (size_t i = 0; i < grain_graph__thread_count(s->graph); i++) {
		struct grain_thread t;

		grain_graph__thread(s->graph, i, &t);
		unseen += t.unseen;
		if (__builtin_add_overflow(lost, t.lost, &lost))
			lost = UINT64_MAX;
	}
	if (lost) {
		snprintf(
			line, sizeof(line),
			"%s records of switches were lost: times off the CPU are too short by what they told",
			format__count(lost).text);
		summary__paragraph(s, "  ", line);
	}
	if (!unseen)
		return;
	snprintf(line, sizeof(line),
		 "%s switch%s of the program's threads %s not told by the kernel: times on "
		 "the CPU are too long by what ran instead",
		 format__count(unseen).text, unseen == 1 ? "" : "es", unseen == 1 ? "was" : "were");
	summary__paragraph(s, "  ", line);
}

void summary__scheduler(struct summary *s)
{
	static const struct columns_column columns[] = {
		{.title = "CPU TAKEN BY", .left = true, .cuttable = true},
		{.title = "job or unit", .left = true, .cuttable = true, .optional = 2},
		{.title = "times"},
		{.title = "waited"},
		{.title = "of it", .bar = true, .optional = 1},
	};
	size_t count = grain_graph__neighbour_count(s->graph);
	struct columns table;
	struct sum sum;
	char line[256];

	if (grain_graph__scheduler_absent(s->graph))
		return;
	sum = sum_of_grains(s->graph);
	if (!sum.exec_ns || !sum.scheduled.off_ns)
		return;
	snprintf(line, sizeof(line), "SCHEDULER: grains were off their CPUs for %s %% of their time",
		 format__percent(100.0 * (double)sum.scheduled.off_ns / (double)sum.exec_ns).text);
	summary__heading(s, line);
	snprintf(line, sizeof(line),
		 "  %s waiting for a CPU, of it %s preempted (%s times); %s blocked; %s moves to another CPU",
		 format__time((double)sum.scheduled.ready_ns, "us").text,
		 format__time((double)sum.scheduled.preempted_ns, "us").text,
		 format__count(sum.scheduled.preemptions).text,
		 format__time((double)(sum.scheduled.off_ns - sum.scheduled.ready_ns), "us").text,
		 format__count(sum.scheduled.migrations).text);
	summary__paragraph(s, "  ", line + 2);
	tell_unseen(s);
	if (!count)
		return;
	summary__table(s, &table, columns, COUNT_OF(columns));
	for (size_t i = 0; i < count && i < NEIGHBOURS_SHOWN; i++)
		add_neighbour(s, &table, i, sum.scheduled.preempted_ns);
	summary__print(s, &table);
	summary__more(s, count, NEIGHBOURS_SHOWN, "neighbours");
}
