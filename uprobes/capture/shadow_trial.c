// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/capture/shadow_trial.h"

#include "bpf/abi/cookie.h"
#include "uprobes/capture/capture.h"
#include "uprobes/capture/own_offset.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLOTS 8192
#define PATIENCE_MS 2000

#ifdef __x86_64__
/*
 * The child's code. It never returns, because its shadow stack does not have the frames from before. If its
 * call is probed, the kernel emulates that call. Exits with 0 if all went well, with 2 if there are no
 * shadow stacks.
 */
_Noreturn void graind_trial(long enable);
void graind_trial_call(void);
void graind_trial_function(void);
__asm__(".text\n"
	".globl graind_trial, graind_trial_call, graind_trial_function\n"
	".hidden graind_trial, graind_trial_call, graind_trial_function\n"
	".type graind_trial, @function\n"
	"graind_trial:\n"
	"	test %rdi, %rdi\n"
	"	jz graind_trial_call\n"
	"	mov $158, %eax\n"    /* system call: arch_prctl */
	"	mov $0x5001, %edi\n" /* ARCH_SHSTK_ENABLE */
	"	mov $1, %esi\n"	     /* ARCH_SHSTK_SHSTK */
	"	syscall\n"
	"	mov $2, %edi\n"
	"	test %rax, %rax\n"
	"	jnz 1f\n"
	"graind_trial_call:\n"
	"	call graind_trial_function\n"
	"	xor %edi, %edi\n"
	"1:	mov $231, %eax\n" /* system call: exit_group */
	"	syscall\n"
	"	hlt\n"
	".size graind_trial, . - graind_trial\n"
	".type graind_trial_function, @function\n"
	"graind_trial_function:\n"
	"	push %rbp\n"
	"	pop %rbp\n"
	"	ret\n"
	".size graind_trial_function, . - graind_trial_function\n");

/* Waits until it is told to start. Ends with the parent process. */
static _Noreturn void be_child(int start, bool enable)
{
	char told;

	/* The kernel may kill the child. A core dump should not report that as a bug. */
	prctl(PR_SET_DUMPABLE, 0);
	while (read(start, &told, 1) != 1)
		syscall(SYS_exit_group, 3);
	graind_trial(enable);
}

static int count(void *ctx, unsigned cpu, const struct ring_event *events, size_t number)
{
	size_t *seen = ctx;

	(void)cpu;
	for (size_t i = 0; i < number; i++)
		*seen += events[i].kind == RING_CALIBRATE;
	return 0;
}

/* Whether the child exited with 0. */
static bool ends_well(pid_t child)
{
	struct pollfd ended = {.fd = (int)syscall(SYS_pidfd_open, child, 0), .events = POLLIN};
	int status = 0;

	if (ended.fd < 0 || poll(&ended, 1, PATIENCE_MS) <= 0)
		kill(child, SIGKILL);
	if (ended.fd >= 0)
		close(ended.fd);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool is_kept(bool enable, bool at_return)
{
	const uint64_t cookie =
		cookie__make(RING_CALIBRATE, COOKIE_ALWAYS, 0, COOKIE_REG_NONE, COOKIE_REG_NONE, 0, 0, 0);
	struct capture_opts opts = {.ready = 1u << RUNTIME_LIBGOMP, .slots_per_cpu = SLOTS};
	struct probe_point point = {
		.entry_cookie = at_return ? 0 : cookie,
		.return_cookie = at_return ? cookie | COOKIE_RETURN : 0,
		.event = "trial",
	};
	struct capture *capture = NULL;
	bool told = false, well;
	size_t seen = 0;
	int start[2];

	if (own_offset((uintptr_t)(at_return ? graind_trial_function : graind_trial_call), &point.offset) ||
	    pipe(start))
		return false;
	opts.pid = fork();
	if (opts.pid == 0) {
		close(start[1]);
		be_child(start[0], enable);
	}
	close(start[0]);
	if (opts.pid > 0 && !capture__open(&opts, &capture, NULL) &&
	    !capture__attach_points(capture, RUNTIME_LIBGOMP, &point, 1, "/proc/self/exe", NULL)) {
		capture__enable(capture);
		told = write(start[1], "", 1) == 1;
	}
	close(start[1]);
	well = opts.pid > 0 && ends_well(opts.pid);
	if (told)
		capture__poll(capture, count, &seen);
	if (capture)
		capture__free(capture);
	return well && seen == 1;
}

void shadow_trial__run(bool enable, struct shadow_trial *out)
{
	out->calls = is_kept(enable, false);
	out->returns = is_kept(enable, true);
}
#else
void shadow_trial__run(bool enable, struct shadow_trial *out)
{
	(void)enable;
	*out = (struct shadow_trial){.calls = false};
}
#endif
