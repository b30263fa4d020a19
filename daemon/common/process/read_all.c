// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/common/process/read_all.h"

#include <errno.h>
#include <unistd.h>

int read_all(int fd, char *bytes, size_t room, size_t *used)
{
	*used = 0;
	while (*used < room) {
		ssize_t got = read(fd, bytes + *used, room - *used);

		if (got == 0)
			break;
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got > 0)
			*used += (size_t)got;
	}
	return 0;
}
