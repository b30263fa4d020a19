// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The uprobe programs. Each runtime has one for all of its points, and the program's own functions have
 * one. The attach cookie says what the point stands for and where its operands are (cookie.h). The
 * scheduler's tracepoints (sched.bpf.h) and samples (sample.bpf.h, access.bpf.h) write into the same rings.
 */
#include "bpf/access.bpf.h"
#include "bpf/gate_programs.bpf.h"
#include "bpf/libgomp.bpf.h"
#include "bpf/libomp.bpf.h"
#include "bpf/loops.bpf.h"
#include "bpf/sample.bpf.h"
#include "bpf/sched.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/*
 * Readers fill in `record`, which is recorded after they return. They may record other events before it.
 * RING_NONE drops it.
 */

static __always_inline bool is_wanted(__u32 tgid)
{
	if (target_tgid && tgid != target_tgid)
		return false;
	if (filtered && !bpf_map_lookup_elem(&targets, &tgid))
		return false;
	return !is_refused(tgid);
}

/* Whether hits are recorded here and now. */
static __always_inline bool is_recorded(__u64 *id)
{
	if (!*(volatile __u32 *)&enabled) {
		ring__pass();
		return false;
	}
	*id = ids__current();
	if (!is_wanted(*id >> 32)) {
		ring__pass();
		return false;
	}
	return true;
}

/* Whether this hit is recorded; fills what every event has. */
static __always_inline bool hit(struct pt_regs *ctx, __u64 *id, __u64 *cookie, struct ring_record *record)
{
	if (!is_recorded(id))
		return false;
	*cookie = bpf_get_attach_cookie(ctx);
	if (COOKIE_WHEN(*cookie) && will_jump(ctx, *cookie) != (COOKIE_WHEN(*cookie) == COOKIE_IF_TAKEN)) {
		ring__pass();
		return false;
	}
	record->frame = *cookie & COOKIE_RETURN ? ctx->sp : stack(ctx);
	record->kind = COOKIE_KIND(*cookie);
	return true;
}

SEC("uprobe")
int libgomp_probe(struct pt_regs *ctx)
{
	struct ring_record record = {};
	__u64 id, cookie;

	if (!hit(ctx, &id, &cookie, &record))
		return 0;
	libgomp__read(ctx, id, cookie, &record);
	if (record.kind != RING_NONE)
		ring__emit(id, &record);
	else
		ring__pass();
	return 0;
}

SEC("uprobe")
int libomp_probe(struct pt_regs *ctx)
{
	struct ring_record record = {};
	__u64 id, cookie;

	if (!hit(ctx, &id, &cookie, &record))
		return 0;
	libomp__read(ctx, id, cookie, &record);
	if (record.kind != RING_NONE)
		ring__emit(id, &record);
	else
		ring__pass();
	return 0;
}

/* The process has executed another program, which may have to be recorded. */
SEC("tp_btf/sched_process_exec")
int process_exec(void *ctx)
{
	__u32 tgid = ids__current() >> 32;

	(void)ctx;
	bpf_map_delete_elem(&refused, &tgid);
	return 0;
}

/* Entries and returns of the program's functions that are bodies of its constructs. */
SEC("uprobe")
int bodies_probe(struct pt_regs *ctx)
{
	struct ring_record record = {};
	__u64 id, cookie;

	if (!hit(ctx, &id, &cookie, &record))
		return 0;
	if (record.kind == RING_TASK_BEGIN)
		bodies__enter(ctx, id, cookie, &record);
	else
		bodies__leave(ctx, id, &record);
	if (record.kind != RING_NONE)
		ring__emit(id, &record);
	else
		ring__pass();
	return 0;
}

/* Static loops in the program's own code. */
SEC("uprobe")
int loops_probe(struct pt_regs *ctx)
{
	struct ring_record record = {};
	__u64 id;

	if (!is_recorded(&id))
		return 0;
	record.frame = stack(ctx);
	loops__read(ctx, id, bpf_get_attach_cookie(ctx), &record);
	if (record.kind != RING_NONE)
		ring__emit(id, &record);
	else
		ring__pass();
	return 0;
}
