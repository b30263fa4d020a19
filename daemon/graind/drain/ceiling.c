// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/drain/ceiling.h"

#include <math.h>

/*
 * The most ns by which a window may overdraw its budget. While it waits for the end of a region, twice as
 * much is allowed.
 */
#define BURST_NS 4e6
/*
 * The most ns that a quiet time can save for a busy time. If it were more, a window would cost too much for
 * too long.
 */
#define SAVED_NS 4e6
/* The most ns that are saved for costs after the end of a window. */
#define TAKING_NS 32e6

void ceiling__start(struct ceiling *ceiling, double percent, uint64_t seed, uint64_t now_ns)
{
	*ceiling = (struct ceiling){.share = percent / 100,
				    .random = seed * 2 + 1,
				    .paid_ns = now_ns,
				    .on = true};
}

void ceiling__change(struct ceiling *ceiling, double percent)
{
	ceiling->share = percent / 100;
}

bool ceiling__lift(struct ceiling *ceiling)
{
	bool begins = !ceiling->on;

	ceiling->on = true;
	return begins;
}

/* Estimates the cost of setting and removing probes by the last time. */
static double for_what_comes(const struct ceiling *ceiling)
{
	return (ceiling->on ? 0 : ceiling->setting_ns) + ceiling->taking_ns;
}

void ceiling__spend(struct ceiling *ceiling, double cost_ns, double most_percent, uint64_t now_ns)
{
	double share = most_percent / 100 < ceiling->share ? most_percent / 100 : ceiling->share;

	if (!ceiling->on)
		ceiling->taking_ns = fmin(ceiling->taking_ns + cost_ns, TAKING_NS);
	ceiling->budget_ns += share * (double)(now_ns - ceiling->paid_ns);
	ceiling->paid_ns = now_ns;
	ceiling->budget_ns = fmin(ceiling->budget_ns, SAVED_NS + for_what_comes(ceiling));
	ceiling->budget_ns -= cost_ns;
}

bool ceiling__is_over(const struct ceiling *ceiling, bool inside)
{
	double own = ceiling->budget_ns + ceiling->lent_ns - ceiling->taking_ns;

	return ceiling->on && own < (inside ? -2 * BURST_NS : -BURST_NS);
}

void ceiling__end(struct ceiling *ceiling)
{
	/* xorshift64 */
	ceiling->random ^= ceiling->random << 13;
	ceiling->random ^= ceiling->random >> 7;
	ceiling->random ^= ceiling->random << 17;
	ceiling->aim_ns = SAVED_NS * (double)(ceiling->random >> 11) / (double)(UINT64_C(1) << 53);
	ceiling->taking_ns = 0;
	ceiling->on = false;
}

bool ceiling__begins(struct ceiling *ceiling)
{
	if (ceiling->on || ceiling->budget_ns < ceiling->aim_ns + for_what_comes(ceiling))
		return false;
	ceiling->on = true;
	return true;
}

void ceiling__set(struct ceiling *ceiling, double cost_ns)
{
	ceiling->budget_ns -= cost_ns;
	ceiling->lent_ns = fmax(0, cost_ns - ceiling->setting_ns);
	ceiling->setting_ns = cost_ns;
}
