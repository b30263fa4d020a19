// SPDX-License-Identifier: BSD-2-Clause
/* Processes that wait for their job: which of their programs it is that has come. */
#include "daemon/graind/shim/shim_server.h"
#include "bpf/abi/shim_abi.h"
#include "tests/unit/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* As libgrainshim does; its end of the connection. */
static int come(const char *path)
{
	const struct shim_hello hello = {.magic = SHIM_MAGIC,
					 .version = SHIM_VERSION,
					 .runtime = SHIM_RUNTIME_LIBOMP};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
	CHECK(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
		      send(fd, &hello, sizeof(hello), 0) == sizeof(hello),
	      "a process comes");
	return fd;
}

static int take_within_seconds(pid_t pid, struct shim_coming *coming)
{
	int fd = -1;

	for (int i = 0; i < 3000 && fd < 0; i++) {
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		fd = shim_server__take(pid, now_ns(), coming);
	}
	return fd;
}

int main(void)
{
	char directory[] = "/tmp/graind-shim-server.XXXXXX", path[64];
	struct shim_coming coming = {.libomp = false};
	uint64_t before_ns;
	int own, taken = -1;

	if (!mkdtemp(directory))
		return 1;
	snprintf(path, sizeof(path), "%s/shim", directory);
	CHECK(shim_server__start(path) == 0, "it listens");
	shim_server__open();

	/* Whoever has looked at what its processes did before this one came knows nothing of its program. */
	before_ns = now_ns();
	own = come(path);
	for (int i = 0; i < 200 && taken < 0; i++) {
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		taken = shim_server__take(getpid(), before_ns, &coming);
	}
	CHECK(taken == -1, "who has heard no news of it since it came does not get it");
	CHECK(shim_server__take(getppid(), now_ns(), &coming) == -1, "nor who asks for another one");
	taken = take_within_seconds(getpid(), &coming);
	CHECK(taken >= 0, "who has gets it");
	CHECK(coming.libomp && !coming.wants_probes && coming.uid == getuid(), "with what it said");
	CHECK(shim_server__take(getpid(), now_ns(), &coming) == -1, "once");
	close(taken);
	close(own);

	shim_server__close();
	shim_server__stop();
	rmdir(directory);
	CHECK_DONE();
}
