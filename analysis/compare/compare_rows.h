/* SPDX-License-Identifier: BSD-2-Clause */
/* The comparison and its table by definition. */
#ifndef GRAIND_COMPARE_ROWS_H
#define GRAIND_COMPARE_ROWS_H

#include "analysis/compare/compare.h"

struct grain_compare {
	struct match match;
	struct memory memory;
	struct grain_compare_totals totals;
	uint32_t *inflated; /* contexts of the run, the largest excess first */
	size_t inflated_count;
	struct grain_compare_definition *rows; /* the largest change of exec.sum first */
	size_t row_count;
};

/* Makes the table by definition, and counts totals.other_definition. Returns 0, -ENOMEM or -E2BIG. */
int compare__make_rows(struct grain_compare *compare);

#endif
