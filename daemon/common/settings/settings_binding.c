// SPDX-License-Identifier: BSD-2-Clause
/* Threads bound where they are in each other's way, or in the way of others, while other CPUs are free. */
#include "daemon/common/settings/settings.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static unsigned int cores_of(const struct settings_facts *facts, const struct cpus *cpus)
{
	struct cpus cores = {{0}};

	for (unsigned int cpu = 0; cpu < CPUS_MAX; cpu++) {
		if (cpus__has(cpus, cpu))
			cpus__add(&cores, facts->core[cpu]);
	}
	return cpus__count(&cores);
}

/* One CPU of each core, those whose core has no CPU in `used`. */
static struct cpus free_cores(const struct settings_facts *facts, const struct cpus *among,
			      const struct cpus *used)
{
	struct cpus out = {{0}}, cores = {{0}};

	for (unsigned int cpu = 0; cpu < CPUS_MAX; cpu++) {
		if (cpus__has(used, cpu))
			cpus__add(&cores, facts->core[cpu]);
	}
	for (unsigned int cpu = 0; cpu < CPUS_MAX; cpu++) {
		if (!cpus__has(among, cpu) || cpus__has(&cores, facts->core[cpu]))
			continue;
		cpus__add(&out, cpu);
		cpus__add(&cores, facts->core[cpu]);
	}
	return out;
}

static void taskset(const struct settings_facts *facts, const struct cpus *cpus, struct settings_finding *out)
{
	char list[96];

	snprintf(out->cure, sizeof(out->cure), "taskset -apc %s %d", cpus__text(cpus, list, sizeof(list)),
		 (int)facts->processes[0].pid);
}

/* The cure for threads that are bound to too few CPUs: the variable that binds them, or else a command. */
static void cure_wider(const struct settings_facts *facts, const struct cpus *cpus, unsigned int threads,
		       struct settings_finding *out)
{
	const struct settings_environment *e = &facts->environment;
	char list[96];

	if (e->places[0])
		snprintf(out->cure, sizeof(out->cure), "OMP_PLACES=%s",
			 cores_of(facts, cpus) >= threads ? "cores" : "threads");
	else if (e->gomp_affinity[0])
		snprintf(out->cure, sizeof(out->cure), "GOMP_CPU_AFFINITY=%s",
			 cpus__text(cpus, list, sizeof(list)));
	else if (e->kmp_affinity[0])
		snprintf(out->cure, sizeof(out->cure), "KMP_AFFINITY=scatter");
	else if (!strcasecmp(e->bind, "master") || !strcasecmp(e->bind, "primary"))
		snprintf(out->cure, sizeof(out->cure), "OMP_PROC_BIND=spread");
	else
		taskset(facts, cpus, out);
}

bool settings__judge_few_cpus(const struct settings_facts *facts, struct settings_finding *out)
{
	const struct settings_load load = settings__load(facts, false);
	const struct cpus usable = settings__usable(facts);
	const unsigned int count = cpus__count(&load.cpus);
	struct cpus others = cpus__without(&usable, &load.cpus), taken, better;
	char list[96];
	pid_t other;

	taken = settings__taken(facts, &others, &other);
	others = cpus__without(&others, &taken);
	if (load.threads < 2 || load.threads <= count || !count || !cpus__count(&others) ||
	    !settings_load__contended(&load) || (facts->quota > 0 && facts->quota < count + 1))
		return false;
	better = cpus__either(&load.cpus, &others);
	out->kind = SETTINGS_FEW_CPUS;
	out->threads = load.threads;
	out->cpus = count;
	out->waited = load.waited / load.runnable;
	snprintf(out->sentence, sizeof(out->sentence),
		 "%u busy threads are bound to CPU %s, though it may use %s", load.threads,
		 cpus__text(&load.cpus, list, sizeof(list)), cpus__text(&better, (char[96]){0}, 96));
	cure_wider(facts, &better, load.threads, out);
	return true;
}

bool settings__judge_siblings(const struct settings_facts *facts, struct settings_finding *out)
{
	const struct settings_load load = settings__load(facts, false);
	const struct cpus usable = settings__usable(facts);
	const unsigned int cores = cores_of(facts, &load.cpus), count = cpus__count(&load.cpus);
	struct cpus taken, used, other_cores, own_cores, none = {{0}}, better;
	char list[96];
	pid_t other;

	taken = settings__taken(facts, &usable, &other);
	used = cpus__either(&load.cpus, &taken);
	other_cores = free_cores(facts, &usable, &used);
	if (load.threads < 2 || load.threads > count || load.threads <= cores || !cpus__count(&other_cores) ||
	    (facts->quota > 0 && facts->quota < load.threads))
		return false;
	own_cores = free_cores(facts, &load.cpus, &none);
	better = cpus__either(&own_cores, &other_cores);
	better = cpus__first(&better, load.threads);
	out->kind = SETTINGS_SIBLINGS;
	out->threads = load.threads;
	out->cpus = count;
	out->waited = load.waited / load.runnable;
	snprintf(out->sentence, sizeof(out->sentence),
		 "%u busy threads are bound to CPUs %s, which are %u core%s; other cores are free",
		 load.threads, cpus__text(&load.cpus, list, sizeof(list)), cores, cores == 1 ? "" : "s");
	if (facts->environment.places[0] || facts->environment.bind[0])
		snprintf(out->cure, sizeof(out->cure), "OMP_PLACES=cores OMP_PROC_BIND=spread");
	else
		taskset(facts, &better, out);
	return true;
}

/* "{1},{3}": a place for each CPU. */
static void cure_places(const struct cpus *cpus, struct settings_finding *out)
{
	size_t used = (size_t)snprintf(out->cure, sizeof(out->cure), "OMP_PLACES=\"");
	bool first = true;

	for (unsigned int cpu = 0; cpu < CPUS_MAX && used + 16 < sizeof(out->cure); cpu++) {
		if (!cpus__has(cpus, cpu))
			continue;
		used += (size_t)snprintf(out->cure + used, sizeof(out->cure) - used, "%s{%u}",
					 first ? "" : ",", cpu);
		first = false;
	}
	snprintf(out->cure + used, sizeof(out->cure) - used, "\"");
}

bool settings__judge_pinned(const struct settings_facts *facts, struct settings_finding *out)
{
	const struct settings_environment *e = &facts->environment;
	const struct settings_load load = settings__load(facts, false);
	const struct cpus usable = settings__usable(facts);
	const unsigned int count = cpus__count(&load.cpus);
	struct cpus together, taken, others;
	const char *command = "";
	pid_t other, any;
	char list[96];

	together = settings__taken(facts, &load.cpus, &other);
	taken = settings__taken(facts, &usable, &any);
	others = cpus__without(&usable, &taken);
	if (!load.threads || load.threads > count || count >= cpus__count(&usable) ||
	    !cpus__count(&together) || cpus__count(&others) < load.threads ||
	    !settings_load__contended(&load))
		return false;
	for (size_t i = 0; i < facts->process_count; i++) {
		if (facts->processes[i].pid == other)
			command = facts->processes[i].command;
	}
	others = cpus__first(&others, load.threads);
	out->kind = SETTINGS_PINNED;
	out->threads = load.threads;
	out->cpus = count;
	out->waited = load.waited / load.runnable;
	out->other = other;
	snprintf(out->sentence, sizeof(out->sentence),
		 "process %d (%s) is bound to the same CPUs (%s), and no job is bound to the others",
		 (int)other, command, cpus__text(&together, list, sizeof(list)));
	if (e->places[0] || e->bind[0])
		cure_places(&others, out);
	else if (e->gomp_affinity[0])
		snprintf(out->cure, sizeof(out->cure), "GOMP_CPU_AFFINITY=%s",
			 cpus__text(&others, list, sizeof(list)));
	else
		taskset(facts, &others, out);
	return true;
}
