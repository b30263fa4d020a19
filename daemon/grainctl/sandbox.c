/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/sandbox.h"
#include "daemon/common/confine.h"
#include "daemon/grainctl/files.h"
#include "render/render.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

static int confine(enum sandbox_kind kind, pid_t parent)
{
	int error = kind == SANDBOX_DRAWING ? render__prepare() : 0;

	if (!error && kind != SANDBOX_READING && geteuid() == 0)
		error = confine__become(NOBODY, NOBODY);
	/* Forgotten whenever the user changes. */
	if (!error && prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		error = -errno;
	if (!error && getppid() != parent)
		error = -ESRCH;
	return error ? error
		     : confine__filter(kind == SANDBOX_READING ? CONFINE_READ_FILES : CONFINE_OPEN_FILES);
}

static _Noreturn void be_child(struct ctl *ctl, pid_t parent, enum sandbox_kind kind, sandbox_fn work,
			       void *argument)
{
	enum ctl_exit result = CTL_FAILED;
	int error;

	/* What a signal is to remove is the parent's. */
	output_files__disown();
	error = confine(kind, parent);
	if (error)
		ctl__fail(ctl, CTL_FAILED, "cannot give up its rights: %s", strerror(-error));
	else
		result = work(ctl, argument);
	if (fflush(NULL) && result == CTL_DONE)
		result = (enum ctl_exit)ctl__fail(ctl, CTL_FAILED, "cannot write the output: %s",
						  strerror(errno));
	/* Not to do once more what the parent does at its end. */
	_exit((int)result);
}

enum ctl_exit sandbox__run(struct ctl *ctl, enum sandbox_kind kind, sandbox_fn work, void *argument)
{
	pid_t parent = getpid(), child;
	int status;

	fflush(NULL);
	child = fork();
	if (child < 0)
		return (enum ctl_exit)ctl__fail(ctl, CTL_FAILED, "cannot start a process: %s",
						strerror(errno));
	if (child == 0)
		be_child(ctl, parent, kind, work, argument);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return (enum ctl_exit)ctl__fail(ctl, CTL_FAILED, "cannot wait for a process: %s",
							strerror(errno));
	if (WIFEXITED(status))
		return (enum ctl_exit)WEXITSTATUS(status);
	/* As if it had been this process; a closed pipe is not worth a word. */
	if (WTERMSIG(status) == SIGPIPE || WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM ||
	    WTERMSIG(status) == SIGHUP)
		raise(WTERMSIG(status));
	return (enum ctl_exit)ctl__fail(ctl, CTL_FAILED, "reading the recording ended early: %s%s",
					strsignal(WTERMSIG(status)),
					WTERMSIG(status) == SIGKILL ? "; is there enough memory?" : "");
}
