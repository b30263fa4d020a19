/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules: each seeded fault has its finding and cure, and clean processes have none. */
#include "daemon/common/settings/settings.h"
#include "tests/unit/check.h"

#include <stdlib.h>
#include <string.h>

#define THREADS 512
#define CLEAN_RUNS 1000

static struct settings_process processes[4];
static struct settings_thread threads[THREADS];
static struct settings_facts facts;

static struct cpus list(const char *text)
{
	struct cpus cpus;

	cpus__read(text, &cpus);
	return cpus;
}

/* A machine with `cpus` CPUs and `siblings` CPUs a core, on which process 100 with libgomp runs. */
static void machine(unsigned int cpus, unsigned int siblings)
{
	memset(&facts, 0, sizeof(facts));
	memset(processes, 0, sizeof(processes));
	processes[0] = (struct settings_process){.pid = 100, .command = "prog"};
	for (unsigned int cpu = 0; cpu < CPUS_MAX; cpu++) {
		facts.core[cpu] = (uint16_t)(cpu / siblings);
		if (cpu < cpus)
			cpus__add(&facts.online, cpu);
	}
	facts.seconds = 0.6;
	facts.nodes = 1;
	facts.environment.known = facts.maps_known = facts.libgomp = true;
	facts.processes = processes;
	facts.process_count = 1;
	facts.threads = threads;
}

/* `count` threads, each allowed on all CPUs of the list. */
static void run(uint32_t process, unsigned int count, const char *cpus, double runnable, double waited)
{
	for (unsigned int i = 0; i < count; i++, facts.thread_count++)
		threads[facts.thread_count] = (struct settings_thread){
			.tid = (pid_t)(101 + facts.thread_count),
			.process = process,
			.cpus = list(cpus),
			.runnable = runnable,
			.waited = waited,
			.nodes = 1,
		};
}

static void other(uint32_t process, const char *command, bool kin)
{
	processes[process] = (struct settings_process){.pid = (pid_t)(200 + process), .kin = kin};
	snprintf(processes[process].command, sizeof(processes[process].command), "%s", command);
	if (facts.process_count <= process)
		facts.process_count = process + 1;
}

/* `block`: variables that are ended by 0, as in the kernel's file. */
#define ENVIRONMENT(block) settings_environment__read(block "\0", sizeof(block), &facts.environment)

/* Demands one finding with that kind and cure. */
static void one(const char *kind, const char *cure, const char *what)
{
	struct settings_finding found[SETTINGS_FINDINGS_MAX];
	size_t count = settings__judge(&facts, found);

	CHECK(count == 1, "%s: one finding", what);
	CHECK_STR(count ? settings_kind__name(found[0].kind) : "", kind, "%s: its kind", what);
	CHECK_STR(count ? found[0].cure : "", cure, "%s: its cure", what);
	for (size_t i = 0; i < count && count > 1; i++)
		printf("# %s: %s\n", settings_kind__name(found[i].kind), found[i].sentence);
}

/* Demands that this finding is among those found. */
static void among(const char *kind, const char *cure, const char *what)
{
	struct settings_finding found[SETTINGS_FINDINGS_MAX];
	size_t count = settings__judge(&facts, found);
	bool is = false;

	for (size_t i = 0; i < count; i++)
		is |= !strcmp(settings_kind__name(found[i].kind), kind) && !strcmp(found[i].cure, cure);
	CHECK(is, "%s", what);
}

static void none(const char *what)
{
	struct settings_finding found[SETTINGS_FINDINGS_MAX];
	size_t count = settings__judge(&facts, found);

	CHECK(count == 0, "nothing is wrong: %s", what);
	for (size_t i = 0; i < count; i++)
		printf("# %s: %s\n", settings_kind__name(found[i].kind), found[i].sentence);
}

static void too_many_threads(void)
{
	machine(2, 1);
	ENVIRONMENT("OMP_NUM_THREADS=8");
	run(0, 8, "0-1", 1, 0.75);
	one("threads_over_cpus", "OMP_NUM_THREADS=2", "8 threads on 2 CPUs");

	machine(2, 1);
	ENVIRONMENT("OMP_NUM_THREADS=8");
	run(0, 8, "0-1", 0, 0);
	one("threads_over_cpus", "OMP_NUM_THREADS=2", "8 threads on 2 CPUs, while it is serial");

	machine(64, 1);
	facts.quota = 2;
	run(0, 64, "0-63", 0.9, 0.86);
	one("threads_over_quota", "OMP_NUM_THREADS=2", "64 threads, a quota of 2 CPUs");

	machine(64, 1);
	facts.quota = 0.5;
	run(0, 2, "0-63", 0.9, 0.6);
	one("threads_over_quota", "OMP_NUM_THREADS=1", "a quota of half a CPU");

	machine(64, 1);
	facts.cpuset = list("8-11");
	run(0, 16, "8-11", 1, 0.75);
	one("threads_over_affinity", "OMP_NUM_THREADS=4", "16 threads in a cpuset of 4");

	machine(64, 1);
	other(1, "theirs", false);
	run(0, 8, "0-3", 1, 0.5);
	run(1, 60, "4-63", 1, 0);
	one("threads_over_affinity", "OMP_NUM_THREADS=4", "8 threads on 4 CPUs, the others are taken");

	machine(4, 1);
	facts.libgomp = false;
	snprintf(facts.pool, sizeof(facts.pool), "OpenBLAS");
	run(0, 16, "0-3", 1, 0.75);
	one("threads_over_cpus", "OPENBLAS_NUM_THREADS=4", "a pool of 16 threads");

	machine(4, 1);
	facts.libgomp = false;
	run(0, 16, "0-3", 1, 0.75);
	one("threads_over_cpus", "its own option for the number of threads: 4", "threads without OpenMP");
}

static void multiplied(void)
{
	machine(4, 1);
	ENVIRONMENT("OMP_NUM_THREADS=4,4\0OMP_MAX_ACTIVE_LEVELS=2");
	run(0, 16, "0-3", 1, 0.75);
	one("nested_teams", "OMP_MAX_ACTIVE_LEVELS=1", "4 teams of 4");

	machine(4, 1);
	ENVIRONMENT("OMP_NUM_THREADS=4,4");
	run(0, 4, "0-3", 1, 0.75);
	facts.passing = 11.4;
	one("nested_teams", "OMP_MAX_ACTIVE_LEVELS=1", "inner teams whose threads come and go");

	machine(4, 1);
	ENVIRONMENT("OMP_NESTED=true");
	run(0, 16, "0-3", 1, 0.75);
	one("nested_teams", "OMP_MAX_ACTIVE_LEVELS=1", "OMP_NESTED");

	machine(4, 1);
	ENVIRONMENT("OMP_NUM_THREADS=4");
	run(0, 16, "0-3", 1, 0.75);
	one("nested_teams", "OMP_THREAD_LIMIT=4", "more threads than the environment asks for");

	machine(4, 1);
	facts.libomp = true;
	run(0, 7, "0-3", 1, 0.4);
	one("two_runtimes", "OMP_WAIT_POLICY=passive", "libgomp and libomp");

	machine(4, 1);
	ENVIRONMENT("OMP_NUM_THREADS=4");
	snprintf(facts.pool, sizeof(facts.pool), "OpenBLAS");
	run(0, 16, "0-3", 1, 0.75);
	one("library_pool", "OPENBLAS_NUM_THREADS=1", "OpenBLAS inside of OpenMP");

	machine(8, 1);
	for (uint32_t p = 1; p < 4; p++)
		other(p, "prog", true);
	for (uint32_t p = 0; p < 4; p++)
		run(p, 8, "0-7", 1, 0.75);
	one("processes_times_threads", "OMP_NUM_THREADS=2", "4 processes with 8 threads each on 8 CPUs");

	machine(8, 1);
	facts.libgomp = false;
	snprintf(facts.pool, sizeof(facts.pool), "OpenBLAS");
	other(1, "prog", true);
	other(2, "prog", true);
	run(0, 1, "0-7", 0, 0);
	run(1, 8, "0-7", 1, 0.5);
	run(2, 8, "0-7", 1, 0.5);
	one("processes_times_threads", "OPENBLAS_NUM_THREADS=4",
	    "a Python pool over OpenBLAS, seen from its parent");
}

static void bound(void)
{
	machine(2, 1);
	ENVIRONMENT("OMP_NUM_THREADS=2");
	run(0, 2, "0", 1, 0.5);
	one("bound_to_few_cpus", "taskset -apc 0-1 100", "taskset to one CPU");

	machine(4, 1);
	ENVIRONMENT("OMP_NUM_THREADS=4\0OMP_PLACES={0}\0OMP_PROC_BIND=true");
	run(0, 4, "0", 1, 0.75);
	one("bound_to_few_cpus", "OMP_PLACES=cores", "one place");

	machine(4, 1);
	ENVIRONMENT("GOMP_CPU_AFFINITY=0");
	run(0, 4, "0", 1, 0.75);
	one("bound_to_few_cpus", "GOMP_CPU_AFFINITY=0-3", "GOMP_CPU_AFFINITY");

	machine(4, 1);
	ENVIRONMENT("OMP_PROC_BIND=master");
	run(0, 4, "2", 1, 0.75);
	one("bound_to_few_cpus", "OMP_PROC_BIND=spread", "all in the place of the first thread");

	machine(4, 1);
	ENVIRONMENT("KMP_AFFINITY=proclist=[1],explicit");
	run(0, 4, "1", 1, 0.75);
	one("bound_to_few_cpus", "KMP_AFFINITY=scatter", "KMP_AFFINITY");

	machine(8, 2);
	run(0, 2, "0-1", 1, 0);
	one("bound_to_siblings", "taskset -apc 0,2 100", "two threads on the siblings of a core");

	machine(8, 2);
	ENVIRONMENT("OMP_PLACES=threads\0OMP_PROC_BIND=close");
	run(0, 1, "0", 1, 0);
	run(0, 1, "1", 1, 0);
	one("bound_to_siblings", "OMP_PLACES=cores OMP_PROC_BIND=spread", "places that are threads");

	machine(4, 1);
	ENVIRONMENT("OMP_PROC_BIND=true\0OMP_NUM_THREADS=2");
	other(1, "theirs", false);
	run(0, 1, "0", 1, 0.5);
	run(0, 1, "1", 1, 0.5);
	run(1, 1, "0", 1, 0.5);
	run(1, 1, "1", 1, 0.5);
	one("pinned_together", "OMP_PLACES=\"{2},{3}\"", "two jobs bound to the same CPUs");

	machine(4, 1);
	other(1, "theirs", false);
	run(0, 1, "0", 1, 0.5);
	run(1, 1, "0", 1, 0.5);
	one("pinned_together", "taskset -apc 1 100", "two programs by taskset on one CPU");
}

static void costs(void)
{
	machine(2, 1);
	ENVIRONMENT("OMP_NUM_THREADS=2\0GOMP_SPINCOUNT=infinity");
	run(0, 2, "0-1", 1, 0.3);
	one("spinning_waits", "GOMP_SPINCOUNT=0", "GOMP_SPINCOUNT beside other work");

	machine(2, 1);
	ENVIRONMENT("OMP_WAIT_POLICY=ACTIVE");
	run(0, 2, "0-1", 1, 0.3);
	one("spinning_waits", "OMP_WAIT_POLICY=passive", "OMP_WAIT_POLICY beside other work");

	machine(2, 1);
	ENVIRONMENT("KMP_BLOCKTIME=infinite");
	run(0, 2, "0-1", 1, 0.3);
	one("spinning_waits", "KMP_BLOCKTIME=0", "KMP_BLOCKTIME beside other work");

	machine(2, 1);
	ENVIRONMENT("OMP_WAIT_POLICY=active\0OMP_NUM_THREADS=4");
	run(0, 4, "0-1", 1, 0.5);
	among("threads_over_cpus", "OMP_NUM_THREADS=2", "too many threads that spin: too many");
	among("spinning_waits", "OMP_WAIT_POLICY=passive", "too many threads that spin: they spin");

	machine(8, 1);
	run(0, 4, "0-7", 1, 0);
	for (int i = 0; i < 4; i++)
		threads[i].migrations = 2000;
	one("migrations", "OMP_PROC_BIND=true", "2000 migrations a second");

	machine(8, 1);
	facts.nodes = 2;
	for (unsigned int cpu = 4; cpu < 8; cpu++)
		facts.node[cpu] = 1;
	run(0, 8, "0-7", 1, 0);
	facts.bound_nodes = 1;
	one("memory_policy", "numactl --localalloc", "membind to one node of two");
	facts.bound_nodes = 0;
	facts.interleaved = true;
	ENVIRONMENT("OMP_PROC_BIND=close");
	one("memory_policy", "numactl --localalloc", "interleave with bound threads");
}

static void clean(void)
{
	machine(2, 1);
	run(0, 2, "0-1", 1, 0.6);
	none("2 threads on 2 CPUs, beside other work");
	machine(2, 1);
	ENVIRONMENT("OMP_NUM_THREADS=2\0OMP_PROC_BIND=true\0OMP_WAIT_POLICY=active");
	run(0, 1, "0", 1, 0.02);
	run(0, 1, "1", 1, 0.03);
	none("bound threads that spin alone");
	machine(2, 1);
	ENVIRONMENT("OMP_NUM_THREADS=8");
	run(0, 1, "0-1", 1, 0.2);
	none("a serial program");
	machine(2, 1);
	run(0, 9, "0-1", 0.01, 0);
	none("an idle pool");
	machine(64, 2);
	run(0, 1, "5", 1, 0);
	none("one thread bound to a CPU");
	machine(64, 2);
	facts.cpuset = list("0-1");
	run(0, 2, "0-1", 1, 0);
	none("a cpuset that is one core");
	machine(8, 1);
	facts.quota = 1.5;
	run(0, 2, "0-7", 0.9, 0.15);
	none("a quota of 1.5 CPUs for two threads");
	machine(8, 1);
	other(1, "prog", true);
	run(0, 4, "0-3", 1, 0);
	run(1, 4, "4-7", 1, 0);
	none("two ranks with CPUs of their own");
	machine(2, 1);
	for (uint32_t p = 1; p < 4; p++)
		other(p, "prog", true);
	for (uint32_t p = 0; p < 4; p++)
		run(p, 1, "0-1", 1, 0.5);
	none("processes with one thread each");
	memset(&facts, 0, sizeof(facts));
	none("no facts at all");
}

static unsigned int below(unsigned int limit)
{
	return (unsigned int)rand() % limit;
}

/* Processes as they should be, of any size, beside others that do as they like with CPUs of their own. */
static void clean_runs(void)
{
	struct settings_finding found[SETTINGS_FINDINGS_MAX];
	unsigned int wrong = 0;

	for (unsigned int seed = 1; seed <= CLEAN_RUNS; seed++) {
		unsigned int siblings, cores, count, busy;
		char cpus[64];
		bool binds;

		srand(seed);
		siblings = 1 + below(2);
		cores = 1 + below(16);
		machine(2 * cores * siblings, siblings);
		count = 1 + below(cores);
		busy = below(count + 1);
		binds = below(2);
		if (binds)
			ENVIRONMENT("OMP_PROC_BIND=close\0OMP_PLACES=cores");
		facts.environment.threads[0] = below(2) ? count : 0;
		facts.quota = below(3) ? 0 : count;
		for (unsigned int i = 0; i < count; i++) {
			snprintf(cpus, sizeof(cpus), binds ? "%u-%u" : "0-%u",
				 binds ? i * siblings : cores * siblings - 1, i * siblings + siblings - 1);
			run(0, 1, cpus, i < busy ? 0.3 + below(70) / 100. : 0.01, below(3) / 100.);
			threads[facts.thread_count - 1].migrations = below(20);
		}
		other(1, "theirs", false);
		snprintf(cpus, sizeof(cpus), "%u-%u", cores * siblings, 2 * cores * siblings - 1);
		run(1, 1 + below(8), cpus, 1, 0.5);
		if (settings__judge(&facts, found)) {
			printf("# seed %u: %s: %s\n", seed, settings_kind__name(found[0].kind),
			       found[0].sentence);
			wrong++;
		}
	}
	CHECK(wrong == 0, "no false alarm on %d clean processes", CLEAN_RUNS);
}

static void environment(void)
{
	struct settings_environment e = {0};
	const char block[] = "PATH=/bin\0OMP_NUM_THREADS=4,2,x\0NOTHING\0=\0OMP_PLACES=\0OMP_WAIT_POLICY=act";
	const char wrong[] = "OMP_NUM_THREADS=-1\0GOMP_SPINCOUNT=1000";
	const char *cure;
	char text[64];

	settings_environment__read(block, sizeof(block) - 1, &e);
	CHECK(e.known && e.threads[0] == 4 && e.threads[1] == 2 && !e.threads[2],
	      "a list of numbers of threads");
	CHECK(!e.wait[0], "a variable that is cut off is none");
	memset(&e, 0, sizeof(e));
	settings_environment__read(wrong, sizeof(wrong), &e);
	CHECK(!e.threads[0], "a wrong number is none");
	CHECK(!settings_environment__spins(&e, text, sizeof(text), &cure), "a short spin is none");
	memset(&e, 0, sizeof(e));
	settings_environment__read(NULL, 0, &e);
	CHECK(e.known, "an empty environment is known");
}

static void cpu_lists(void)
{
	struct cpus cpus = list("0-3,8,10-11\n");
	char text[64];

	CHECK(cpus__count(&cpus) == 7, "a list is read");
	CHECK_STR(cpus__text(&cpus, text, sizeof(text)), "0-3,8,10-11", "and written");
	CHECK_STR(cpus__text(&cpus, text, 12), "0-3,8...", "what does not fit is left out");
	CHECK(!cpus__read("1,a", &cpus) && !cpus__count(&cpus), "other text is no list");
	CHECK(cpus__read("0-99999999999", &cpus) && cpus__count(&cpus) == CPUS_MAX, "a list may be too long");
}

int main(void)
{
	too_many_threads();
	multiplied();
	bound();
	costs();
	clean();
	clean_runs();
	environment();
	cpu_lists();
	CHECK_DONE();
}
