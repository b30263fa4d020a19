/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of an error that is returned as a negative errno. */
#ifndef GRAIND_UPROBES_ERROR_H
#define GRAIND_UPROBES_ERROR_H

struct uprobes_error {
	char text[512]; /* one line: what was not found or refused, and what to do */
};

#endif
