// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/api/connections.h"
#include "daemon/graind/limits/account.h"
#include "daemon/graind/base/clock.h"
#include "daemon/graind/limits/fair_share.h"
#include "daemon/graind/limits/rate.h"
#include "daemon/graind/base/urgency.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ADMIN_GROUP "graind"
#define NO_GROUP ((gid_t)-1)
#define MOST_GROUPS 4096
#define SECOND_NS UINT64_C(1000000000)
/* How long a request may take until all of it has arrived. */
#define REQUEST_NS (30 * SECOND_NS)
/* How long a client may take to read an answer: this, plus the answer's bytes at a minimum rate. */
#define ANSWER_NS (60 * SECOND_NS)
#define ANSWER_BYTES_A_SECOND UINT64_C(262144)
/* How often slow clients are searched for, while there are connections. */
#define LOOK_MS 1000
/* How often to check whether waiting connections may be accepted. */
#define DOOR_MS 10
/* How many connections are taken from the kernel's queue before waiting connections are checked. */
#define BATCH 64
/* How long to wait when no descriptors are left. */
#define NAP_NS 20000000

enum connection_state {
	AT_DOOR,   /* waiting, because its account connects too often */
	HANDED,	   /* accepted, but not yet served */
	ASKING,	   /* sending its request, at most until `by_ns` */
	ANSWERED,  /* its request is being worked on */
	READING,   /* its answer is being sent, at most until `by_ns` */
	SENT_AWAY, /* shut down; no longer counted */
};

/* An account with connections. The connections point to it. */
struct account {
	uid_t number;
	bool admin;
	size_t count, here, waiting; /* here: connections that are not being closed */
	size_t at_door;
	uint64_t dry_ns; /* when its allowance was found to be empty */
	struct account *next;
};

struct connection {
	struct peer peer;
	int fd;
	enum connection_state state;
	bool waits;
	uint64_t since_ns, by_ns;
	struct account *account;
	struct connection *next;
};

struct connections {
	pthread_t thread;
	int listen_fd, stop_fd;
	gid_t admins; /* NO_GROUP: this machine has no such group */
	void (*hand)(void *ctx, int fd);
	void *ctx;
	bool shut;
	pthread_mutex_t lock; /* guards everything that follows */
	struct connection *list;
	struct account *accounts;
	size_t count, here, admins_here, at_door;
};

static gid_t find_admins(void)
{
	struct group group, *found = NULL;
	char names[4096];

	/* A group with more members than fit is not meant for this purpose. */
	return getgrnam_r(ADMIN_GROUP, &group, names, sizeof(names), &found) == 0 && found ? found->gr_gid
											   : NO_GROUP;
}

/* Whether the client was in the admin group when it connected, by the groups that the kernel reports. */
static bool is_admin(const struct connections *connections, int fd, const struct ucred *credentials)
{
	gid_t groups[MOST_GROUPS];
	socklen_t size = sizeof(groups);

	if (credentials->uid == 0 ||
	    (connections->admins != NO_GROUP && credentials->gid == connections->admins))
		return true;
	if (connections->admins == NO_GROUP || getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) != 0)
		return false;
	for (size_t i = 0; i < size / sizeof(*groups); i++)
		if (groups[i] == connections->admins)
			return true;
	return false;
}

static bool know(const struct connections *connections, int fd, struct peer *peer)
{
	struct ucred credentials;
	socklen_t size = sizeof(credentials);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0 || size != sizeof(credentials))
		return false;
	*peer = (struct peer){.uid = credentials.uid,
			      .account = account__of(credentials.uid),
			      .admin = is_admin(connections, fd, &credentials)};
	return true;
}

/* ---- under the lock ------------------------------------------------------- */

/* A member of the admin group has another account as an administrator, beside the account as a user. */
static struct account *account_of(struct connections *connections, const struct peer *peer)
{
	struct account *account = connections->accounts;

	while (account && (account->number != peer->account || account->admin != peer->admin))
		account = account->next;
	if (account)
		return account;
	account = calloc(1, sizeof(*account));
	if (!account)
		return NULL;
	*account = (struct account){.number = peer->account,
				    .admin = peer->admin,
				    .next = connections->accounts};
	connections->accounts = account;
	return account;
}

static void forget(struct connections *connections, struct account *account)
{
	struct account **at = &connections->accounts;

	if (account->count)
		return;
	while (*at != account)
		at = &(*at)->next;
	*at = account->next;
	free(account);
}

static void count_out(struct connections *connections, struct connection *connection)
{
	if (connection->state == SENT_AWAY)
		return;
	connection->state = SENT_AWAY;
	connection->account->here--;
	connections->here--;
	connections->admins_here -= connection->peer.admin;
}

static void take_out(struct connections *connections, struct connection *connection)
{
	struct connection **at = &connections->list;

	while (*at != connection)
		at = &(*at)->next;
	*at = connection->next;
	connection->account->at_door -= connection->state == AT_DOOR;
	connections->at_door -= connection->state == AT_DOOR;
	count_out(connections, connection);
	connection->account->waiting -= connection->waits;
	connection->account->count--;
	connections->count--;
	forget(connections, connection->account);
	free(connection);
}

/* Closes a connection that no server serves. */
static void turn_back(struct connections *connections, struct connection *connection)
{
	close(connection->fd);
	take_out(connections, connection);
}

/* Shuts down a connection. Its server notices this and calls connections__leave(). */
static void send_away(struct connections *connections, struct connection *connection)
{
	if (connection->state == AT_DOOR) {
		turn_back(connections, connection);
		return;
	}
	count_out(connections, connection);
	shutdown(connection->fd, SHUT_RDWR);
}

/* Shuts down connections whose clients send or read only a byte now and then. */
static void send_slow_away(struct connections *connections, uint64_t now)
{
	for (struct connection *connection = connections->list; connection; connection = connection->next)
		if ((connection->state == ASKING || connection->state == READING) && connection->by_ns < now)
			send_away(connections, connection);
}

/*
 * Returns the account's oldest connection that can be closed at once: one that sends, reads, or is not yet
 * accepted. Requests in progress go on.
 */
static struct connection *oldest_of(const struct connections *connections, const struct account *account)
{
	struct connection *oldest = NULL;

	for (struct connection *connection = connections->list; connection; connection = connection->next)
		if (connection->account == account &&
		    (connection->state == AT_DOOR || connection->state == ASKING ||
		     connection->state == READING) &&
		    (!oldest || connection->since_ns < oldest->since_ns))
			oldest = connection;
	return oldest;
}

/*
 * Makes room for an administrator, or for an account with fewer connections than another one. False: no
 * account has enough more.
 */
static bool make_room(struct connections *connections, const struct account *newcomer)
{
	struct account *most = NULL;
	struct connection *oldest;

	for (struct account *account = connections->accounts; account; account = account->next)
		if (!account->admin && account != newcomer && (!most || account->here > most->here))
			most = account;
	if (!most || (!newcomer->admin && most->here <= newcomer->here + 1))
		return false;
	oldest = oldest_of(connections, most);
	if (oldest)
		send_away(connections, oldest);
	return oldest != NULL;
}

static bool has_place(struct connections *connections, const struct account *account)
{
	size_t users = connections->here - connections->admins_here;

	if (connections->count >= CONNECTIONS_MOST + CONNECTIONS_ENDING)
		return false;
	if (account->admin)
		return connections->here < CONNECTIONS_MOST || make_room(connections, account);
	if (account->here >= CONNECTIONS_OF_A_USER)
		return false;
	return fair_share__left(CONNECTIONS_MOST, users, CONNECTIONS_RESERVED) ||
	       make_room(connections, account);
}

/*
 * Whether no place is free. This is found out without reading anything else. So clients that flood the
 * kernel's queue, which all users share, cost the others little.
 */
static bool is_full(const struct connections *connections, const struct peer *peer)
{
	const struct account *account = connections->accounts;

	if (peer->admin)
		return false;
	while (account && (account->number != peer->account || account->admin))
		account = account->next;
	return account && account->here >= CONNECTIONS_OF_A_USER;
}

/* Waiting connections of the account are accepted first, in order. */
static bool may_come(const struct account *account, uint64_t now)
{
	return account->admin ||
	       (!account->at_door && rate__allows(RATE_OF_CONNECTIONS, account->number, now));
}

/* Returns NULL if there is no place for it. */
static struct connection *add(struct connections *connections, int fd, const struct peer *peer, uint64_t now)
{
	struct connection *connection = calloc(1, sizeof(*connection));
	struct account *account = connection ? account_of(connections, peer) : NULL;

	if (!account || !has_place(connections, account)) {
		if (account)
			forget(connections, account);
		free(connection);
		return NULL;
	}
	*connection = (struct connection){.peer = *peer,
					  .fd = fd,
					  .state = may_come(account, now) ? HANDED : AT_DOOR,
					  .account = account,
					  .since_ns = now,
					  .by_ns = now + REQUEST_NS,
					  .next = connections->list};
	connections->list = connection;
	account->count++;
	account->here++;
	connections->count++;
	connections->here++;
	connections->admins_here += peer->admin;
	account->at_door += connection->state == AT_DOOR;
	connections->at_door += connection->state == AT_DOOR;
	return connection;
}

/* Removes the entry with this descriptor, which was closed before it was served. */
static void drop_unserved(struct connections *connections, int fd)
{
	struct connection *next;

	for (struct connection *connection = connections->list; connection; connection = next) {
		next = connection->next;
		if (connection->fd == fd && connection->state == HANDED)
			take_out(connections, connection);
	}
}

/* Returns the longest waiting connection of those whose account may have one accepted. NULL: none. */
static struct connection *next_at_door(const struct connections *connections, uint64_t now)
{
	struct connection *next = NULL;

	for (struct connection *connection = connections->list; connection; connection = connection->next)
		if (connection->state == AT_DOOR && connection->account->dry_ns != now)
			next = connection;
	return next;
}

static bool has_gone(const struct connection *connection)
{
	char byte;

	return recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/*
 * Accepts a waiting connection and returns its descriptor, which the server then owns. -1: none may be
 * accepted now.
 */
static int take_from_door(struct connections *connections, uint64_t now)
{
	struct connection *connection;

	while ((connection = next_at_door(connections, now))) {
		if (has_gone(connection)) {
			turn_back(connections, connection);
		} else if (!rate__allows(RATE_OF_CONNECTIONS, connection->account->number, now)) {
			connection->account->dry_ns = now;
		} else {
			connection->state = HANDED;
			connection->account->at_door--;
			connections->at_door--;
			return connection->fd;
		}
	}
	return -1;
}

/* ---- the thread ------------------------------------------------------------ */

/* Takes the next connection from the kernel's queue. False: the queue is empty. */
static bool let_in(struct connections *connections)
{
	int fd = accept4(connections->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct connection *connection = NULL;
	bool hand = false;
	struct peer peer;

	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
			nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
		return false;
	}
	if (!know(connections, fd, &peer)) {
		close(fd);
		return true;
	}
	pthread_mutex_lock(&connections->lock);
	if (!is_full(connections, &peer)) {
		drop_unserved(connections, fd);
		connection = add(connections, fd, &peer, clock__now_ns());
	}
	if (connection)
		hand = connection->state == HANDED;
	pthread_mutex_unlock(&connections->lock);
	if (hand)
		connections->hand(connections->ctx, fd);
	else if (!connection)
		close(fd);
	return true;
}

static void let_in_from_door(struct connections *connections)
{
	uint64_t now = clock__now_ns();
	int fd;

	do {
		pthread_mutex_lock(&connections->lock);
		fd = connections->at_door ? take_from_door(connections, now) : -1;
		pthread_mutex_unlock(&connections->lock);
		if (fd >= 0)
			connections->hand(connections->ctx, fd);
	} while (fd >= 0);
}

static void *watch(void *argument)
{
	struct connections *connections = argument;
	struct pollfd fds[] = {
		{.fd = connections->stop_fd, .events = POLLIN},
		{.fd = connections->listen_fd, .events = POLLIN},
	};
	int patience_ms;

	pthread_setname_np(pthread_self(), "graind-accept");
	/*
	 * This thread empties the queue that all users share. Programs that use all CPUs must not prevent
	 * that.
	 */
	urgency__prefer();
	for (;;) {
		pthread_mutex_lock(&connections->lock);
		send_slow_away(connections, clock__now_ns());
		patience_ms = connections->at_door ? DOOR_MS : connections->list ? LOOK_MS : -1;
		pthread_mutex_unlock(&connections->lock);
		if (poll(fds, 2, patience_ms) < 0 && errno != EINTR)
			return NULL;
		if (fds[0].revents)
			return NULL;
		for (int i = 0; fds[1].revents && i < BATCH && let_in(connections); i++)
			;
		let_in_from_door(connections);
	}
}

int connections__open(int listen_fd, void (*hand)(void *ctx, int fd), void *ctx, struct connections **out)
{
	struct connections *connections = calloc(1, sizeof(*connections));
	int error;

	if (!connections)
		return -ENOMEM;
	*connections = (struct connections){.listen_fd = listen_fd,
					    .admins = find_admins(),
					    .hand = hand,
					    .ctx = ctx};
	pthread_mutex_init(&connections->lock, NULL);
	connections->stop_fd = eventfd(0, EFD_CLOEXEC);
	/* The server may call connections__enter() at once. */
	*out = connections;
	/*
	 * systemd's socket may be blocking. This thread accepts until there are no more connections, so it
	 * must not block.
	 */
	if (connections->stop_fd < 0 || fcntl(listen_fd, F_SETFL, O_RDWR | O_NONBLOCK) != 0)
		error = errno;
	else
		error = pthread_create(&connections->thread, NULL, watch, connections);
	if (error) {
		connections->shut = true;
		connections__free(connections);
		*out = NULL;
	}
	return -error;
}

void connections__shut(struct connections *connections)
{
	if (connections->shut)
		return;
	connections->shut = true;
	eventfd_write(connections->stop_fd, 1);
	pthread_join(connections->thread, NULL);
}

void connections__free(struct connections *connections)
{
	if (!connections)
		return;
	connections__shut(connections);
	while (connections->list) {
		if (connections->list->state == AT_DOOR)
			close(connections->list->fd);
		take_out(connections, connections->list);
	}
	if (connections->stop_fd >= 0)
		close(connections->stop_fd);
	pthread_mutex_destroy(&connections->lock);
	free(connections);
}

/* ---- for whoever serves them ------------------------------------------------ */

struct connection *connections__enter(struct connections *connections, int fd)
{
	struct connection *connection;

	pthread_mutex_lock(&connections->lock);
	connection = connections->list;
	while (connection && (connection->fd != fd || connection->state != HANDED))
		connection = connection->next;
	if (connection)
		connection->state = ASKING;
	pthread_mutex_unlock(&connections->lock);
	return connection;
}

void connections__leave(struct connections *connections, struct connection *connection)
{
	pthread_mutex_lock(&connections->lock);
	take_out(connections, connection);
	pthread_mutex_unlock(&connections->lock);
}

const struct peer *connections__peer(const struct connection *connection)
{
	return &connection->peer;
}

/* Needs the lock. Changes the state unless the connection is being closed. */
static void change(struct connection *connection, enum connection_state state, uint64_t patience_ns)
{
	if (connection->state == SENT_AWAY)
		return;
	connection->state = state;
	connection->since_ns = clock__now_ns();
	connection->by_ns = connection->since_ns + patience_ns;
}

bool connections__begin(struct connections *connections, struct connection *connection, bool waits)
{
	bool allowed;

	pthread_mutex_lock(&connections->lock);
	allowed = !waits || connection->peer.admin ||
		  connection->account->waiting < CONNECTIONS_WAITING_OF_A_USER;
	if (allowed) {
		change(connection, ANSWERED, 0);
		connection->waits = waits;
		connection->account->waiting += waits;
	}
	pthread_mutex_unlock(&connections->lock);
	return allowed;
}

void connections__send(struct connections *connections, struct connection *connection, uint64_t bytes)
{
	pthread_mutex_lock(&connections->lock);
	connection->account->waiting -= connection->waits;
	connection->waits = false;
	change(connection, READING, ANSWER_NS + bytes / ANSWER_BYTES_A_SECOND * SECOND_NS);
	pthread_mutex_unlock(&connections->lock);
}

void connections__done(struct connections *connections, struct connection *connection)
{
	pthread_mutex_lock(&connections->lock);
	connection->account->waiting -= connection->waits;
	connection->waits = false;
	change(connection, ASKING, REQUEST_NS);
	pthread_mutex_unlock(&connections->lock);
}
