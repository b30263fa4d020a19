/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/launch/entry_point.h"
#include "daemon/common/process/auxiliary_vector.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#if defined(__x86_64__)
#define BREAKPOINT 0xccu /* int3 */
#define BREAKPOINT_BITS 8
#define PROGRAM_COUNTER rip
#define GOES_BEYOND 1 /* bytes from the breakpoint to the program counter after the stop */
#elif defined(__aarch64__)
#define BREAKPOINT 0xd4200000u /* brk */
#define BREAKPOINT_BITS 32
#define PROGRAM_COUNTER pc
#define GOES_BEYOND 0
#endif

#ifdef BREAKPOINT

static bool is_64_bit(pid_t pid)
{
	struct user_regs_struct registers;
	struct iovec vector = {&registers, sizeof(registers)};

	return ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &vector) == 0 &&
	       vector.iov_len == sizeof(registers);
}

/*
 * Writes `code` into the program: the breakpoint, or the instruction that it replaced. *old gets the
 * previous code, unless `old` is NULL. False: the program's memory cannot be read or written.
 */
static bool replace(pid_t pid, uint64_t address, uint32_t code, uint32_t *old)
{
	uint64_t aligned = address & ~7ull, mask = (1ull << BREAKPOINT_BITS) - 1;
	unsigned shift = (unsigned)(address - aligned) * 8;
	unsigned long word;

	errno = 0;
	word = (unsigned long)ptrace(PTRACE_PEEKTEXT, pid, (void *)aligned, NULL);
	if (errno)
		return false;
	if (old)
		*old = (uint32_t)(word >> shift & mask);
	word = (word & ~(mask << shift)) | (unsigned long)code << shift;
	return ptrace(PTRACE_POKETEXT, pid, (void *)aligned, (void *)word) == 0;
}

const char *entry_point__set(pid_t pid, struct entry_point *out)
{
	struct entry_point entry;

	if (!is_64_bit(pid))
		return "it is not a 64-bit program";
	entry.address = auxiliary_vector__read(pid, AT_ENTRY);
	if (!entry.address)
		return "its start address cannot be read (is its file readable for you?)";
	if (entry.address % (BREAKPOINT_BITS / 8) ||
	    !replace(pid, entry.address, BREAKPOINT, &entry.original))
		return "it could not be stopped at its start";
	*out = entry;
	return NULL;
}

bool entry_point__reached(pid_t pid, struct entry_point *entry)
{
	struct user_regs_struct registers;
	struct iovec vector = {&registers, sizeof(registers)};

	if (!entry->address || ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &vector) < 0 ||
	    registers.PROGRAM_COUNTER != entry->address + GOES_BEYOND)
		return false;
	registers.PROGRAM_COUNTER = entry->address;
	if (!replace(pid, entry->address, entry->original, NULL) ||
	    ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &vector) < 0)
		return false;
	entry->address = 0;
	return true;
}
#else
const char *entry_point__set(pid_t pid, struct entry_point *out)
{
	(void)pid, (void)out;
	return "programs of this processor cannot be stopped at their start";
}

bool entry_point__reached(pid_t pid, struct entry_point *entry)
{
	(void)pid, (void)entry;
	return false;
}
#endif
