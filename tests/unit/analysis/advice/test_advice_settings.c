/* SPDX-License-Identifier: BSD-2-Clause */
/* Advice on threads without a CPU: the setting that the recording knows of stands in it. */
#include "tests/unit/check.h"
#include "tests/unit/graph_text.h"

#define THREADS 4

/*
 * A region whose threads are off their CPUs for most of the time, for another thread of the program (`own`)
 * or for another program. `meta`: further lines; `cpus`: on so many they run.
 */
static const char *advice(const char *meta, bool own, unsigned int cpus, bool finding)
{
	static char text[1024];
	char *log = NULL;
	size_t size;
	FILE *out = open_memstream(&log, &size);
	struct grain_graph *graph;
	struct grain_advice found;

	fprintf(out,
		"grain-log 1\n@machine host=h cores=4 sockets=1 nodes=1\n@cpu 0 core=0\n@cpu 1 core=1\n"
		"@cpu 2 core=2\n@cpu 3 core=3\n"
		"@process pid=1 uid=0 exe=/a cmd=a runtime=libgomp threads=%d\n"
		"@capture source=uprobes scheduler=1\n@neighbour 1 pid=%d command=x\n%s"
		"@source 1 file=a.c line=10 func=main kind=parallel\n",
		THREADS, own ? 1 : 77, meta);
	fprintf(out, "0 1 0 thread-begin\n100 1 0 region-begin region=1 src=1 threads=%d\n", THREADS);
	for (unsigned int i = 0; i < THREADS; i++) {
		unsigned int cpu = i % cpus;

		fprintf(out,
			"200 %u %u member-begin region=1 num=%u\n1000000 %u %u off-cpu reason=preempted "
			"by=1\n"
			"9000000 %u %u on-cpu reason=preempted\n10000000 %u %u wait-begin "
			"kind=barrier-implicit\n"
			"10000100 %u %u wait-end kind=barrier-implicit\n10000200 %u %u member-end region=1 "
			"num=%u\n",
			i + 1, cpu, i, i + 1, cpu, i + 1, cpu, i + 1, cpu, i + 1, cpu, i + 1, cpu, i);
	}
	fprintf(out, "10000400 1 0 region-end region=1\n10000500 1 0 thread-end\n");
	fclose(out);
	graph = graph_of_text("threads without a CPU", log);
	free(log);
	snprintf(text, sizeof(text), "no such advice");
	for (size_t i = 0; graph && i < grain_graph__advice_count(graph); i++) {
		grain_graph__advice(graph, i, &found);
		if (found.kind == (own ? GRAIN_ADVICE_OVERSUBSCRIBED : GRAIN_ADVICE_OTHER_PROGRAMS))
			snprintf(text, sizeof(text), "%s", finding ? found.finding : found.text);
	}
	grain_graph__free(graph);
	return text;
}

int main(void)
{
	CHECK_STR(advice("@allowed cpus=0-1 nodes=0\n", true, 2, true),
		  "4 threads on the 2 CPUs that its cpuset or affinity allows: they had none for 32.0 ms",
		  "more threads than the affinity allows");
	CHECK_STR(advice("@allowed cpus=0-1 nodes=0\n", true, 2, false),
		  "use as many threads as it has CPUs: OMP_NUM_THREADS=2", "the setting that cures it");
	CHECK_STR(advice("@allowed cpus=0-3 nodes=0\n@settings binds=\"OMP_PLACES={0}\"\n", true, 1, true),
		  "its 4 threads ran on 1 of the 4 CPUs that they may use, with OMP_PLACES={0}, and had none "
		  "for "
		  "32.0 ms",
		  "all threads in one place");
	CHECK_STR(advice("@allowed cpus=0-3 nodes=0\n@settings binds=\"OMP_PLACES={0}\"\n", true, 1, false),
		  "let them run on all of these: OMP_PLACES=cores", "the places that cure it");
	CHECK_STR(advice("@allowed cpus=0-3 nodes=0\n@settings binds=OMP_PROC_BIND=master\n", true, 1, false),
		  "let them run on all of these: OMP_PROC_BIND=spread", "the binding that cures it");
	CHECK_STR(advice("@allowed cpus=0-3 nodes=0\n@settings quota=1500\n", false, 4, true),
		  "4 threads on the 1.5 CPUs that the quota of its cgroup allows: they had none for 32.0 ms",
		  "more threads than the quota allows");
	CHECK_STR(advice("@allowed cpus=0-3 nodes=0\n@settings quota=2000\n", false, 4, false),
		  "use as many threads as it has CPUs: OMP_NUM_THREADS=2", "as many as the quota allows");
	CHECK_STR(advice("@allowed cpus=0-1 nodes=0\n@settings spins=OMP_WAIT_POLICY=active "
			 "spins_cure=OMP_WAIT_POLICY=passive\n",
			 true, 2, false),
		  "use as many threads as it has CPUs: OMP_NUM_THREADS=2, and OMP_WAIT_POLICY=passive",
		  "too many, and they spin");
	CHECK_STR(advice("@settings spins=GOMP_SPINCOUNT=infinity spins_cure=GOMP_SPINCOUNT=0\n", false, 4,
			 false),
		  "GOMP_SPINCOUNT=0 where programs share CPUs; or run it on CPUs of its own",
		  "they spin beside other programs");
	CHECK_STR(advice("@allowed cpus=0-3 nodes=0\n@settings binds=GOMP_CPU_AFFINITY=0\n", false, 1, false),
		  "bind them to CPUs where nothing else runs, or let them move (OMP_PROC_BIND=false)",
		  "bound where other programs run");
	CHECK_STR(advice("", false, 4, false),
		  "run it on CPUs of its own, or with fewer threads (OMP_NUM_THREADS)", "nothing is known");
	CHECK_STR(advice("@allowed cpus=9-1,x nodes=0\n@settings quota=18446744073709551615\n", false, 4,
			 false),
		  "run it on CPUs of its own, or with fewer threads (OMP_NUM_THREADS)",
		  "nonsense is nothing");
	CHECK_DONE();
}
