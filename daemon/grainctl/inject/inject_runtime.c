/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/inject/inject_runtime.h"
#include "daemon/common/process/confine.h"
#include "uprobes/runtime/runtime_find.h"
#include "uprobes/runtime/runtime_look.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUNTIMES_MAX 8
#define PATIENCE_MS 5000
/* Added to the result in the exit status, to tell it from other exits. */
#define FOUND 64

static _Noreturn void be_child(int fd)
{
	static const struct confine_limits limits = {.cpu_seconds = 3,
						     .memory_bytes = 1u << 30,
						     .open_files = 64,
						     .file_bytes = 0};
	int error = confine__limit(&limits);

	if (!error && geteuid() == 0)
		error = confine__become(CONFINE_NOBODY, CONFINE_NOBODY);
	if (!error)
		error = confine__filter(CONFINE_OPEN_FILES);
	_exit(error ? 1 : FOUND + (int)runtime_look__in(fd));
}

/*
 * Looks into a file in a process without rights. The file is a user's: it may be an attack, and parsing it
 * may hang.
 */
static int look_aside(int fd, const struct stat *file, enum elf_runtime *out)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	int status = 0, waited = 0;
	pid_t child = fork(), ended;

	(void)file;
	if (child == 0)
		be_child(fd);
	if (child < 0)
		return -errno;
	while ((ended = waitpid(child, &status, WNOHANG)) == 0 && waited++ < PATIENCE_MS)
		nanosleep(&nap, NULL);
	if (ended == 0) {
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) < FOUND)
		return -EIO;
	*out = (enum elf_runtime)(WEXITSTATUS(status) - FOUND);
	return 0;
}

/* Whether the file's name is that of a runtime's own library. */
static bool is_runtimes_own(const struct runtime_file *file)
{
	static const char *const names[] = {"libgomp", "libomp", "libiomp"};
	const char *slash = strrchr(file->path, '/'), *name = slash ? slash + 1 : file->path;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

enum inject_runtime inject_runtime__find(pid_t pid)
{
	struct runtime_file *files = calloc(RUNTIMES_MAX, sizeof(*files));
	enum inject_runtime found = INJECT_RUNTIME_NONE;
	struct uprobes_error ignored;
	int count;

	runtime_find__look_by(look_aside);
	count = files ? runtime_find__in_process(pid, files, RUNTIMES_MAX, &ignored) : 0;
	for (int i = 0; i < count && found != INJECT_RUNTIME_LOADING; i++)
		found = is_runtimes_own(&files[i]) ? INJECT_RUNTIME_LOADING : INJECT_RUNTIME_LINKED;
	free(files);
	return found;
}
