/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds libgrainshim.so, and sets the environment that makes programs load it. */
#ifndef GRAINCTL_SHIM_LIBRARY_H
#define GRAINCTL_SHIM_LIBRARY_H

/*
 * Sets our own environment so that all programs that we start from now on load the library. Returns 0, or
 * -1 with the reason in `why`.
 */
int shim_library__preload(const char *socket, char why[512]);

/*
 * Finds the library, and the socket (`where`) on which the graind at `socket` waits for the library.
 * Returns 0, or -1 with the reason in `why`.
 */
int shim_library__find(const char *socket, char library[4400], char where[128], char why[512]);

#endif
