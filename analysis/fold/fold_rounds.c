// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/fold/fold_rounds.h"

void fold_rounds__read(struct fold_rounds *r, uint64_t ns, uint64_t position)
{
	struct fold_round *latest = r->count ? &r->list[(r->count - 1) % FOLD_ROUNDS] : NULL;

	if (ns <= r->last_ns)
		return;
	/*
	 * The previous round is complete. It was read after the time of the round before it, so everything up
	 * to that time has come.
	 */
	if (r->before_ns && !r->coming_ns) {
		r->coming_ns = r->before_ns;
		r->coming_at = position;
	}
	r->older_ns = r->before_ns;
	r->before_ns = r->last_ns;
	r->last_ns = ns;
	if (latest && position - latest->at < r->least)
		latest->ns = ns;
	else
		r->list[r->count++ % FOLD_ROUNDS] = (struct fold_round){.ns = ns, .at = position};
}

uint64_t fold_rounds__first(const struct fold_rounds *r, uint64_t ns)
{
	uint64_t first = r->count ? r->list[(r->count - 1) % FOLD_ROUNDS].at : 0;

	for (uint64_t i = r->count; i-- > 0 && r->list[i % FOLD_ROUNDS].ns >= ns;) {
		if (r->count - i == FOLD_ROUNDS)
			return 0;
		first = r->list[i % FOLD_ROUNDS].at;
	}
	return first;
}

uint64_t fold_rounds__ready(struct fold_rounds *r, uint64_t position)
{
	if (r->coming_ns && position - r->coming_at >= r->slack) {
		r->ready_ns = r->coming_ns;
		r->coming_ns = 0;
	}
	return r->ready_ns;
}
