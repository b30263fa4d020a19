/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits how many recordings of one account (account.h) begin at the same time. Each beginning takes a
 * tenth of a second of CPU time. Too many would keep graind's other threads from the CPUs.
 */
#ifndef GRAIND_ATTACH_TURNS_H
#define GRAIND_ATTACH_TURNS_H

#include "daemon/graind/limits/turns.h"

#include <stdbool.h>

struct attach_turn {
	struct turn turn;
	bool has; /* false: it has waited too long and goes on without a turn */
};

/* Waits at most two seconds for a turn. After that the caller goes on without a turn. */
void attach_turns__begin(struct attach_turn *turn, uid_t account);
void attach_turns__end(struct attach_turn *turn);

/* Returns how many recordings of one account may begin at a time on a machine with `cpus` CPUs. Pure. */
size_t attach_turns__of_account(long cpus);

#endif
