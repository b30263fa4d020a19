/* SPDX-License-Identifier: BSD-2-Clause */
/* Sorts by a number, in linear time. */
#ifndef GRAIND_RENDER_RADIX_H
#define GRAIND_RENDER_RADIX_H

#include <stddef.h>
#include <stdint.h>

struct radix_pair {
	uint64_t key, value;
};

/* Sorts by ascending keys. Equal keys keep their order. Returns 0 or -ENOMEM. */
int radix__sort(struct radix_pair *pairs, size_t count);

#endif
