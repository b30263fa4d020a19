// SPDX-License-Identifier: BSD-2-Clause
/*
 * The account in the JSON that TALP of DLB 3.5 writes. Its keys and their order are DLB's, and each number is
 * what DLB would have measured: it sees a thread in or outside of a region, and its waits at barriers and for
 * tasks, but not locks, nor whether a thread has a CPU. What measuring cost is no part of it.
 */
#include "analysis/export/json_keys.h"
#include "analysis/include/grain_account.h"
#include "render/include/render_export.h"

#include <time.h>

#define PARTS_MOST 200
#define GLOBAL_REGION "Global"
#define FORMAT_VERSION "3.5"

/* One monitoring region. Times are sums over CPUs, except elapsed_ns. */
struct talp {
	uint64_t cpus, parallels, tasks, elapsed_ns;
	uint64_t useful_ns, imbalance_ns, scheduling_ns, serialization_ns;
};

static void take_causes(struct talp *t, const struct grain_account_part *part)
{
	const uint64_t *ns = part->cause_ns;

	t->parallels = part->regions;
	t->useful_ns = ns[GRAIN_CAUSE_USEFUL] + ns[GRAIN_CAUSE_SERIAL_WORK] + ns[GRAIN_CAUSE_LOCKS] +
		       ns[GRAIN_CAUSE_PREEMPTED] + ns[GRAIN_CAUSE_OVERSUBSCRIBED] + ns[GRAIN_CAUSE_BLOCKED];
	t->imbalance_ns = ns[GRAIN_CAUSE_IMBALANCE] + ns[GRAIN_CAUSE_LACK_OF_WORK];
	t->scheduling_ns = ns[GRAIN_CAUSE_FORK_JOIN] + ns[GRAIN_CAUSE_MANAGEMENT];
	t->serialization_ns = ns[GRAIN_CAUSE_SERIAL];
}

static double ratio(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

/* Without MPI, which is not observed, its efficiencies are 1. */
static void write_efficiencies(struct json_out *o, const struct talp *t)
{
	static const char *const mpi[] = {"mpiParallelEfficiency", "mpiCommunicationEfficiency",
					  "mpiLoadBalance", "mpiLoadBalanceIn", "mpiLoadBalanceOut"};
	uint64_t in = t->useful_ns + t->serialization_ns, balanced = in + t->imbalance_ns;
	uint64_t active = balanced + t->scheduling_ns;

	key_double(o, "parallelEfficiency", ratio(t->useful_ns, active));
	for (size_t i = 0; i < sizeof(mpi) / sizeof(mpi[0]); i++)
		key_double(o, mpi[i], t->useful_ns != 0);
	key_double(o, "ompParallelEfficiency", ratio(t->useful_ns, active));
	key_double(o, "ompLoadBalance", ratio(in, balanced));
	key_double(o, "ompSchedulingEfficiency", ratio(balanced, active));
	key_double(o, "ompSerializationEfficiency", ratio(t->useful_ns, in));
}

static void write_region(struct json_out *o, const struct talp *t)
{
	uint64_t useful_normalized = t->cpus ? t->useful_ns / t->cpus : 0;

	json_out__open(o, '{');
	key_uint(o, "numCpus", t->cpus);
	key_uint(o, "numMpiRanks", 0);
	key_uint(o, "numNodes", 1);
	key_uint(o, "avgCpus", t->cpus);
	key_uint(o, "cycles", 0);
	key_uint(o, "instructions", 0);
	key_uint(o, "numMeasurements", 1);
	key_uint(o, "numMpiCalls", 0);
	key_uint(o, "numOmpParallels", t->parallels);
	key_uint(o, "numOmpTasks", t->tasks);
	key_uint(o, "elapsedTime", t->elapsed_ns);
	key_uint(o, "usefulTime", t->useful_ns);
	key_uint(o, "mpiTime", 0);
	key_uint(o, "ompLoadImbalanceTime", t->imbalance_ns);
	key_uint(o, "ompSchedulingTime", t->scheduling_ns);
	key_uint(o, "ompSerializationTime", t->serialization_ns);
	key_uint(o, "usefulNormdApp", useful_normalized);
	key_uint(o, "mpiNormdApp", 0);
	key_uint(o, "maxUsefulNormdProc", useful_normalized);
	key_uint(o, "maxUsefulNormdNode", useful_normalized);
	key_uint(o, "mpiNormdOfMaxUseful", 0);
	write_efficiencies(o, t);
	json_out__close(o, '}');
}

/* Writes a key with text of the program. Parts have different definitions, but maybe equal names. */
static void key_name(struct json_out *o, const struct grain_graph *g, const struct grain_account_part *part,
		     size_t index)
{
	char name[512], number[32] = "";
	const char *source = g->definitions[part->definition].source;
	const char *function = g->definitions[part->definition].function;

	for (size_t i = 0; i < index && !number[0]; i++) {
		uint32_t other = grain_graph__account_part(g, i)->definition;

		if (other != GRAIN_NONE && !strcmp(g->definitions[other].source, source))
			snprintf(number, sizeof(number), " #%zu", index);
	}
	snprintf(name, sizeof(name), "%.300s%s%.100s%s", source, function[0] ? " " : "", function, number);
	json_out__string(o, name);
	json_out__colon(o);
}

/* Adds how long the regions of each part took, and how many tasks they made. `part_of`: by definition. */
static void take_regions(struct talp *parts, const uint32_t *part_of, const struct grain_graph *g)
{
	for (size_t i = 0; i < grain_graph__region_count(g); i++) {
		struct grain_region region;
		struct talp *t;

		grain_graph__region(g, (uint32_t)i, &region);
		if (region.definition == GRAIN_NONE || !part_of[region.definition])
			continue;
		t = &parts[part_of[region.definition] - 1];
		t->elapsed_ns += region.end_ns > region.start_ns ? region.end_ns - region.start_ns : 0;
		t->tasks += region.tasks;
		t->cpus = region.threads > t->cpus ? region.threads : t->cpus;
	}
}

static void write_parts(struct json_out *o, const struct grain_graph *g)
{
	struct talp parts[PARTS_MOST] = {0};
	uint32_t *part_of = calloc(g->definition_count + 1, sizeof(*part_of));
	size_t count = grain_graph__account_part_count(g);

	if (!part_of) {
		o->error = o->error ? o->error : -ENOMEM;
		return;
	}
	count = count < PARTS_MOST ? count : PARTS_MOST;
	for (size_t i = 0; i < count; i++) {
		const struct grain_account_part *part = grain_graph__account_part(g, i);

		take_causes(&parts[i], part);
		if (part->definition != GRAIN_NONE)
			part_of[part->definition] = (uint32_t)i + 1;
	}
	take_regions(parts, part_of, g);
	for (size_t i = 0; i < count; i++) {
		const struct grain_account_part *part = grain_graph__account_part(g, i);

		/* Of regions without definition it is not known how long they took. */
		if (part->definition == GRAIN_NONE)
			continue;
		key_name(o, g, part, i);
		write_region(o, &parts[i]);
	}
	free(part_of);
}

static void write_regions(struct json_out *o, const struct grain_graph *g)
{
	const struct grain_account *a = grain_graph__account(g);
	struct talp all = {.cpus = a->threads, .tasks = g->totals.tasks};

	take_causes(&all, &a->all);
	all.elapsed_ns = a->threads ? a->all.capacity_ns / a->threads : 0;
	json_out__key(o, "popMetrics");
	json_out__open(o, '{');
	json_out__key(o, GLOBAL_REGION);
	write_region(o, &all);
	write_parts(o, g);
	json_out__close(o, '}');
}

int export__talp(const struct grain_graph *graph, FILE *out, struct grain_error *err)
{
	const struct grain_account *a = grain_graph__account(graph);
	struct json_out *o;
	char when[32] = "";
	time_t now = time(NULL);
	struct tm utc;

	if (a->why) {
		snprintf(err->text, sizeof(err->text), "it has no account: %s", a->why);
		return -ENODATA;
	}
	o = json_out__new(out);
	if (!o)
		return -ENOMEM;
	if (gmtime_r(&now, &utc))
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &utc);
	json_out__open(o, '{');
	key_string(o, "dlbVersion", FORMAT_VERSION);
	key_string(o, "dlbGitVersion", "graind");
	key_string(o, "timestamp", when);
	json_out__key(o, "resources");
	json_out__open(o, '{');
	key_uint(o, "numCpus", a->threads);
	key_uint(o, "numNodes", 1);
	key_uint(o, "numMpiRanks", 0);
	json_out__close(o, '}');
	write_regions(o, graph);
	json_out__close(o, '}');
	json_out__line(o);
	return json_out__finish(o);
}
