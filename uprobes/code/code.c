// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/code/code.h"

#include "uprobes/code/code_arch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TEXT_BYTES (64u << 20)

struct code {
	const struct elf_image *image;
	const struct code_arch *arch;
	struct code_insn *insns;
	size_t count;
	csh capstone;
};

void code__free(struct code *code)
{
	if (!code)
		return;
	if (code->capstone)
		cs_close(&code->capstone);
	free(code->insns);
	free(code);
}

const struct code_arch *code__arch(const struct code *code)
{
	return code->arch;
}

static int sweep(struct code *code, const uint8_t *text, size_t size, uint64_t address)
{
	cs_insn *in = cs_malloc(code->capstone);
	size_t step = code->arch->step, capacity = size / (step == 1 ? 3 : step) + 16;

	if (!in)
		return -ENOMEM;
	code->insns = malloc(capacity * sizeof(*code->insns));
	while (code->insns && size >= step) {
		struct code_insn *out;

		if (code->count == capacity) {
			struct code_insn *grown = realloc(code->insns, 2 * capacity * sizeof(*code->insns));

			if (!grown)
				break;
			code->insns = grown;
			capacity *= 2;
		}
		out = &code->insns[code->count++];
		*out = (struct code_insn){.address = address, .size = (uint8_t)step, .flow = FLOW_STOP};
		if (step == 1 && cs_disasm_iter(code->capstone, &text, &size, &address, in)) {
			out->flow = FLOW_NEXT;
			out->id = (uint16_t)in->id;
			out->size = (uint8_t)in->size;
			code->arch->decode(in, out);
		} else {
			if (step != 1) {
				uint32_t word;

				memcpy(&word, text, sizeof(word));
				out->flow = FLOW_NEXT;
				code->arch->decode_word(word, out);
			}
			text += step;
			size -= step;
			address += step;
		}
	}
	cs_free(in, 1);
	if (size >= step)
		return -ENOMEM;
	if (code->arch->join)
		code->arch->join(code->insns, code->count);
	return 0;
}

static int load(const struct elf_image *image, const uint8_t *text, size_t size, uint64_t address,
		struct code **out, struct uprobes_error *err)
{
	struct code *code = calloc(1, sizeof(*code));
	int r = -ENOTSUP;

	if (!code)
		return -ENOMEM;
	code->image = image;
	code->arch = code_arch__of(elf_image__machine(image));
	if (!text || size > MAX_TEXT_BYTES) {
		snprintf(err->text, sizeof(err->text), "no usable .text section");
		goto out;
	}
	if (cs_open(code->arch->capstone, code->arch->mode, &code->capstone) != CS_ERR_OK) {
		code->capstone = 0;
		snprintf(err->text, sizeof(err->text), "the disassembler library does not support %s",
			 code->arch->name);
		goto out;
	}
	cs_option(code->capstone, CS_OPT_DETAIL, CS_OPT_ON);
	r = sweep(code, text, size, address);
	if (r)
		goto out;
	*out = code;
	return 0;
out:
	code__free(code);
	return r;
}

int code__load_at(const struct elf_image *image, uint64_t address, size_t size, struct code **out,
		  struct uprobes_error *err)
{
	const uint8_t *bytes = NULL;

	while (size && !(bytes = elf_image__bytes(image, address, size)))
		size /= 2;
	return load(image, bytes, size, address, out, err);
}

int code__load(const struct elf_image *image, struct code **out, struct uprobes_error *err)
{
	struct code *code = NULL;
	const uint8_t *text;
	uint64_t address;
	size_t size;
	int r;

	text = elf_image__text(image, &address, &size);
	r = load(image, text, size, address, &code, err);
	if (r)
		return r;
	for (size_t i = 0; i < elf_image__function_count(image); i++) {
		const struct elf_function *f = elf_image__function(image, i);

		if (f->address < address || f->address - address >= size)
			continue;
		if (code__find(code, f->address) == CODE_NONE) {
			snprintf(err->text, sizeof(err->text),
				 "%s does not start on an instruction boundary; refusing to probe this file",
				 f->name);
			r = -ENOTSUP;
			goto out;
		}
	}
	*out = code;
	return 0;
out:
	code__free(code);
	return r;
}

size_t code__count(const struct code *code)
{
	return code->count;
}

const struct code_insn *code__at(const struct code *code, size_t index)
{
	return &code->insns[index];
}

size_t code__find(const struct code *code, uint64_t address)
{
	size_t low = 0, high = code->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (code->insns[mid].address < address)
			low = mid + 1;
		else
			high = mid;
	}
	return low < code->count && code->insns[low].address == address ? low : CODE_NONE;
}

const char *code__got_name(const struct code *code, const struct code_insn *insn)
{
	if ((insn->flow != FLOW_CALL && insn->flow != FLOW_JUMP) || insn->target ||
	    !operand__is_at(&insn->operand[0], CODE_REG_PC))
		return NULL;
	return elf_image__got_name(code->image, (uint64_t)insn->operand[0].value);
}

void code__text(const struct code *code, size_t index, char *buffer, size_t size)
{
	const struct code_insn *insn = &code->insns[index];
	const uint8_t *bytes = elf_image__bytes(code->image, insn->address, insn->size);
	cs_insn *in = NULL;

	if (!bytes || cs_disasm(code->capstone, bytes, insn->size, insn->address, 1, &in) != 1) {
		snprintf(buffer, size, "?");
		return;
	}
	snprintf(buffer, size, in->op_str[0] ? "%s %s" : "%s", in->mnemonic, in->op_str);
	cs_free(in, 1);
}

const char *code__plt_name(const struct code *code, uint64_t target)
{
	const char *defined = elf_image__outside_name(code->image, target);
	const uint8_t *bytes = elf_image__bytes(code->image, target, CODE_STUB_BYTES);
	uint8_t padded[CODE_STUB_BYTES] = {0};
	uint64_t got;

	if (defined)
		return defined;
	/* The last stub may be shorter. */
	for (size_t size = CODE_STUB_BYTES - 4; !bytes && size >= 4; size -= 4) {
		const uint8_t *some = elf_image__bytes(code->image, target, size);

		if (some)
			bytes = memcpy(padded, some, size);
	}
	got = bytes ? code->arch->stub(code->capstone, bytes, target) : 0;
	return got ? elf_image__got_name(code->image, got) : NULL;
}
