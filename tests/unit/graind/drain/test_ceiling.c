// SPDX-License-Identifier: BSD-2-Clause
/* What a ceiling lets recording cost, against programs that are simulated. */
#include "daemon/graind/drain/ceiling.h"
#include "tests/unit/check.h"

#include <math.h>

#define STEP_NS UINT64_C(500000)
#define SECOND_NS UINT64_C(1000000000)

struct outcome {
	double cost_ns;	    /* in all */
	double worst_burst; /* cost beyond the share, of any time from its beginning on */
	uint64_t windows, recorded_ns;
	uint64_t phase_sum; /* of the program's own rhythm, at the beginning of windows, in steps */
};

/* What putting probes in place takes for each window, and taking them out, in the step after its end. */
static double setting_ns, taking_ns;

/*
 * Simulates a program that costs `rate` while it is recorded, from `from_ns` on. Its regions never end
 * (`inside`), or have no length.
 */
static struct outcome simulate(double percent, double rate, uint64_t from_ns, uint64_t ns, bool inside,
			       uint64_t seed)
{
	struct outcome out = {0};
	struct ceiling ceiling;
	double least = 0, taken = 0;

	ceiling__start(&ceiling, percent, seed, 0);
	for (uint64_t now = STEP_NS; now <= ns; now += STEP_NS) {
		double cost = ceiling.on && now > from_ns ? rate * (double)STEP_NS : taken;
		double owed;

		taken = 0;
		out.cost_ns += cost;
		out.recorded_ns += ceiling.on ? STEP_NS : 0;
		owed = out.cost_ns - percent / 100 * (double)now;
		least = owed < least ? owed : least;
		out.worst_burst = fmax(out.worst_burst, owed - least);
		ceiling__spend(&ceiling, cost, 1e9, now);
		if (ceiling__is_over(&ceiling, inside)) {
			ceiling__end(&ceiling);
			taken = taking_ns;
		} else if (ceiling__begins(&ceiling)) {
			out.cost_ns += setting_ns;
			ceiling__set(&ceiling, setting_ns);
			out.windows++;
			out.phase_sum += now / STEP_NS % 40;
		}
	}
	return out;
}

/* The ceiling is kept, whatever a program costs, and used. */
static void test_rates(void)
{
	const double rates[] = {0.021, 0.1, 0.5, 1, 4};
	struct outcome out;

	out = simulate(2, 0.019, 0, 60 * SECOND_NS, true, 1);
	CHECK(out.windows == 0 && out.recorded_ns == 60 * SECOND_NS,
	      "what costs less is recorded all the time");
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		out = simulate(2, rates[i], 0, 60 * SECOND_NS, true, i);
		/* What a window costs more than was saved, its last step and what the quiet time before
		 * saved. */
		CHECK(out.cost_ns <= 0.02 * 60e9 + 8e6 + rates[i] * (double)STEP_NS,
		      "cost of rate %g: %.4f of the time", rates[i], out.cost_ns / 60e9);
		CHECK(out.cost_ns >= 0.018 * 60e9, "... which is not left unused");
		CHECK(out.worst_burst <= 16e6 + 2 * rates[i] * (double)STEP_NS,
		      "... in bursts of at most %.1f ms", out.worst_burst / 1e6);
		CHECK(out.windows > 3, "... in %llu windows", (unsigned long long)out.windows);
	}
}

static void test_after_quiet_time(void)
{
	struct outcome out;

	/* The program has saved no more than one burst in its ten quiet seconds. */
	out = simulate(2, 1, 10 * SECOND_NS, 11 * SECOND_NS, false, 3);
	CHECK(out.cost_ns <= 0.02 * 1e9 + 8e6 + (double)STEP_NS, "ten quiet seconds save %.1f ms of cost",
	      out.cost_ns / 1e6);
}

static void test_short_regions(void)
{
	/* If regions end soon, windows are shorter. */
	CHECK(simulate(2, 1, 0, 60 * SECOND_NS, false, 4).windows >
		      simulate(2, 1, 0, 60 * SECOND_NS, true, 4).windows,
	      "a window ends earlier where its region has");
}

/* The time that setting probes takes is in the ceiling. Windows are as long as without it. */
static void test_costly_probes(void)
{
	struct outcome free = simulate(2, 1, 0, 60 * SECOND_NS, true, 5), costly;
	double worst = 0;

	setting_ns = 12e6;
	taking_ns = 8e6;
	costly = simulate(2, 1, 0, 60 * SECOND_NS, true, 5);
	CHECK(costly.cost_ns <= 0.02 * 60e9 + 8e6 + (double)STEP_NS,
	      "probes that take 20 ms to set and to take out: cost %.4f of the time", costly.cost_ns / 60e9);
	/* The first windows do not know yet what their probes will take. */
	for (uint64_t ms = 6000; ms <= 20000; ms += 77) {
		double over = simulate(2, 1, 0, ms * 1000000, true, 5).cost_ns - 0.02e6 * (double)ms;

		worst = fmax(worst, over);
	}
	CHECK(worst <= 8e6 + (double)STEP_NS, "... at no time more than %.1f ms beyond it", worst / 1e6);
	setting_ns = taking_ns = 0;
	CHECK(costly.windows > 30 && costly.windows < free.windows / 2, "... in fewer windows, %llu",
	      (unsigned long long)costly.windows);
	CHECK(costly.recorded_ns / costly.windows > free.recorded_ns / free.windows * 9 / 10,
	      "... that are as long");
}

/* Windows follow no rhythm of 20 ms. */
static void test_phases(void)
{
	double phases = 0, windows = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct outcome out = simulate(2, 0.5, 0, 60 * SECOND_NS, true, seed);

		phases += (double)out.phase_sum;
		windows += (double)out.windows;
	}
	CHECK(fabs(phases / windows - 19.5) < 4 * 11.5 / sqrt(windows),
	      "windows begin at any phase of a rhythm: mean %.2f", phases / windows);
}

/* The share may change while it counts, and end. */
static void test_change(void)
{
	struct ceiling ceiling;

	ceiling__start(&ceiling, 50, 1, 0);
	ceiling__spend(&ceiling, 20e6, 100, 10000000); /* earns 4 ms, which is all that is saved */
	CHECK(ceiling__is_over(&ceiling, true), "16 ms of debt are too much");
	ceiling__end(&ceiling);
	ceiling__change(&ceiling, 1);
	ceiling__spend(&ceiling, 0, 100, 110000000);
	CHECK(ceiling.budget_ns > -15.1e6 && ceiling.budget_ns < -14.9e6,
	      "a lower share counts from then on; what was owed still is");
	CHECK(ceiling__lift(&ceiling) && ceiling.on, "when it is lifted a window begins");
	CHECK(!ceiling__lift(&ceiling) && ceiling.on, "... or goes on");
}

/* The host's share may be the smaller one. */
static void test_share_of_host(void)
{
	struct ceiling ceiling;

	ceiling__start(&ceiling, 50, 1, 0);
	ceiling__spend(&ceiling, 1e6, 1, 10000000);
	CHECK(ceiling.budget_ns > -0.91e6 && ceiling.budget_ns < -0.89e6,
	      "the host's share counts where it is less");
}

int main(void)
{
	test_rates();
	test_after_quiet_time();
	test_short_regions();
	test_costly_probes();
	test_phases();
	test_change();
	test_share_of_host();
	CHECK_DONE();
}
