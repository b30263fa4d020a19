// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where the program begins a region: some versions of libomp give OMPT the address of an earlier call.
 * These functions take as many arguments as the region has. They leave the arguments in place and jump to
 * the runtime's function.
 */
#include "runtime-shim/libomp/kmpc.h"

/*
 * Returns the runtime's function for this caller and keeps the caller for the next OMPT event. The third
 * argument is the region's body.
 */
#define FORK(name)                                                                                           \
	__attribute__((used)) void *name##_to(const void *caller, kmpc_routine body);                        \
	void *name##_to(const void *caller, kmpc_routine body)                                               \
	{                                                                                                    \
		static struct binding *bindings;                                                             \
		const struct binding *to = runtime__bind(&bindings, #name, caller);                          \
                                                                                                             \
		if (libomp__here(to))                                                                        \
			kmpc_thread.region = kmpc__site(to, caller, body);                                   \
		return to->function;                                                                         \
	}                                                                                                    \
	__asm__(".text\n"                                                                                    \
		".globl " #name "\n"                                                                         \
		".type " #name ", %function\n" #name ":\n" JUMP(#name) ".size " #name ", . - " #name "\n")

#if defined(__x86_64__)
#define JUMP(name)                                                                                           \
	".cfi_startproc\n"                                                                                   \
	"endbr64\n"                                                                                          \
	"pushq %rdi\n"                                                                                       \
	"pushq %rsi\n"                                                                                       \
	"pushq %rdx\n"                                                                                       \
	"pushq %rcx\n"                                                                                       \
	"pushq %r8\n"                                                                                        \
	"pushq %r9\n"                                                                                        \
	"pushq %rax\n"                                                                                       \
	".cfi_adjust_cfa_offset 56\n"                                                                        \
	"movq 56(%rsp), %rdi\n"                                                                              \
	"movq %rdx, %rsi\n"                                                                                  \
	"call " name "_to\n"                                                                                 \
	"movq %rax, %r11\n"                                                                                  \
	"popq %rax\n"                                                                                        \
	"popq %r9\n"                                                                                         \
	"popq %r8\n"                                                                                         \
	"popq %rcx\n"                                                                                        \
	"popq %rdx\n"                                                                                        \
	"popq %rsi\n"                                                                                        \
	"popq %rdi\n"                                                                                        \
	".cfi_adjust_cfa_offset -56\n"                                                                       \
	"jmp *%r11\n"                                                                                        \
	".cfi_endproc\n"
#elif defined(__aarch64__)
#define JUMP(name)                                                                                           \
	".cfi_startproc\n"                                                                                   \
	"stp x29, x30, [sp, -80]!\n"                                                                         \
	".cfi_adjust_cfa_offset 80\n"                                                                        \
	".cfi_rel_offset 29, 0\n"                                                                            \
	".cfi_rel_offset 30, 8\n"                                                                            \
	"stp x0, x1, [sp, 16]\n"                                                                             \
	"stp x2, x3, [sp, 32]\n"                                                                             \
	"stp x4, x5, [sp, 48]\n"                                                                             \
	"stp x6, x7, [sp, 64]\n"                                                                             \
	"mov x0, x30\n"                                                                                      \
	"mov x1, x2\n"                                                                                       \
	"bl " name "_to\n"                                                                                   \
	"mov x16, x0\n"                                                                                      \
	"ldp x0, x1, [sp, 16]\n"                                                                             \
	"ldp x2, x3, [sp, 32]\n"                                                                             \
	"ldp x4, x5, [sp, 48]\n"                                                                             \
	"ldp x6, x7, [sp, 64]\n"                                                                             \
	"ldp x29, x30, [sp], 80\n"                                                                           \
	".cfi_adjust_cfa_offset -80\n"                                                                       \
	".cfi_restore 29\n"                                                                                  \
	".cfi_restore 30\n"                                                                                  \
	"br x16\n"                                                                                           \
	".cfi_endproc\n"
#endif

FORK(__kmpc_fork_call);
FORK(__kmpc_fork_teams);

EXPORT void __kmpc_serialized_parallel(struct kmpc_location *loc, int32_t thread)
{
	REAL(__kmpc_serialized_parallel, void, struct kmpc_location *, int32_t);

	if (libomp__here(to))
		kmpc_thread.region = CALLER;
	real___kmpc_serialized_parallel(loc, thread);
}
