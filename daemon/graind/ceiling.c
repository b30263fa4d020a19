// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/ceiling.h"

/* What a window may cost beyond what was saved; as much again until the end of a region. */
#define BURST_NS 4e6
/* What a quiet time saves for a busy one, at most: else that would cost too much for long. */
#define SAVED_NS 4e6

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

void ceiling__spend(struct ceiling *ceiling, double cost_ns, double most_percent, uint64_t now_ns)
{
	double share = most_percent / 100 < ceiling->share ? most_percent / 100 : ceiling->share;

	ceiling->budget_ns += share * (double)(now_ns - ceiling->paid_ns);
	ceiling->paid_ns = now_ns;
	if (ceiling->budget_ns > SAVED_NS)
		ceiling->budget_ns = SAVED_NS;
	ceiling->budget_ns -= cost_ns;
}

bool ceiling__is_over(const struct ceiling *ceiling, bool inside)
{
	return ceiling->on && ceiling->budget_ns + ceiling->setting_ns < (inside ? -2 * BURST_NS : -BURST_NS);
}

void ceiling__end(struct ceiling *ceiling)
{
	/* xorshift64 */
	ceiling->random ^= ceiling->random << 13;
	ceiling->random ^= ceiling->random >> 7;
	ceiling->random ^= ceiling->random << 17;
	ceiling->aim_ns = SAVED_NS * (double)(ceiling->random >> 11) / (double)(UINT64_C(1) << 53);
	ceiling->on = false;
}

bool ceiling__begins(struct ceiling *ceiling)
{
	if (ceiling->on || ceiling->budget_ns < ceiling->aim_ns)
		return false;
	ceiling->on = true;
	ceiling->setting_ns = 0;
	return true;
}

void ceiling__set(struct ceiling *ceiling, double cost_ns)
{
	ceiling->budget_ns -= cost_ns;
	ceiling->setting_ns = cost_ns;
}
