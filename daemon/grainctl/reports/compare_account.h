/* SPDX-License-Identifier: BSD-2-Clause */
/* The account (grain_account.h) in a comparison: what the time went to, before and after. */
#ifndef GRAINCTL_COMPARE_ACCOUNT_H
#define GRAINCTL_COMPARE_ACCOUNT_H

#include "daemon/grainctl/reports/compare_text.h"
#include "render/text/summary.h"

/*
 * Says in one paragraph how much time is lost before and after, and which causes changed most. Says which run
 * has no account, and why, if only one has none.
 */
void compare_account__say(const struct compare_text *text, const struct summary *summary);
/*
 * Writes a table of the causes and one of the efficiencies. Writes nothing if a run has no account. Returns
 * false if there is no memory.
 */
bool compare_account__write(const struct compare_text *text, const struct summary *summary);

#endif
