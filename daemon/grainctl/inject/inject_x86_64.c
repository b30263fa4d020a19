// SPDX-License-Identifier: BSD-2-Clause
#if defined(__x86_64__)
#include "daemon/grainctl/inject/inject_arch.h"
#include "daemon/grainctl/inject/inject_target.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>

#define RED_ZONE 128
#define CODE_64_BIT 0x33
/* These values are from the kernel's headers, which cannot be included together with libc's. */
#define FLAGS_OF_CONTEXT 7	  /* extended registers, stack segment */
#define NO_STACK_THAT_CAN_BE 0x40 /* not a valid value, so the thread's alternate stack stays as it is */
#define SOFTWARE_BYTES_AT 464
#define MAGIC_1 0x46505853u
#define MAGIC_2 0x46505845u
#define RESTART_FIRST (-514)
#define RESTART_LAST (-512)
#define RESTART_BLOCK (-516)
#define FLAGS_OF_CALL 0x202 /* interrupts, nothing else */

/*
 * Replaces _start, which has already run and is long enough. rbx: the function, r12: where its result goes,
 * r13 and r14: process and thread, r15: a signal frame to return from.
 */
static const unsigned char instructions[] = {
	0xff, 0xd3,		     /* call *%rbx */
	0x49, 0x89,   0x04, 0x24,    /* mov %rax, (%r12) */
	0xb8, 234,    0,    0,	  0, /* mov $tgkill, %eax */
	0x44, 0x89,   0xef,	     /* mov %r13d, %edi */
	0x44, 0x89,   0xf6,	     /* mov %r14d, %esi */
	0x6a, SIGURG,		     /* push $SIGURG */
	0x5a,			     /* pop %rdx */
	0x0f, 0x05,		     /* syscall */
	0x4c, 0x89,   0xfc,	     /* mov %r15, %rsp */
	0x6a, 15,		     /* push $rt_sigreturn */
	0x58,			     /* pop %rax */
	0x0f, 0x05,		     /* syscall */
};
#define RETURNED_AT 22

_Static_assert(INJECT_SIGNAL == SIGURG, "the signal in the instructions");

bool inject_arch__supported(void)
{
	return true;
}

int inject_arch__save(pid_t tid, struct inject_registers *out)
{
	struct iovec general = {&out->general, sizeof(out->general)};
	struct iovec extended = {out->extended, sizeof(out->extended)};

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &general) != 0 ||
	    ptrace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &extended) != 0 ||
	    ptrace(PTRACE_GETSIGMASK, tid, sizeof(out->blocked), &out->blocked) != 0)
		return -errno;
	out->extended_size = extended.iov_len;
	return general.iov_len == sizeof(out->general) && out->general.cs == CODE_64_BIT ? 0 : -ENOEXEC;
}

/*
 * Sets the general registers last: until they are set, the thread would restore itself if the tracer died.
 */
int inject_arch__restore(pid_t tid, const struct inject_registers *saved)
{
	struct iovec general = {(void *)(uintptr_t)&saved->general, sizeof(saved->general)};
	struct iovec extended = {(void *)(uintptr_t)saved->extended, saved->extended_size};

	if (ptrace(PTRACE_SETREGSET, tid, NT_X86_XSTATE, &extended) != 0 ||
	    ptrace(PTRACE_SETSIGMASK, tid, sizeof(saved->blocked), &saved->blocked) != 0 ||
	    ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &general) != 0)
		return -errno;
	return 0;
}

uint64_t inject_arch__pc(const struct inject_registers *registers)
{
	return registers->general.rip;
}

uint64_t inject_arch__sp(const struct inject_registers *registers)
{
	return registers->general.rsp;
}

void inject_arch__frame(const struct inject_registers *registers, uint64_t out[INJECT_CFI_REGISTERS])
{
	const struct user_regs_struct *from = &registers->general;
	const uint64_t in_order[INJECT_CFI_REGISTERS] = {from->rax, from->rdx, from->rcx, from->rbx,
							 from->rsi, from->rdi, from->rbp, from->rsp,
							 from->r8,  from->r9,  from->r10, from->r11,
							 from->r12, from->r13, from->r14, from->r15,
							 from->rip};

	memcpy(out, in_order, sizeof(in_order));
}

bool inject_arch__in_system_call(const struct inject_registers *registers)
{
	return (int64_t)registers->general.orig_rax >= 0;
}

/* Fills in the registers as the kernel does for a signal handler, so that the system call is restarted. */
static void fill_context(const struct inject_registers *saved, uint64_t extended, ucontext_t *context)
{
	const struct user_regs_struct *from = &saved->general;
	greg_t *to = context->uc_mcontext.gregs;
	long result = (long)from->rax;

	*context = (ucontext_t){.uc_flags = FLAGS_OF_CONTEXT};
	context->uc_stack.ss_flags = NO_STACK_THAT_CAN_BE;
	to[REG_R8] = (greg_t)from->r8;
	to[REG_R9] = (greg_t)from->r9;
	to[REG_R10] = (greg_t)from->r10;
	to[REG_R11] = (greg_t)from->r11;
	to[REG_R12] = (greg_t)from->r12;
	to[REG_R13] = (greg_t)from->r13;
	to[REG_R14] = (greg_t)from->r14;
	to[REG_R15] = (greg_t)from->r15;
	to[REG_RDI] = (greg_t)from->rdi;
	to[REG_RSI] = (greg_t)from->rsi;
	to[REG_RBP] = (greg_t)from->rbp;
	to[REG_RBX] = (greg_t)from->rbx;
	to[REG_RDX] = (greg_t)from->rdx;
	to[REG_RAX] = (greg_t)from->rax;
	to[REG_RCX] = (greg_t)from->rcx;
	to[REG_RSP] = (greg_t)from->rsp;
	to[REG_RIP] = (greg_t)from->rip;
	to[REG_EFL] = (greg_t)from->eflags;
	to[REG_CSGSFS] = (greg_t)(from->cs | from->ss << 48);
	if (inject_arch__in_system_call(saved) && result >= RESTART_FIRST && result <= RESTART_LAST) {
		to[REG_RAX] = (greg_t)from->orig_rax;
		to[REG_RIP] -= 2;
	} else if (inject_arch__in_system_call(saved) && result == RESTART_BLOCK) {
		to[REG_RAX] = -EINTR;
	}
	context->uc_mcontext.fpregs = (fpregset_t)(uintptr_t)extended;
	memcpy(&context->uc_sigmask, &saved->blocked, sizeof(saved->blocked));
}

/* Fills in the extended registers in the form of a signal frame. */
static void fill_extended(const struct inject_registers *saved, unsigned char *to)
{
	uint32_t size = (uint32_t)saved->extended_size, all = size + 4, magic = MAGIC_1, end = MAGIC_2;
	uint64_t features;

	memcpy(to, saved->extended, size);
	memcpy(&features, to + SOFTWARE_BYTES_AT, sizeof(features));
	memset(to + SOFTWARE_BYTES_AT, 0, 48);
	memcpy(to + SOFTWARE_BYTES_AT, &magic, sizeof(magic));
	memcpy(to + SOFTWARE_BYTES_AT + 4, &all, sizeof(all));
	memcpy(to + SOFTWARE_BYTES_AT + 8, &features, sizeof(features));
	memcpy(to + SOFTWARE_BYTES_AT + 16, &size, sizeof(size));
	memcpy(to + size, &end, sizeof(end));
}

static int put_instructions(pid_t tid, uint64_t at)
{
	unsigned char code[(sizeof(instructions) + 15) & ~7u];
	uint64_t first = at & ~7ull;
	size_t size = (at - first + sizeof(instructions) + 7) & ~(size_t)7;

	if (!process_memory__read(tid, first, code, size))
		return -EFAULT;
	if (!memcmp(code + (at - first), instructions, sizeof(instructions)))
		return 0;
	memcpy(code + (at - first), instructions, sizeof(instructions));
	for (size_t i = 0; i < size; i += 8) {
		uint64_t word;

		memcpy(&word, code + i, sizeof(word));
		if (ptrace(PTRACE_POKETEXT, tid, (void *)(uintptr_t)(first + i), (void *)(uintptr_t)word) !=
		    0)
			return -errno;
	}
	return 0;
}

/*
 * Uses memory below the thread's stack pointer, downwards: red zone, extended registers, context, two words
 * for the instructions, text, result, the stack of the call.
 */
int inject_arch__enter(pid_t tid, const struct inject_registers *saved, const struct inject_call *call,
		       uint64_t *result)
{
	static unsigned char block[INJECT_EXTENDED_MAX + sizeof(ucontext_t) + INJECT_TEXT_MAX + 512];
	uint64_t top = (saved->general.rsp - RED_ZONE) & ~63ull;
	uint64_t extended = (top - saved->extended_size - 8) & ~63ull;
	uint64_t context = (extended - sizeof(ucontext_t)) & ~63ull;
	uint64_t text = (context - 64 - INJECT_TEXT_MAX) & ~63ull, answer = text - 64;
	struct user_regs_struct general = saved->general;
	struct iovec vector = {&general, sizeof(general)};
	uint64_t blocked = ~(1ull << (SIGURG - 1) | 1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) |
			     1ull << (SIGILL - 1) | 1ull << (SIGFPE - 1) | 1ull << (SIGTRAP - 1));
	size_t length = call->text ? strlen(call->text) + 1 : 0;
	int error;

	if (length > INJECT_TEXT_MAX || top - answer > sizeof(block))
		return -ENAMETOOLONG;
	memset(block, 0, sizeof(block));
	memcpy(block + (text - answer), call->text ? call->text : "", length ? length : 1);
	fill_context(saved, extended, (ucontext_t *)(void *)(block + (context - answer)));
	fill_extended(saved, block + (extended - answer));
	if (!process_memory__write(tid, answer, block, top - answer))
		return -EFAULT;
	error = put_instructions(tid, call->scratch);
	if (error)
		return error;
	general.rip = call->scratch;
	general.rsp = answer - 64;
	general.rbx = call->function;
	general.r12 = answer;
	general.r13 = (uint64_t)call->group;
	general.r14 = (uint64_t)call->thread;
	general.r15 = context;
	general.rdi = call->text ? text : call->arguments[0];
	general.rsi = call->arguments[1];
	general.rax = 0;
	general.orig_rax = UINT64_MAX;
	general.eflags = FLAGS_OF_CALL;
	*result = answer;
	/*
	 * Sets the general registers first: with them the thread returns by itself and unblocks its
	 * signals.
	 */
	if (ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &vector) != 0)
		return -errno;
	if (ptrace(PTRACE_SETSIGMASK, tid, sizeof(blocked), &blocked) != 0)
		return -errno;
	return 0;
}

uint64_t inject_arch__waits_for(pid_t tid)
{
	struct user_regs_struct general;
	struct iovec vector = {&general, sizeof(general)};

	return ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &vector) == 0 && general.orig_rax == SYS_futex
		       ? general.rdi
		       : 0;
}

bool inject_arch__returned(pid_t tid, uint64_t scratch)
{
	struct user_regs_struct general;
	struct iovec vector = {&general, sizeof(general)};

	return ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &vector) == 0 &&
	       general.rip == scratch + RETURNED_AT;
}

/* Recognizes call rel32, and call through a register or memory, with or without displacement. */
bool inject_arch__is_call(const unsigned char before[INJECT_CALL_BYTES])
{
	const unsigned char *end = before + INJECT_CALL_BYTES;

	if (end[-5] == 0xe8)
		return true;
	for (int length = 2; length <= 7; length++)
		if (end[-length] == 0xff && (end[1 - length] & 0x38) == 0x10)
			return true;
	return false;
}

const unsigned char *inject_arch__signal_return(size_t *length)
{
	/* mov $rt_sigreturn, %rax; syscall */
	static const unsigned char code[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};

	*length = sizeof(code);
	return code;
}
#endif
