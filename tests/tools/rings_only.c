// SPDX-License-Identifier: BSD-2-Clause
/*
 * rings_only SOCKET THREADS WORDS [full|wait]: gives one process after the other rings
 * of so many words (a power of two), as graind does, and takes what is in them
 * without looking at it, so that what writing into them costs can be measured by
 * itself; `wait`: threads are to wait for room; `full`: that, and it takes nothing. For
 * each process one line of JSON: the words that were in its rings, the events that
 * did not fit, the memory that was touched, and how much each ring needed at most for
 * what was not taken yet, with the block that it is in and a new one.
 */
#include "bpf/abi/shim_abi.h"
#include "daemon/common/process/pass_fd.h"

#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static uint32_t threads, words;
static bool full, lossless;

static struct shim_header *make_rings(int *memory)
{
	size_t bytes = shim__bytes(threads, words);
	struct shim_header *header;

	*memory = memfd_create("rings", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*memory < 0 || ftruncate(*memory, (off_t)bytes) != 0 ||
	    fcntl(*memory, F_ADD_SEALS, F_SEAL_SHRINK) != 0)
		return NULL;
	header = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *memory, 0);
	if (header == MAP_FAILED)
		return NULL;
	*header = (struct shim_header){
		.magic = SHIM_MAGIC,
		.version = SHIM_VERSION,
		.threads = threads,
		.ring_words = words,
		.clock = SHIM_CLOCK_COUNTER,
		.lossless = lossless,
		.ticks_per_second = UINT64_C(1000000000),
		.enabled = 1,
	};
	return header;
}

static int welcome(int connection, int memory)
{
	const struct shim_welcome said = {.magic = SHIM_MAGIC, .version = SHIM_VERSION};

	return pass_fd__send(connection, &said, sizeof(said), memory, 0);
}

static struct shim_thread *thread_at(struct shim_header *header, uint32_t number)
{
	return (struct shim_thread *)((char *)header + SHIM_THREADS_AT) + number;
}

/* As often as graind would, for threads that write 10 million words a second: an eighth of a ring at a time.
 */
#define NAP_MS 6

/* Takes all that there is. `behind`: how many words of each ring were not taken, at most. */
static void drain(struct shim_header *header, int connection, uint64_t *behind)
{
	struct pollfd ended = {.fd = connection, .events = POLLIN};

	do {
		for (uint32_t i = 0; !full && i < threads; i++) {
			struct shim_thread *thread = thread_at(header, i);
			uint64_t head = __atomic_load_n(&thread->head, __ATOMIC_ACQUIRE);

			if (head - thread->tail > behind[i])
				behind[i] = head - thread->tail;
			if (head != thread->tail)
				__atomic_store_n(&thread->tail, head, __ATOMIC_RELEASE);
		}
		if (!full)
			__atomic_fetch_add(&header->beat, 1, __ATOMIC_RELAXED);
	} while (poll(&ended, 1, NAP_MS) == 0);
}

/* Until it hangs up. */
static int serve(int connection)
{
	struct shim_header *header = NULL;
	uint64_t written = 0, lost = 0, needed = 0, *behind = calloc(threads, sizeof(*behind));
	struct shim_hello hello;
	struct stat touched = {0};
	int memory = -1;

	if (recv(connection, &hello, sizeof(hello), 0) == sizeof(hello) && !hello.wants_probes)
		header = make_rings(&memory);
	if (!header || !behind || welcome(connection, memory) != 0)
		return -1;
	drain(header, connection, behind);
	fstat(memory, &touched);
	close(memory);
	for (uint32_t i = 0; i < threads; i++) {
		uint64_t head = thread_at(header, i)->head, rest = head - thread_at(header, i)->tail;

		written += head;
		lost += thread_at(header, i)->missed;
		if (head)
			needed += (rest > behind[i] ? rest : behind[i]) + 2 * words / SHIM_BLOCKS;
	}
	printf("{\"words\":%llu,\"lost\":%llu,\"kb\":%llu,\"needed_kb\":%llu}\n", (unsigned long long)written,
	       (unsigned long long)(lost + header->unseated), (unsigned long long)touched.st_blocks / 2,
	       (unsigned long long)needed * sizeof(uint64_t) / 1024);
	fflush(stdout);
	free(behind);
	munmap(header, shim__bytes(threads, words));
	return 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	full = argc == 5 && !strcmp(argv[4], "full");
	lossless = full || (argc == 5 && !strcmp(argv[4], "wait"));
	if (argc != (lossless ? 5 : 4) || strlen(argv[1]) >= sizeof(address.sun_path) || fd < 0)
		return 2;
	strcpy(address.sun_path, argv[1]);
	threads = (uint32_t)strtoul(argv[2], NULL, 10);
	words = (uint32_t)strtoul(argv[3], NULL, 10);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(fd, 8) != 0) {
		perror(argv[1]);
		return 1;
	}
	for (;;) {
		int connection = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

		if (connection < 0)
			return 1;
		if (serve(connection) != 0)
			printf("{\"words\":0,\"lost\":-1}\n");
		close(connection);
	}
}
