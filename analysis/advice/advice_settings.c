// SPDX-License-Identifier: BSD-2-Clause
/*
 * Threads without a CPU: what the recording knows of settings says why, and which of them cures it. Without
 * such knowledge the advice is general.
 */
#include "analysis/advice/advice_text.h"
#include "analysis/advice/advisor.h"
#include "analysis/include/grain_account.h"

#include <stdlib.h>
#include <string.h>

/* What the threads had, and could have had. */
struct cpus_of {
	uint32_t threads;
	uint32_t used;	  /* CPUs on which they ran */
	uint32_t allowed; /* CPUs that cpuset and affinity allowed; 0: not known */
	uint32_t machine; /* CPUs of the machine; 0: not known */
	double quota;	  /* CPUs; 0: none */
	double room;	  /* the smallest of these; 0: not known */
};

/* Counts the numbers in "0-3,8". 0: it is no list. */
static uint32_t count_list(const char *list)
{
	uint64_t count = 0;

	while (list && *list >= '0' && *list <= '9') {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (last < first || last - first > UINT16_MAX)
			return 0;
		count += last - first + 1;
		list = *end == ',' ? end + 1 : end;
	}
	return list && !*list && count <= UINT16_MAX ? (uint32_t)count : 0;
}

/* On how many CPUs fragments began. */
static uint32_t count_used(const struct grain_graph *graph)
{
	static const uint32_t words = (UINT16_MAX + 1) / 64;
	uint64_t *seen = calloc(words, sizeof(*seen));
	uint32_t count = 0;

	for (size_t i = 0; seen && i < graph->place_count; i++)
		seen[graph->places[i].cpu / 64] |= 1ULL << graph->places[i].cpu % 64;
	for (uint32_t i = 0; seen && i < words; i++)
		count += (uint32_t)__builtin_popcountll(seen[i]);
	free(seen);
	return count;
}

static struct cpus_of cpus_of(const struct grain_graph *graph)
{
	const struct event_stream *stream = graph->stream;
	struct cpus_of c = {
		.threads = grain_graph__account(graph)->threads,
		.used = count_used(graph),
		.allowed = count_list(stream->numa.allowed_cpus),
		.machine = (uint32_t)stream->cpu_count,
		.quota = (double)stream->settings.quota / 1000,
	};

	/* A runtime that binds threads has also bound the thread whose affinity was read. */
	if (stream->settings.binds && c.allowed < c.machine)
		c.allowed = c.machine;
	c.room = c.allowed ? c.allowed : c.machine;
	if (c.quota > 0 && (c.quota < c.room || c.room <= 0))
		c.room = c.quota;
	return c;
}

static uint32_t threads_for(double cpus)
{
	return cpus < 1 ? 1 : cpus < UINT16_MAX ? (uint32_t)cpus : UINT16_MAX;
}

/* "2 CPUs that the quota of its cgroup allows". */
static const char *room_words(const struct cpus_of *c, char text[128])
{
	const char *who = c->quota > 0 && c->room == c->quota	  ? "that the quota of its cgroup allows"
			  : c->allowed && c->allowed < c->machine ? "that its cpuset or affinity allows"
								  : "of this machine";

	snprintf(text, 128, "%.4g CPU%s %s", c->room, c->room > 1 ? "s" : "", who);
	return text;
}

/* The setting that binds threads to more CPUs than this one does. */
static const char *wider(const char *binds)
{
	if (!binds)
		return "OMP_PROC_BIND=false, or OMP_PLACES=cores";
	if (!strncmp(binds, "OMP_PROC_BIND=", 14))
		return "OMP_PROC_BIND=spread";
	if (!strncmp(binds, "OMP_PLACES=", 11))
		return "OMP_PLACES=cores";
	if (!strncmp(binds, "KMP_AFFINITY=", 13))
		return "KMP_AFFINITY=scatter";
	return "OMP_PLACES=cores instead";
}

/* Too many threads for the CPUs, or threads that are bound to few of them. false: neither. */
static bool own_cpus(const struct event_settings *settings, const struct cpus_of *c, const char *time,
		     struct advice *out)
{
	char room[128], fewer[48] = "";
	bool too_many = c->room > 0 && c->threads > c->room + 0.99;
	uint32_t possible = c->threads < c->allowed ? c->threads : c->allowed;

	if (c->used && c->used < possible && (c->quota <= 0 || c->quota > c->used)) {
		snprintf(out->finding, sizeof out->finding,
			 "its %u threads ran on %u of the %u CPUs that they may use%s%.100s, and had none "
			 "for %s",
			 c->threads, c->used, c->allowed, settings->binds ? ", with " : "",
			 settings->binds ? settings->binds : "", time);
		if (too_many)
			snprintf(fewer, sizeof fewer, " and OMP_NUM_THREADS=%u", threads_for(c->room));
		snprintf(out->text, sizeof out->text, "let them run on all of these: %s%s",
			 wider(settings->binds), fewer);
		return true;
	}
	if (!too_many)
		return false;
	snprintf(out->finding, sizeof out->finding, "%u threads on the %s: they had none for %s", c->threads,
		 room_words(c, room), time);
	snprintf(out->text, sizeof out->text, "use as many threads as it has CPUs: OMP_NUM_THREADS=%u%s%s",
		 threads_for(c->room), settings->spins ? ", and " : "",
		 settings->spins && settings->spins_cure ? settings->spins_cure : "");
	return true;
}

/* Other programs have the CPUs, and a setting makes this worse. false: none does. */
static bool others_cpus(const struct event_settings *settings, const struct cpus_of *c, const char *time,
			struct advice *out)
{
	uint32_t possible = c->allowed ? c->allowed : c->machine;

	if (c->quota > 0 && c->threads > c->quota + 0.99)
		return own_cpus(settings, c, time, out);
	if (settings->spins && settings->spins_cure) {
		snprintf(out->finding, sizeof out->finding,
			 "its %u threads could run for %s, but other programs have the CPUs; and while "
			 "threads "
			 "wait, %.100s keeps theirs",
			 c->threads, time, settings->spins);
		snprintf(out->text, sizeof out->text,
			 "%.100s where programs share CPUs; or run it on CPUs of its own",
			 settings->spins_cure);
		return true;
	}
	if (settings->binds && c->used && c->used < possible) {
		snprintf(out->finding, sizeof out->finding,
			 "its %u threads could run for %s, but other programs have the CPUs to which %.100s "
			 "binds "
			 "them",
			 c->threads, time, settings->binds);
		snprintf(out->text, sizeof out->text,
			 "bind them to CPUs where nothing else runs, or let them move (OMP_PROC_BIND=false)");
		return true;
	}
	return false;
}

void advice__without_cpu(const struct grain_graph *graph, bool own, double lost_ns, struct advice *out)
{
	const struct event_settings *settings = &graph->stream->settings;
	const struct cpus_of c = cpus_of(graph);
	char time[32];

	advice__time(lost_ns, time);
	if (own ? own_cpus(settings, &c, time, out) : others_cpus(settings, &c, time, out))
		return;
	snprintf(out->finding, sizeof out->finding, "its %u threads could run for %s, but %s have the CPUs",
		 c.threads, time, own ? "other threads of the program" : "other programs");
	snprintf(out->text, sizeof out->text, "%s",
		 own ? "use as many threads as it has CPUs (OMP_NUM_THREADS), and bind them "
		       "(OMP_PROC_BIND=true)"
		     : "run it on CPUs of its own, or with fewer threads (OMP_NUM_THREADS)");
}
