/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/files/source_reader.h"
#include "daemon/common/process/confine.h"
#include "daemon/grainctl/files/output_file.h"
#include "daemon/grainctl/files/recording_owner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FILE_MAX_BYTES (16 << 20)
#define LINE_BYTES 1200
#define ANSWER_BYTES (16u << 10)
/* Seconds to wait for one file, and for all files of a page. */
#define PATIENCE_S 3
#define ALL_S 10

struct source_reader {
	pid_t child;
	int socket;
	time_t until; /* seconds of the monotonic clock */
};

struct question {
	uint32_t first, last;
	char path[PATH_MAX];
};

/* ---- the process that reads ------------------------------------------- */

/* Opens a regular file that is not empty (files of /proc have size 0). NULL: it is not such a file. */
static FILE *open_source(const char *path)
{
	struct stat st;
	FILE *file = NULL;
	int fd;

	/* Devices are not opened: opening one may have an effect. */
	if (*path != '/' || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
	    st.st_size <= FILE_MAX_BYTES)
		file = fdopen(fd, "r");
	if (fd >= 0 && !file)
		close(fd);
	return file;
}

static size_t read_lines(FILE *file, uint32_t first, uint32_t last, char text[ANSWER_BYTES])
{
	uint32_t line = 1;
	size_t used = 0, column = 0;
	int byte;

	while (line <= last && used < ANSWER_BYTES && (byte = getc_unlocked(file)) != EOF) {
		if (line >= first && (byte == '\n' || column < LINE_BYTES))
			text[used++] = (char)byte;
		column++;
		if (byte == '\n') {
			line++;
			column = 0;
		}
	}
	return used;
}

static void answer(int socket, struct question *question)
{
	char text[ANSWER_BYTES];
	size_t size = 0;
	FILE *file;

	question->path[sizeof(question->path) - 1] = '\0';
	file = open_source(question->path);
	if (file) {
		size = read_lines(file, question->first, question->last, text);
		fclose(file);
	}
	/* An empty message would look like the end of the connection. */
	if (!size)
		text[size++] = '\0';
	if (write(socket, text, size) < 0)
		_exit(1);
}

static int confine(const struct owner_rights *rights, pid_t parent)
{
	static const struct confine_limits limits = {.cpu_seconds = ALL_S,
						     .memory_bytes = 1u << 30,
						     .open_files = 64,
						     .file_bytes = 0};
	int error = confine__limit(&limits);

	if (!error)
		error = confine__become_user(rights->uid, rights->gid, rights->groups, rights->group_count);
	if (!error && prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		error = -errno;
	if (!error && getppid() != parent)
		error = -ESRCH;
	return error ? error : confine__filter(CONFINE_READ_FILES);
}

static _Noreturn void be_child(const struct owner_rights *rights, int socket, pid_t parent)
{
	struct question question;

	output_files__disown();
	if (confine(rights, parent) == 0)
		while (read(socket, &question, sizeof(question)) == sizeof(question))
			answer(socket, &question);
	_exit(0);
}

/* ---- who asks --------------------------------------------------------- */

static time_t now_s(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

/* Sends a question, using only system calls that the sandbox allows. False: nobody answers. */
static bool ask(int socket, const struct question *question)
{
	const struct sigaction ignored = {.sa_handler = SIG_IGN};
	struct sigaction before;
	bool done;

	sigaction(SIGPIPE, &ignored, &before);
	done = write(socket, question, sizeof(*question)) == sizeof(*question);
	sigaction(SIGPIPE, &before, NULL);
	return done;
}

struct source_reader *source_reader__start(uid_t owner)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	struct source_reader *sources;
	struct owner_rights rights;
	pid_t parent = getpid();
	int ends[2];

	if (!recording_owner__rights(owner, &rights) || !(sources = calloc(1, sizeof(*sources))))
		return NULL;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
		free(sources);
		return NULL;
	}
	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	fflush(NULL);
	sources->child = fork();
	if (sources->child == 0) {
		close(ends[0]);
		be_child(&rights, ends[1], parent);
	}
	close(ends[1]);
	if (sources->child < 0) {
		close(ends[0]);
		free(sources);
		return NULL;
	}
	sources->socket = ends[0];
	sources->until = now_s() + ALL_S;
	return sources;
}

void source_reader__end(struct source_reader *sources)
{
	if (!sources)
		return;
	close(sources->socket);
	kill(sources->child, SIGKILL);
	while (waitpid(sources->child, NULL, 0) < 0 && errno == EINTR)
		;
	free(sources);
}

ssize_t source_reader__read(void *argument, const char *path, uint32_t first, uint32_t last, char *text,
			    size_t size)
{
	struct source_reader *sources = argument;
	struct question question = {.first = first, .last = last};
	ssize_t got = -ENOENT;

	if (!sources || now_s() > sources->until)
		return -ETIMEDOUT;
	if (strlen(path) >= sizeof(question.path))
		return -ENAMETOOLONG;
	strcpy(question.path, path);
	if (!ask(sources->socket, &question))
		return -EPIPE;
	got = read(sources->socket, text, size);
	/* A late answer would look like the answer to the next question. */
	if (got <= 0)
		sources->until = 0;
	if (got < 0)
		return -errno;
	return got == 1 && !text[0] ? -ENOENT : got;
}
