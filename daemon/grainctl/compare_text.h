/* SPDX-License-Identifier: BSD-2-Clause */
/* A comparison for people: the verdict, what changed by definition, the most inflated grains. */
#ifndef GRAINCTL_COMPARE_TEXT_H
#define GRAINCTL_COMPARE_TEXT_H

#include "analysis/grain_compare.h"

#include <stdbool.h>
#include <stdio.h>

struct compare_text {
	const struct grain_graph *base, *run;
	const struct grain_compare *compare;
	unsigned columns;
	bool colour;
};

/* 0, -ENOMEM or -EIO. */
int compare_text__write(const struct compare_text *text, FILE *out);

#endif
