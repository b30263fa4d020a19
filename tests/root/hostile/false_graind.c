/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who sits where libgrainshim looks for graind: gives rings to whoever comes, and takes their memory back.
 * usage: false_graind SOCKET; prints "listens", then for each hello "hello"
 */
#include "bpf/abi/shim_abi.h"
#include "daemon/common/process/pass_fd.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define THREADS 16

static int make_rings(void)
{
	const struct shim_header header = {.magic = SHIM_MAGIC,
					   .version = SHIM_VERSION,
					   .threads = THREADS,
					   .ring_words = SHIM_RING_WORDS_MIN,
					   .enabled = 1};
	int memory = memfd_create("false", 0);

	if (memory < 0 || ftruncate(memory, (off_t)shim__bytes(THREADS, SHIM_RING_WORDS_MIN)) != 0 ||
	    pwrite(memory, &header, sizeof(header), 0) != sizeof(header))
		return -1;
	return memory;
}

int main(int argc, char **argv)
{
	const struct shim_welcome welcome = {.magic = SHIM_MAGIC, .version = SHIM_VERSION};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_SEQPACKET, 0), client;

	if (argc != 2 || strlen(argv[1]) >= sizeof(address.sun_path))
		return 2;
	strcpy(address.sun_path, argv[1]);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 || chmod(argv[1], 0777) != 0 ||
	    listen(listener, 8) != 0)
		return 1;
	puts("listens");
	fflush(stdout);
	while ((client = accept(listener, NULL, NULL)) >= 0) {
		struct shim_hello hello;
		int memory = make_rings();

		if (recv(client, &hello, sizeof(hello), 0) != sizeof(hello))
			continue;
		puts("hello");
		fflush(stdout);
		pass_fd__send(client, &welcome, sizeof(welcome), memory, 0);
		usleep(200000);
		if (ftruncate(memory, 0) != 0)
			return 1;
	}
	return 0;
}
