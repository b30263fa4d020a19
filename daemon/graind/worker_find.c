// SPDX-License-Identifier: BSD-2-Clause
/* Standard input is a socket over which files come (finders.h), each answered with the runtime in it. */
#include "daemon/graind/finders.h"
#include "daemon/graind/worker.h"

#include "daemon/common/pass_fd.h"
#include "uprobes/runtime_look.h"

#include <unistd.h>

int worker__find(void)
{
	uint64_t number;
	ssize_t got;
	int fd;

	while ((got = pass_fd__receive(STDIN_FILENO, &number, sizeof(number), &fd)) > 0) {
		struct find_answer answer = {.number = number};

		if (got != (ssize_t)sizeof(number) || fd < 0)
			return 1;
		answer.runtime = runtime_look__in(fd);
		close(fd);
		if (write(STDIN_FILENO, &answer, sizeof(answer)) != (ssize_t)sizeof(answer))
			return 1;
	}
	return got != 0;
}
