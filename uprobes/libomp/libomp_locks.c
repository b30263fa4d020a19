// SPDX-License-Identifier: BSD-2-Clause
/*
 * Waits for libomp's locks. The functions that programs call hand over to one that takes the lock. The wait
 * lasts from the entry of the first to the return of the second. A call that does not wait costs the probes
 * but records nothing.
 */
#include "uprobes/libomp/libomp_patterns.h"

#include "bpf/abi/libomp_cookie.h"

#define NO_ARGUMENT UINT32_MAX

static const struct {
	const char *function;
	uint32_t lock;	/* enum ring_lock */
	bool inner;	/* takes the lock itself */
	uint32_t where; /* number of the argument with the lock's address, for an inner function */
} locks[] = {
	{"GOMP_critical_start", RING_LOCK_CRITICAL, false, 0},
	{"GOMP_critical_name_start", RING_LOCK_CRITICAL, false, 0},
	{"__kmpc_critical", RING_LOCK_CRITICAL, false, 0},
	{"__kmpc_critical_with_hint", RING_LOCK_CRITICAL, true, 2},
	{"omp_set_lock", RING_LOCK_OMP, false, 0},
	{"omp_set_lock_", RING_LOCK_OMP, false, 0},
	{"__kmpc_set_lock", RING_LOCK_OMP, true, 2},
	{"omp_set_nest_lock", RING_LOCK_OMP, false, 0},
	{"omp_set_nest_lock_", RING_LOCK_OMP, false, 0},
	{"__kmpc_set_nest_lock", RING_LOCK_OMP, true, 2},
	{"GOMP_ordered_start", RING_LOCK_ORDERED, false, 0},
	{"__kmpc_ordered", RING_LOCK_ORDERED, true, NO_ARGUMENT},
	{"GOMP_doacross_wait", RING_LOCK_DOACROSS, false, 0},
	{"GOMP_doacross_ull_wait", RING_LOCK_DOACROSS, false, 0},
	{"__kmpc_doacross_wait", RING_LOCK_DOACROSS, true, NO_ARGUMENT},
	{"GOMP_atomic_start", RING_LOCK_ATOMIC, true, NO_ARGUMENT},
	{"__kmpc_atomic_start", RING_LOCK_ATOMIC, true, NO_ARGUMENT},
};

/*
 * The first emulated instruction of a function. From how far the stack pointer has gone down by then, the
 * return address is found, which tells the program's call from others. Functions with a variable number of
 * arguments do not start with a push.
 */
static size_t entry_jump(const struct planner *planner, const struct code_range *f, int *depth)
{
	*depth = 0;
	for (size_t i = f->first; i < f->end && i < f->first + 16; i++) {
		const struct code_insn *in = code__at(planner->code, i);

		if (in->emulated)
			return i;
		if (in->flow != FLOW_NEXT || in->op == CODE_PUSH || in->op == CODE_POP ||
		    insn__writes(in, code__arch(planner->code)->link))
			break;
		if (!insn__writes(in, CODE_REG_SP))
			continue;
		if (in->op != CODE_SUB || in->stack < 0 || in->stack > 4096)
			break;
		*depth += in->stack;
	}
	*depth = 0;
	return f->first;
}

int libomp_locks__find(struct planner *planner)
{
	for (size_t i = 0; i < sizeof(locks) / sizeof(locks[0]); i++) {
		uint64_t at_return = cookie__make(RING_LOCK_WAIT, COOKIE_ALWAYS, 0, COOKIE_REG_NONE,
						  COOKIE_REG_NONE, LIBOMP_LOCK_GOT, locks[i].lock, 0);
		struct code_range f;
		int depth = 0;
		size_t insn;

		if (!planner__function(planner, locks[i].function, &f)) {
			/*
			 * Not every build has GCC's interface. If the function that takes a lock is
			 * missing, the build has no such lock.
			 */
			if (locks[i].inner)
				planner__missing(planner, locks[i].function);
			continue;
		}
		insn = locks[i].inner ? planner__entry_point(planner, f.first, ENTRY_ARGUMENTS)
				      : entry_jump(planner, &f, &depth);
		planner__add(planner, &(struct point_spec){
					      .insn = insn,
					      .entry_cookie = cookie__make(
						      RING_LOCK_WAIT, COOKIE_ALWAYS, 0,
						      locks[i].where == NO_ARGUMENT
							      ? COOKIE_REG_NONE
							      : planner__argument(planner, locks[i].where),
						      COOKIE_REG_NONE,
						      locks[i].inner ? LIBOMP_LOCK_INNER : LIBOMP_LOCK_OUTER,
						      0, depth),
					      .return_cookie = locks[i].inner ? at_return : 0,
					      .event = "lock-wait",
					      .function = locks[i].function,
					      .reads = "[rsp] = call site; time since, at return"});
	}
	return 0;
}
