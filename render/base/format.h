/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text for people: a growing string, numbers with units, and escapes. The escapes make text from the observed
 * program harmless.
 */
#ifndef GRAIND_RENDER_FORMAT_H
#define GRAIND_RENDER_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Start from {0}. After a failed allocation `failed` is set and appends do nothing. */
struct format_text {
	char *data; /* NUL-terminated; NULL while empty */
	size_t length, capacity;
	bool failed;
};

void format__free(struct format_text *text);
void format__add(struct format_text *text, const char *string);
void format__add_bytes(struct format_text *text, const char *bytes, size_t length);
void format__printf(struct format_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void format__add_fixed(struct format_text *text,
		       double value); /* with at most two decimals: "12.5", "-0.25" */
/* Escapes text for XML: <>&"' become entities, control characters and broken UTF-8 become U+FFFD. */
void format__add_xml(struct format_text *text, const char *string);

/*
 * Copies `in`. Control characters (C0, DEL, C1) and broken UTF-8 become '?'. A text of more than `columns`
 * code points is shortened in the middle with "..". Returns `out`, which is always terminated.
 */
char *format__clean(char *out, size_t size, const char *in, size_t columns);
size_t format__width(const char *clean); /* in code points */

/*
 * A formatted number. Times have three significant digits: "340 ns", "1.27 ms", "12.3 s", "2 h 05 min".
 * `micro` is "us", or the same with the Greek letter.
 */
struct format_number {
	char text[32];
};
struct format_number format__time(double ns, const char *micro);
struct format_number format__bytes(uint64_t bytes);	  /* "0 B", "12.0 KiB", "3.25 GiB" */
struct format_number format__count(uint64_t value);	  /* 1,234,567 */
struct format_number format__count_short(uint64_t value); /* 950, 1.2k, 34k, 5.6M */
struct format_number format__percent(double percent);	  /* "0.4", "12" */
struct format_number format__ratio(double value);	  /* three significant digits; "-" for NAN */

#endif
