/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs that are recorded from inside: the environment that they need. */
#ifndef GRAINCTL_SHIM_H
#define GRAINCTL_SHIM_H

/* For the programs that are started from here on; 0, or -1 with one line in `why`. */
int shim__prepare(const char *socket, char why[512]);

/* Where the library is, and where it finds the graind that listens at `socket`; 0, or -1 with one line in
 * `why`. */
int shim__find(const char *socket, char library[4400], char where[128], char why[512]);

#endif
