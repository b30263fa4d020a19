// SPDX-License-Identifier: BSD-2-Clause
/*
 * hostile [SECONDS]: comes to graind as libgrainshim does and writes nonsense into all
 * that it is given, from two threads, whether it is to be recorded or not: for so long, or
 * until SIGTERM. Says when they write.
 */
#include "bpf/abi/shim_abi.h"
#include "daemon/common/process/pass_fd.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* So that not all of the memory comes to be. */
#define RINGS 4

static struct shim_header *header;
static volatile bool over;

static int reach(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *path = getenv(SHIM_SOCKET_VARIABLE);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path ? path : "");
	return connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 ? fd : -1;
}

static bool take_memory(int fd)
{
	const struct shim_hello hello = {.magic = SHIM_MAGIC,
					 .version = SHIM_VERSION,
					 .runtime = SHIM_RUNTIME_LIBGOMP};
	struct shim_welcome welcome;
	struct stat st;
	int memory;

	if (send(fd, &hello, sizeof(hello), MSG_NOSIGNAL) != sizeof(hello) ||
	    pass_fd__receive(fd, &welcome, sizeof(welcome), &memory) != sizeof(welcome) || memory < 0)
		return false;
	/* It must not be possible to take the memory away from under graind. */
	if (ftruncate(memory, 4096) == 0 || fstat(memory, &st) != 0)
		return false;
	header =
		mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory, 0);
	return header != MAP_FAILED;
}

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

static void *scribble(void *seed)
{
	struct shim_thread *threads = (struct shim_thread *)((char *)header + SHIM_THREADS_AT);
	uint64_t *sites = (uint64_t *)((char *)header + SHIM_SITES_AT);
	uint64_t *words = (uint64_t *)((char *)header + shim__rings_at(256));
	uint64_t state = (uint64_t)(uintptr_t)seed;

	for (uint64_t n = 0; !over; n++) {
		uint64_t what = next(&state), value = next(&state), ring = next(&state) % RINGS;

		switch (what % 64) {
		case 0:
			((uint32_t *)header)[value % 32] = (uint32_t)next(&state);
			break;
		case 1:
			sites[value % SHIM_SITES] = next(&state);
			header->site_count++;
			break;
		case 2:
			((uint64_t *)&threads[ring])[value % (sizeof(*threads) / 8)] = next(&state);
			break;
		case 3:
			threads[ring].state = value % 4;
			header->claimed = (uint32_t)(value % 300);
			break;
		default:
			words[ring << 19 | value % (1u << 19)] = next(&state);
			threads[ring].head += value % 64;
			break;
		}
		if (n == 1 << 16 && (uintptr_t)seed == 1)
			puts("writes"), fflush(stdout);
		if (n % 4096 == 0)
			usleep(500);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t others[2];
	sigset_t term;
	int fd;

	/* Some that say nothing, and one that speaks another language. */
	for (int i = 0; i < 20; i++)
		reach();
	fd = reach();
	if (fd >= 0)
		send(fd, "graind", 6, MSG_NOSIGNAL);
	fd = reach();
	if (argc > 2 || fd < 0 || !take_memory(fd)) {
		fprintf(stderr, "no memory was shared\n");
		return 1;
	}
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	if (argc == 1)
		sigprocmask(SIG_BLOCK, &term, NULL);
	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&others[i], NULL, scribble, (void *)(i * 7919 + 1));
	if (argc == 2)
		sleep((unsigned)atoi(argv[1]));
	else
		sigwait(&term, &fd);
	over = true;
	for (int i = 0; i < 2; i++)
		pthread_join(others[i], NULL);
	puts("done");
	return 0;
}
