// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The uprobe programs: one per runtime, for all of its points, and one for the
 * program's own functions; the attach cookie says what the point stands for and where its operands are
 * (cookie.h). The scheduler's tracepoints (sched.bpf.h) and samples (sample.bpf.h, access.bpf.h) write into
 * the same rings.
 */
#include "bpf/access.bpf.h"
#include "bpf/libgomp.bpf.h"
#include "bpf/libomp.bpf.h"
#include "bpf/sample.bpf.h"
#include "bpf/sched.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/*
 * The readers fill `record`, which is then recorded; they may record further
 * events before it, and RING_NONE drops it.
 */

static __always_inline bool is_wanted(__u32 tgid)
{
	if (target_tgid && tgid != target_tgid)
		return false;
	if (filtered && !bpf_map_lookup_elem(&targets, &tgid))
		return false;
	return !is_refused(tgid);
}

/* Whether this hit is recorded; fills what every event has. */
static __always_inline bool hit(struct pt_regs *ctx, __u64 *id, __u64 *cookie, struct ring_record *record)
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

/* It is another program now, of which somebody may want to know. */
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
