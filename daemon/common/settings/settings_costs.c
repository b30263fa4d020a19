// SPDX-License-Identifier: BSD-2-Clause
/* Waits that spin, threads that migrate, and memory far from its threads. */
#include "daemon/common/settings/settings.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* What a migration costs: a thread fills its caches anew. */
#define MIGRATION_SECONDS 50e-6
/* Migrations that cost a smaller part of the threads' time are left out. */
#define WORTH 0.02

bool settings__judge_spinning(const struct settings_facts *facts, struct settings_finding *out)
{
	const struct settings_load load = settings__load(facts, false);
	const unsigned int count = cpus__count(&load.cpus);
	char setting[SETTINGS_VALUE_MAX + 32];
	const char *cure;

	if (load.threads < 2 || !settings_load__contended(&load) ||
	    !settings_environment__spins(&facts->environment, setting, sizeof(setting), &cure))
		return false;
	out->kind = SETTINGS_SPINNING;
	out->threads = load.threads;
	out->cpus = count;
	out->waited = load.waited / load.runnable;
	snprintf(out->sentence, sizeof(out->sentence),
		 "threads that wait keep their CPUs (%.120s), while %s threads want them", setting,
		 load.threads > count ? "its other" : "other programs'");
	snprintf(out->cure, sizeof(out->cure), "%s", cure);
	return true;
}

bool settings__judge_migrations(const struct settings_facts *facts, struct settings_finding *out)
{
	const struct settings_load load = settings__load(facts, false);
	double migrations = 0;
	bool nodes = false;

	if (load.threads < 2 || load.threads > cpus__count(&load.cpus) || settings_load__contended(&load) ||
	    facts->environment.bind[0] || facts->environment.places[0] ||
	    facts->environment.gomp_affinity[0] || facts->environment.kmp_affinity[0])
		return false;
	for (size_t i = 0; i < facts->thread_count; i++) {
		const struct settings_thread *t = &facts->threads[i];

		if (t->process || t->runnable < SETTINGS_BUSY || cpus__count(&t->cpus) < 2 ||
		    t->migrations < 0)
			continue;
		migrations += t->migrations;
		nodes |= __builtin_popcountll(t->nodes) > 1 && t->migrations >= 1;
	}
	if (!nodes && migrations * MIGRATION_SECONDS < WORTH * load.runnable)
		return false;
	out->kind = SETTINGS_MIGRATIONS;
	out->threads = load.threads;
	out->cpus = cpus__count(&load.cpus);
	snprintf(out->sentence, sizeof(out->sentence),
		 "its %u busy threads change the CPU %.0f times a second%s", load.threads, migrations,
		 nodes ? ", and the NUMA node with it" : "");
	snprintf(out->cure, sizeof(out->cure), "OMP_PROC_BIND=true");
	return true;
}

/* The nodes of the CPUs to which busy threads are bound. */
static uint64_t nodes_of(const struct settings_facts *facts, const struct settings_load *load)
{
	uint64_t nodes = 0;

	for (unsigned int cpu = 0; cpu < CPUS_MAX; cpu++) {
		if (cpus__has(&load->cpus, cpu) && facts->node[cpu] < 64)
			nodes |= 1ULL << facts->node[cpu];
	}
	return nodes;
}

bool settings__judge_memory(const struct settings_facts *facts, struct settings_finding *out)
{
	const struct settings_load load = settings__load(facts, false);
	const struct settings_environment *e = &facts->environment;
	bool binds = (e->bind[0] && strcasecmp(e->bind, "false")) || e->places[0] || e->gomp_affinity[0];
	uint64_t nodes = nodes_of(facts, &load);

	if (facts->nodes < 2 || !load.threads)
		return false;
	out->kind = SETTINGS_MEMORY;
	out->threads = load.threads;
	out->cpus = cpus__count(&load.cpus);
	if (facts->bound_nodes && nodes & ~facts->bound_nodes) {
		snprintf(out->sentence, sizeof(out->sentence),
			 "its memory is bound to NUMA nodes that only some of its threads are on");
		snprintf(out->cure, sizeof(out->cure), "numactl --localalloc");
	} else if (facts->memory_nodes && nodes & ~facts->memory_nodes) {
		snprintf(out->sentence, sizeof(out->sentence),
			 "its cpuset has CPUs of NUMA nodes whose memory it may not use");
		snprintf(out->cure, sizeof(out->cure), "cpuset.mems with the nodes of cpuset.cpus");
	} else if (facts->interleaved && binds && load.threads > 1) {
		snprintf(out->sentence, sizeof(out->sentence),
			 "its memory is interleaved over the NUMA nodes, though its threads are bound: what "
			 "they touch first could lie on their own node");
		snprintf(out->cure, sizeof(out->cure), "numactl --localalloc");
	} else {
		return false;
	}
	return true;
}
