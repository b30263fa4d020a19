/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a request failed. */
#ifndef GRAIND_FAILURE_H
#define GRAIND_FAILURE_H

/* An HTTP status and one line for people. */
struct failure {
	int status;
	char text[600];
};

/* Fills *failure and returns -1, which the caller can return. */
int failure__set(struct failure *failure, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
