// SPDX-License-Identifier: BSD-2-Clause
/* More threads than CPUs: which limit they exceed, and what multiplies them. */
#include "daemon/common/settings/settings.h"

#include <stdio.h>
#include <string.h>

/* How many threads can run at a time, and what limits them. */
struct room {
	enum settings_kind limit;
	unsigned int threads; /* at least 1 */
	double cpus;	      /* a quota may be 1.5 */
	char words[64];	      /* "its affinity allows" */
};

/* Idle threads count too: those that are busy now may be bound to some of the CPUs. */
static struct room room_of(const struct settings_facts *facts)
{
	struct settings_finding few = {0};
	struct cpus usable = settings__usable(facts), cpus = {{0}};
	bool bound = settings__judge_few_cpus(facts, &few);

	for (size_t i = 0; i < facts->thread_count; i++) {
		if (facts->threads[i].process == 0)
			cpus = cpus__either(&cpus, &facts->threads[i].cpus);
	}
	cpus = bound ? usable : cpus__both(&cpus, &facts->online);

	unsigned int count = cpus__count(&cpus);
	struct room room = {.limit = SETTINGS_OVER_MACHINE, .threads = count ? count : 1, .cpus = count};

	if (facts->quota > 0 && facts->quota < count) {
		room.limit = SETTINGS_OVER_QUOTA;
		room.cpus = facts->quota;
		room.threads = facts->quota < 1 ? 1 : (unsigned int)facts->quota;
		snprintf(room.words, sizeof(room.words), "the quota of its cgroup (cpu.max) allows");
	} else if (count < cpus__count(&facts->online)) {
		room.limit = SETTINGS_OVER_AFFINITY;
		snprintf(room.words, sizeof(room.words), "its %s allows",
			 count < cpus__count(&usable) ? "affinity" : "cpuset");
	} else {
		snprintf(room.words, sizeof(room.words), "this machine has");
	}
	return room;
}

/* A quota of 1.5 CPUs is used by two threads, not by three. */
static bool exceeds(double threads, const struct room *room)
{
	return threads > room->cpus + 0.99;
}

static const char *pool_variable(const char *pool)
{
	return strstr(pool, "blis") ? "BLIS_NUM_THREADS" : "OPENBLAS_NUM_THREADS";
}

/* Processes of one program whose teams or pools together want more CPUs than there are. */
static bool judge_processes(const struct settings_facts *facts, const struct room *room,
			    struct settings_finding *out)
{
	const struct settings_load all = settings__load(facts, true);
	unsigned int processes = 0, largest = 0, share;

	for (size_t p = 0; p < facts->process_count; p++) {
		unsigned int threads = 0;

		for (size_t i = 0; (p == 0 || facts->processes[p].kin) && i < facts->thread_count; i++) {
			const struct settings_thread *t = &facts->threads[i];
			struct cpus same = cpus__both(&t->cpus, &all.cpus);

			threads += t->process == p && t->runnable >= SETTINGS_BUSY && cpus__count(&same);
		}
		processes += threads > 0;
		largest = threads > largest ? threads : largest;
	}
	if (processes < 2 || largest < 2 || !exceeds(all.threads, room) || !settings_load__contended(&all))
		return false;
	share = room->threads / processes ? room->threads / processes : 1;
	out->kind = SETTINGS_PROCESSES;
	out->threads = all.threads;
	out->waited = all.waited / all.runnable;
	snprintf(out->sentence, sizeof(out->sentence),
		 "%u processes of this program have %u busy threads together, but %s %.4g CPUs", processes,
		 all.threads, room->words, room->cpus);
	snprintf(out->cure, sizeof(out->cure), "%s=%u",
		 facts->pool[0] && !facts->libgomp && !facts->libomp ? pool_variable(facts->pool)
								     : "OMP_NUM_THREADS",
		 share);
	return true;
}

/* Two pools in one process, or teams in teams. */
static bool judge_multiplied(const struct settings_facts *facts, const struct room *room,
			     const struct settings_load *load, struct settings_finding *out)
{
	const struct settings_environment *e = &facts->environment;
	bool runtime = facts->libgomp || facts->libomp;
	bool nested = e->active_levels != 1 && (e->active_levels > 1 || e->threads[1] > 1);

	if (facts->libgomp && facts->libomp) {
		out->kind = SETTINGS_TWO_RUNTIMES;
		snprintf(out->sentence, sizeof(out->sentence),
			 "libgomp and libomp are both loaded, and each has threads: %u are busy, but %s %.4g "
			 "CPUs",
			 load->threads, room->words, room->cpus);
		snprintf(out->cure, sizeof(out->cure), "OMP_WAIT_POLICY=passive");
	} else if (nested) {
		out->kind = SETTINGS_NESTED;
		snprintf(out->sentence, sizeof(out->sentence),
			 "teams inside of teams have %u busy threads together, but %s %.4g CPUs",
			 load->threads, room->words, room->cpus);
		snprintf(out->cure, sizeof(out->cure), "OMP_MAX_ACTIVE_LEVELS=1");
	} else if (facts->pool[0] && runtime && e->pool_threads != 1) {
		out->kind = SETTINGS_POOL;
		snprintf(out->sentence, sizeof(out->sentence),
			 "%s has threads beside those of OpenMP: %u are busy, but %s %.4g CPUs", facts->pool,
			 load->threads, room->words, room->cpus);
		snprintf(out->cure, sizeof(out->cure), "%s=1", pool_variable(facts->pool));
	} else if (e->threads[0] && runtime) {
		out->kind = SETTINGS_NESTED;
		snprintf(out->sentence, sizeof(out->sentence),
			 "%u threads are busy though OMP_NUM_THREADS=%u: inner teams or num_threads clauses "
			 "start more; %s %.4g CPUs",
			 load->threads, e->threads[0], room->words, room->cpus);
		snprintf(out->cure, sizeof(out->cure), "OMP_THREAD_LIMIT=%u", room->threads);
	} else {
		return false;
	}
	return true;
}

static void judge_plain(const struct settings_facts *facts, const struct room *room,
			struct settings_finding *out)
{
	bool openmp = facts->libgomp || facts->libomp || !facts->maps_known || facts->environment.threads[0];

	out->kind = room->limit;
	snprintf(out->sentence, sizeof(out->sentence), "%u threads, but %s %.4g CPU%s", out->threads,
		 room->words, room->cpus, room->cpus > 1 ? "s" : "");
	if (openmp)
		snprintf(out->cure, sizeof(out->cure), "OMP_NUM_THREADS=%u", room->threads);
	else if (facts->pool[0])
		snprintf(out->cure, sizeof(out->cure), "%s=%u", pool_variable(facts->pool), room->threads);
	else
		snprintf(out->cure, sizeof(out->cure), "its own option for the number of threads: %u",
			 room->threads);
}

bool settings__judge_threads(const struct settings_facts *facts, struct settings_finding *out)
{
	const struct settings_load load = settings__load(facts, false);
	const struct room room = room_of(facts);
	unsigned int asked = facts->environment.threads[0], alive = 0;
	bool busy = exceeds(load.threads, &room) && settings_load__contended(&load);

	for (size_t i = 0; i < facts->thread_count; i++)
		alive += facts->threads[i].process == 0;
	out->cpus = room.threads;
	if (judge_processes(facts, &room, out))
		return true;
	if (!busy && !(asked && exceeds(asked, &room) && alive >= asked))
		return false;
	out->threads = busy && load.threads > asked ? load.threads : asked ? asked : load.threads;
	out->waited = load.runnable > 0 ? load.waited / load.runnable : 0;
	if (exceeds(asked, &room) || !judge_multiplied(facts, &room, &load, out))
		judge_plain(facts, &room, out);
	else
		out->threads = load.threads;
	return true;
}
