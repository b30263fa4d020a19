/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Injects libgrainshim.so into a running program, with the rights of the caller and under the kernel's rules
 * for debuggers. A thread of the program is stopped twice, each time usually for less than a millisecond.
 * Each step returns 0, or a negative number with one line in `why`.
 */
#ifndef GRAINCTL_INJECT_H
#define GRAINCTL_INJECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct inject;

/* How long the steps try again what is not possible at the moment. The program runs in between. */
struct inject_patience {
	uint64_t until_ns; /* of CLOCK_MONOTONIC */
	/* Is called once if that takes more than INJECT_SILENCE_NS. `reason` is what has to pass. */
	void (*waits)(void *data, const char *reason);
	void *data;
	uint64_t since_ns; /* when the first wait began; 0 before, as for `told` */
	bool told;
};
#define INJECT_SILENCE_NS UINT64_C(2000000000)

/*
 * Checks, without touching the process, whether it can be recorded from inside (-1 if not), and whether the
 * caller may do so (-EACCES if not). `patience` must live as long as *out.
 */
int inject__look(pid_t pid, const char *library, struct inject_patience *patience, struct inject **out,
		 char why[512]);
/* Loads the library, which then connects to graind at `socket`. */
int inject__load(struct inject *inject, const char *socket, char why[512]);
/* Call this after graind has answered. From now on the program's calls of the runtime go to the library. */
int inject__begin(struct inject *inject, char why[512]);

/* The longest time that a thread was stopped, in ns. */
uint64_t inject__stopped_ns(const struct inject *inject);
/* Accepts NULL. */
void inject__free(struct inject *inject);

#endif
