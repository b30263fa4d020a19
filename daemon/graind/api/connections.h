/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connections to the API's socket. A thread accepts them, finds out the client's user before it reads a
 * byte, and gives the connection to the HTTP server.
 *
 * Each user is an account (account.h), which may have a limited number of connections. Some connections are
 * reserved for root and the admin group. When all are taken, the account with the most connections loses
 * one to an account with fewer. So nobody can keep others out by holding connections open. An account that
 * connects more often than it may (rate.h) waits before it is accepted: if it were refused, it would try
 * again at once.
 */
#ifndef GRAIND_CONNECTIONS_H
#define GRAIND_CONNECTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CONNECTIONS_MOST 512
#define CONNECTIONS_RESERVED 64
#define CONNECTIONS_OF_A_USER 50
/* Requests of one user that may take long (routes__takes_time()). */
#define CONNECTIONS_WAITING_OF_A_USER 32
/* Connections that were shut down but are not closed yet. The HTTP server needs room for these, too. */
#define CONNECTIONS_ENDING 128

struct connections;

struct peer {
	uid_t uid, account;
	bool admin; /* root, or a member of the admin group, who sees and controls every job */
};

/*
 * Starts the thread that accepts. The thread calls `hand` for each connection; `hand` closes the descriptor
 * in any case. The caller keeps `listen_fd`, which is made non-blocking.
 */
int connections__open(int listen_fd, void (*hand)(void *ctx, int fd), void *ctx, struct connections **out);
/* Stops accepting. Open connections stay. */
void connections__shut(struct connections *connections);
/* Call it when all connections have left. Accepts NULL. */
void connections__free(struct connections *connections);

/*
 * The HTTP server begins to serve the connection. It must call connections__leave() before it closes the
 * connection. NULL: `fd` is not a connection that was handed over.
 */
struct connection *connections__enter(struct connections *connections, int fd);
void connections__leave(struct connections *connections, struct connection *connection);
const struct peer *connections__peer(const struct connection *connection);

/*
 * A request has arrived and is being answered. False: the request `waits`, and too many requests of its
 * account already do.
 */
bool connections__begin(struct connections *connections, struct connection *connection, bool waits);
/*
 * The server sends an answer of `bytes` bytes. A client that takes much too long to read it is
 * disconnected.
 */
void connections__send(struct connections *connections, struct connection *connection, uint64_t bytes);
/* The answer was sent, and the connection may send its next request. */
void connections__done(struct connections *connections, struct connection *connection);

#endif
