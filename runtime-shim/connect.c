// SPDX-License-Identifier: BSD-2-Clause
/* From the loading of the library to a ring: the first event asks graind, which may say no. */
#include "runtime-shim/ring.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* A graind that hangs must not hold up the program for longer. */
#define PATIENCE_S 2

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

static pthread_key_t at_thread_end;
static int connection = -1;
static __thread int32_t no_cpu __attribute__((tls_model("initial-exec"))) = -1;

static void thread_ends(void *local)
{
	(void)local;
	shim__leave();
}

static void keep(struct shim_local *local)
{
	pthread_setspecific(at_thread_end, local);
}

static int reach(const char *path)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof(address.sun_path))
		return -1;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* The memory that comes with the welcome, or -1. */
static int greet(int fd)
{
	const struct shim_hello hello = {.magic = SHIM_MAGIC,
					 .version = SHIM_VERSION,
					 .runtime = SHIM_RUNTIME_LIBGOMP};
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct shim_welcome welcome;
	struct iovec part = {&welcome, sizeof(welcome)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *head;
	int memory;

	if (send(fd, &hello, sizeof(hello), MSG_NOSIGNAL) != sizeof(hello) ||
	    recvmsg(fd, &message, MSG_CMSG_CLOEXEC) != sizeof(welcome))
		return -1;
	head = CMSG_FIRSTHDR(&message);
	if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS ||
	    head->cmsg_len != CMSG_LEN(sizeof(int)))
		return -1;
	memcpy(&memory, CMSG_DATA(head), sizeof(memory));
	if (welcome.magic == SHIM_MAGIC && welcome.version == SHIM_VERSION)
		return memory;
	close(memory);
	return -1;
}

static struct shim_header *map(int memory)
{
	struct shim_header *header;
	struct stat st;

	if (fstat(memory, &st) != 0 || st.st_size < (off_t)SHIM_THREADS_AT)
		return NULL;
	header =
		mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory, 0);
	if (header == MAP_FAILED)
		return NULL;
	if (header->magic == SHIM_MAGIC && header->version == SHIM_VERSION &&
	    (uint64_t)st.st_size >= shim__bytes(header->threads, header->ring_words))
		return header;
	munmap(header, (size_t)st.st_size);
	return NULL;
}

static ptrdiff_t find_cpu(void)
{
	if (&__rseq_size && &__rseq_offset && __rseq_size >= 8)
		return __rseq_offset + 4;
	return (char *)&no_cpu - (char *)__builtin_thread_pointer();
}

/* Whatever fails, the program goes on without. */
static struct shim_header *get_memory(void)
{
	const char *path = getenv(SHIM_SOCKET_VARIABLE);
	struct shim_header *header;
	int memory;

	if (!path || !*path)
		return NULL;
	connection = reach(path);
	memory = connection < 0 ? -1 : greet(connection);
	header = memory < 0 ? NULL : map(memory);
	if (memory >= 0)
		close(memory);
	if (header || connection < 0)
		return header;
	close(connection);
	connection = -1;
	return NULL;
}

static void ask(void)
{
	struct shim_header *header = get_memory();
	struct shim_local *locals;

	if (header) {
		locals = mmap(NULL, header->threads * sizeof(*locals), PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (locals == MAP_FAILED)
			header = NULL;
	}
	if (header) {
		shim_process.locals = locals;
		shim_process.header = header;
		shim_process.sites = (uint64_t *)((char *)header + SHIM_SITES_AT);
		shim_process.counter = header->clock == SHIM_CLOCK_COUNTER;
	}
	__atomic_store_n(&shim_process.state, header ? SHIM_ON : SHIM_OFF, __ATOMIC_RELEASE);
}

/* The child shares the parent's rings, which are not its own; it may get some. */
static void in_child(void)
{
	if (shim_process.state == SHIM_OFF)
		return;
	shim_local = NULL;
	if (connection >= 0)
		close(connection);
	connection = -1;
	shim_process.state = SHIM_ASK;
}

static __attribute__((constructor)) void load(void)
{
	shim_process.cpu_at = find_cpu();
	shim_process.ask = ask;
	shim_process.keep = keep;
	if (pthread_key_create(&at_thread_end, thread_ends) == 0 &&
	    pthread_atfork(NULL, NULL, in_child) == 0 && getenv(SHIM_SOCKET_VARIABLE))
		shim_process.state = SHIM_ASK;
}
