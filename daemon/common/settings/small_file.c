// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/common/settings/small_file.h"
#include "daemon/common/process/read_all.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

long small_file__read(char *out, size_t size, const char *path, ...)
{
	char name[PATH_MAX];
	size_t used = 0;
	va_list args;
	int fd, error;

	out[0] = '\0';
	va_start(args, path);
	vsnprintf(name, sizeof(name), path, args);
	va_end(args);
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	error = read_all(fd, out, size - 1, &used);
	close(fd);
	if (error)
		used = 0;
	out[used] = '\0';
	return error ? error : (long)used;
}
