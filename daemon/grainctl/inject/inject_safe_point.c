// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/grainctl/inject/inject_safe_point.h"
#include "daemon/grainctl/inject/inject_unwind.h"

#include <stddef.h>
#include <sys/ptrace.h>

#define DEPTH_MAX (256u << 10)
#define RSEQ_CS_AT 8
#define START_BYTES 64 /* bytes of _start */

static bool in_restartable_sequence(pid_t tid)
{
	struct __ptrace_rseq_configuration rseq = {0};
	uint64_t sequence = 0;

	return ptrace(PTRACE_GET_RSEQ_CONFIGURATION, tid, sizeof(rseq), &rseq) > 0 && rseq.rseq_abi_pointer &&
	       process_memory__read(tid, rseq.rseq_abi_pointer + RSEQ_CS_AT, &sequence, sizeof(sequence)) &&
	       sequence;
}

/*
 * The end of the thread's stack above `sp`. 0: `sp` is not in a stack, or the stack has too little room
 * below `sp`.
 */
static uint64_t stack_end(const struct inject_target *target, uint64_t sp)
{
	const struct inject_range *main = &target->main_stack;

	/* The main stack grows by itself. */
	if (main->to && sp < main->to && sp + (8u << 20) > main->from)
		return main->to;
	for (size_t i = 0; i < target->writable.count; i++) {
		const struct inject_range *range = &target->writable.all[i];

		if (sp >= range->from && sp < range->to)
			return sp - range->from >= INJECT_STACK_ROOM ? range->to : 0;
	}
	return 0;
}

static struct inject_range around(const struct inject_ranges *ranges)
{
	struct inject_range all = {UINT64_MAX, 0};

	for (size_t i = 0; i < ranges->count; i++) {
		all.from = ranges->all[i].from < all.from ? ranges->all[i].from : all.from;
		all.to = ranges->all[i].to > all.to ? ranges->all[i].to : all.to;
	}
	return all;
}

static bool returns_there(pid_t tid, uint64_t address)
{
	unsigned char before[INJECT_CALL_BYTES];

	return !process_memory__read(tid, address - sizeof(before), before, sizeof(before)) ||
	       inject_arch__is_call(before);
}

static bool is_at_start(const struct inject_target *target, uint64_t address)
{
	return address > target->scratch && address - target->scratch < START_BYTES;
}

static bool is_signal_return(const struct inject_target *target, uint64_t word)
{
	for (size_t i = 0; i < target->signal_returns; i++)
		if (word == target->signal_return[i])
			return true;
	return false;
}

static const char *judge(const struct inject_target *target, uint64_t address)
{
	if (is_signal_return(target, address))
		return "it is in a signal's handler";
	return inject_ranges__have(&target->unsafe, address) ? "it is loading a library, or in the allocator"
							     : NULL;
}

/*
 * Looks for unsafe code among the words on the stack. Any word may be a return address, or be left over
 * from an earlier call.
 */
static const char *look_at_words(const struct inject_thread *thread, const uint64_t *words, size_t count)
{
	const struct inject_target *target = thread->target;
	struct inject_range unsafe = around(&target->unsafe);

	for (size_t i = 0; i < count; i++) {
		bool in_unsafe = words[i] >= unsafe.from && words[i] < unsafe.to &&
				 inject_ranges__have(&target->unsafe, words[i]);

		if (is_signal_return(target, words[i]) || (in_unsafe && returns_there(thread->tid, words[i])))
			return judge(target, words[i]);
	}
	return NULL;
}

/*
 * Looks at the frames of the stack, and above the last known frame at the words. NULL: it is safe; else the
 * reason why not.
 */
static const char *look_at_stack(const struct inject_thread *thread, uint64_t sp, uint64_t end)
{
	static uint64_t words[DEPTH_MAX / sizeof(uint64_t)];
	static struct inject_unwind unwind; /* static, because it is too large for a stack */
	const char *why = NULL;
	size_t size;
	int step;

	unwind = (struct inject_unwind){.target = thread->target, .words = words, .from = (sp + 7) & ~7ull};
	size = end - unwind.from < sizeof(words) ? end - unwind.from : sizeof(words);
	unwind.to = unwind.from + size;
	if (!process_memory__read(thread->tid, unwind.from, words, size))
		return "its stack cannot be read";
	inject_arch__frame(&thread->saved, unwind.registers);
	while (!why && (step = inject_unwind__step(&unwind)) > 0) {
		why = judge(thread->target, unwind.registers[INJECT_CFI_RETURN]);
		/*
		 * If no call leads to this address, the frames are wrong. At the program's start this does
		 * not hold, because the code there has been replaced.
		 */
		if (!why && !is_at_start(thread->target, unwind.registers[INJECT_CFI_RETURN]) &&
		    !returns_there(thread->tid, unwind.registers[INJECT_CFI_RETURN]))
			return look_at_words(thread, words, size / sizeof(words[0]));
	}
	if (why || !step)
		return why;
	sp = (unwind.registers[INJECT_CFI_SP] + 7) & ~7ull;
	return sp < unwind.to ? look_at_words(thread, &words[(sp - unwind.from) / sizeof(words[0])],
					      (unwind.to - sp) / sizeof(words[0]))
			      : NULL;
}

const char *inject_safe_point__check(const struct inject_thread *thread)
{
	const struct inject_target *target = thread->target;
	uint64_t pc = inject_arch__pc(&thread->saved), sp = inject_arch__sp(&thread->saved);
	uint64_t end = stack_end(target, sp);

	if (!end)
		return "its stack is too small";
	if (inject_ranges__have(&target->unsafe, pc))
		return "it is loading a library, or in the allocator";
	/*
	 * Inner functions of the C library also begin and end threads. A thread that waits in the kernel in
	 * such a function holds no lock.
	 */
	if (!inject_arch__in_system_call(&thread->saved) && inject_ranges__have(&target->libc, pc) &&
	    !inject_ranges__have(&target->known, pc))
		return "it is inside of the C library";
	if (in_restartable_sequence(thread->tid))
		return "it is in a sequence that must not be interrupted";
	return look_at_stack(thread, sp, end);
}
