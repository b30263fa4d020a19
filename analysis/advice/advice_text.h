/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats numbers and places for advice. Results are in `text`, or static. */
#ifndef GRAIND_ADVICE_TEXT_H
#define GRAIND_ADVICE_TEXT_H

#include "analysis/graph/graph.h"

/* "8,190", "1.2 us". */
const char *advice__count(uint64_t count, char text[32]);
const char *advice__time(double ns, char text[32]);

/* "fib.c:8", "an unknown place". */
const char *advice__place(const struct grain_graph *graph, uint32_t definition);

#endif
