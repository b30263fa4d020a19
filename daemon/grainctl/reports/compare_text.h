/* SPDX-License-Identifier: BSD-2-Clause */
/* A comparison for people: the verdict, the changes by definition, and the most inflated grains. */
#ifndef GRAINCTL_COMPARE_TEXT_H
#define GRAINCTL_COMPARE_TEXT_H

#include "analysis/include/grain_compare.h"

#include <stdbool.h>
#include <stdio.h>

struct compare_text {
	const struct grain_graph *base, *run;
	const struct grain_compare *compare;
	unsigned columns;
	bool colour;
};

/* Writes the text. Returns 0, -ENOMEM or -EIO. */
int compare_text__write(const struct compare_text *text, FILE *out);

#endif
