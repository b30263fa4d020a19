// SPDX-License-Identifier: BSD-2-Clause
/* From the loading of the library to a ring. The first event asks graind, which may decline. */
#include "runtime-shim/ring/caller_state.h"
#include "runtime-shim/ring/connect.h"
#include "runtime-shim/ring/counters.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/*
 * How long the process waits for graind. A graind that hangs must not delay the program longer, but on a
 * slow machine its answer may take seconds.
 */
#define PATIENCE_S 5

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

static struct {
	pthread_key_t at_thread_end;
	int fd; /* -1: there is none */
	struct stat
		file; /* identity of the descriptor: some programs close descriptors that they do not own */
	uint32_t runtime;	   /* the runtime that asked last */
	struct shim_header *rings; /* rings that graind has sent; NULL: none, or they were let go */
	size_t ring_bytes;
	char path[sizeof(
		((struct sockaddr_un *)0)->sun_path)]; /* path given to connect__come(); "": none was given */
} connection = {.fd = -1, .runtime = SHIM_RUNTIME_LIBGOMP};

static __thread int32_t no_cpu __attribute__((tls_model("initial-exec"))) = -1;

static void thread_ends(void *local)
{
	(void)local;
	shim__leave();
}

static void keep(struct shim_local *local)
{
	pthread_setspecific(connection.at_thread_end, local);
}

/* A program with more rights than its user (set-user-ID) ignores the user's environment. */
static const char *path_of_graind(void)
{
	return connection.path[0] ? connection.path : secure_getenv(SHIM_SOCKET_VARIABLE);
}

/* Whether only root and `uid` can have put it there. */
static bool is_placed_by(const char *path, uid_t uid)
{
	const char *slash = strrchr(path, '/');
	char directory[sizeof(connection.path)];
	struct stat st;

	if (!slash)
		return false;
	memcpy(directory, path, (size_t)(slash - path));
	directory[slash - path] = '\0';
	return stat(slash == path ? "/" : directory, &st) == 0 && !(st.st_mode & (S_IWGRP | S_IWOTH)) &&
	       (st.st_uid == 0 || st.st_uid == uid);
}

/*
 * Checks the peer, which will share memory with the program. It must be root, the program's user, or the
 * owner of the socket's directory.
 */
static bool is_graind(int fd, const char *path)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	       (peer.uid == 0 || peer.uid == geteuid() || is_placed_by(path, peer.uid));
}

/* Whether the descriptor is still the connection to graind. */
static bool is_connection(int fd)
{
	struct stat now;

	return fd >= 0 && fstat(fd, &now) == 0 && now.st_ino == connection.file.st_ino &&
	       now.st_dev == connection.file.st_dev;
}

static void hang_up(void)
{
	if (is_connection(connection.fd))
		close(connection.fd);
	__atomic_store_n(&connection.fd, -1, __ATOMIC_RELAXED);
}

/* Returns a connection, or a negative errno. */
static int reach(const char *path, int flags)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd, error;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	error = connect(fd, (struct sockaddr *)&address, sizeof(address)) ? -errno : 0;
	if (!error && is_graind(fd, path))
		return fd;
	error = error ? error : -EACCES;
	close(fd);
	return error;
}

static int say_hello(int fd, uint32_t which, bool wants_probes)
{
	const struct shim_hello hello = {.magic = SHIM_MAGIC,
					 .version = SHIM_VERSION,
					 .runtime = which,
					 .wants_probes = wants_probes};

	return send(fd, &hello, sizeof(hello), MSG_NOSIGNAL) == sizeof(hello) ? 0 : -errno;
}

/* Returns 0 or a negative errno. */
static int greet(const char *path, int flags)
{
	int fd = reach(path, flags);

	if (fd < 0)
		return fd;
	__atomic_store_n(&connection.fd, fd, __ATOMIC_RELAXED);
	fstat(connection.fd, &connection.file);
	return say_hello(connection.fd, connection.runtime, false);
}

/* Returns the memory that comes with the welcome, or a negative errno. */
static int be_welcomed(void)
{
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
	ssize_t got = recvmsg(connection.fd, &message, MSG_CMSG_CLOEXEC);
	struct cmsghdr *head = got == sizeof(welcome) ? CMSG_FIRSTHDR(&message) : NULL;
	int memory;

	if (got < 0)
		return -errno;
	if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS ||
	    head->cmsg_len != CMSG_LEN(sizeof(int)))
		return -ECONNREFUSED;
	memcpy(&memory, CMSG_DATA(head), sizeof(memory));
	if (welcome.magic == SHIM_MAGIC && welcome.version == SHIM_VERSION)
		return memory;
	close(memory);
	return -EPROTO;
}

static struct shim_header *map(int memory)
{
	struct shim_header *header;
	struct stat st;
	int seals = fcntl(memory, F_GET_SEALS);

	/* If the memory could be shrunk, an access could kill the program. */
	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(memory, &st) != 0 ||
	    st.st_size < (off_t)SHIM_THREADS_AT)
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

/* Receives the rings that graind has sent. */
static int receive(struct shim_header **header)
{
	int memory = be_welcomed();

	if (memory < 0)
		return memory;
	*header = map(memory);
	close(memory);
	if (!*header)
		return -ENOMEM;
	connection.ring_bytes = shim__bytes((*header)->threads, (*header)->ring_words);
	__atomic_store_n(&connection.rings, *header, __ATOMIC_RELEASE);
	return 0;
}

/* From here on, threads may join. */
static int publish(struct shim_header *header)
{
	struct shim_local *locals = mmap(NULL, header->threads * sizeof(*locals), PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (locals == MAP_FAILED)
		return -ENOMEM;
	__atomic_store_n(&shim_process.header, header, __ATOMIC_RELEASE);
	__atomic_store_n(&shim_process.locals, locals, __ATOMIC_RELEASE);
	__atomic_store_n(&shim_process.sites, (uint64_t *)((char *)header + SHIM_SITES_AT), __ATOMIC_RELEASE);
	__atomic_store_n(&shim_process.counter, header->clock == SHIM_CLOCK_COUNTER, __ATOMIC_RELAXED);
	__atomic_store_n(&shim_process.state, SHIM_ON, __ATOMIC_RELEASE);
	return 0;
}

/* Calls a function of shim_process. */
static void call(void (**at)(void))
{
	void (*function)(void) = __atomic_load_n(at, __ATOMIC_RELAXED);

	if (function)
		function();
}

/* Whatever fails, the program goes on without a recording. */
static void ask(void)
{
	const char *path = path_of_graind();
	struct shim_header *header;
	struct caller_state callers = caller_state__save();
	sigset_t all, before;
	int error;

	/* A signal handler would end the wait early, or have events of its own before there are rings. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	error = path && *path ? greet(path, 0) : -ENOENT;
	if (!error)
		error = receive(&header);
	if (!error)
		error = publish(header);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error) {
		hang_up();
		__atomic_store_n(&shim_process.state, SHIM_OFF, __ATOMIC_RELEASE);
		call(&shim_process.refused);
	}
	caller_state__restore(callers);
}

int connect__come(const char *path, uint32_t which)
{
	int error;

	hang_up();
	if (strlen(path) >= sizeof(connection.path))
		return -ENAMETOOLONG;
	strcpy(connection.path, path);
	connection.runtime = which;
	/* grainctl has stopped this thread, so it must not wait. */
	error = greet(path, SOCK_NONBLOCK);
	if (error)
		hang_up();
	return error;
}

int connect__receive(struct shim_header **header)
{
	return connection.fd < 0 ? -ENOTCONN : receive(header);
}

int connect__publish(struct shim_header *header)
{
	__atomic_store_n(&shim_process.state, SHIM_OFF, __ATOMIC_RELEASE);
	__atomic_fetch_add(&shim_process.session, 1, __ATOMIC_RELEASE);
	return publish(header);
}

bool connect__gone(void)
{
	char byte;
	int fd = __atomic_load_n(&connection.fd, __ATOMIC_RELAXED);

	/*
	 * If the program has closed the descriptor, or has put another one in its place, that says nothing
	 * about graind.
	 */
	return fd < 0 || (is_connection(fd) && recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0);
}

struct shim_header *connect__rings(void)
{
	return __atomic_load_n(&connection.rings, __ATOMIC_ACQUIRE);
}

void connect__let_go(void)
{
	struct shim_header *header = connect__rings();
	void *there = MAP_FAILED;
	int nothing;

	if (!header)
		return;
	__atomic_fetch_add(&shim_process.joined, __atomic_load_n(&header->generations, __ATOMIC_RELAXED),
			   __ATOMIC_RELAXED);
	nothing = memfd_create("graind-shim-over", MFD_CLOEXEC);
	if (nothing >= 0 && ftruncate(nothing, (off_t)connection.ring_bytes) == 0)
		there = mmap(header, connection.ring_bytes, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_FIXED | MAP_NORESERVE, nothing, 0);
	if (nothing >= 0)
		close(nothing);
	/* If no descriptor is left: this needs none. */
	if (there == MAP_FAILED)
		mmap(header, connection.ring_bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
	__atomic_store_n(&connection.rings, NULL, __ATOMIC_RELEASE);
}

void connect__hang_up(void)
{
	hang_up();
}

bool connect__is_wanted(void)
{
	return __atomic_load_n(&shim_process.state, __ATOMIC_ACQUIRE) != SHIM_OFF;
}

bool connect__open(unsigned which)
{
	int state = SHIM_ASK;

	if (__atomic_compare_exchange_n(&shim_process.state, &state, SHIM_ASKING, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE)) {
		connection.runtime = which;
		ask();
	}
	while ((state = __atomic_load_n(&shim_process.state, __ATOMIC_ACQUIRE)) == SHIM_ASKING)
		sched_yield();
	return state == SHIM_ON;
}

bool connect__ask_for_probes(void)
{
	const char *path = path_of_graind();
	struct caller_state callers = caller_state__save();
	int fd = path && *path ? reach(path, 0) : -1;
	bool done = false;
	char nothing;

	if (fd >= 0) {
		if (say_hello(fd, SHIM_RUNTIME_LIBOMP, true) == 0)
			done = recv(fd, &nothing, sizeof(nothing), 0) == 1;
		close(fd);
	}
	caller_state__restore(callers);
	return done;
}

/*
 * The child shares the parent's rings, which are not its own; it may get rings itself. It may be inside a
 * region or task whose end would still be written to the parent's rings. So other memory replaces these
 * rings.
 */
static void in_child(void)
{
	struct caller_state callers;

	call(&shim_process.in_child);
	if (shim_process.state == SHIM_OFF)
		return;
	callers = caller_state__save();
	shim_local = NULL;
	counters__leave(true);
	hang_up();
	connect__let_go();
	shim_process.session++;
	shim_process.state = SHIM_ASK;
	caller_state__restore(callers);
}

static __attribute__((constructor)) void load(void)
{
	/*
	 * If the library came into a running process, one thread loads it and another one begins the
	 * recording.
	 */
	__atomic_store_n(&shim_process.cpu_at, find_cpu(), __ATOMIC_RELAXED);
	__atomic_store_n(&shim_process.ask, ask, __ATOMIC_RELAXED);
	__atomic_store_n(&shim_process.keep, keep, __ATOMIC_RELAXED);
	if (pthread_key_create(&connection.at_thread_end, thread_ends) == 0 &&
	    pthread_atfork(NULL, NULL, in_child) == 0 && secure_getenv(SHIM_SOCKET_VARIABLE))
		shim_process.state = SHIM_ASK;
}
