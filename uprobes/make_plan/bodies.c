// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/make_plan/bodies.h"
#include "uprobes/code/code_arch.h"
#include "uprobes/code/code.h"
#include "uprobes/elf/elf_notes.h"
#include "uprobes/plan/plan_data.h"
#include "uprobes/planner/planner.h"
#include "uprobes/make_plan/function_names.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Enough bytes for the instructions at a function's start. The point is chosen among them. */
#define START_BYTES 96
/* The most instructions between the setting of a call's first argument and the call. */
#define ARGUMENT_WINDOW 32

struct addresses {
	uint64_t *list;
	size_t count, room;
};

static int add_address(struct addresses *found, uint64_t address)
{
	if (found->count == found->room) {
		size_t room = found->room ? 2 * found->room : 64;
		uint64_t *list = reallocarray(found->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		found->list = list;
		found->room = room;
	}
	found->list[found->count++] = address;
	return 0;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void sort_unique(struct addresses *found)
{
	size_t kept = 0;

	if (found->count)
		qsort(found->list, found->count, sizeof(*found->list), by_value);
	for (size_t i = 0; i < found->count; i++)
		if (!i || found->list[i] != found->list[i - 1])
			found->list[kept++] = found->list[i];
	found->count = kept;
}

/*
 * Whether this is the name of a body: "main._omp_fn.0" or "main._omp_fn.0.isra.0", but not a part that was
 * split off one.
 */
static bool is_body_name(const char *name)
{
	const char *mark = strstr(name, "._omp_fn.");

	return mark && !strstr(mark, ".cold");
}

static int add_named(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, struct addresses *found)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
	int r = 0;

	for (size_t i = 0; !r && i < count && i < INT32_MAX; i++) {
		const char *name;
		GElf_Sym symbol;

		if (!gelf_getsym(data, (int)i, &symbol))
			break;
		if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF)
			continue;
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (name && is_body_name(name))
			r = add_address(found, symbol.st_value);
	}
	return r;
}

static int find_named(const struct elf_image *image, struct addresses *found)
{
	Elf *elf = elf_image__elf(image);
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int r = 0;

	while (!r && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
			r = add_named(elf, section, &header, found);
	return r;
}

/* Whether the function's first argument is a body. */
static bool takes_body(const char *name)
{
	return name && (strncmp(name, "GOMP_parallel", 13) == 0 || strncmp(name, "GOMP_task", 9) == 0 ||
			strcmp(name, "GOMP_teams_reg") == 0);
}

#define TAKERS_MAX 128 /* the most runtime functions that take a body */

/*
 * Finds the functions that take a body, in a file with a statically linked runtime. They are sorted by
 * address, as the functions are.
 */
static size_t find_takers(const struct elf_image *image, uint64_t takers[TAKERS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < elf_image__function_count(image) && count < TAKERS_MAX; i++)
		if (takes_body(elf_image__function(image, i)->name))
			takers[count++] = elf_image__function(image, i)->address;
	return count;
}

static bool hands_body(const struct code *code, const struct code_insn *in, const uint64_t *takers,
		       size_t taker_count)
{
	if (in->flow != FLOW_CALL && in->flow != FLOW_JUMP)
		return false;
	if (!in->target)
		return takes_body(code__got_name(code, in));
	if (taker_count && bsearch(&in->target, takers, taker_count, sizeof(*takers), by_value))
		return true;
	return takes_body(code__plt_name(code, in->target));
}

/* The address that `reg` holds before the call, followed back through moves between registers. 0: unknown. */
static uint64_t value_before(const struct code *code, size_t call, uint8_t reg)
{
	for (size_t i = call; i > 0 && call - i < ARGUMENT_WINDOW; i--) {
		const struct code_insn *in = code__at(code, i - 1);
		const struct code_operand *from = &in->operand[1];

		if (in->flow != FLOW_NEXT)
			break;
		if (!insn__writes(in, reg))
			continue;
		if (in->op == CODE_ADDRESS && operand__is_at(from, CODE_REG_PC))
			return (uint64_t)from->value;
		if (in->op == CODE_COPY && from->type == OPERAND_VALUE)
			return (uint64_t)from->value;
		if (in->op != CODE_COPY || from->type != OPERAND_REG)
			break;
		reg = from->reg;
	}
	return 0;
}

/*
 * Finds bodies that are passed to such functions: `lea body(%rip), %rdi` or `mov $body, %edi` before the
 * call.
 */
static int find_handed(struct elf_image *image, const char *name, struct addresses *found,
		       struct uprobes_error *err)
{
	uint64_t takers[TAKERS_MAX];
	struct code *code = NULL;
	size_t taker_count;
	int r;

	/* The file contains a runtime whose functions have no names. */
	if (elf_image__runtime(image) == ELF_RUNTIME_NONE)
		function_names__recognise(image, name, err);
	taker_count = find_takers(image, takers);
	elf_image__widen(image);
	r = code__load(image, &code, err);
	for (size_t i = 0; !r && i < code__count(code); i++) {
		uint64_t address;

		if (!hands_body(code, code__at(code, i), takers, taker_count))
			continue;
		address = value_before(code, i, code__arch(code)->argument[0]);
		if (address && elf_image__bytes(image, address, 1))
			r = add_address(found, address);
	}
	code__free(code);
	/*
	 * There is data within the code. Bodies that are used will be found when they are passed to the
	 * runtime.
	 */
	return r == -ENOMEM ? r : 0;
}

static int add_body(struct planner *planner, uint64_t address)
{
	struct code *code = NULL;
	struct probe_point *p;
	int64_t distance;
	size_t at;
	int r = code__load_at(planner->image, address, START_BYTES, &code, planner->err);

	if (r)
		return r;
	planner->code = code;
	p = probe_plan__next(planner->plan);
	if (p && code__count(code)) {
		at = planner__entry_point(planner, 0, ENTRY_ARGUMENTS);
		distance = (int64_t)(address - code__at(code, at)->address);
		*p = (struct probe_point){
			.address = code__at(code, at)->address,
			.offset = elf_image__file_offset(planner->image, code__at(code, at)->address),
			.entry_cookie = cookie__make(RING_TASK_BEGIN, COOKIE_ALWAYS, 0, COOKIE_REG_NONE,
						     COOKIE_REG_NONE, 0, 0, (int)distance),
			.return_cookie =
				COOKIE_RETURN | cookie__make(RING_TASK_END, COOKIE_ALWAYS, 0, COOKIE_REG_NONE,
							     COOKIE_REG_NONE, 0, 0, 0),
			.cost = code__at(code, at)->emulated ? PROBE_EMULATED : PROBE_SINGLE_STEPPED,
			.call = code__at(code, at)->flow == FLOW_CALL,
			.event = "body",
			.function = "(a body)",
			.reads = "rdi = data, [rsp] = caller",
		};
		code__text(code, at, p->instruction, sizeof(p->instruction));
		planner->plan->count += planner__take_bytes(p, planner->image, code__at(code, at)->size);
	}
	planner->code = NULL;
	code__free(code);
	return 0;
}

static int find_all(struct elf_image *image, const char *name, struct addresses *found,
		    struct uprobes_error *err)
{
	int r = find_named(image, found);

	if (!r && !found->count)
		r = find_handed(image, name, found, err);
	sort_unique(found);
	return r;
}

int bodies__plan_fd(int fd, const char *name, uint64_t offset, struct probe_plan **out,
		    struct uprobes_error *err)
{
	struct planner planner = {.err = err, .plan = probe_plan__new(name)};
	struct addresses found = {NULL, 0, 0};
	struct elf_image *image = NULL;
	int r;

	if (!planner.plan)
		return -ENOMEM;
	planner.plan->runtime = RUNTIME_PROGRAM;
	r = elf_image__open_fd(fd, name, &image, err);
	if (r)
		goto out;
	planner.image = image;
	planner.plan->shadow_stack = elf_notes__keep_shadow_stack(elf_image__elf(image));
	if (offset)
		r = add_address(&found, elf_image__address(image, offset));
	else
		r = find_all(image, name, &found, err);
	/* If a plan cannot hold all of them, the others are found when they are passed to the runtime. */
	for (size_t i = 0; !r && i < found.count && planner.plan->count < PLAN_MAX_BODIES; i++)
		if (found.list[i] != UINT64_MAX)
			r = add_body(&planner, found.list[i]);
	if (!r && !planner.plan->count) {
		snprintf(err->text, sizeof(err->text), "%s: no bodies of OpenMP constructs found in it",
			 name);
		r = -ENOENT;
	}
	if (!r) {
		*out = planner.plan;
		planner.plan = NULL;
	}
out:
	free(found.list);
	elf_image__close(image);
	probe_plan__free(planner.plan);
	return r;
}
