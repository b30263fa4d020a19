// SPDX-License-Identifier: BSD-2-Clause
/* The causes in words: one place for JSON, text and page. */
#include "analysis/include/grain_account.h"

static const struct {
	const char *name;
	const char *label; /* what a thread does */
	const char *lost;  /* what the time is lost to; NULL: it is work */
} words[GRAIN_CAUSE_COUNT] = {
	[GRAIN_CAUSE_USEFUL] = {"useful", "work in parallel regions", NULL},
	[GRAIN_CAUSE_SERIAL_WORK] = {"serial_work", "work of one thread alone", NULL},
	[GRAIN_CAUSE_SERIAL] = {"serial", "no region, as one works alone", "serial code"},
	[GRAIN_CAUSE_FORK_JOIN] = {"fork_join", "regions begin and end", "region begin and end"},
	[GRAIN_CAUSE_MANAGEMENT] = {"management", "creating and handing out work", "handing out work"},
	[GRAIN_CAUSE_IMBALANCE] = {"imbalance", "waiting for others of the team", "imbalance"},
	[GRAIN_CAUSE_LACK_OF_WORK] = {"lack_of_work", "no work that can be begun", "lack of work"},
	[GRAIN_CAUSE_LOCKS] = {"locks", "waiting for locks", "locks"},
	[GRAIN_CAUSE_PREEMPTED] = {"preempted", "no CPU: others have it", "other programs"},
	[GRAIN_CAUSE_OVERSUBSCRIBED] = {"oversubscribed", "no CPU: own threads have it", "too many threads"},
	[GRAIN_CAUSE_BLOCKED] = {"blocked", "blocked in the kernel", "waits for the kernel"},
	[GRAIN_CAUSE_MEASURING] = {"measuring", "measuring", "measuring"},
	[GRAIN_CAUSE_UNKNOWN] = {"unknown", "not known", "what was not seen"},
};

const char *grain_cause__name(enum grain_cause cause)
{
	return words[cause].name;
}

const char *grain_cause__label(enum grain_cause cause)
{
	return words[cause].label;
}

const char *grain_cause__lost(enum grain_cause cause)
{
	return words[cause].lost;
}
