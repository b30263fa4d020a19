/* SPDX-License-Identifier: BSD-2-Clause */
/* Bars and lines of characters: eighths of a block in UTF-8, whole characters in ASCII. */
#ifndef GRAIND_RENDER_BARS_H
#define GRAIND_RENDER_BARS_H

#include <stdbool.h>
#include <stddef.h>

#define BARS_MOST 200		       /* largest number of columns of a bar */
#define BARS_BYTES (BARS_MOST * 3 + 1) /* size of a buffer for a bar */

/*
 * Draws a bar of `share` (0..1; more counts as 1) of `columns` columns, without blanks at the end. Every
 * share above 0 is visible. NAN: the bar is empty.
 */
void bar__draw(char out[BARS_BYTES], double share, size_t columns, bool unicode);

/*
 * Draws one character for each of `count` values between 0 and `most`. A value of 0 is a blank. There are no
 * blanks at the end.
 */
void bar__line(char out[BARS_BYTES], const double *values, size_t count, double most, bool unicode);

#endif
