/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides how a libomp of the process is recorded: through OMPT as its tool, at its entry points alone if it
 * was running when the library was injected, or by graind's probes.
 */
#ifndef GRAIND_SHIM_LIBOMP_RECORDING_H
#define GRAIND_SHIM_LIBOMP_RECORDING_H

#include "runtime-shim/runtimes/runtimes.h"

/* A bit in the keys of tasks whose keys are written with the creation. */
#define LIBOMP_KEY_TOLD (UINT64_C(1) << 60)

/*
 * The libomp at `base` is already running. Records it only at its entry points from now on. -EALREADY: this
 * library is its tool; -EOPNOTSUPP: it runs GCC's code.
 */
int libomp__attach(const void *base);

/*
 * The libomp at `base` is called for the first time. If it needs probes, this waits for them before that
 * call.
 */
void libomp__meet(const void *base);

/* Whether a libomp that is not recorded from inside needs probes. Without a tool nothing else records it. */
bool libomp__needs_probes(const void *base);
/*
 * Asks graind for probes. Once graind has answered, it does not ask again: a program that grainctl runs has
 * its job before its own code begins.
 */
void libomp__ask_for_probes(void);
/* Whether graind has been asked for probes. */
bool libomp__has_probes(void);

/* The base address of the object that contains this address; NULL: none does. */
const void *libomp__base_of(const void *address);

/* The state of the calling thread; NULL: nothing is recorded, or the runtime itself calls. */
static inline struct shim_local *libomp__here(const struct binding *to)
{
	const void *base = __atomic_load_n(&shim_process.libomp_recorded, __ATOMIC_RELAXED);

	if (UNLIKELY(!base || to->runtime->base != base || to->internal))
		return NULL;
	return shim__here();
}

/* Like libomp__here(), but NULL if OMPT reports the event. */
static inline struct shim_local *libomp__here_attached(const struct binding *to)
{
	return UNLIKELY(__atomic_load_n(&shim_process.libomp_attached, __ATOMIC_RELAXED)) ? libomp__here(to)
											  : NULL;
}

#endif
