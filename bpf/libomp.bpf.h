/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What is read at the points of libomp: tasks, regions, members, waits. */
#ifndef GRAIND_LIBOMP_BPF_H
#define GRAIND_LIBOMP_BPF_H

#include "bpf/worksharing.bpf.h"

static __always_inline void libomp__read(struct pt_regs *ctx, __u64 id, __u64 cookie,
					 struct ring_record *record)
{
	switch (record->kind) {
	default:
		worksharing__read(ctx, id, cookie, record);
		break;
	}
}

#endif
