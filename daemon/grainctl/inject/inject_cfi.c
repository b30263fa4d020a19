// SPDX-License-Identifier: BSD-2-Clause
/*
 * Written by hand: libunwind and libdw trust the tables, but these tables are in the memory of a process
 * that may lie.
 */
#include "daemon/grainctl/inject/inject_cfi.h"
#include "daemon/common/process/process_memory.h"

#include <errno.h>
#include <string.h>

#define ENTRY_MAX 4096 /* most bytes of an entry; longer ones are refused */
#define REMEMBERED_MAX 8
#define FUNCTIONS_MAX (1u << 22)

/* ---- reading ---------------------------------------------------------- */

/* Bytes that are read one after another. At the end `bad` is set, and further bytes are 0. */
struct bytes {
	const unsigned char *at, *end;
	bool bad;
};

static uint64_t take(struct bytes *bytes, unsigned size)
{
	uint64_t value = 0;

	if ((size_t)(bytes->end - bytes->at) < size) {
		bytes->bad = true;
		bytes->at = bytes->end;
		return 0;
	}
	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)bytes->at[i] << 8 * i;
	bytes->at += size;
	return value;
}

/* Reads a LEB128 number of DWARF. *last is its last byte, *bits its number of bits. */
static uint64_t take_leb128(struct bytes *bytes, uint64_t *last, unsigned *bits)
{
	uint64_t value = 0;

	*bits = 0;
	do {
		*last = take(bytes, 1);
		if (*bits < 64)
			value |= (*last & 0x7f) << *bits;
		*bits += 7;
	} while (*last & 0x80);
	return value;
}

static uint64_t take_unsigned(struct bytes *bytes)
{
	uint64_t last;
	unsigned bits;

	return take_leb128(bytes, &last, &bits);
}

static int64_t take_signed(struct bytes *bytes)
{
	uint64_t byte, value;
	unsigned shift;

	value = take_leb128(bytes, &byte, &shift);
	if (shift < 64 && byte & 0x40)
		value |= UINT64_MAX << shift;
	return (int64_t)value;
}

/* Multiplies as unsigned numbers: the product may overflow, as the process may contain any numbers. */
static int64_t times(uint64_t count, int64_t unit)
{
	return (int64_t)(count * (uint64_t)unit);
}

/* The size of a pointer in this encoding; 0: unknown encoding. */
static unsigned encoded_size(unsigned encoding)
{
	switch (encoding & 0x0f) {
	case 0x03:
	case 0x0b:
		return 4;
	case 0x00:
	case 0x04:
	case 0x0c:
		return 8;
	default:
		return 0;
	}
}

/* ---- entries ---------------------------------------------------------- */

/* An entry in the process' memory, without its length. */
struct entry {
	unsigned char data[ENTRY_MAX];
	struct bytes bytes;
};

static int read_entry(pid_t pid, uint64_t at, struct entry *out)
{
	uint32_t length;

	if (!process_memory__read(pid, at, &length, sizeof(length)))
		return -EFAULT;
	if (length < 4 || length > sizeof(out->data))
		return -ENOTSUP;
	if (!process_memory__read(pid, at + sizeof(length), out->data, length))
		return -EFAULT;
	out->bytes = (struct bytes){.at = out->data, .end = out->data + length};
	return 0;
}

/* What the functions of one compilation unit share (CIE). */
struct common {
	uint64_t code_unit;
	int64_t data_unit;
	unsigned encoding; /* encoding of a function's address */
	bool augmented, of_signal;
};

/* Reads the common entry. Afterwards its instructions are left in `entry`. 0 or a negative errno. */
static int read_common(struct entry *entry, struct common *out)
{
	struct bytes *bytes = &entry->bytes, augmentation;
	const char *letters;
	unsigned version, size;
	uint64_t length;

	*out = (struct common){0};
	if (take(bytes, 4) != 0)
		return -ENOTSUP;
	version = (unsigned)take(bytes, 1);
	letters = (const char *)bytes->at;
	while (take(bytes, 1))
		;
	out->code_unit = take_unsigned(bytes);
	out->data_unit = take_signed(bytes);
	if ((version == 1 ? take(bytes, 1) : take_unsigned(bytes)) != INJECT_CFI_RETURN || bytes->bad ||
	    (version != 1 && version != 3))
		return -ENOTSUP;
	if (!*letters)
		return 0;
	if (*letters++ != 'z')
		return -ENOTSUP;
	out->augmented = true;
	length = take_unsigned(bytes);
	if (bytes->bad || length > (size_t)(bytes->end - bytes->at))
		return -ENOTSUP;
	augmentation = (struct bytes){.at = bytes->at, .end = bytes->at + length};
	bytes->at += length;
	for (; *letters; letters++) {
		switch (*letters) {
		case 'R':
			out->encoding = (unsigned)take(&augmentation, 1);
			break;
		case 'P':
			size = encoded_size((unsigned)take(&augmentation, 1));
			if (!size)
				return -ENOTSUP;
			take(&augmentation, size);
			break;
		case 'L':
			take(&augmentation, 1);
			break;
		case 'S':
			out->of_signal = true;
			break;
		default:
			return -ENOTSUP;
		}
	}
	return augmentation.bad ? -ENOTSUP : 0;
}

/* ---- instructions ----------------------------------------------------- */

struct machine {
	struct inject_cfi_row row, first; /* first: the row after the instructions of the common entry */
	struct inject_cfi_row remembered[REMEMBERED_MAX];
	size_t depth;
	uint64_t location, pc;
	const struct common *common;
};

static void set_rule(struct machine *machine, uint64_t number, enum inject_cfi_how how, int64_t offset)
{
	if (number < INJECT_CFI_REGISTERS)
		machine->row.registers[number] =
			(struct inject_cfi_rule){.how = (uint8_t)how, .offset = (int32_t)offset};
}

static void set_frame(struct machine *machine, uint64_t base, int64_t offset)
{
	machine->row.frame = (struct inject_cfi_rule){
		.how = base < INJECT_CFI_REGISTERS ? INJECT_CFI_SAME : INJECT_CFI_UNKNOWN,
		.base = (uint8_t)base,
		.offset = (int32_t)offset,
	};
}

/*
 * Reads an expression: a register plus an offset, and maybe a read of the memory there. Compilers need no
 * more for aligned frames.
 */
static struct inject_cfi_rule take_expression(struct bytes *bytes, bool of_memory)
{
	const struct inject_cfi_rule unknown = {.how = INJECT_CFI_UNKNOWN};
	struct inject_cfi_rule rule = {.how = INJECT_CFI_AT_BASE};
	uint64_t length = take_unsigned(bytes), operation;
	struct bytes inner;

	if (bytes->bad || length > (size_t)(bytes->end - bytes->at)) {
		bytes->bad = true;
		return unknown;
	}
	inner = (struct bytes){.at = bytes->at, .end = bytes->at + length};
	bytes->at += length;
	operation = take(&inner, 1);
	if (operation < 0x70 || operation >= 0x70 + INJECT_CFI_RETURN)
		return unknown;
	rule.base = (uint8_t)(operation - 0x70);
	rule.offset = (int32_t)take_signed(&inner);
	if (of_memory && take(&inner, 1) != 0x06)
		return unknown;
	return inner.bad || inner.at != inner.end ? unknown : rule;
}

static int run_extended(struct machine *machine, unsigned instruction, struct bytes *bytes)
{
	int64_t unit = machine->common->data_unit;
	struct inject_cfi_rule rule;
	uint64_t number;

	switch (instruction) {
	case 0x00: /* nop */
		return 0;
	case 0x02: /* advance_loc1, 2, 4 */
	case 0x03:
	case 0x04:
		machine->location += take(bytes, 1u << (instruction - 2)) * machine->common->code_unit;
		return 0;
	case 0x05: /* offset_extended */
		number = take_unsigned(bytes);
		set_rule(machine, number, INJECT_CFI_AT_CFA, times(take_unsigned(bytes), unit));
		return 0;
	case 0x06: /* restore_extended */
		number = take_unsigned(bytes);
		if (number < INJECT_CFI_REGISTERS)
			machine->row.registers[number] = machine->first.registers[number];
		return 0;
	case 0x07: /* undefined */
		set_rule(machine, take_unsigned(bytes), INJECT_CFI_UNDEFINED, 0);
		return 0;
	case 0x08: /* same_value */
		set_rule(machine, take_unsigned(bytes), INJECT_CFI_SAME, 0);
		return 0;
	case 0x0a: /* remember_state, restore_state */
		if (machine->depth == REMEMBERED_MAX)
			return -ENOTSUP;
		machine->remembered[machine->depth++] = machine->row;
		return 0;
	case 0x0b:
		if (!machine->depth)
			return -ENOTSUP;
		machine->row = machine->remembered[--machine->depth];
		return 0;
	case 0x0c: /* def_cfa */
		number = take_unsigned(bytes);
		set_frame(machine, number, (int64_t)take_unsigned(bytes));
		return 0;
	case 0x0d: /* def_cfa_register */
		set_frame(machine, take_unsigned(bytes), machine->row.frame.offset);
		return 0;
	case 0x0e: /* def_cfa_offset */
		set_frame(machine, machine->row.frame.base, (int64_t)take_unsigned(bytes));
		return 0;
	case 0x0f: /* def_cfa_expression */
		machine->row.frame = take_expression(bytes, true);
		return 0;
	case 0x10: /* expression */
		number = take_unsigned(bytes);
		rule = take_expression(bytes, false);
		if (number < INJECT_CFI_REGISTERS)
			machine->row.registers[number] = rule;
		return 0;
	case 0x11: /* offset_extended_sf */
		number = take_unsigned(bytes);
		set_rule(machine, number, INJECT_CFI_AT_CFA, times((uint64_t)take_signed(bytes), unit));
		return 0;
	case 0x12: /* def_cfa_sf */
		number = take_unsigned(bytes);
		set_frame(machine, number, times((uint64_t)take_signed(bytes), unit));
		return 0;
	case 0x13: /* def_cfa_offset_sf */
		set_frame(machine, machine->row.frame.base, times((uint64_t)take_signed(bytes), unit));
		return 0;
	case 0x2e: /* GNU_args_size */
		take_unsigned(bytes);
		return 0;
	default:
		return -ENOTSUP;
	}
}

/* Runs instructions up to the place where the process is. 0 or a negative errno. */
static int run(struct machine *machine, struct bytes *bytes)
{
	int error = 0;

	while (!error && bytes->at < bytes->end && machine->location <= machine->pc) {
		unsigned instruction = (unsigned)take(bytes, 1), low = instruction & 0x3f;

		switch (instruction >> 6) {
		case 1:
			machine->location += low * machine->common->code_unit;
			break;
		case 2:
			set_rule(machine, low, INJECT_CFI_AT_CFA,
				 times(take_unsigned(bytes), machine->common->data_unit));
			break;
		case 3:
			if (low < INJECT_CFI_REGISTERS)
				machine->row.registers[low] = machine->first.registers[low];
			break;
		default:
			error = run_extended(machine, instruction, bytes);
			break;
		}
	}
	return error ? error : bytes->bad ? -ENOTSUP : 0;
}

/* ---- interface -------------------------------------------------------- */

/*
 * Finds the entry of the last function that begins at or before `pc`; the linker has sorted the entries. 0
 * or a negative errno.
 */
static int find_function(pid_t pid, uint64_t table, uint64_t pc, uint64_t *begin, uint64_t *entry)
{
	struct {
		uint8_t version, encodings[3];
		int32_t frames;
		uint32_t count;
	} head;
	int32_t pair[2];
	uint32_t low = 0, high;

	if (!process_memory__read(pid, table, &head, sizeof(head)))
		return -EFAULT;
	if (head.version != 1 || encoded_size(head.encodings[0]) != 4 || head.encodings[1] != 0x03 ||
	    head.encodings[2] != 0x3b || head.count > FUNCTIONS_MAX)
		return -ENOTSUP;
	for (high = head.count; low < high;) {
		uint32_t middle = low + (high - low) / 2;

		if (!process_memory__read(pid, table + sizeof(head) + 8ull * middle, pair, sizeof(pair)))
			return -EFAULT;
		if (table + (uint64_t)(int64_t)pair[0] <= pc) {
			low = middle + 1;
			*begin = table + (uint64_t)(int64_t)pair[0];
			*entry = table + (uint64_t)(int64_t)pair[1];
		} else {
			high = middle;
		}
	}
	return low ? 0 : -ENOENT;
}

/*
 * Checks that the entry's range contains this address. Afterwards its instructions are left in the entry. 0
 * or a negative errno.
 */
static int enter_function(struct entry *entry, const struct common *common, uint64_t begin, uint64_t pc)
{
	struct bytes *bytes = &entry->bytes;
	unsigned size = encoded_size(common->encoding);
	uint64_t length;

	if (!size)
		return -ENOTSUP;
	take(bytes, size);
	if (pc - begin >= take(bytes, size))
		return -ENOENT;
	if (!common->augmented)
		return 0;
	length = take_unsigned(bytes);
	if (bytes->bad || length > (size_t)(bytes->end - bytes->at))
		return -ENOTSUP;
	bytes->at += length;
	return 0;
}

int inject_cfi__row(pid_t pid, uint64_t table, uint64_t pc, struct inject_cfi_row *out)
{
	struct machine machine = {.pc = pc};
	struct entry function, shared;
	struct common common;
	uint64_t begin = 0, at = 0;
	int error = find_function(pid, table, pc, &begin, &at);

	if (!error)
		error = read_entry(pid, at, &function);
	/* The entry contains the distance back to its common entry. */
	if (!error)
		error = read_entry(pid, at + 4 - take(&function.bytes, 4), &shared);
	if (!error)
		error = read_common(&shared, &common);
	if (!error)
		error = enter_function(&function, &common, begin, pc);
	if (error)
		return error;
	machine.common = &common;
	machine.location = begin;
	machine.row.frame.how = INJECT_CFI_UNKNOWN;
	machine.row.of_signal = common.of_signal;
	error = run(&machine, &shared.bytes);
	machine.first = machine.row;
	if (!error)
		error = run(&machine, &function.bytes);
	*out = machine.row;
	return error;
}
