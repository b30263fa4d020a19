// SPDX-License-Identifier: BSD-2-Clause
/* The thread of a job: attaches to its process, follows what comes from it, drains, ends. */
#include "daemon/graind/job.h"
#include "daemon/graind/kernel_symbols.h"
#include "daemon/graind/log.h"
#include "daemon/graind/tree.h"
#include "daemon/graind/urgency.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SHORT_NAP_NS UINT64_C(500000)
#define LONG_NAP_NS UINT64_C(20000000)
/* Of samples it is known before how many there will be. */
#define SAMPLES_NAP_NS UINT64_C(80000000)
#define BUSY_EVENTS 64
/* While a process may become too costly. */
#define WATCHFUL_NAP_NS UINT64_C(4000000)
/* For a running process that grainctl puts the library into. */
#define COMING_NS UINT64_C(30000000000)
/* Of the scheduler alone, where nothing else is probed: a ring holds many times that. */
#define BUSY_SWITCHES 4096

struct run {
	struct tree tree;
	pid_t pid; /* of the process that was asked for */
	uint64_t duration_s;
	uint64_t deadline_ns; /* UINT64_MAX: none; counted anew when recording begins */
	uint64_t comes_by_ns; /* UINT64_MAX: whenever it likes */
	bool recording;	      /* of the first process, since the deadline was set */
};

/* 0, -1 with *failure set and the job still the caller's. */
static int start(struct run *run, struct job *job, struct failure *failure)
{
	struct tree *tree = &run->tree;
	int usable = tree__open(tree, job, failure);

	run->pid = job->process.pid;
	run->duration_s = job->duration_s;
	run->deadline_ns = job->duration_s ? job__now_ns() + job->duration_s * 1000000000u : UINT64_MAX;
	run->comes_by_ns = job->fast && !job->at_start ? job__now_ns() + COMING_NS : UINT64_MAX;
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
	tree__limit(tree, job);
	tree->targets[0].attached_ns = job__now_ns();
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

/* Why each target is over now, if it is. Read before the rings: what is seen of a process then is all there
 * is. */
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

/* The duration counts from when the first process is recorded. */
static enum job_reason whole_reason(struct run *run)
{
	struct target *first = first_of(run);

	if (!run->recording && first && first->member && first->member->recorder) {
		run->recording = true;
		if (run->duration_s)
			run->deadline_ns = job__now_ns() + run->duration_s * 1000000000u;
	}
	if (!run->recording && job__now_ns() >= run->comes_by_ns)
		return JOB_DETACH;
	return job__now_ns() >= run->deadline_ns ? JOB_DURATION : JOB_GOES_ON;
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
	ppoll(fds, count, &nap, NULL);
}

/*
 * The longer, the less is taken from the programs. Rings that processes fill by
 * themselves are to be an eighth full by then.
 */
static uint64_t next_nap(const struct tree *tree, uint64_t nap_ns, long got)
{
	uint64_t longest = tree->samples_only ? SAMPLES_NAP_NS : LONG_NAP_NS;
	uint64_t next = nap_ns * 2 < longest ? nap_ns * 2 : longest;

	if (got >= (tree->fast ? BUSY_SWITCHES : BUSY_EVENTS))
		return SHORT_NAP_NS;
	if (tree->fast && tree->fullest && nap_ns * (SHIM_RING_WORDS / 8) / tree->fullest < next)
		next = nap_ns * (SHIM_RING_WORDS / 8) / tree->fullest;
	if (windows__is_watchful(&tree->windows) && next > WATCHFUL_NAP_NS)
		next = WATCHFUL_NAP_NS;
	return next > SHORT_NAP_NS ? next : SHORT_NAP_NS;
}

/*
 * Until the last job of the tree is over. Detaching the first process, or its
 * duration, ends all of them.
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
		before = tree->target_count;
		read_reasons(run, reasons);
		got = tree__drain(tree);
		windows__step(&tree->windows);
		drain_home__look(&home, tree->capture);
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

/* Recording stops at once, the rest may take its time. */
static void end_recording(struct run *run, enum job_reason reason)
{
	struct tree *tree = &run->tree;

	capture__disable(tree->capture);
	tree__disable_shims(tree);
	/* Programs that had passed the switch may still be writing. */
	nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	while (tree__drain(tree) > 0)
		;
	while (tree->target_count)
		tree__drop(tree, tree->target_count - 1, reason);
}

void *job_run__thread(void *argument)
{
	struct failure failure = {.status = 0};
	struct run *run = calloc(1, sizeof(*run));
	struct job *job = argument;
	bool sampled = job->sample_hz;

	if (!run) {
		failure__set(&failure, 503, "graind is out of memory");
		job__refuse(job, &failure);
		return NULL;
	}
	/* A process that records from inside waits until its recorder has them, and not for long. */
	if (sampled)
		kernel_symbols__hold();
	if (start(run, job, &failure) != 0) {
		/* The job stays with who asked for it. */
		if (run->tree.target_count && run->tree.targets[0].member) {
			recorder__free(run->tree.targets[0].member->recorder);
			free(run->tree.targets[0].member);
		}
		tree__close(&run->tree);
		job__refuse(job, &failure);
	} else {
		urgency__set(URGENCY_DRAIN);
		end_recording(run, record(run));
		urgency__set(URGENCY_NONE);
		tree__close(&run->tree);
	}
	if (sampled)
		kernel_symbols__release();
	free(run);
	/* What a large capture took is not kept for the next one. */
	malloc_trim(0);
	return NULL;
}
