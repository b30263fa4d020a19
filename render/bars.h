/* SPDX-License-Identifier: BSD-2-Clause */
/* Bars and lines of characters: eighths of a block in UTF-8, whole characters in ASCII. */
#ifndef GRAIND_RENDER_BARS_H
#define GRAIND_RENDER_BARS_H

#include <stdbool.h>
#include <stddef.h>

#define BARS_MOST 200		       /* columns of one */
#define BARS_BYTES (BARS_MOST * 3 + 1) /* what it takes at most */

/*
 * A bar of `share` (0..1, more is 1) of `columns` columns; no blanks behind it.
 * Whatever is more than nothing shows. NAN: empty.
 */
void bar__draw(char out[BARS_BYTES], double share, size_t columns, bool unicode);

/* One character for each of `count` values from 0 to `most`; blank where there is nothing, none at the end.
 */
void bar__line(char out[BARS_BYTES], const double *values, size_t count, double most, bool unicode);

#endif
