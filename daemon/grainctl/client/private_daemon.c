/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/client/private_daemon.h"
#include "daemon/grainctl/client/server.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUN_DIR "/run/graind"
#define START_MS 15000
#define STOP_MS 3000

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/*
 * Waits until the process has ended, for at most `timeout_ms` (also when signals arrive). Returns whether
 * it has ended.
 */
static bool await(pid_t pid, int timeout_ms)
{
	struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
	const int64_t until = now_ms() + timeout_ms;
	int64_t left = timeout_ms;
	int ready = 0;

	while (end.fd >= 0 && left > 0 && (ready = poll(&end, 1, (int)left)) < 0 && errno == EINTR)
		left = until - now_ms();
	if (end.fd >= 0)
		close(end.fd);
	return ready > 0;
}

/*
 * Prefers the graind in grainctl's own directory. If there is none, the path is the bare name, for a search
 * in $PATH.
 */
static void find_graind(char path[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *slash;

	if (length > 0) {
		path[length] = 0;
		slash = strrchr(path, '/');
		if (slash && slash + sizeof("/graind") < path + PATH_MAX) {
			strcpy(slash, "/graind");
			if (access(path, X_OK) == 0)
				return;
		}
	}
	strcpy(path, "graind");
}

/* False: the path does not fit into the address of a socket. */
static bool choose_socket(const struct ctl *ctl, char socket[108])
{
	int length;

	if ((mkdir(RUN_DIR, 0755) == 0 || errno == EEXIST) && access(RUN_DIR, W_OK | X_OK) == 0)
		length = snprintf(socket, 108, RUN_DIR "/private-%d.sock", (int)getpid());
	else
		length = snprintf(socket, 108, "%s/private-%d.sock", ctl->state_dir, (int)getpid());
	return length < 108;
}

/* Runs in the child. The new session protects graind from the terminal's signals and hang-ups. */
static void exec_graind(const struct ctl *ctl, const char *graind, const char *socket, int messages)
{
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(null, STDIN_FILENO);
	dup2(messages, STDOUT_FILENO);
	dup2(messages, STDERR_FILENO);
	if (null > STDERR_FILENO)
		close(null);
	execlp(graind, graind, "--state-dir", ctl->state_dir, "--socket", socket, "--exit-when-idle",
	       (char *)NULL);
	dprintf(STDERR_FILENO, "%s: %s\n", graind, strerror(errno));
	_exit(127);
}

/* Reads the last line that graind wrote. */
static void last_message(int messages, char *out, size_t size)
{
	char text[4096], *line;
	off_t end = lseek(messages, 0, SEEK_END);
	ssize_t got = pread(messages, text, sizeof(text) - 1,
			    end > (off_t)sizeof(text) - 1 ? end - (off_t)sizeof(text) + 1 : 0);

	if (got < 0)
		got = 0;
	while (got > 0 && text[got - 1] == '\n')
		got--;
	text[got] = 0;
	line = strrchr(text, '\n');
	snprintf(out, size, "%.380s", line ? line + 1 : text);
}

/* graind in the background is not our child, so we must ask it for its process number. */
static enum ctl_exit ask_pid(struct private_daemon *daemon, char *why)
{
	json_t *answer = NULL;
	enum ctl_exit result = server__call(daemon->socket, "GET", "/v1/status", NULL, &answer, why);
	json_int_t pid = json_integer_value(json_object_get(answer, "pid"));

	json_decref(answer);
	if (result == CTL_DONE && pid > 1 && pid <= INT_MAX)
		daemon->pid = (pid_t)pid;
	return result;
}

static enum ctl_exit start(const struct ctl *ctl, struct private_daemon *daemon, char *why)
{
	char graind[PATH_MAX], message[384];
	int messages, status;
	bool ended = false;
	pid_t child;

	if (!choose_socket(ctl, daemon->socket)) {
		snprintf(why, 512, "the state directory's path is too long for a socket: %.200s",
			 ctl->state_dir);
		return CTL_FAILED;
	}
	find_graind(graind);
	messages = memfd_create("graind-messages", MFD_CLOEXEC);
	if (messages < 0) {
		snprintf(why, 512, "cannot start a private graind: %s", strerror(errno));
		return CTL_FAILED;
	}
	fflush(NULL);
	child = fork();
	if (child == 0)
		exec_graind(ctl, graind, daemon->socket, messages);
	if (child < 0) {
		snprintf(why, 512, "cannot start a private graind: %s", strerror(errno));
		close(messages);
		return CTL_FAILED;
	}
	/*
	 * graind forks into the background as soon as it serves requests. Then the process that we started
	 * ends, and its exit status says whether this worked.
	 */
	ended = await(child, START_MS) && waitpid(child, &status, 0) == child;
	last_message(messages, message, sizeof(message));
	close(messages);
	if (!ended) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		snprintf(why, 512, "the private graind (%.300s) is not up after %d s", graind,
			 START_MS / 1000);
		return CTL_FAILED;
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		snprintf(why, 512, "the private graind did not start: %s",
			 message[0] ? message : "it ended without a word");
		return WIFEXITED(status) && WEXITSTATUS(status) == CTL_DENIED ? CTL_DENIED : CTL_FAILED;
	}
	return ask_pid(daemon, why);
}

enum ctl_exit private_daemon__ensure(struct ctl *ctl, struct private_daemon *daemon, const char **socket,
				     char why[512])
{
	enum ctl_exit result;
	int error = server__reachable(ctl->socket);

	daemon->pid = 0;
	*socket = ctl->socket;
	if (!error)
		return CTL_DONE;
	if (error == -EACCES || error == -EPERM) {
		snprintf(why, 512, "you may not use the graind at %.200s; ask who runs it", ctl->socket);
		return CTL_DENIED;
	}
	if (error == -ENAMETOOLONG) {
		snprintf(why, 512, "the socket's path is longer than 107 bytes: %.200s", ctl->socket);
		return CTL_USAGE;
	}
	if (geteuid() != 0) {
		snprintf(why, 512,
			 "no graind listens at %.200s and only root can start a private one; "
			 "run this as root, or: systemctl start graind",
			 ctl->socket);
		return CTL_DENIED;
	}
	result = start(ctl, daemon, why);
	if (result == CTL_DONE) {
		*socket = daemon->socket;
		ctl__say(ctl, "no graind listens at %s: started a private one that ends with its last job",
			 ctl->socket);
	}
	return result;
}

void private_daemon__stop(struct private_daemon *daemon)
{
	if (!daemon->pid)
		return;
	kill(daemon->pid, SIGTERM);
	await(daemon->pid, STOP_MS);
	daemon->pid = 0;
}
