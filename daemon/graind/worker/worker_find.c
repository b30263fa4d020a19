// SPDX-License-Identifier: BSD-2-Clause
/*
 * The finder's side: receives files over the socket at standard input (runtime_finders.h) and answers which
 * runtime each contains.
 */
#include "daemon/graind/worker/runtime_finders.h"

#include "daemon/common/process/pass_fd.h"
#include "uprobes/runtime/runtime_look.h"

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
