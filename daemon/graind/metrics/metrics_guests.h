/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clients that are connected to the metrics' TCP socket, and the host names that their requests may
 * use. A client cannot keep others out by holding connections open: a new connection is accepted, and the
 * oldest connection of the address with the most connections is closed. Belongs to one thread.
 */
#ifndef GRAIND_METRICS_GUESTS_H
#define GRAIND_METRICS_GUESTS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define GUESTS_MOST 64
#define GUESTS_OF_AN_ADDRESS 48

struct guest {
	int fd; /* -1: a free place */
	uint64_t came;
	uint8_t address[16]; /* IPv6; only its network part if one user may have many addresses */
	bool leaves;
};

struct guests {
	struct guest list[2 * GUESTS_MOST];
	uint64_t came;
};

void guests__init(struct guests *guests);
/* Enters a connection. Returns the descriptor of the connection that must be shut down for it; -1: none. */
int guests__enter(struct guests *guests, int fd, const struct sockaddr *address);
void guests__leave(struct guests *guests, int fd);

/*
 * Whether a request may name this host (RFC 9110, with or without a port; NULL: it names none). This stops
 * DNS rebinding: an attacker lets a name point to this address, and a web page makes a browser on this
 * machine send requests with that name. Such a name has a dot and is not an IP address. `own` is this
 * machine's name. `more` are further permitted names, ended by NULL.
 */
bool guests__may_ask_for(const char *host, const char *own, const char *const *more);

#endif
