// SPDX-License-Identifier: BSD-2-Clause
/* Who gets in at the socket of requests when some take all that they can (as root: users are ids that we
 * take). */
#include "daemon/graind/base/clock.h"
#include "daemon/graind/api/connections.h"
#include "daemon/graind/limits/rate.h"
#include "tests/unit/check.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)
#define ENDS (2 * (CONNECTIONS_MOST + CONNECTIONS_ENDING))

static struct connections *all;
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static int clients[ENDS];
static size_t client_count;

/* What the library that speaks HTTP does with connections. */
static struct {
	pthread_mutex_t lock;
	struct served {
		int fd;
		struct connection *connection;
	} list[ENDS];
	size_t count;
} served = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void hand(void *unused, int fd)
{
	(void)unused;
	pthread_mutex_lock(&served.lock);
	served.list[served.count++] = (struct served){fd, connections__enter(all, fd)};
	pthread_mutex_unlock(&served.lock);
}

/* Those that were sent away leave. */
static void serve(void)
{
	char byte;

	pthread_mutex_lock(&served.lock);
	for (size_t i = served.count; i > 0; i--) {
		struct served *one = &served.list[i - 1];

		if (recv(one->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0)
			continue;
		connections__leave(all, one->connection);
		close(one->fd);
		*one = served.list[--served.count];
	}
	pthread_mutex_unlock(&served.lock);
}

static bool is_open(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0;
}

/* Whether a client of that user is let in, and stays a moment. */
static bool comes(uid_t uid)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	bool in = false;
	size_t before;

	pthread_mutex_lock(&served.lock);
	before = served.count;
	pthread_mutex_unlock(&served.lock);
	if (seteuid(uid) != 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 || seteuid(0))
		abort();
	while (!in && is_open(fd)) {
		usleep(100);
		pthread_mutex_lock(&served.lock);
		in = served.count > before;
		pthread_mutex_unlock(&served.lock);
	}
	serve();
	clients[client_count++] = fd;
	return in;
}

static size_t come(uid_t uid, size_t count)
{
	size_t in = 0;

	while (count--)
		in += comes(uid);
	return in;
}

static size_t open_clients(size_t from, size_t to)
{
	size_t count = 0;

	for (size_t i = from; i < to; i++)
		count += is_open(clients[i]);
	return count;
}

static void leave_all(void)
{
	while (client_count)
		close(clients[--client_count]);
	while (served.count) {
		serve();
		usleep(1000);
	}
}

static void connections(void)
{
	size_t users = (CONNECTIONS_MOST - CONNECTIONS_RESERVED) / CONNECTIONS_OF_A_USER, first = 0, in = 0;

	CHECK(come(1000, CONNECTIONS_OF_A_USER + 10) == CONNECTIONS_OF_A_USER, "a user has %d connections",
	      CONNECTIONS_OF_A_USER);
	CHECK(open_clients(0, client_count) == CONNECTIONS_OF_A_USER, "which stay");
	for (uid_t uid = 1001; uid < 1000 + users + 3; uid++)
		come(uid, CONNECTIONS_OF_A_USER);
	in = open_clients(0, client_count);
	CHECK(in <= CONNECTIONS_MOST - CONNECTIONS_RESERVED, "all users have no more than is theirs: %zu",
	      in);
	first = client_count;
	CHECK(come(5000, 10) == 10 && open_clients(first, client_count) == 10,
	      "one who comes then has ten all the same");
	CHECK(open_clients(0, client_count) == in, "which others lose");
	CHECK(come(0, CONNECTIONS_RESERVED) == CONNECTIONS_RESERVED, "root has what is reserved");
	CHECK(open_clients(0, client_count) == in + CONNECTIONS_RESERVED, "without anybody losing one");
	first = client_count;
	CHECK(come(0, 5) == 5 && open_clients(first, client_count) == 5, "and more, of whoever has most");
	leave_all();
}

static void waiting(void)
{
	struct connection *list[CONNECTIONS_WAITING_OF_A_USER + 2];
	size_t allowed = 0, count = CONNECTIONS_WAITING_OF_A_USER + 2;

	come(1000, count);
	for (size_t i = 0; i < count; i++) {
		list[i] = served.list[i].connection;
		allowed += connections__begin(all, list[i], true);
	}
	CHECK(allowed == CONNECTIONS_WAITING_OF_A_USER, "%zu requests of a user may wait", allowed);
	CHECK(connections__begin(all, list[count - 1], false), "others are answered meanwhile");
	connections__done(all, list[count - 1]);
	connections__send(all, list[0], 100);
	CHECK(connections__begin(all, list[count - 1], true), "and another one waits when one is answered");
	for (size_t i = 0; i < count; i++)
		connections__done(all, list[i]);
	come(0, count);
	allowed = 0;
	for (size_t i = count; i < served.count; i++)
		allowed += connections__begin(all, served.list[i].connection, true);
	CHECK(allowed == count, "root's wait as they like: %zu", allowed);
	leave_all();
}

static size_t served_now(void)
{
	size_t count;

	pthread_mutex_lock(&served.lock);
	count = served.count;
	pthread_mutex_unlock(&served.lock);
	return count;
}

static int knock(uid_t uid)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (seteuid(uid) != 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 || seteuid(0))
		abort();
	return clients[client_count++] = fd;
}

/* Until so many are served, or for long. */
static bool are_served(size_t count)
{
	for (int i = 0; i < 20000 && served_now() < count; i++)
		usleep(1000);
	return served_now() == count;
}

/* One who comes and comes again is not refused, but waits; others do not. */
static void at_the_door(void)
{
	const uint64_t now = clock__now_ns();
	size_t in = 0;

	while (rate__allows(RATE_OF_CONNECTIONS, 3000, now))
		in++;
	CHECK(in == RATE_AT_ONCE, "a user's allowance is spent");
	/* And what comes back within three seconds. */
	while (rate__allows(RATE_OF_CONNECTIONS, 3000, now + 3 * SECOND_NS))
		;
	for (int i = 0; i < 10; i++)
		knock(3000);
	usleep(200000);
	CHECK(served_now() == 0 && open_clients(0, 10) == 10, "ten who come then wait, and are not refused");
	close(clients[0]);
	clients[0] = knock(3000);
	client_count--;
	CHECK(come(3001, 1) == 1, "another user comes in meanwhile");
	CHECK(are_served(11), "they come in when there is an allowance again");
	CHECK(served_now() == 11 && open_clients(0, client_count) == client_count,
	      "but for the one who has gone");
	leave_all();
	while (rate__allows(RATE_OF_CONNECTIONS, 3000, clock__now_ns() + 3 * SECOND_NS))
		;
	for (int i = 0; i < CONNECTIONS_OF_A_USER + 5; i++)
		knock(3000);
	usleep(100000);
	CHECK(open_clients(0, client_count) == CONNECTIONS_OF_A_USER, "no more than a user's wait there");
	leave_all();
}

static void peers(void)
{
	come(1000, 1);
	come(0, 1);
	CHECK(connections__peer(served.list[0].connection)->uid == 1000 &&
		      !connections__peer(served.list[0].connection)->admin,
	      "a user is known before it says anything");
	CHECK(connections__peer(served.list[1].connection)->uid == 0 &&
		      connections__peer(served.list[1].connection)->admin,
	      "so is root");
	leave_all();
}

int main(void)
{
	const struct rlimit files = {4096, 4096};
	char directory[] = "/tmp/graind-connections.XXXXXX";
	int listening = socket(AF_UNIX, SOCK_STREAM, 0);

	if (geteuid() != 0 || setrlimit(RLIMIT_NOFILE, &files) != 0) {
		printf("skip - connections of users: needs root, to be them\n");
		return 0;
	}
	CHECK(mkdtemp(directory) != NULL && chmod(directory, 0755) == 0, "a directory");
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", directory);
	CHECK(bind(listening, (struct sockaddr *)&address, sizeof(address)) == 0 &&
		      chmod(address.sun_path, 0666) == 0 && listen(listening, 64) == 0,
	      "a socket");
	CHECK(connections__open(listening, hand, NULL, &all) == 0, "open connections");
	peers();
	at_the_door();
	waiting();
	connections();
	connections__free(all);
	close(listening);
	unlink(address.sun_path);
	rmdir(directory);
	CHECK_DONE();
}
