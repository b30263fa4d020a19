/* SPDX-License-Identifier: BSD-2-Clause */
/* Moves graind into the background in such a way that a failed start is still reported. */
#ifndef GRAIND_BACKGROUND_H
#define GRAIND_BACKGROUND_H

/*
 * Forks. Call this before any thread exists. The parent process waits and exits with the status that the
 * child reports. Returns only in the child, with 0 or a negative errno. *report_fd is for background__up().
 */
int background__enter(int *report_fd);
/* Reports that the start succeeded: the parent process exits with 0, and graind leaves the terminal. */
void background__up(int report_fd);

#endif
