// SPDX-License-Identifier: BSD-2-Clause
/* set_uid FILE: maps the file executable, says so and waits: installed set-uid, it is nobody's business. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;

	if (fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		return 1;
	puts("mapped");
	fflush(stdout);
	sleep(60);
	return 0;
}
