// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/shim/shim_server.h"
#include "daemon/graind/limits/account.h"
#include "daemon/graind/base/listen.h"
#include "daemon/graind/base/log.h"
#include "daemon/graind/limits/fair_share.h"
#include "daemon/graind/process/process.h"
#include "daemon/common/programs/defaults.h"
#include "bpf/abi/shim_abi.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Static_assert(!__builtin_strcmp(ENV_SHIM_SOCKET, SHIM_SOCKET_VARIABLE), "what leads the library here");

/* Places that are reserved for root's processes. */
#define WAITING_RESERVED 16
#define WAITING_MAX (256 + WAITING_RESERVED)
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
/* How long a connection may wait. A job checks every 20 ms, and a process waits at most five seconds. */
#define PATIENCE_NS UINT64_C(4000000000)
/* How often to check whether connections have waited too long or ended. */
#define LOOK_MS 50
/* How many connections are taken from the queue before the waiting connections are read. */
#define BATCH 64

struct waiting {
	int fd;
	int pidfd; /* of the process that connected */
	pid_t pid;
	uid_t uid, account; /* the user when the process connected */
	bool greeted;
	struct shim_coming coming;
	uint64_t came_ns;
};

static struct {
	pthread_mutex_t lock;
	pthread_t thread;
	int listen_fd, stop_fd;
	char path[108];
	bool running;
	unsigned int jobs;
	struct waiting waiting[WAITING_MAX];
	size_t count;
	unsigned long long crowded; /* connections that were closed because their user had too many waiting */
} server = {.lock = PTHREAD_MUTEX_INITIALIZER, .listen_fd = -1, .stop_fd = -1};

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Needs the lock. */
static void send_away(size_t index)
{
	close(server.waiting[index].fd);
	close(server.waiting[index].pidfd);
	server.waiting[index] = server.waiting[--server.count];
}

/* Needs the lock. */
static bool has_place(uid_t account)
{
	size_t of_user = 0;

	for (size_t i = 0; i < server.count; i++)
		of_user += server.waiting[i].account == account;
	if (fair_share__allow(account, of_user,
			      fair_share__left(WAITING_MAX, server.count, account ? WAITING_RESERVED : 0)))
		return true;
	/* Logs only when the number has doubled, so that nobody can fill the log. */
	server.crowded++;
	if (!(server.crowded & (server.crowded - 1)))
		log__line(LOG_WARNING,
			  "processes with libgrainshim that were sent away, as %zu of user %u wait already: "
			  "%llu so "
			  "far, of all users",
			  of_user, (unsigned int)account, server.crowded);
	return false;
}

/*
 * Returns a pidfd of the process that connected, not of a later one with the same pid. Kernels before 6.5
 * give only the pid.
 */
static int pidfd_of(int fd, pid_t pid)
{
	int pidfd = -1;
	socklen_t size = sizeof(pidfd);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) == 0)
		return pidfd;
	return errno == ENOPROTOOPT ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
}

/*
 * Takes the next connection from the queue, which all users share. A connection without a place costs
 * little. False: the queue is empty.
 */
static bool let_in(void)
{
	int fd = accept4(server.listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct waiting waiting = {.fd = fd};
	struct ucred peer = {.pid = 0};
	socklen_t size = sizeof(peer);
	bool stays = false;

	if (fd < 0)
		return false;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
		peer.pid = 0;
	waiting.account = account__of(peer.uid);
	waiting.pid = peer.pid;
	waiting.uid = peer.uid;
	pthread_mutex_lock(&server.lock);
	if (peer.pid > 0 && server.jobs && has_place(waiting.account)) {
		waiting.came_ns = now_ns();
		waiting.pidfd = pidfd_of(fd, peer.pid);
		stays = waiting.pidfd >= 0;
	}
	if (stays)
		server.waiting[server.count++] = waiting;
	pthread_mutex_unlock(&server.lock);
	if (!stays)
		close(fd);
	return true;
}

/* Needs the lock. Reads from a waiting connection. Returns whether the connection may stay. */
static bool listen_to(struct waiting *waiting)
{
	struct shim_hello hello;
	ssize_t got = recv(waiting->fd, &hello, sizeof(hello), MSG_TRUNC);

	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	if (got != sizeof(hello) || waiting->greeted || hello.magic != SHIM_MAGIC ||
	    hello.version != SHIM_VERSION)
		return false;
	waiting->greeted = true;
	waiting->coming = (struct shim_coming){.uid = waiting->uid,
					       .wants_probes = hello.wants_probes,
					       .libomp = hello.runtime == SHIM_RUNTIME_LIBOMP};
	return true;
}

/* Reads from waiting connections. Closes those that may not stay. */
static void look(void)
{
	pthread_mutex_lock(&server.lock);
	for (size_t i = server.count; i > 0; i--)
		if (!listen_to(&server.waiting[i - 1]) ||
		    now_ns() > server.waiting[i - 1].came_ns + PATIENCE_NS ||
		    process__has_ended(server.waiting[i - 1].pidfd))
			send_away(i - 1);
	pthread_mutex_unlock(&server.lock);
}

static void *serve(void *unused)
{
	struct pollfd fds[WAITING_MAX + 2];
	uint64_t looked_ns = 0;

	(void)unused;
	pthread_setname_np(pthread_self(), "graind-inside");
	for (;;) {
		size_t count;
		bool heard = false;

		fds[0] = (struct pollfd){.fd = server.stop_fd, .events = POLLIN};
		fds[1] = (struct pollfd){.fd = server.listen_fd, .events = POLLIN};
		pthread_mutex_lock(&server.lock);
		count = server.count;
		for (size_t i = 0; i < count; i++)
			fds[2 + i] = (struct pollfd){.fd = server.waiting[i].fd, .events = POLLIN};
		pthread_mutex_unlock(&server.lock);
		if (poll(fds, 2 + count, count ? LOOK_MS : -1) < 0 && errno != EINTR)
			return NULL;
		if (fds[0].revents)
			return NULL;
		for (int i = 0; fds[1].revents && i < BATCH && let_in(); i++)
			;
		for (size_t i = 0; i < count; i++)
			heard |= fds[2 + i].revents != 0;
		if (heard || now_ns() > looked_ns + LOOK_MS * UINT64_C(1000000)) {
			look();
			looked_ns = now_ns();
		}
	}
}

int shim_server__start(const char *path)
{
	char why[512];
	int error;

	if (strlen(path) >= sizeof(server.path))
		return -ENAMETOOLONG;
	strcpy(server.path, path);
	error = listen__open_packets(path, &server.listen_fd, why);
	if (error) {
		log__line(LOG_WARNING, "%s; grainctl run --fast will not work", why);
		return error;
	}
	server.stop_fd = eventfd(0, EFD_CLOEXEC);
	error = server.stop_fd < 0 ? errno : pthread_create(&server.thread, NULL, serve, NULL);
	server.running = !error;
	if (error)
		shim_server__stop();
	return -error;
}

void shim_server__stop(void)
{
	if (server.running) {
		eventfd_write(server.stop_fd, 1);
		pthread_join(server.thread, NULL);
	}
	server.running = false;
	while (server.count)
		send_away(server.count - 1);
	if (server.stop_fd >= 0)
		close(server.stop_fd);
	if (server.listen_fd >= 0) {
		close(server.listen_fd);
		unlink(server.path);
	}
	server.stop_fd = server.listen_fd = -1;
}

void shim_server__open(void)
{
	pthread_mutex_lock(&server.lock);
	server.jobs++;
	pthread_mutex_unlock(&server.lock);
}

void shim_server__close(void)
{
	pthread_mutex_lock(&server.lock);
	server.jobs--;
	pthread_mutex_unlock(&server.lock);
}

int shim_server__take(pid_t pid, uint64_t before_ns, struct shim_coming *coming)
{
	int fd = -1;

	pthread_mutex_lock(&server.lock);
	for (size_t i = server.count; i > 0 && fd < 0; i--) {
		struct waiting *waiting = &server.waiting[i - 1];

		if (waiting->pid != pid || !waiting->greeted || waiting->came_ns >= before_ns)
			continue;
		/* If the process has ended, its number may belong to another one by now. */
		if (process__has_ended(waiting->pidfd)) {
			send_away(i - 1);
			continue;
		}
		fd = waiting->fd;
		*coming = waiting->coming;
		close(waiting->pidfd);
		*waiting = server.waiting[--server.count];
	}
	pthread_mutex_unlock(&server.lock);
	return fd;
}
