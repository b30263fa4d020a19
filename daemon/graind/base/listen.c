// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/base/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Connections in the queue delay later ones only by the time to accept them. */
#define BACKLOG SOMAXCONN

static bool make_address(const char *path, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (!*path || strlen(path) >= sizeof(address->sun_path))
		return false;
	strcpy(address->sun_path, path);
	return true;
}

static int try_connect(const char *path, int type)
{
	struct sockaddr_un address;
	int fd, error = 0;

	if (!make_address(path, &address))
		return -EINVAL;
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		error = -errno;
	close(fd);
	/* If the backlog is full, some process listens. */
	return error == -EAGAIN ? 0 : error;
}

bool listen__answers(const char *path)
{
	return try_connect(path, SOCK_STREAM) == 0;
}

static void make_parent(const char *path)
{
	char parent[sizeof(((struct sockaddr_un *)0)->sun_path)];
	char *slash;

	snprintf(parent, sizeof(parent), "%s", path);
	slash = strrchr(parent, '/');
	if (slash && slash != parent) {
		*slash = 0;
		mkdir(parent, 0755);
	}
}

/* Removes the file only if it is a socket and no process answers. */
static int remove_stale(const char *path, int type, char why[512])
{
	struct stat st;
	int error;

	if (lstat(path, &st) != 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode)) {
		snprintf(why, 512, "%s exists and is no socket; remove it or choose another with --socket",
			 path);
		return -EEXIST;
	}
	error = try_connect(path, type);
	if (error == -ECONNREFUSED)
		return unlink(path) == 0 || errno == ENOENT ? 0 : -errno;
	if (error == -ENOENT)
		return 0;
	if (error)
		return error;
	snprintf(why, 512, "another graind listens at %s already; stop it or choose another with --socket",
		 path);
	return -EADDRINUSE;
}

static int open_type(const char *path, int type, int *out, char why[512])
{
	struct sockaddr_un address;
	int fd, error;

	why[0] = 0;
	if (!make_address(path, &address)) {
		snprintf(why, 512, "the socket's path must have 1 to %zu bytes; choose another with --socket",
			 sizeof(address.sun_path) - 1);
		return -ENAMETOOLONG;
	}
	make_parent(path);
	error = remove_stale(path, type, why);
	if (error) {
		if (!why[0])
			snprintf(why, 512, "cannot use the socket %s: %s", path, strerror(-error));
		return error;
	}
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
		error = -errno;
		snprintf(why, 512, "cannot create the socket %s: %s; choose another with --socket", path,
			 strerror(-error));
	} else if (chmod(path, 0666) != 0 || listen(fd, BACKLOG) != 0) {
		/* Everybody may connect. The credentials of a client decide what it may ask for. */
		error = -errno;
		snprintf(why, 512, "cannot listen at %s: %s", path, strerror(-error));
		unlink(path);
	}
	if (error) {
		if (fd >= 0)
			close(fd);
		return error;
	}
	*out = fd;
	return 0;
}

int listen__open(const char *path, int *out, char why[512])
{
	return open_type(path, SOCK_STREAM, out, why);
}

int listen__open_packets(const char *path, int *out, char why[512])
{
	return open_type(path, SOCK_SEQPACKET, out, why);
}
