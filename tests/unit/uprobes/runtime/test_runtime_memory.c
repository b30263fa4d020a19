// SPDX-License-Identifier: BSD-2-Clause
/* Which files' runtimes are remembered: very many of a user's put out none of the system's. */
#include "tests/unit/check.h"
#include "uprobes/runtime/runtime_find.h"
#include "uprobes/runtime/system_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* More than are remembered, fewer than are searched in one process. */
#define FILES 3000
#define SOMEBODY 65000

static size_t looked_system, looked_others;

static int look(int fd, const struct stat *file, enum elf_runtime *out)
{
	if (system_file__is(fd, file))
		looked_system++;
	else
		looked_others++;
	*out = ELF_RUNTIME_NONE;
	return 0;
}

static bool search(void)
{
	static struct runtime_file found[8];
	struct uprobes_error err;

	looked_system = looked_others = 0;
	return runtime_find__in_process(getpid(), found, 8, &err) == 0;
}

/* Maps a file of its own, which has no name any more. */
static void *map_one(void)
{
	char path[] = "/tmp/graind-memory.XXXXXX";
	int fd = mkstemp(path);
	void *mapped;

	if (fd < 0 || fchown(fd, SOMEBODY, SOMEBODY) != 0 || ftruncate(fd, 4096) != 0 || unlink(path) != 0)
		abort();
	mapped = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	return mapped;
}

int main(void)
{
	static void *mapped[FILES];
	size_t system;
	int count = 0;

	if (geteuid() != 0) {
		printf("skip - files of users: needs root, to make them\n");
		return 0;
	}
	runtime_find__look_by(look);
	CHECK(search() && looked_system > 0, "libraries of the system are looked into: %zu", looked_system);
	system = looked_system;
	CHECK(search() && !looked_system, "but once");
	for (; count < FILES && (mapped[count] = map_one()) != MAP_FAILED; count++)
		;
	CHECK(count == FILES && search() && looked_others > FILES / 2,
	      "%zu files of somebody's are looked into", looked_others);
	for (int i = 0; i < count; i++)
		munmap(mapped[i], 4096);
	CHECK(search() && !looked_system,
	      "the system's %zu are remembered all the same, not looked into: %zu", system, looked_system);
	CHECK_DONE();
}
