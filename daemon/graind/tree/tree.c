// SPDX-License-Identifier: BSD-2-Clause
/*
 * The thread of a job: attaches to its process, follows its descendants, drains the rings, and ends the
 * job.
 */
#include "daemon/graind/attach/attach_turns.h"
#include "daemon/graind/base/clock.h"
#include "daemon/graind/jobs/job.h"
#include "daemon/graind/tree/tree.h"
#include "daemon/graind/symbols/kernel_symbols.h"
#include "daemon/graind/base/log.h"
#include "daemon/graind/tree/tree_state.h"
#include "daemon/graind/base/urgency.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SHORT_NAP_NS UINT64_C(500000)
#define LONG_NAP_NS UINT64_C(20000000)
/*
 * The nap is chosen for about this many samples of a CPU, within bounds. The number of samples is known in
 * advance.
 */
#define SAMPLES_A_NAP 32
#define SAMPLES_NAP_NS UINT64_C(80000000)
#define SAMPLES_LONG_NAP_NS UINT64_C(320000000)
#define BUSY_EVENTS 64
/* The nap while a window may have to end soon. */
#define WATCHFUL_NAP_NS UINT64_C(4000000)
/* How long to wait for a running process into which grainctl injects the library. */
#define COMING_NS UINT64_C(30000000000)
#define TRIM_NS UINT64_C(1000000000)
/*
 * When only scheduling is recorded, this many events count as busy. A ring has room for many times as many.
 */
#define BUSY_SWITCHES 4096

struct run {
	struct tree tree;
	pid_t pid; /* the requested process */
	uint64_t duration_s;
	uint64_t deadline_ns; /* end of the duration; UINT64_MAX: none. Set again when recording begins */
	uint64_t comes_by_ns; /* the process must connect before this time; UINT64_MAX: no limit */
	bool recording;	      /* the first process is being recorded, and the deadline was set */
};

/* Returns 0, or -1 with *failure set. On failure the caller keeps the job. */
static int start(struct run *run, struct job *job, struct failure *failure)
{
	struct tree *tree = &run->tree;
	int usable = tree__open(tree, job, failure);

	run->pid = job->process.pid;
	run->duration_s = job->duration_s;
	run->deadline_ns = job->duration_s ? clock__now_ns() + job->duration_s * 1000000000u : UINT64_MAX;
	run->comes_by_ns = job->fast && !job->at_start ? clock__now_ns() + COMING_NS : UINT64_MAX;
	if (usable < 0) {
		if (process__has_ended(job->pidfd))
			failure__set(failure, 422, "process %d ended while it was being attached to",
				     (int)run->pid);
		return -1;
	}
	if (usable > 0 && process__has_ended(job->pidfd))
		return failure__set(failure, 422, "process %d ended while it was being attached to",
				    (int)run->pid);
	job__note_method(job, capture__method_name(tree->capture));
	capture__enable(tree->capture);
	/* Without a ceiling, the cost is needed only for the report, so no program waits for it. */
	tree__limit(tree, windows__percent(tree->ceiling_percent) > 0);
	tree->targets[0].attached_ns = clock__now_ns();
	if (usable == 0)
		job__set_state(job, JOB_WAITING);
	else if (!tree__begin(tree, &tree->targets[0], failure))
		return -1;
	return 0;
}

static struct target *first_of(struct run *run)
{
	for (size_t i = 0; i < run->tree.target_count; i++)
		if (run->tree.targets[i].pid == run->pid)
			return &run->tree.targets[i];
	return NULL;
}

static bool anything_left(const struct run *run)
{
	for (size_t i = 0; i < run->tree.target_count; i++) {
		const struct target *target = &run->tree.targets[i];

		if (target->member || target->previous || target->pid == run->pid)
			return true;
	}
	return false;
}

/*
 * Finds the reason for each target that ends now. The reasons are read before the rings: if a process has
 * already ended, the rings contain everything that it did.
 */
static void read_reasons(struct run *run, enum job_reason reasons[TREE_MAX_TARGETS])
{
	struct tree *tree = &run->tree;

	for (size_t i = 0; i < tree->target_count; i++) {
		struct target *target = &tree->targets[i];

		reasons[i] = JOB_GOES_ON;
		if (process__has_ended(target->pidfd))
			reasons[i] = JOB_EXIT;
		else if (target->member)
			reasons[i] = job__wanted_stop(target->member->job);
		if (reasons[i] == JOB_GOES_ON && target->member && target->member->pace.changed_user)
			reasons[i] = JOB_EXIT;
		if (reasons[i] == JOB_GOES_ON && target->member && !tree->watch &&
		    target->member->pace.replaced)
			reasons[i] = JOB_EXIT;
	}
}

/* The duration counts from the beginning of the first process' recording. */
static enum job_reason whole_reason(struct run *run)
{
	struct target *first = first_of(run);

	if (!run->recording && first && first->member && first->member->recorder) {
		run->recording = true;
		if (run->duration_s)
			run->deadline_ns = clock__now_ns() + run->duration_s * 1000000000u;
	}
	if (!run->recording && clock__now_ns() >= run->comes_by_ns)
		return JOB_DETACH;
	return clock__now_ns() >= run->deadline_ns ? JOB_DURATION : JOB_GOES_ON;
}

static void sleep_a_while(struct run *run, uint64_t nap_ns)
{
	struct pollfd fds[2 * TREE_MAX_TARGETS + 1];
	const struct timespec nap = {.tv_nsec = (long)nap_ns};
	struct tree *tree = &run->tree;
	size_t count = 0;

	for (size_t i = 0; i < tree->target_count; i++) {
		fds[count++] = (struct pollfd){.fd = tree->targets[i].pidfd, .events = POLLIN};
		if (tree->targets[i].member)
			fds[count++] = (struct pollfd){.fd = tree->targets[i].member->job->stop_fd,
						       .events = POLLIN};
	}
	if (tree->watch)
		fds[count++] = (struct pollfd){.fd = watch__fd(tree->watch), .events = POLLIN};
	/*
	 * The priority must be raised before sleeping: after waking up, this thread must not wait for a
	 * CPU.
	 */
	urgency__rush(&tree->urgency, URGENCY_DRAIN);
	ppoll(fds, count, &nap, NULL);
}

static uint64_t longest_nap(const struct tree *tree)
{
	uint64_t nap_ns;

	if (!tree->samples_only)
		return LONG_NAP_NS;
	nap_ns = SAMPLES_A_NAP * UINT64_C(1000000000) / tree->sample_hz;
	if (nap_ns < SAMPLES_NAP_NS)
		return SAMPLES_NAP_NS;
	return nap_ns < SAMPLES_LONG_NAP_NS ? nap_ns : SAMPLES_LONG_NAP_NS;
}

/*
 * A longer nap takes less CPU time from programs. Rings of libgrainshim should be an eighth full at its
 * end.
 */
static uint64_t next_nap(const struct tree *tree, uint64_t nap_ns, long got)
{
	uint64_t longest = longest_nap(tree);
	uint64_t next = nap_ns * 2 < longest ? nap_ns * 2 : longest;

	if (!tree->samples_only && got >= (tree->fast ? BUSY_SWITCHES : BUSY_EVENTS))
		return SHORT_NAP_NS;
	if (tree->fast && tree->fullest && nap_ns * (SHIM_RING_WORDS / 8) / tree->fullest < next)
		next = nap_ns * (SHIM_RING_WORDS / 8) / tree->fullest;
	if (windows__is_watchful(&tree->windows) && next > WATCHFUL_NAP_NS)
		next = WATCHFUL_NAP_NS;
	return next > SHORT_NAP_NS ? next : SHORT_NAP_NS;
}

/*
 * Records until the last job of the tree has ended. Detaching the first process, or the end of its duration,
 * ends all of them.
 */
static enum job_reason record(struct run *run)
{
	enum job_reason reasons[TREE_MAX_TARGETS], whole = JOB_GOES_ON;
	struct tree *tree = &run->tree;
	struct drain_home home = {.node = -1};
	uint64_t nap_ns = SHORT_NAP_NS;

	while (whole == JOB_GOES_ON && anything_left(run)) {
		size_t before;
		long got;

		tree__follow(tree);
		tree__limit(tree, false);
		before = tree->target_count;
		read_reasons(run, reasons);
		got = tree__drain(tree);
		windows__step(&tree->windows);
		tree__look_home(tree, &home);
		for (size_t i = before; i > 0; i--) {
			struct target *target = &tree->targets[i - 1];

			if (reasons[i - 1] == JOB_GOES_ON)
				continue;
			if (reasons[i - 1] != JOB_EXIT && target->pid == run->pid)
				whole = reasons[i - 1];
			else
				tree__drop(tree, i - 1, reasons[i - 1]);
		}
		if (whole == JOB_GOES_ON)
			whole = whole_reason(run);
		if (whole != JOB_GOES_ON)
			break;
		nap_ns = next_nap(tree, nap_ns, got);
		if (anything_left(run))
			sleep_a_while(run, nap_ns);
	}
	return whole;
}

/* Recording stops at once. The rest may take time. */
static void end_recording(struct run *run, enum job_reason reason)
{
	struct tree *tree = &run->tree;

	capture__disable(tree->capture);
	tree->ends = true;
	tree__disable_shims(tree);
	/* BPF programs that began before the switch was turned off may still be writing. */
	nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	while (tree__drain(tree) > 0)
		;
	while (tree->target_count)
		tree__drop(tree, tree->target_count - 1, reason);
}

/*
 * Returns the memory of a large capture to the system. Other threads wait for malloc during this call, so
 * it is not made for every capture if there are many.
 */
static void trim(void)
{
	static atomic_uint_fast64_t trimmed_ns;
	uint64_t now = clock__now_ns(), last = atomic_load(&trimmed_ns);

	if (now - last >= TRIM_NS && atomic_compare_exchange_strong(&trimmed_ns, &last, now))
		malloc_trim(0);
}

void *tree__thread(void *argument)
{
	struct failure failure = {.status = 0};
	struct run *run = calloc(1, sizeof(*run));
	struct job *job = argument;
	bool sampled = job->sample_hz && !job->sample_optional;
	struct attach_turn turn;
	int error;

	pthread_setname_np(pthread_self(), "graind-job");
	if (!run) {
		failure__set(&failure, 503, "graind is out of memory");
		job__refuse(job, &failure);
		return NULL;
	}
	/* A process that libgrainshim records waits for its rings, but not for long. */
	if (sampled)
		kernel_symbols__hold();
	attach_turns__begin(&turn, job->asker);
	error = start(run, job, &failure);
	attach_turns__end(&turn);
	if (error) {
		/* The caller keeps the job. */
		if (run->tree.target_count && run->tree.targets[0].member) {
			recorder__free(run->tree.targets[0].member->recorder);
			free(run->tree.targets[0].member);
		}
		tree__close(&run->tree);
		job__refuse(job, &failure);
	} else {
		urgency__prefer();
		end_recording(run, record(run));
		tree__close(&run->tree);
	}
	if (sampled)
		kernel_symbols__release();
	free(run);
	trim();
	return NULL;
}
