// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/shim_server.h"
#include "daemon/graind/listen.h"
#include "daemon/graind/log.h"
#include "daemon/graind/places.h"
#include "daemon/common/defaults.h"
#include "bpf/shim_abi.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

_Static_assert(!__builtin_strcmp(ENV_SHIM_SOCKET, SHIM_SOCKET_VARIABLE), "what leads the library here");

#define WAITING_MAX 256
/* A job looks every 20 ms; the process asks for no longer than five seconds. */
#define PATIENCE_NS UINT64_C(4000000000)

struct waiting {
	int fd;
	pid_t pid;
	uid_t uid;
	bool greeted;
	struct shim_coming coming;
	uint64_t until_ns;
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
	unsigned long long crowded; /* sent away as their user had too many waiting */
} server = {.lock = PTHREAD_MUTEX_INITIALIZER, .listen_fd = -1, .stop_fd = -1};

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* With the lock held. */
static void send_away(size_t index)
{
	close(server.waiting[index].fd);
	server.waiting[index] = server.waiting[--server.count];
}

/* With the lock held. */
static bool has_place(uid_t uid)
{
	size_t of_user = 0;

	for (size_t i = 0; i < server.count; i++)
		of_user += server.waiting[i].uid == uid;
	if (places__allow(uid, of_user, WAITING_MAX - server.count))
		return true;
	/* Said once for twice as many, so that nobody fills the log. */
	server.crowded++;
	if (!(server.crowded & (server.crowded - 1)))
		log__line(LOG_WARNING,
			  "processes with libgrainshim that were sent away, as %zu of user %u wait already: "
			  "%llu so "
			  "far, of all users",
			  of_user, (unsigned int)uid, server.crowded);
	return false;
}

static void let_in(void)
{
	int fd = accept4(server.listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (fd < 0)
		return;
	pthread_mutex_lock(&server.lock);
	if (!server.jobs || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
	    !has_place(peer.uid))
		close(fd);
	else
		server.waiting[server.count++] = (struct waiting){.fd = fd,
								  .pid = peer.pid,
								  .uid = peer.uid,
								  .until_ns = now_ns() + PATIENCE_NS};
	pthread_mutex_unlock(&server.lock);
}

/* With the lock held: whether it may stay. */
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
	waiting->coming = (struct shim_coming){.wants_probes = hello.wants_probes,
					       .libomp = hello.runtime == SHIM_RUNTIME_LIBOMP};
	return true;
}

static void *serve(void *unused)
{
	struct pollfd fds[WAITING_MAX + 2];

	(void)unused;
	for (;;) {
		size_t count;

		fds[0] = (struct pollfd){.fd = server.stop_fd, .events = POLLIN};
		fds[1] = (struct pollfd){.fd = server.listen_fd, .events = POLLIN};
		pthread_mutex_lock(&server.lock);
		count = server.count;
		for (size_t i = 0; i < count; i++)
			fds[2 + i] = (struct pollfd){.fd = server.waiting[i].fd, .events = POLLIN};
		pthread_mutex_unlock(&server.lock);
		if (poll(fds, 2 + count, count ? 50 : -1) < 0 && errno != EINTR)
			return NULL;
		if (fds[0].revents)
			return NULL;
		if (fds[1].revents)
			let_in();
		pthread_mutex_lock(&server.lock);
		for (size_t i = server.count; i > 0; i--)
			if (!listen_to(&server.waiting[i - 1]) || now_ns() > server.waiting[i - 1].until_ns)
				send_away(i - 1);
		pthread_mutex_unlock(&server.lock);
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

int shim_server__take(pid_t pid, struct shim_coming *coming)
{
	int fd = -1;

	pthread_mutex_lock(&server.lock);
	for (size_t i = 0; i < server.count && fd < 0; i++) {
		if (server.waiting[i].pid != pid || !server.waiting[i].greeted)
			continue;
		fd = server.waiting[i].fd;
		*coming = server.waiting[i].coming;
		server.waiting[i] = server.waiting[--server.count];
	}
	pthread_mutex_unlock(&server.lock);
	return fd;
}
