/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages over a Unix socket with which a file may go. */
#ifndef GRAIND_PASS_FD_H
#define GRAIND_PASS_FD_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Sends size bytes in one message and with them the file, unless fd is negative; it stays the caller's.
 * No signal where the other end is gone. flags: further ones of send(2). 0, or a negative errno; -EPIPE also
 * where the socket took a part only.
 */
int pass_fd__send(int socket, const void *data, size_t size, int fd, int flags);

/*
 * Receives one message, of which at most size bytes are kept. *fd is the file that came with it, which is the
 * caller's then and is closed on exec, or -1; of several the first. The bytes, 0: the other end is gone, or
 * a negative errno.
 */
ssize_t pass_fd__receive(int socket, void *data, size_t size, int *fd);

#endif
