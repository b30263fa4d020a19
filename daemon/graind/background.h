/* SPDX-License-Identifier: BSD-2-Clause */
/* Going into the background without hiding a failed start. */
#ifndef GRAIND_BACKGROUND_H
#define GRAIND_BACKGROUND_H

/*
 * Forks; before any thread exists. The parent ends with the status that the
 * child reports. Returns in the child only, or a negative errno.
 */
int background__enter(int *report_fd);
/* The start succeeded: lets the parent end with 0 and the terminal go. */
void background__up(int report_fd);

#endif
