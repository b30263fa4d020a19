// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/common/process/pass_fd.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

/* The control data of a message: one descriptor. */
union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int pass_fd__send(int socket, const void *data, size_t size, int fd, int flags)
{
	struct iovec part = {(void *)(uintptr_t)data, size};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	union control control = {0};
	ssize_t sent;

	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	}
	sent = sendmsg(socket, &message, MSG_NOSIGNAL | flags);
	if (sent < 0)
		return -errno;
	return sent == (ssize_t)size ? 0 : -EPIPE;
}

ssize_t pass_fd__receive(int socket, void *data, size_t size, int *fd)
{
	union control control;
	struct iovec part = {data, size};
	/* The padding has room for a second descriptor, which we would have to close. */
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = CMSG_LEN(sizeof(*fd))};
	ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *head = got < 0 ? NULL : CMSG_FIRSTHDR(&message);

	*fd = -1;
	if (got < 0)
		return -errno;
	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
	    head->cmsg_len == CMSG_LEN(sizeof(*fd)))
		memcpy(fd, CMSG_DATA(head), sizeof(*fd));
	return got;
}
