/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/files/sandbox.h"
#include "daemon/common/process/confine.h"
#include "daemon/grainctl/files/output_file.h"
#include "render/include/render.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Enters the directory. If the caller is root, the directory becomes the root directory. */
static int enter(int directory)
{
	if (fchdir(directory) != 0)
		return -errno;
	if (geteuid() == 0 &&
	    (fchown(directory, CONFINE_NOBODY, CONFINE_NOBODY) != 0 || chroot(".") != 0 || chdir("/") != 0))
		return -errno;
	return 0;
}

static int confine(enum sandbox_kind kind, int directory, pid_t parent)
{
	int error = kind == SANDBOX_DRAWING ? render__prepare() : 0;

	if (!error && kind == SANDBOX_WRITING)
		error = enter(directory);
	if (!error && geteuid() == 0)
		error = confine__become(CONFINE_NOBODY, CONFINE_NOBODY);
	/* The kernel forgets this setting when the user changes. */
	if (!error && prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		error = -errno;
	if (!error && getppid() != parent)
		error = -ESRCH;
	return error ? error
		     : confine__filter(kind == SANDBOX_WRITING ? CONFINE_WRITE_FILES : CONFINE_OPEN_FILES);
}

static _Noreturn void be_child(struct ctl *ctl, pid_t parent, enum sandbox_kind kind, int directory,
			       sandbox_fn work, void *argument)
{
	enum ctl_exit result = CTL_FAILED;
	int error;

	/* The files that a signal handler removes belong to the parent. */
	output_files__disown();
	error = confine(kind, directory, parent);
	if (error)
		ctl__fail(ctl, CTL_FAILED, "cannot give up its rights: %s", strerror(-error));
	else
		result = work(ctl, argument);
	if (fflush(NULL) && result == CTL_DONE)
		result = (enum ctl_exit)ctl__fail(ctl, CTL_FAILED, "cannot write the output: %s",
						  strerror(errno));
	/* _exit(), so that the parent's handlers do not run twice. */
	_exit((int)result);
}

static enum ctl_exit run(struct ctl *ctl, enum sandbox_kind kind, int directory, sandbox_fn work,
			 void *argument)
{
	pid_t parent = getpid(), child;
	int status;

	fflush(NULL);
	child = fork();
	if (child < 0)
		return (enum ctl_exit)ctl__fail(ctl, CTL_FAILED, "cannot start a process: %s",
						strerror(errno));
	if (child == 0)
		be_child(ctl, parent, kind, directory, work, argument);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return (enum ctl_exit)ctl__fail(ctl, CTL_FAILED, "cannot wait for a process: %s",
							strerror(errno));
	if (WIFEXITED(status))
		return (enum ctl_exit)WEXITSTATUS(status);
	/* Ends like the child. A closed pipe needs no message. */
	if (WTERMSIG(status) == SIGPIPE || WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM ||
	    WTERMSIG(status) == SIGHUP)
		raise(WTERMSIG(status));
	return (enum ctl_exit)ctl__fail(ctl, CTL_FAILED, "reading the recording ended early: %s%s",
					strsignal(WTERMSIG(status)),
					WTERMSIG(status) == SIGKILL ? "; is there enough memory?" : "");
}

enum ctl_exit sandbox__run(struct ctl *ctl, enum sandbox_kind kind, sandbox_fn work, void *argument)
{
	return run(ctl, kind, -1, work, argument);
}

enum ctl_exit sandbox__run_in(struct ctl *ctl, int directory, sandbox_fn work, void *argument)
{
	return run(ctl, SANDBOX_WRITING, directory, work, argument);
}
