/* SPDX-License-Identifier: BSD-2-Clause */
/* The unix socket at which graind listens. */
#ifndef GRAIND_LISTEN_H
#define GRAIND_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a process listens at the socket `path`. */
bool listen__answers(const char *path);

/*
 * Listens at `path`. Replaces a socket at which no process listens, and makes a missing directory. 0 or a
 * negative errno with one line in `why`.
 */
int listen__open(const char *path, int *fd, char why[512]);
/* Same as listen__open(), for a packet socket (SOCK_SEQPACKET). */
int listen__open_packets(const char *path, int *fd, char why[512]);

#endif
