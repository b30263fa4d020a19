/* SPDX-License-Identifier: BSD-2-Clause */
/* Text for a terminal: made harmless, cut to a width, numbers made short. */
#ifndef GRAINCTL_TEXT_H
#define GRAINCTL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies `in`, control characters (C0, DEL, C1) and broken UTF-8 replaced by '?'. */
void text__clean(char *out, size_t size, const char *in);
/* Columns that clean text takes: its code points. */
size_t text__width(const char *text);
/* Bytes of the longest prefix that takes at most `columns` columns. */
size_t text__prefix(const char *text, size_t columns);

/* 950, 1.2k, 34k, 5.6M */
void text__count(char *out, size_t size, double value);
/* 0.8s, 12.3s, 4m07s, 2h13m, 3d04h */
void text__duration(char *out, size_t size, uint64_t ns);

/* The width to write for: $COLUMNS, the terminal on stdout, or 80; 60 to 400. */
unsigned text__columns(void);
/* Does the environment's locale write UTF-8, whether it is installed or not? */
bool text__utf8(void);

#endif
