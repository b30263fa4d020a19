// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/static_loops/static_loops.h"
#include "bpf/abi/loop_cookie.h"
#include "uprobes/code/code.h"
#include "uprobes/elf/elf_notes.h"
#include "uprobes/make_plan/function_names.h"
#include "uprobes/plan/plan_data.h"
#include "uprobes/planner/planner.h"
#include "uprobes/static_loops/callee_writes.h"
#include "uprobes/static_loops/loop_match.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_ENTRIES 4096
#define NAMES 6 /* number of runtime functions that are known by their names */

/* What is called at an address: a runtime's function, or its stub in the PLT. */
struct callee {
	uint64_t address;
	enum flow_callee is;
};

struct search {
	struct planner planner;
	struct elf_image *image;
	struct code *code;	   /* only used for the names of called functions */
	struct callee *cache;	   /* direct mapped, by address */
	uint64_t linked_in[NAMES]; /* addresses of these functions, if the runtime is a part of the file */
	struct loop_code function;
	struct loop_flow flow;
	struct found_loops found;
	struct callee_writes *writes;
	uint8_t *callees;  /* enum flow_callee, by instruction of the function */
	uint32_t *changes; /* the registers that a call changes, by instruction of the function */
	size_t callee_room;
	size_t understood;
};

static const struct {
	const char *name;
	enum flow_callee is;
} names[NAMES] = {{"omp_get_num_threads", CALLEE_THREADS}, {"omp_get_thread_num", CALLEE_THREAD},
		  {"omp_get_num_teams", CALLEE_TEAMS},	   {"omp_get_team_num", CALLEE_TEAM},
		  {"GOMP_barrier", CALLEE_BARRIER},	   {"GOMP_barrier_cancel", CALLEE_BARRIER}};

static enum flow_callee named(const char *name)
{
	for (size_t i = 0; name && i < NAMES; i++)
		if (!strcmp(name, names[i].name))
			return names[i].is;
	return CALLEE_OTHER;
}

/* ---- functions that ask for the number of threads --------------------- */

static enum flow_callee callee_at(const struct search *s, uint64_t address)
{
	struct callee *known = &s->cache[(address >> 2) % CACHE_ENTRIES];

	if (known->address == address)
		return known->is;
	*known = (struct callee){address, CALLEE_OTHER};
	for (size_t i = 0; i < NAMES; i++)
		if (s->linked_in[i] && s->linked_in[i] == address)
			known->is = names[i].is;
	if (known->is == CALLEE_OTHER)
		known->is = named(code__plt_name(s->code, address));
	return known->is;
}

static enum flow_callee callee_of(const struct search *s, const struct code_insn *insn)
{
	if (insn->flow != FLOW_CALL && insn->flow != FLOW_JUMP)
		return CALLEE_OTHER;
	return insn->target ? callee_at(s, insn->target) : named(code__got_name(s->code, insn));
}

/* Whether the code at the address can be a stub that jumps through the GOT, or the entry of a function. */
static bool may_be_callee(const struct search *s, uint64_t address)
{
	const uint8_t *bytes = elf_image__bytes(s->image, address, 8);

	if (!bytes)
		return false;
	if (code__arch(s->code)->step != 1)
		return true;
	for (size_t i = 0; i < NAMES; i++)
		if (s->linked_in[i] == address)
			return true;
	return (bytes[0] == 0xff && bytes[1] == 0x25) || (bytes[0] == 0xf3 && bytes[1] == 0x0f);
}

/*
 * Whether these bytes look like a call of an x86-64 function that asks for the number of threads or teams.
 * They may also be something else.
 */
static bool asks_x86_64(const struct search *s, const uint8_t *at, uint64_t address, size_t left)
{
	enum flow_callee is = CALLEE_OTHER;
	int32_t distance;

	if (left >= 5 && (at[0] == 0xe8 || at[0] == 0xe9)) {
		memcpy(&distance, at + 1, sizeof(distance));
		address += 5 + (uint64_t)(int64_t)distance;
		if (may_be_callee(s, address))
			is = callee_at(s, address);
	} else if (left >= 6 && at[0] == 0xff && at[1] == 0x15) {
		memcpy(&distance, at + 2, sizeof(distance));
		is = named(elf_image__got_name(s->image, address + 6 + (uint64_t)(int64_t)distance));
	}
	return is == CALLEE_THREADS || is == CALLEE_TEAMS;
}

/*
 * The same for aarch64, where the address of a function may also be loaded from the GOT. `pages`: the
 * values of registers that an earlier adrp seems to have set.
 */
static bool asks_aarch64(const struct search *s, const uint8_t *at, uint64_t address, size_t left,
			 uint64_t pages[32])
{
	enum flow_callee is = CALLEE_OTHER;
	uint64_t distance, page;
	uint32_t word;

	if (left < sizeof(word))
		return false;
	memcpy(&word, at, sizeof(word));
	if ((word & 0x9f000000) == 0x90000000) { /* adrp */
		distance = (uint64_t)(word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3);
		pages[word & 31] = (address & ~0xfffull) + (uint64_t)((int64_t)(distance << 43) >> 31);
	} else if ((word & 0xffc00000) == 0xf9400000) { /* ldr of 8 bytes */
		page = pages[word >> 5 & 31];
		if (page)
			is = named(elf_image__got_name(s->image, page + 8 * (uint64_t)(word >> 10 & 0xfff)));
	} else if (word >> 26 == 0x25) {
		is = callee_at(s, address + (uint64_t)((int64_t)(int32_t)(word << 6) >> 4));
	}
	return is == CALLEE_THREADS || is == CALLEE_TEAMS;
}

static bool asks(const struct search *s, const struct elf_extent *extent)
{
	const uint8_t *bytes = elf_image__bytes(s->image, extent->address, extent->size);
	size_t step = code__arch(s->code)->step;
	uint64_t pages[32] = {0};

	for (size_t i = 0; bytes && i < extent->size; i += step) {
		if (step == 1 ? asks_x86_64(s, bytes + i, extent->address + i, extent->size - i)
			      : asks_aarch64(s, bytes + i, extent->address + i, extent->size - i, pages))
			return true;
	}
	return false;
}

/* ---- points ----------------------------------------------------------- */

static RING_U32 place(const struct found_at *at)
{
	if (at->in == FOUND_NOWHERE)
		return LOOP_PLACE_NONE;
	if (at->in == FOUND_IN_REG)
		return at->reg | (at->narrow == 1 ? LOOP_PLACE_BYTE : at->narrow == 2 ? LOOP_PLACE_SHORT : 0);
	if (at->in == FOUND_LIMIT)
		return (RING_U32)at->distance;
	return (at->in == FOUND_AT_FRAME ? LOOP_PLACE_FRAME : LOOP_PLACE_STACK) |
	       ((RING_U32)(at->distance / 4) & LOOP_PLACE_DISTANCE);
}

static void add_point(struct search *s, uint32_t insn, uint64_t cookie, const char *event, const char *reads)
{
	const struct code_insn *in = &s->function.insns[insn].base;
	struct probe_plan *plan = s->planner.plan;
	struct probe_point *p;

	for (size_t i = plan->count; i-- > 0 && plan->points[i].address + LOOP_CODE_MAX_BYTES > in->address;)
		if (plan->points[i].address == in->address && plan->points[i].entry_cookie == cookie)
			return;
	p = probe_plan__next(plan);
	if (!p)
		return;
	*p = (struct probe_point){
		.address = in->address,
		.offset = elf_image__file_offset(s->image, in->address),
		.entry_cookie = cookie,
		.cost = in->emulated ? PROBE_EMULATED : PROBE_SINGLE_STEPPED,
		.call = in->flow == FLOW_CALL,
		.event = event,
		.function = "(a static loop)",
	};
	snprintf(p->reads, sizeof(p->reads), "%s", reads);
	snprintf(p->instruction, sizeof(p->instruction), "%s",
		 in->flow == FLOW_BRANCH ? "a conditional jump" : "-");
	plan->count += planner__take_bytes(p, s->image, in->size);
}

static void not_understood(struct search *s)
{
	if (s->planner.plan->missing_count < PLAN_MAX_MISSING)
		s->planner.plan->missing[s->planner.plan->missing_count++] = "static-loop";
}

static RING_U64 chunk_cookie(const struct search *s, const struct found_loop *loop, uint32_t insn,
			     RING_U32 point, bool taken, const struct found_at *first,
			     const struct found_at *end)
{
	RING_U32 flags = (loop->wide ? LOOP_FLAG_WIDE : 0) | (loop->teams ? LOOP_FLAG_TEAMS : 0) |
			 (taken ? LOOP_FLAG_TAKEN : 0);
	bool small = point == LOOP_POINT_TRIPS || point == LOOP_POINT_HEAD;
	RING_U32 c = point == LOOP_POINT_TRIPS ? place(&loop->trip)
		     : point == LOOP_POINT_HEAD
			     ? place(&loop->threads) | (loop->has_stride ? LOOP_C_STRIDE : 0)
			     : 0;
	RING_U64 most = small ? LOOP_SMALL_CHUNK_MAX : LOOP_CHUNK_MAX,
		 chunk = loop->chunk > 0 && (RING_U64)loop->chunk <= most ? (RING_U64)loop->chunk : 0;

	return loop_cookie__make(point, flags, s->function.insns[insn].base.test, place(first), place(end),
				 c) |
	       chunk << (small ? 52 : 38) |
	       (end->in == FOUND_LIMIT ? LOOP_COOKIE_LIMIT | LOOP_COOKIE_CONSTANT
		: end->limit	       ? LOOP_COOKIE_LIMIT
				       : 0) |
	       (point == LOOP_POINT_FIRST && loop->keeps ? LOOP_COOKIE_KEEP : 0) |
	       (point == LOOP_POINT_FIRST && loop->keeps_only ? LOOP_COOKIE_KEEP_ONLY : 0);
}

/* Where the rest of a BLOCK is. LOOP_PLACE_NONE: the cookie has no room for the place. */
static RING_U32 rest_place(const struct found_at *at)
{
	if (at->in == FOUND_NOWHERE || at->in == FOUND_IN_REG)
		return place(at);
	if (at->distance < -LOOP_REST_DISTANCE_MAX || at->distance > LOOP_REST_DISTANCE_MAX)
		return LOOP_PLACE_NONE;
	return (at->in == FOUND_AT_FRAME ? LOOP_REST_FRAME : LOOP_REST_STACK) |
	       ((RING_U32)(at->distance / 4) & LOOP_REST_DISTANCE);
}

static bool add_block(struct search *s, const struct found_loop *loop, RING_U32 flags)
{
	bool divided = loop->quotient.in != FOUND_NOWHERE;
	RING_U32 rest = divided ? rest_place(&loop->rest) : LOOP_PLACE_NONE,
		 a = divided ? place(&loop->quotient) : (RING_U32)loop->count;

	if (rest == LOOP_PLACE_NONE && (divided || loop->count > LOOP_PLACE_MAX))
		return false;
	add_point(s, loop->jump,
		  loop_cookie__make(LOOP_POINT_BLOCK, flags | (loop->longer_only ? LOOP_FLAG_TAKEN : 0),
				    loop->form == LOOP_SHARE ? LOOP_KEEP_ONLY
				    : loop->keeps	     ? LOOP_KEEP
							     : 0,
				    a, place(&loop->threads), place(&loop->thread)) |
			  (RING_U64)rest << 52,
		  loop->form == LOOP_SHARE ? "static-share" : "static-loop",
		  "quotient, rest, thread, threads");
	return true;
}

static void add_enter(struct search *s, const struct found_loop *loop, RING_U32 flags)
{
	const struct loop_insn *insns = s->function.insns;
	int64_t here = (int64_t)insns[loop->jump].base.address,
		share = (int64_t)insns[loop->shared].base.address - here,
		site = (int64_t)insns[loop->site].base.address - here;

	_Static_assert(LOOP_CODE_MAX_BYTES < LOOP_DISPLACEMENT_MAX, "no function is larger than that");
	add_point(s, loop->jump, loop_cookie__enter(flags, share, site), "static-loop", "-");
}

static void add_loop(struct search *s, const struct found_loop *loop)
{
	RING_U32 flags = (loop->wide ? LOOP_FLAG_WIDE : 0) | (loop->teams ? LOOP_FLAG_TEAMS : 0);

	RING_U32 a;

	switch (loop->form) {
	case LOOP_ENTER:
		add_enter(s, loop, flags);
		break;
	case LOOP_BLOCK:
	case LOOP_SHARE:
		if (!add_block(s, loop, flags)) {
			not_understood(s);
			return;
		}
		break;
	case LOOP_STRIDE:
		if (loop->count > LOOP_PLACE_MAX || loop->chunk > (int64_t)LOOP_SMALL_CHUNK_MAX) {
			not_understood(s);
			return;
		}
		a = place(&loop->first) | place(&loop->end) << 5 | (loop->count >= 0 ? LOOP_A_CONSTANT : 0);
		add_point(s, loop->jump,
			  loop_cookie__make(LOOP_POINT_STRIDE,
					    flags | (loop->enters_taken ? LOOP_FLAG_TAKEN : 0),
					    s->function.insns[loop->jump].base.test, a,
					    loop->count >= 0 ? (RING_U32)loop->count : place(&loop->bound),
					    place(&loop->threads)) |
				  (RING_U64)loop->chunk << 52,
			  "static-loop", "first, end, n, threads");
		break;
	case LOOP_RANGE:
		add_point(s, loop->jump,
			  chunk_cookie(s, loop, loop->jump, LOOP_POINT_FIRST, loop->enters_taken,
				       &loop->first, &loop->end),
			  "static-loop", "first, end");
		break;
	case LOOP_CHUNKS:
		add_point(s, loop->jump,
			  chunk_cookie(s, loop, loop->jump, LOOP_POINT_FIRST, loop->enters_taken,
				       &loop->first, &loop->end),
			  "static-loop", "first, end");
		for (uint32_t i = 0; i < loop->again_count; i++)
			add_point(s, loop->agains[i].jump,
				  chunk_cookie(s, loop, loop->agains[i].jump, LOOP_POINT_AGAIN,
					       loop->agains[i].taken, &loop->agains[i].first,
					       &loop->agains[i].end),
				  "static-chunk", "first, end");
		break;
	case LOOP_HEAD:
		if (loop->chunk > (int64_t)LOOP_SMALL_CHUNK_MAX && !loop->has_stride) {
			not_understood(s);
			return;
		}
		add_point(s, loop->jump,
			  chunk_cookie(s, loop, loop->jump, LOOP_POINT_HEAD, loop->enters_taken, &loop->first,
				       &loop->end),
			  "static-chunk", "first, end, threads");
		break;
	case LOOP_TRIPS:
		add_point(s, loop->jump,
			  chunk_cookie(s, loop, loop->jump, LOOP_POINT_TRIPS, loop->enters_taken,
				       &loop->first, &loop->end),
			  "static-chunk", "first, end, trip");
		break;
	}
	if (loop->leave != INSN_NONE)
		add_point(s, loop->leave, loop_cookie__make(LOOP_POINT_END, 0, 0, 0, 0, 0), "static-loop-end",
			  "-");
}

/* ---- one function ----------------------------------------------------- */

static int name_callees(struct search *s)
{
	if (s->function.count > s->callee_room) {
		uint8_t *callees = realloc(s->callees, s->function.count);
		uint32_t *changes =
			callees ? reallocarray(s->changes, s->function.count, sizeof(*changes)) : NULL;

		s->callees = callees ? callees : s->callees;
		s->changes = changes ? changes : s->changes;
		if (!changes)
			return -ENOMEM;
		s->callee_room = s->function.count;
	}
	for (uint32_t i = 0; i < s->function.count; i++) {
		const struct code_insn *base = &s->function.insns[i].base;

		s->callees[i] = (uint8_t)callee_of(s, base);
		s->changes[i] = base->flow == FLOW_CALL
					? callee_writes__of(s->writes, base->target, base->writes)
					: 0;
	}
	s->flow.callee = s->callees;
	s->flow.changes = s->changes;
	return 0;
}

/*
 * Names functions that are called through registers: the followed values show which function a register
 * holds.
 */
static bool name_by_values(struct search *s)
{
	bool any = false;

	for (uint32_t i = 0; i < s->function.count; i++) {
		const struct code_insn *base = &s->function.insns[i].base;
		struct flow_state state;
		const struct atom *atom;
		int64_t entry;

		if ((base->flow != FLOW_CALL && base->flow != FLOW_JUMP) || base->target ||
		    base->operand[0].type != OPERAND_REG || base->operand[0].reg >= CODE_REG_SP ||
		    !loop_flow__before(&s->flow, i, &state))
			continue;
		atom = values__is_atom(s->flow.values, state.reg[base->operand[0].reg]);
		if (atom && atom->kind == ATOM_ENTRY && values__is_constant(s->flow.values, atom->a, &entry))
			s->callees[i] = (uint8_t)named(elf_image__got_name(s->image, (uint64_t)entry));
		any |= s->callees[i] != CALLEE_OTHER;
	}
	return any;
}

static int look_into(struct search *s, const struct elf_extent *extent)
{
	int r = loop_code__read(&s->function, s->image, extent->address, extent->size);

	if (!r)
		r = name_callees(s);
	if (!r) {
		values__clear(s->flow.values);
		r = loop_flow__run(&s->flow);
	}
	if (!r && name_by_values(s))
		r = loop_flow__run(&s->flow);
	if (!r)
		r = loop_match__find(&s->flow, &s->found);
	if (r == -EINVAL) {
		not_understood(s);
		return 0;
	}
	for (size_t i = 0; !r && i < s->found.count; i++)
		add_loop(s, &s->found.list[i]);
	for (size_t i = 0; !r && i < s->found.unknown; i++)
		not_understood(s);
	return r;
}

static int search_all(struct search *s)
{
	const struct elf_extent *extents;
	size_t count = elf_image__extents(s->image, &extents);
	int r;

	if (!count)
		return 0;
	r = code__load_at(s->image, extents[0].address, 16, &s->code, s->planner.err);
	if (!r)
		r = loop_code__init(&s->function, code__arch(s->code));
	for (size_t i = 0; i < NAMES; i++) {
		const struct elf_function *f = elf_image__find(s->image, names[i].name);

		s->linked_in[i] = f ? f->address : 0;
	}
	s->flow.image = s->image;
	s->flow.code = &s->function;
	s->flow.values = values__new();
	s->cache = calloc(CACHE_ENTRIES, sizeof(*s->cache));
	if (!r && (!s->flow.values || !s->cache))
		r = -ENOMEM;
	if (!r)
		r = callee_writes__new(s->image, code__arch(s->code), extents, count, &s->writes);
	for (size_t i = 0; !r && i < count; i++)
		if (asks(s, &extents[i]))
			r = look_into(s, &extents[i]);
	return r;
}

static int plan_file(int fd, const char *name, bool foreign, struct probe_plan **out,
		     struct uprobes_error *err)
{
	struct search s = {.planner = {.err = err, .plan = probe_plan__new(name)}};
	int r = -ENOMEM;

	if (!s.planner.plan)
		return r;
	s.planner.plan->runtime = RUNTIME_LOOPS;
	r = elf_image__open_fd(fd, name, &s.image, err);
	if (r)
		goto out;
	if (!foreign && elf_image__machine(s.image) != code_arch__native()->machine) {
		snprintf(err->text, sizeof(err->text), "%s: not an ELF file of %s", name,
			 code_arch__native()->name);
		r = -ENOEXEC;
		goto out;
	}
	s.planner.image = s.image;
	/* If a runtime is a part of the file, its names may be gone. */
	if (elf_image__runtime(s.image) == ELF_RUNTIME_NONE &&
	    function_names__recognise(s.image, name, err) == -ENOMEM) {
		r = -ENOMEM;
		goto out;
	}
	s.planner.plan->shadow_stack = elf_notes__keep_shadow_stack(elf_image__elf(s.image));
	r = search_all(&s);
	if (!r && !s.planner.plan->count) {
		if (s.planner.plan->missing_count)
			snprintf(err->text, sizeof(err->text),
				 "%s: none of its %zu static loops is understood", name,
				 s.planner.plan->missing_count);
		else
			snprintf(err->text, sizeof(err->text), "%s: no static loops found in it", name);
		r = -ENOENT;
	}
	if (!r) {
		*out = s.planner.plan;
		s.planner.plan = NULL;
	}
out:
	free(s.found.list);
	free(s.callees);
	free(s.changes);
	callee_writes__free(s.writes);
	free(s.cache);
	values__free(s.flow.values);
	loop_flow__free(&s.flow);
	loop_code__free(&s.function);
	code__free(s.code);
	elf_image__close(s.image);
	probe_plan__free(s.planner.plan);
	return r;
}

int static_loops__plan_fd(int fd, const char *name, struct probe_plan **out, struct uprobes_error *err)
{
	return plan_file(fd, name, false, out, err);
}

int static_loops__plan_foreign(int fd, const char *name, struct probe_plan **out, struct uprobes_error *err)
{
	return plan_file(fd, name, true, out, err);
}

/*
 * Whether this point identifies a loop. Other points are its further chunks, its end, its share, or another
 * way into it.
 */
static bool names_loop(RING_U64 cookie)
{
	switch (LOOP_COOKIE_POINT(cookie)) {
	case LOOP_POINT_ENTER:
		return LOOP_COOKIE_SITE(cookie) == 0;
	case LOOP_POINT_BLOCK:
		return LOOP_COOKIE_TEST(cookie) != LOOP_KEEP_ONLY;
	case LOOP_POINT_AGAIN:
	case LOOP_POINT_END:
		return false;
	default:
		return true;
	}
}

void static_loops__count(const struct probe_plan *plan, size_t *understood, size_t *missing)
{
	*understood = *missing = 0;
	for (size_t i = 0; i < probe_plan__count(plan); i++)
		*understood += names_loop(probe_plan__point(plan, i)->entry_cookie);
	while (probe_plan__missing(plan, *missing))
		++*missing;
}
