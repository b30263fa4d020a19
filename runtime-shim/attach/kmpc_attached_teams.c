// SPDX-License-Identifier: BSD-2-Clause
/*
 * Regions and leagues of a libomp that is recorded only at its entry points. Their members run a function
 * of ours, which gets what the program's function needs.
 */
#include "runtime-shim/runtimes/began_before.h"
#include "runtime-shim/attach/kmpc_attached.h"

#include <stdarg.h>

typedef void (*microtask)(int32_t *thread, int32_t *number, ...);

/* Data shared by the members, on the stack of the call that begins the region. */
struct team {
	microtask body;
	const struct runtime *runtime;
	uint64_t number; /* 0: it is not recorded */
	bool league;
	int32_t count;
	void **arguments; /* number of arguments, at least IN_REGISTERS */
};

/*
 * Calls `body` with the two pointers and all arguments. A few of them go into registers, the others onto
 * the stack.
 */
__attribute__((visibility("hidden"))) void kmpc__invoke(microtask body, int32_t *thread, int32_t *number,
							int32_t count, void **arguments);

#if defined(__x86_64__)
#define IN_REGISTERS 4
__asm__(".text\n"
	".type kmpc__invoke, %function\n"
	".globl kmpc__invoke\n"
	".hidden kmpc__invoke\n"
	"kmpc__invoke:\n"
	".cfi_startproc\n"
	"endbr64\n"
	"pushq %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbp, -16\n"
	"movq %rsp, %rbp\n"
	".cfi_def_cfa_register %rbp\n"
	"movq %rdi, %r11\n"
	"movq %rsi, %rdi\n"
	"movq %rdx, %rsi\n"
	"movq %r8, %r10\n"
	"movslq %ecx, %rax\n"
	"subq $4, %rax\n"
	"jle 2f\n"
	"testb $1, %al\n"
	"jz 1f\n"
	"subq $8, %rsp\n"
	"1: pushq 24(%r10, %rax, 8)\n"
	"decq %rax\n"
	"jnz 1b\n"
	"2: movq (%r10), %rdx\n"
	"movq 8(%r10), %rcx\n"
	"movq 16(%r10), %r8\n"
	"movq 24(%r10), %r9\n"
	"xorl %eax, %eax\n"
	"call *%r11\n"
	"leave\n"
	".cfi_def_cfa %rsp, 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size kmpc__invoke, . - kmpc__invoke\n");
#elif defined(__aarch64__)
#define IN_REGISTERS 6
__asm__(".text\n"
	".type kmpc__invoke, %function\n"
	".globl kmpc__invoke\n"
	".hidden kmpc__invoke\n"
	"kmpc__invoke:\n"
	".cfi_startproc\n"
	"stp x29, x30, [sp, -16]!\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset 29, -16\n"
	".cfi_offset 30, -8\n"
	"mov x29, sp\n"
	".cfi_def_cfa_register 29\n"
	"mov x9, x0\n"
	"mov x0, x1\n"
	"mov x1, x2\n"
	"mov x10, x4\n"
	"sxtw x11, w3\n"
	"subs x11, x11, #6\n"
	"b.le 2f\n"
	"add x12, x11, #1\n"
	"and x12, x12, #-2\n"
	"sub sp, sp, x12, lsl #3\n"
	"add x13, x10, #48\n"
	"1: sub x11, x11, #1\n"
	"ldr x14, [x13, x11, lsl #3]\n"
	"str x14, [sp, x11, lsl #3]\n"
	"cbnz x11, 1b\n"
	"2: ldp x2, x3, [x10]\n"
	"ldp x4, x5, [x10, 16]\n"
	"ldp x6, x7, [x10, 32]\n"
	"blr x9\n"
	"mov sp, x29\n"
	"ldp x29, x30, [sp], 16\n"
	".cfi_def_cfa 31, 0\n"
	"ret\n"
	".cfi_endproc\n"
	".size kmpc__invoke, . - kmpc__invoke\n");
#endif

static void member(int32_t *thread, int32_t *number, struct team *team)
{
	struct shim_local *local;

	TAKE_OVER(team);
	local = team->number ? shim__here() : NULL;
	if (local) {
		kmpc__settle(local);
		SHIM_EVENT2(local, SHIM_MEMBER_BEGIN,
			    shim__site((const void *)(uintptr_t)team->body, SHIM_SITE_MEMBER_BODY), 0,
			    team->number,
			    runtime__ask(team->runtime,
					 team->league ? RUNTIME_TEAM_NUMBER : RUNTIME_THREAD_NUMBER));
	}
	runtime_thread.open_leagues += team->league;
	kmpc__invoke(team->body, thread, number, team->count, team->arguments);
	runtime_thread.open_leagues -= team->league;
	HAND_OVER(team);
	if (!shim__goes_on(local))
		return;
	kmpc__settle(local);
	SHIM_EVENT(local, SHIM_WAIT_BEGIN, 0, RING_WAIT_REGION_END);
}

/* The region's number is 0 if it is not recorded. */
static struct shim_local *begin_region(struct team *team, const struct binding *to, const void *caller)
{
	struct shim_local *local = libomp__here(to);
	uint32_t outermost;

	team->runtime = to->runtime;
	/* The members check whether the region is recorded. */
	if (!local) {
		HAND_OVER(team);
		return NULL;
	}
	shim__look();
	kmpc__settle(local);
	team->number = kmpc__next_team();
	outermost = began_before__tell(local, to->runtime);
	SHIM_EVENT2(local, SHIM_REGION_BEGIN,
		    shim__site(kmpc__site(to, caller, (kmpc_routine)(uintptr_t)team->body),
			       team->league ? SHIM_SITE_TEAMS : SHIM_SITE_PARALLEL),
		    0, outermost | (team->league ? RING_REGION_TEAMS : 0), 0);
	HAND_OVER(team);
	return local;
}

static void end_region(struct shim_local *local, const struct team *team)
{
	TAKE_OVER(team);
	if (!shim__goes_on(local))
		return;
	kmpc__settle(local);
	SHIM_EVENT(local, SHIM_WAIT_END, 0, RING_WAIT_REGION_END);
	SHIM_EVENT(local, SHIM_REGION_END, 0, 0);
}

#define FORK(name, is_league)                                                                                \
	static void attached_##name(struct kmpc_location *loc, int32_t count, microtask body, ...)           \
	{                                                                                                    \
		void *arguments[count > IN_REGISTERS ? count : IN_REGISTERS];                                \
		struct team team = {.body = body,                                                            \
				    .league = is_league,                                                     \
				    .count = count,                                                          \
				    .arguments = arguments};                                                 \
		struct shim_local *local;                                                                    \
		va_list list;                                                                                \
		REAL(name, void, struct kmpc_location *, int32_t, microtask, ...);                           \
                                                                                                             \
		va_start(list, body);                                                                        \
		for (int32_t i = 0; i < count; i++)                                                          \
			arguments[i] = va_arg(list, void *);                                                 \
		va_end(list);                                                                                \
		for (int32_t i = count; i < IN_REGISTERS; i++)                                               \
			arguments[i] = NULL;                                                                 \
		local = begin_region(&team, to, CALLER);                                                     \
		real_##name(loc, 1, (microtask)(uintptr_t)member, &team);                                    \
		end_region(local, &team);                                                                    \
	}

FORK(__kmpc_fork_call, false)
FORK(__kmpc_fork_teams, true)

/* The call has at most one argument. */
static void attached___kmpc_fork_call_if(struct kmpc_location *loc, int32_t count, microtask body,
					 int32_t condition, void *argument)
{
	void *arguments[IN_REGISTERS] = {argument};
	struct team team = {.body = body, .count = argument ? 1 : 0, .arguments = arguments};
	struct shim_local *local;
	REAL(__kmpc_fork_call_if, void, struct kmpc_location *, int32_t, microtask, int32_t, void *);

	(void)count;
	local = begin_region(&team, to, CALLER);
	real___kmpc_fork_call_if(loc, 1, (microtask)(uintptr_t)member, condition, &team);
	end_region(local, &team);
}

/* ---- regions of one thread, whose body the program itself calls ---------- */

/* Leagues in which the thread is and whose begin this recording has seen. */
static __thread struct {
	uint32_t session, count;
} serial __attribute__((tls_model("initial-exec")));

static void attached___kmpc_serialized_parallel(struct kmpc_location *loc, int32_t thread)
{
	struct team team = {0};
	struct shim_local *local;
	REAL(__kmpc_serialized_parallel, void, struct kmpc_location *, int32_t);

	local = begin_region(&team, to, CALLER);
	real___kmpc_serialized_parallel(loc, thread);
	if (!local)
		return;
	if (serial.session != local->session)
		serial.count = 0;
	serial.session = local->session;
	serial.count++;
	SHIM_EVENT2(local, SHIM_MEMBER_BEGIN, 0, 0, team.number, 0);
}

static void attached___kmpc_end_serialized_parallel(struct kmpc_location *loc, int32_t thread)
{
	struct shim_local *local;
	REAL(__kmpc_end_serialized_parallel, void, struct kmpc_location *, int32_t);

	local = libomp__here(to);
	if (local && serial.session == local->session && serial.count) {
		serial.count--;
		kmpc__settle(local);
		SHIM_EVENT(local, SHIM_WAIT_BEGIN, 0, RING_WAIT_REGION_END);
		SHIM_EVENT(local, SHIM_WAIT_END, 0, RING_WAIT_REGION_END);
		SHIM_EVENT(local, SHIM_REGION_END, 0, 0);
	}
	real___kmpc_end_serialized_parallel(loc, thread);
}

const struct kmpc_entry kmpc_attached_teams[] = {
	KMPC_ENTRY(__kmpc_fork_call),
	KMPC_ENTRY(__kmpc_fork_teams),
	KMPC_ENTRY(__kmpc_fork_call_if),
	KMPC_ENTRY(__kmpc_serialized_parallel),
	KMPC_ENTRY(__kmpc_end_serialized_parallel),
	{NULL, NULL},
};
