/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What is read at the entry points of worksharing constructs and locks, which
 * differ between the runtimes in the positions of their arguments only.
 */
#ifndef GRAIND_WORKSHARING_BPF_H
#define GRAIND_WORKSHARING_BPF_H

#include "bpf/registers.bpf.h"

static __always_inline void worksharing__read(struct pt_regs *ctx, __u64 id, __u64 cookie,
					      struct ring_record *record)
{
	(void)ctx;
	(void)id;
	(void)cookie;
	(void)record;
}

#endif
