// SPDX-License-Identifier: BSD-2-Clause
/*
 * What windows say of the whole run, against programs whose work is known: their windows are those that the
 * ceiling gives them, so that they end sooner where more happens.
 */
#include "analysis/include/grain_windows.h"
#include "daemon/graind/drain/ceiling.h"
#include "tests/unit/graph_text.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

/* Of what the sanitizers look for a few runs show as much; statistics need more. */
#ifdef __SANITIZE_ADDRESS__
#define SEEDS 10
#else
#define SEEDS 200
#endif
#define STEP_NS UINT64_C(500000)
#define WHOLE_NS UINT64_C(10000000000)
/* Of a region: so few are simulated soon. */
#define COST_NS 32000.0

/* A program goes from one to the other: regions of so much work, begun so often. */
struct phase {
	double work_ns, period_ns;
};

struct program {
	const char *name;
	struct phase phases[2];
	double mean_ns; /* of a phase's length */
	bool follows;	/* how long a window is depends on the phase that it is in */
};

static const struct program programs[] = {
	{"the same all the time", {{80000, 160000}, {80000, 160000}}, 50e6, false},
	{"phases of milliseconds", {{120000, 160000}, {200000, 240000}}, 5e6, false},
	{"phases of its windows' length", {{144000, 160000}, {240000, 800000}}, 30e6, true},
};

struct outcome {
	double truth_ns, work_ns; /* that there was, that was recorded */
	struct grain_windows windows;
};

static uint64_t state;

static double uniform(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state >> 11) / (double)(UINT64_C(1) << 53);
}

static double exponential(double mean)
{
	return -mean * log(1 - uniform());
}

struct run {
	const struct program *program;
	struct ceiling ceiling;
	FILE *log;
	double truth_ns, cost_ns, phase_end_ns;
	int phase;
	uint64_t begin_ns, now_ns, stepped_ns, regions;
};

static void tell_window(struct run *run, uint64_t end_ns)
{
	fprintf(run->log, "%llu 1 0 thread-end\n@window begin_ns=%llu end_ns=%llu cost_ns=0\n",
		(unsigned long long)end_ns, (unsigned long long)run->begin_ns, (unsigned long long)end_ns);
}

/* As graind does after each look at the rings. */
static void step(struct run *run)
{
	run->stepped_ns += STEP_NS;
	ceiling__spend(&run->ceiling, run->cost_ns, 100, run->stepped_ns);
	run->cost_ns = 0;
	if (ceiling__is_over(&run->ceiling, false)) {
		ceiling__end(&run->ceiling);
		tell_window(run, run->now_ns);
	} else if (ceiling__begins(&run->ceiling)) {
		run->begin_ns = run->now_ns;
	}
}

/* Work, and a wait at its end. */
static void tell_region(struct run *run, uint64_t work_ns, uint64_t wait_ns)
{
	unsigned long long id = ++run->regions, begin = run->now_ns, waits = begin + work_ns,
			   end = waits + wait_ns;

	fprintf(run->log,
		"%llu 1 0 region-begin region=%llu src=1 threads=1\n%llu 1 0 member-begin region=%llu num=0\n"
		"%llu 1 0 wait-begin kind=barrier src=4\n%llu 1 0 wait-end kind=barrier\n"
		"%llu 1 0 member-end region=%llu num=0\n%llu 1 0 region-end region=%llu\n",
		begin, id, begin, id, waits, end, end, id, end, id);
}

/* One region and what comes before the next one. */
static void go_on(struct run *run)
{
	const struct phase *phase;
	uint64_t work_ns, wait_ns;

	if ((double)run->now_ns > run->phase_end_ns) {
		run->phase = !run->phase;
		run->phase_end_ns = (double)run->now_ns + exponential(run->program->mean_ns);
	}
	phase = &run->program->phases[run->phase];
	work_ns = (uint64_t)(phase->work_ns * (0.8 + 0.4 * uniform()));
	run->truth_ns += (double)work_ns;
	wait_ns = (uint64_t)((phase->period_ns - phase->work_ns) * (0.8 + 0.4 * uniform()));
	if (run->ceiling.on) {
		tell_region(run, work_ns, wait_ns);
		run->cost_ns += COST_NS;
	}
	run->now_ns += work_ns + wait_ns;
}

/* Of the log's text, from memory; NULL. */
static struct grain_graph *graph_of(const char *text, size_t size)
{
	struct grain_error error;
	struct grain_graph *graph = NULL;
	char path[32];
	int fd = memfd_create("log", MFD_CLOEXEC);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, text, size) != (ssize_t)size ||
	    grain_graph__load(path, NULL, &graph, &error) != 0)
		CHECK(false, "the log of a simulated run is read");
	close(fd);
	return graph;
}

/* `percent` 0: there are no windows. */
static struct outcome simulate(const struct program *program, double percent, uint64_t seed,
			       uint64_t whole_ns)
{
	struct outcome out = {.truth_ns = 0};
	struct run run = {.program = program};
	struct grain_graph *graph;
	char *text = NULL;
	size_t size;

	state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	run.log = open_memstream(&text, &size);
	if (!run.log)
		return out;
	fputs(GRAPH_HEAD "@source 4 file=a.c line=40 func=main kind=barrier\n", run.log);
	ceiling__start(&run.ceiling, percent > 0 ? percent : 1e9, seed, 0);
	while (run.now_ns < whole_ns) {
		go_on(&run);
		while (run.stepped_ns + STEP_NS < run.now_ns)
			step(&run);
	}
	/* One of no length, between two. */
	if (!run.ceiling.on)
		run.begin_ns = run.now_ns;
	if (percent > 0)
		tell_window(&run, run.now_ns);
	fclose(run.log);
	graph = graph_of(text, size);
	free(text);
	out.truth_ns = run.truth_ns;
	if (graph) {
		grain_graph__windows(graph, &out.windows);
		out.work_ns = (double)grain_graph__totals(graph)->work_ns;
	}
	grain_graph__free(graph);
	return out;
}

/* What the estimates of many runs have in common: how far they are off the truth, and what they say
 * themselves. */
struct summary {
	double mean, deviation, stated; /* of it; the error that they state */
	double covered;			/* part of them that are within two of their errors */
};

static struct summary simulate_many(const struct program *program)
{
	struct summary out = {.mean = 0};
	double sum = 0, squares = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct outcome run = simulate(program, 2, seed, WHOLE_NS);
		double off = run.windows.work_ns.value - run.truth_ns;

		sum += off;
		squares += off * off;
		out.stated += run.windows.work_ns.error / SEEDS;
		out.covered += (fabs(off) < 2 * run.windows.work_ns.error) / (double)SEEDS;
		if (seed == 1)
			CHECK(run.windows.windows > 5 && run.windows.recorded_ns < run.windows.whole_ns / 3,
			      "%s: a small part is recorded, in %zu windows", program->name,
			      run.windows.windows);
	}
	out.mean = sum / SEEDS;
	out.deviation = sqrt(squares / SEEDS - out.mean * out.mean);
	return out;
}

int main(void)
{
	struct outcome whole = simulate(&programs[1], 0, 1, WHOLE_NS / 10);
	struct summary s;

	CHECK(whole.windows.windows == 0 && fabs(whole.work_ns - whole.truth_ns) < 1,
	      "all that is recorded is the truth");
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		const char *name = programs[i].name;

		s = simulate_many(&programs[i]);
		if (SEEDS < 100)
			continue;
		CHECK(s.stated > 0.7 * s.deviation && s.stated < 1.4 * s.deviation,
		      "%s: the error that is stated is that of the estimates: %.2f %% and %.2f %%", name,
		      100 * s.stated / (double)WHOLE_NS, 100 * s.deviation / (double)WHOLE_NS);
		if (programs[i].follows) {
			/* Windows end sooner in its busy times, which so have more of them. */
			CHECK(s.mean > 0 && s.mean < s.stated && s.covered > 0.7,
			      "%s: too much, by less than a standard error (%.2f), %.0f %% within "
			      "two",
			      name, s.mean / s.stated, 100 * s.covered);
			continue;
		}
		CHECK(fabs(s.mean) < 4 * s.deviation / sqrt(SEEDS),
		      "%s: the mean of %d estimates is off by %.1f of its standard errors", name, SEEDS,
		      s.mean / s.deviation * sqrt(SEEDS));
		CHECK(s.covered > 0.89 && s.covered <= 0.995, "%s: %.1f %% within two standard errors", name,
		      100 * s.covered);
	}
	CHECK_DONE();
}
