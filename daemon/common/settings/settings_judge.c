// SPDX-License-Identifier: BSD-2-Clause
/* Asks all rules, and what they share: the load of a process, and the CPUs that it could use. */
#include "daemon/common/settings/settings.h"

const char *settings_kind__name(enum settings_kind kind)
{
	static const char *const names[SETTINGS_KINDS] = {
		[SETTINGS_OVER_QUOTA] = "threads_over_quota",
		[SETTINGS_OVER_AFFINITY] = "threads_over_affinity",
		[SETTINGS_OVER_MACHINE] = "threads_over_cpus",
		[SETTINGS_NESTED] = "nested_teams",
		[SETTINGS_TWO_RUNTIMES] = "two_runtimes",
		[SETTINGS_POOL] = "library_pool",
		[SETTINGS_PROCESSES] = "processes_times_threads",
		[SETTINGS_FEW_CPUS] = "bound_to_few_cpus",
		[SETTINGS_SIBLINGS] = "bound_to_siblings",
		[SETTINGS_SPINNING] = "spinning_waits",
		[SETTINGS_PINNED] = "pinned_together",
		[SETTINGS_MIGRATIONS] = "migrations",
		[SETTINGS_MEMORY] = "memory_policy",
	};

	return names[kind];
}

struct settings_load settings__load(const struct settings_facts *facts, bool kin)
{
	struct settings_load load = {0};
	struct cpus all = {{0}};

	for (size_t i = 0; i < facts->thread_count; i++) {
		const struct settings_thread *t = &facts->threads[i];

		if (t->process != 0 && !(kin && facts->processes[t->process].kin))
			continue;
		all = cpus__either(&all, &t->cpus);
		if (t->runnable < SETTINGS_BUSY)
			continue;
		load.threads++;
		load.runnable += t->runnable;
		load.waited += t->waited;
		load.cpus = cpus__either(&load.cpus, &t->cpus);
	}
	if (!load.threads)
		load.cpus = all;
	load.threads += (unsigned int)(facts->passing + 0.5);
	load.cpus = cpus__both(&load.cpus, &facts->online);
	return load;
}

bool settings_load__contended(const struct settings_load *load)
{
	return load->waited >= SETTINGS_CONTENDED * load->runnable && load->waited > 0;
}

struct cpus settings__usable(const struct settings_facts *facts)
{
	struct cpus usable = cpus__both(&facts->cpuset, &facts->online);

	return cpus__count(&usable) ? usable : facts->online;
}

struct cpus settings__taken(const struct settings_facts *facts, const struct cpus *among, pid_t *other)
{
	struct cpus taken = {{0}};

	*other = 0;
	for (size_t i = 0; i < facts->thread_count; i++) {
		const struct settings_thread *t = &facts->threads[i];
		struct cpus there = cpus__both(&t->cpus, among);

		if (t->process == 0 || t->runnable < SETTINGS_BUSY || !cpus__count(&there) ||
		    cpus__count(&t->cpus) >= cpus__count(&facts->online))
			continue;
		taken = cpus__either(&taken, &there);
		if (!*other)
			*other = facts->processes[t->process].pid;
	}
	return taken;
}

size_t settings__judge(const struct settings_facts *facts, struct settings_finding out[SETTINGS_FINDINGS_MAX])
{
	bool (*const rules[])(const struct settings_facts *, struct settings_finding *) = {
		settings__judge_few_cpus,   settings__judge_threads,  settings__judge_pinned,
		settings__judge_siblings,   settings__judge_spinning, settings__judge_memory,
		settings__judge_migrations,
	};
	size_t count = 0;

	if (!facts->process_count)
		return 0;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		out[count] = (struct settings_finding){0};
		count += rules[i](facts, &out[count]);
	}
	return count;
}
