/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages over a Unix socket that can carry a file descriptor. */
#ifndef GRAIND_PASS_FD_H
#define GRAIND_PASS_FD_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Sends `size` bytes in one message, with the descriptor `fd` unless it is negative. The caller keeps `fd`.
 * Causes no SIGPIPE when the peer is gone. `flags`: further flags of send(2). 0 or a negative errno; -EPIPE
 * also when only a part was sent.
 */
int pass_fd__send(int socket, const void *data, size_t size, int fd, int flags);

/*
 * Receives one message and keeps its first `size` bytes. *fd is the descriptor that came with it (the first
 * of several), or -1 if there was none. The caller owns *fd, which is closed on exec. Returns the number of
 * bytes, 0 if the peer has closed the socket, or a negative errno.
 */
ssize_t pass_fd__receive(int socket, void *data, size_t size, int *fd);

#endif
