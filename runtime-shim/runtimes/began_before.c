// SPDX-License-Identifier: BSD-2-Clause
#include "runtime-shim/runtimes/began_before.h"
#include "bpf/abi/ring_abi.h"

void began_before__tell_league(struct shim_local *local, const struct runtime *runtime)
{
	static __thread uint64_t told_in
		__attribute__((tls_model("initial-exec"))); /* session + 1; 0: none */
	uint64_t session = (uint64_t)local->session + 1;
	/*
	 * If nothing ran before the library came, this is a league in a target region, which libgomp does
	 * not report.
	 */
	bool inside = __atomic_load_n(&shim_process.look, __ATOMIC_RELAXED) && !runtime_thread.open_leagues &&
		      runtime__ask(runtime, RUNTIME_TEAMS) > 1;

	if (LIKELY(inside == (told_in == session)))
		return;
	told_in = inside ? session : 0;
	SHIM_EVENT1(local, SHIM_TEAM_STARTED, 0, 0, inside ? 1 : RING_TEAMS_OVER);
}

uint32_t began_before__tell(struct shim_local *local, const struct runtime *runtime)
{
	if (runtime_thread.open_targets)
		return 0;
	if (!runtime__ask(runtime, RUNTIME_LEVEL)) {
		began_before__tell_league(local, runtime);
		return RING_REGION_OUTERMOST;
	}
	if (UNLIKELY(local->fresh))
		SHIM_EVENT1(local, SHIM_TEAM_STARTED, 0, 0, 0);
	return 0;
}
