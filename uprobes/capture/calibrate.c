// SPDX-License-Identifier: BSD-2-Clause
/*
 * Measures what one event costs on this machine. Calls a function of its own in a loop, with and without a
 * probe on its first instruction. The probe has the same program and rings as every other probe.
 */
#include "bpf/abi/cookie.h"
#include "uprobes/capture/capture.h"
#include "uprobes/capture/own_offset.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* A round is short, so that even on a busy machine at least one round is not interrupted. */
#define CALLS 1000
#define ROUNDS 20

void graind_calibration_site(void);
#ifdef __x86_64__
__asm__(".text\n"
	".globl graind_calibration_site\n"
	".type graind_calibration_site, @function\n"
	"graind_calibration_site:\n"
	"	push %rbp\n"
	"	pop %rbp\n"
	"	ret\n"
	".size graind_calibration_site, . - graind_calibration_site\n"
	".section .note.GNU-stack,\"\",@progbits\n"
	".text\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".globl graind_calibration_site\n"
	".type graind_calibration_site, %function\n"
	"graind_calibration_site:\n"
	"	b 1f\n"
	"1:	ret\n"
	".size graind_calibration_site, . - graind_calibration_site\n"
	".section .note.GNU-stack,\"\",%progbits\n"
	".text\n");
#else
void graind_calibration_site(void)
{
}
#endif

static struct {
	pthread_mutex_t lock; /* guards the fields below */
	double ns[2][2];      /* by method (uprobe_multi, perf) and by whether threads are followed */
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* This is CPU time, because other threads may use the CPU meanwhile. */
static uint64_t loop_ns(void)
{
	struct timespec a, b;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	for (int i = 0; i < CALLS; i++)
		graind_calibration_site();
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	return (uint64_t)((b.tv_sec - a.tv_sec) * 1000000000LL + (b.tv_nsec - a.tv_nsec));
}

static int discard(void *ctx, unsigned cpu, const struct ring_event *events, size_t count)
{
	(void)ctx, (void)cpu, (void)events, (void)count;
	return 0;
}

static int measure(enum capture_method method, bool scheduler, double *ns_per_event)
{
	struct capture_opts opts = {.pid = getpid(),
				    .ready = 1u << RUNTIME_LIBGOMP,
				    .method = method,
				    .scheduler = scheduler,
				    .slots_per_cpu = 8192};
	struct probe_point point = {
		.entry_cookie = cookie__make(RING_CALIBRATE, COOKIE_ALWAYS, 0, COOKIE_REG_NONE,
					     COOKIE_REG_NONE, 0, 0, 0),
		.event = "calibration",
	};
	struct capture *capture = NULL;
	uint64_t with = UINT64_MAX, without = UINT64_MAX;
	int r;

	if ((r = own_offset((uintptr_t)graind_calibration_site, &point.offset)) ||
	    (r = capture__open(&opts, &capture, NULL)))
		return r;
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t t = loop_ns();

		without = t < without ? t : without;
	}
	r = capture__attach_points(capture, RUNTIME_LIBGOMP, &point, 1, "/proc/self/exe", NULL);
	if (r)
		goto out;
	capture__enable(capture);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t t = loop_ns();

		with = t < with ? t : with;
		capture__poll(capture, discard, NULL);
	}
	*ns_per_event = with > without ? (double)(with - without) / CALLS : 0;
out:
	capture__free(capture);
	return r;
}

static int method_of(const struct capture *capture)
{
	return capture__method_name(capture)[0] == 'p';
}

bool capture__is_calibrated(const struct capture *capture)
{
	bool is;

	/* The lock is held while a cost is measured. */
	if (pthread_mutex_trylock(&known.lock) != 0)
		return false;
	is = known.ns[method_of(capture)][!capture__scheduler_absent(capture)] > 0;
	pthread_mutex_unlock(&known.lock);
	return is;
}

int capture__calibrate(const struct capture *capture, double *ns_per_event)
{
	return capture__calibrate_like(method_of(capture), !capture__scheduler_absent(capture), ns_per_event);
}

int capture__calibrate_like(bool perf, bool scheduler, double *ns_per_event)
{
	const int method = perf;
	int r = 0;

	pthread_mutex_lock(&known.lock);
	if (known.ns[method][scheduler] == 0)
		r = measure(method ? CAPTURE_PERF : CAPTURE_MULTI, scheduler, &known.ns[method][scheduler]);
	if (r == 0)
		*ns_per_event = known.ns[method][scheduler];
	pthread_mutex_unlock(&known.lock);
	return r;
}
