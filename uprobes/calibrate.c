// SPDX-License-Identifier: BSD-2-Clause
/*
 * What one event costs on this machine: a function of our own is called in a
 * loop with and without a probe on its first instruction, through the same
 * program and ring as everything else.
 */
#include "bpf/cookie.h"
#include "uprobes/capture.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define CALLS 4000
#define ROUNDS 5

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

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double known[2][2]; /* by method, uprobe_multi and perf, and by whether threads are followed */

static uint64_t loop_ns(void)
{
	struct timespec a, b;

	clock_gettime(CLOCK_MONOTONIC, &a);
	for (int i = 0; i < CALLS; i++)
		graind_calibration_site();
	clock_gettime(CLOCK_MONOTONIC, &b);
	return (uint64_t)((b.tv_sec - a.tv_sec) * 1000000000LL + (b.tv_nsec - a.tv_nsec));
}

static int discard(void *ctx, unsigned cpu, const struct ring_event *events, size_t count)
{
	(void)ctx, (void)cpu, (void)events, (void)count;
	return 0;
}

/* The file offset of an address of this program, from its own mappings. */
static int own_offset(uint64_t address, uint64_t *offset)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long start, end, at;
	char line[512];
	int r = -ENOENT;

	if (!f)
		return -errno;
	while (r && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &at) == 3 && address >= start &&
		    address < end) {
			*offset = address - start + at;
			r = 0;
		}
	fclose(f);
	return r;
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

int capture__calibrate(struct capture *capture, double *ns_per_event)
{
	bool scheduler = !capture__scheduler_absent(capture);
	int method = capture__method_name(capture)[0] == 'p', r = 0;

	pthread_mutex_lock(&lock);
	if (known[method][scheduler] == 0)
		r = measure(method ? CAPTURE_PERF : CAPTURE_MULTI, scheduler, &known[method][scheduler]);
	if (r == 0)
		*ns_per_event = known[method][scheduler];
	pthread_mutex_unlock(&lock);
	return r;
}
