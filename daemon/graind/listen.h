/* SPDX-License-Identifier: BSD-2-Clause */
/* The unix socket at which graind listens. */
#ifndef GRAIND_LISTEN_H
#define GRAIND_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

/* Is somebody listening there? */
bool listen__answers(const char *path);

/*
 * Listens at `path`, in place of a socket that nobody listens at any more. A
 * missing directory is made. `why` says in one line what is wrong.
 */
int listen__open(const char *path, int *fd, char why[512]);
/* The same for a socket of packets, SOCK_SEQPACKET. */
int listen__open_packets(const char *path, int *fd, char why[512]);

#endif
