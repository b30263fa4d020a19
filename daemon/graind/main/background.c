// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/main/background.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int background__enter(int *report_fd)
{
	int fds[2], status = 0;
	char byte;
	pid_t child;

	if (pipe2(fds, O_CLOEXEC) != 0)
		return -errno;
	child = fork();
	if (child < 0) {
		int error = -errno;

		close(fds[0]);
		close(fds[1]);
		return error;
	}
	if (child > 0) {
		close(fds[1]);
		if (read(fds[0], &byte, 1) == 1)
			_exit(0);
		/* The child ended before it was ready, and has already printed the reason. */
		while (waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
		_exit(WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : 1);
	}
	close(fds[0]);
	setsid();
	*report_fd = fds[1];
	return 0;
}

void background__up(int report_fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		close(null);
	}
	if (chdir("/") != 0 || write(report_fd, "", 1) != 1)
		_exit(1);
	close(report_fd);
}
