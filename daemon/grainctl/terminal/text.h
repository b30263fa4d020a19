/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes text for a terminal: without control characters, within a width, and with short numbers. */
#ifndef GRAINCTL_TEXT_H
#define GRAINCTL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies `in` with control characters (C0, DEL, C1) and broken UTF-8 replaced by '?'. */
void text__clean(char *out, size_t size, const char *in);
/* Returns how many columns clean text takes. This is the number of its code points. */
size_t text__width(const char *text);
/* Returns how many bytes of the text fit into this many columns. */
size_t text__prefix(const char *text, size_t columns);

/* Writes a number as in 950, 1.2k, 34k, 5.6M. */
void text__count(char *out, size_t size, double value);
/* Writes a time as in 0.8s, 12.3s, 4m07s, 2h13m, 3d04h. */
void text__duration(char *out, size_t size, uint64_t ns);

/*
 * Returns how wide the output may be: $COLUMNS, or the width of the terminal on stdout, or 80. At least 60,
 * at most 400.
 */
unsigned text__columns(void);
/* Prints `text` wrapped at `width`; the lines after the first are indented, and the first one if it should
 * be. */
void text__print_wrapped(const char *text, size_t indent, size_t width, bool first_indented);
/* Whether the environment asks for a locale with UTF-8. The locale need not be installed. */
bool text__utf8(void);

#endif
