// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/tree/tree_state.h"
#include "daemon/graind/limits/account.h"
#include "daemon/graind/base/clock.h"
#include "daemon/graind/base/log.h"
#include "daemon/graind/policy/optout.h"
#include "daemon/graind/policy/policy.h"
#include "daemon/graind/shim/shim_server.h"
#include "daemon/graind/base/urgency.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The largest number of rounds of a drain, even if events arrive fast. A buffer holds as many events as the
 * rings of four CPUs.
 */
#define MOST_ROUNDS 64
/* Examining mappings takes at most 1/LOOK_SHARE of a CPU, and at most this much time at once. */
#define LOOK_SHARE 10
#define LOOK_DEBT_NS UINT64_C(200000000)

static const char not_used[] = "the process ended without having used an OpenMP runtime (libgomp, libomp)";
static const char maybe_used[] = "the process ended before graind could look at it, and the kernel had no "
				 "room to tell what it mapped: "
				 "whether it used OpenMP is not known; start it again";
static const char maybe_more[] =
	"the process ended before graind could look at it, and the kernel had no room to tell what it "
	"mapped: "
	"functions may be without names, and static loops may be missing; start it again";
static const char not_used_yet[] = "the process had not used an OpenMP runtime (libgomp, libomp) until then";
static const char forbidden[] =
	"the process has executed a program that must not be profiled; grainctl status shows the rules";
static const char opted_out[] =
	"the process has become that of a user who has opted out of being recorded (grainctl optout)";
static const char unknown_owner[] =
	"the process has executed another program and ended before graind could see whose it was";
static const char not_come[] =
	"the process did not come by itself: grainctl attach --fast puts libgrainshim.so into it";

/* ---- processes -------------------------------------------------------- */

static struct target *find_target(struct tree *tree, pid_t pid)
{
	if (tree->hit && tree->hit->pid == pid)
		return tree->hit;
	for (size_t i = 0; i < tree->target_count; i++)
		if (tree->targets[i].pid == pid)
			return tree->hit = &tree->targets[i];
	return NULL;
}

static bool may_follow(const struct tree *tree, pid_t pid)
{
	struct process process;

	return process__read_ids(pid, &process) == 0 && !process.dead &&
	       process__belongs_to(&process, tree->uid);
}

/* Follows a process and sets its probes. Returns NULL with *failure set if that is not possible. */
static struct target *add_target(struct tree *tree, pid_t pid, int pidfd, uint64_t forked_ns,
				 struct failure *failure)
{
	struct target *target = &tree->targets[tree->target_count];

	if (tree->target_count == TREE_MAX_TARGETS) {
		failure__set(failure, 503, "too many processes are followed");
		return NULL;
	}
	*target = (struct target){.pid = pid, .pidfd = pidfd};
	if (tree__refuse_shadow_stack(tree, target, failure) != 0)
		return NULL;
	if (tree__set_probes(tree, target, forked_ns != 0, failure) != 0)
		return NULL;
	capture__sample_process(tree->capture, pid, forked_ns);
	target->attached_ns = clock__now_ns();
	target->process = calloc(1, sizeof(*target->process));
	if (!target->process) {
		tree__take_probes(tree, target);
		failure__set(failure, 503, "graind is out of memory");
		return NULL;
	}
	if (process__read(pid, target->process) == 0 && !process__belongs_to(target->process, tree->uid)) {
		tree__take_probes(tree, target);
		free(target->process);
		failure__set(failure, 403, "process %d is another user's", (int)pid);
		return NULL;
	}
	tree->target_count++;
	tree->hit = NULL;
	return target;
}

static uint64_t job_of(const struct target *target)
{
	return target->member ? target->member->job->number : target->parent_job;
}

/* The probes were set only now. Finds out what the process may have done before. */
static void look_late(struct tree *tree, struct target *target)
{
	struct failure ignored = {.status = 0};
	int usable = tree__look(tree, target, &ignored);

	target->late = usable > 0;
	target->unseen = usable < 0 && !target->refused;
}

static void on_fork(struct tree *tree, const struct watch_event *event)
{
	struct target *parent = find_target(tree, event->parent), *target;
	uint64_t parent_job = parent ? job_of(parent) : 0;
	int pidfd = parent ? (int)syscall(SYS_pidfd_open, event->pid, 0) : -1;
	struct failure failure = {.status = 0};

	target = pidfd >= 0 && may_follow(tree, event->pid)
			 ? add_target(tree, event->pid, pidfd, event->time_ns, &failure)
			 : NULL;
	if (!target) {
		if (pidfd >= 0) {
			close(pidfd);
			tree->missed += failure.status != 422 && failure.status != 429;
		}
		watch__remove(tree->watch, event->pid);
		return;
	}
	target->child = true;
	target->parent_job = parent_job;
	target->wants_probes = parent->wants_probes;
	target->no_probes = parent->no_probes;
	target->since_ns = event->time_ns;
	/*
	 * These are the mappings that the process shares with its parent, or already those of its next
	 * program.
	 */
	look_late(tree, target);
}

static const char *why_forbidden(const struct tree *tree, const struct process *process)
{
	if (process->uid != tree->uid && optout__has(process->uid))
		return opted_out;
	return tree->uid != 0 && policy__decide(process) == POLICY_OFF ? forbidden : NULL;
}

static void on_exec(struct tree *tree, const struct watch_event *event)
{
	struct target *target = find_target(tree, event->pid);
	struct uprobes_error err;
	bool over = false;

	if (!target)
		return;
	target->refused &= !target->left;
	target->left = false;
	/*
	 * The process belongs to another user now, so nothing more is read from it. Root may see any
	 * process.
	 */
	if (tree->uid != 0 && !may_follow(tree, target->pid)) {
		over = process__has_ended(target->pidfd);
		target->refused = true;
		tree__take_probes(tree, target);
	}
	target->since_ns = event->time_ns;
	target->look = true;
	if (process__read(target->pid, target->process) == 0 &&
	    !process__belongs_to(target->process, tree->uid))
		target->refused = true;
	/*
	 * The kernel has closed the events of a process that got more rights. Root may still record it all.
	 */
	if (tree->uid == 0 && !target->process->one_user)
		capture__sample_process(tree->capture, target->pid, 1);
	target->forbidden = over ? unknown_owner : why_forbidden(tree, target->process);
	target->refused |= target->forbidden != NULL;
	if (target->leader_gone && !target->refused) {
		if (capture__renew_process(tree->capture, target->pid, &err) != 0)
			target->refused = true;
		target->leader_gone = false;
		target->attached_ns = clock__now_ns();
	}
	/* If the probes are set before the runtime is mapped, no events are missing. */
	target->late = target->unseen = target->by_itself = target->wants_probes = target->probed = false;
	target->no_probes = target->shadow_stack = false;
	if (!target->refused && event->time_ns < target->attached_ns)
		look_late(tree, target);
	if (target->previous || !target->member)
		return;
	target->previous = target->member;
	target->previous->until_ns = event->time_ns;
	target->member = NULL;
}

static void look_everywhere(struct tree *tree)
{
	for (size_t i = 0; i < tree->target_count; i++)
		tree->targets[i].look = tree->targets[i].untold = true;
}

/* If a program has not used OpenMP, the next program of the process takes over its job. */
static void settle(struct tree *tree, struct target *target)
{
	struct tree_member *previous = target->previous;

	target->previous = NULL;
	if (!previous)
		return;
	if (!tree_member__has_events(previous)) {
		if (target->refused) {
			tree_member__close(previous, JOB_EXIT, tree->capture,
					   target->forbidden ? target->forbidden : not_used);
			return;
		}
		previous->until_ns = UINT64_MAX;
		tree_member__start_over(previous);
		target->member = previous;
		return;
	}
	target->parent_job = previous->job->number;
	tree_member__close(previous, JOB_EXEC, tree->capture, NULL);
}

/* Whether there is CPU time to examine mappings. A process may map any number of files at any time. */
static bool may_look(struct tree *tree)
{
	const uint64_t now = clock__now_ns(), less = (now - tree->look_debt_at_ns) / LOOK_SHARE;

	tree->look_debt_ns = tree->look_debt_ns > less ? tree->look_debt_ns - less : 0;
	tree->look_debt_at_ns = now;
	return tree->look_debt_ns < LOOK_DEBT_NS;
}

/* Examines mappings now and then, if the kernel reports no news. */
static void look_now_and_then(struct tree *tree)
{
	uint64_t now = clock__now_ns();

	if (now - tree->looked_ns < 50000000)
		return;
	tree->looked_ns = now;
	for (size_t i = 0; i < tree->target_count; i++) {
		uint64_t signature = process__map_signature(tree->targets[i].pid);

		tree->targets[i].look |= signature != tree->targets[i].signature;
		tree->targets[i].signature = signature;
	}
}

void tree__follow(struct tree *tree)
{
	struct watch_event event;

	tree->followed_ns = clock__now_ns();
	if (!tree->watch) {
		urgency__rest(&tree->urgency);
		look_now_and_then(tree);
		return;
	}
	watch__sync(tree->watch);
	tree->missed += watch__forgotten(tree->watch);
	while (watch__next(tree->watch, &event)) {
		struct target *target = find_target(tree, event.pid);

		urgency__rest(&tree->urgency);

		if (event.kind == WATCH_FORK)
			on_fork(tree, &event);
		else if (event.kind == WATCH_EXEC)
			on_exec(tree, &event);
		else if (event.kind == WATCH_MISSED)
			look_everywhere(tree);
		else if (target && event.kind == WATCH_LEADER)
			target->leader_gone = true;
		else if (target) {
			target->look = true;
			target->untold |= event.kind == WATCH_UNTOLD;
			target->mapped_ns = target->mapped_ns ? target->mapped_ns : event.time_ns;
		}
	}
}

/* ---- events ----------------------------------------------------------- */

/*
 * Whether this event is no reason to begin recording, because it may be from before the program uses
 * OpenMP. If processes record themselves, static loops are probed before libgrainshim has connected.
 */
static bool is_early(const struct tree *tree, const struct target *target, const struct ring_event *event)
{
	switch (event->kind) {
	case RING_SAMPLE:
	case RING_SAMPLE_STACK:
	case RING_ACCESS:
		return true;
	case RING_OFF_CPU:
	case RING_ON_CPU:
	case RING_LOST:
		return tree->fast;
	default:
		return tree->fast && !target->probed && event->flags & RING_F_IN_PROGRAM;
	}
}

static size_t count_early(const struct tree *tree, const struct target *target,
			  const struct ring_event *events, size_t count)
{
	size_t n = 0;

	if (tree->samples_only || (target->member && target->member->recorder))
		return 0;
	while (n < count && is_early(tree, target, &events[n]))
		n++;
	return n;
}

/*
 * Whether the event is wanted. Probes that were set for another process also report events that
 * libgrainshim records in this one.
 */
static bool wants(const struct target *target, const struct ring_event *event)
{
	return !target->by_itself || target->probed || event->kind >= RING_OFF_CPU ||
	       event->kind == RING_LOST || event->flags & RING_F_IN_PROGRAM;
}

/* Returns the recorder for an event of the target's present program; NULL: none. */
static struct recorder *recorder_of(struct tree *tree, struct target *target)
{
	struct failure failure = {.status = 0};

	if (target->refused)
		return NULL;
	if (target->member && target->member->recorder)
		return target->member->recorder;
	if (tree__begin(tree, target, &failure))
		return target->member->recorder;
	log__line(LOG_WARNING, "process %d is not recorded: %s", (int)target->pid, failure.text);
	target->refused = true;
	return NULL;
}

static void give(struct tree *tree, struct target *target, unsigned int cpu, const struct ring_event *events,
		 size_t count)
{
	size_t early = count_early(tree, target, events, count), run;
	struct recorder *recorder = early < count ? recorder_of(tree, target) : NULL;

	events += early;
	count -= early;
	for (; recorder && count; events += run, count -= run) {
		bool wanted = wants(target, events);

		for (run = 1; run < count && wanted == wants(target, &events[run]); run++)
			;
		if (!wanted)
			continue;
		recorder__by_itself(recorder, target->by_itself && !target->probed);
		recorder__feed(recorder, cpu, events, run);
		target->member->got += (long)run;
	}
}

/*
 * Holds an event until all events of the earlier program are read. Its CPU is stored in the place of the
 * ring's sequence number.
 */
static void hold(struct tree *tree, unsigned int cpu, const struct ring_event *event)
{
	if (tree->held_count == tree->held_room) {
		size_t room = tree->held_room ? 2 * tree->held_room : 256;
		struct ring_event *held = reallocarray(tree->held, room, sizeof(*held));

		if (!held)
			return;
		tree->held = held;
		tree->held_room = room;
	}
	tree->held[tree->held_count] = *event;
	tree->held[tree->held_count++].seq = cpu;
}

/* Finds bodies that a runtime was given for the first time. */
static void look_at_bodies(struct tree *tree, const struct ring_event *events, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct target *target =
			events[i].kind == RING_BODY ? find_target(tree, (pid_t)events[i].tgid) : NULL;

		if (target && program_bodies__seen(tree->program_bodies, target->pid, events[i].key) &&
		    target->member)
			tree_member__note(target->member,
					  "late: a function that is the body of a construct was "
					  "probed only after its first use; what it did until "
					  "then is missing");
	}
}

static int feed(void *ctx, unsigned int cpu, const struct ring_event *events, size_t count)
{
	struct tree *tree = ctx;

	/*
	 * The process may have executed another program since the news were last read. The kernel reported
	 * that before the first event of this program.
	 */
	if (count && tree->watch && !tree->ends && events[count - 1].time_ns > tree->followed_ns)
		tree__follow(tree);
	windows__saw(&tree->windows, cpu, events, count);
	if (tree->program_bodies)
		look_at_bodies(tree, events, count);
	while (count) {
		pid_t pid;
		size_t run = ring_to_trace__same_process(events, count, &pid);
		struct target *target = find_target(tree, pid);

		if (target && !target->previous) {
			give(tree, target, cpu, events, run);
		} else if (target) {
			for (size_t i = 0; i < run; i++) {
				if (events[i].time_ns >= target->previous->until_ns)
					hold(tree, cpu, &events[i]);
				else if (target->previous->recorder)
					recorder__feed(target->previous->recorder, cpu, &events[i], 1);
			}
		}
		events += run;
		count -= run;
	}
	return 0;
}

static void release_held(struct tree *tree)
{
	for (size_t i = 0; i < tree->held_count; i++) {
		struct target *target = find_target(tree, (pid_t)tree->held[i].tgid);

		if (target)
			give(tree, target, tree->held[i].seq, &tree->held[i], 1);
	}
	tree->held_count = 0;
}

/* Examines a target whose mappings have changed, because it may have a new runtime. */
static void look_at(struct tree *tree, struct target *target)
{
	struct failure failure = {.status = 0};
	int usable = tree__look(tree, target, &failure);

	target->untold &= process__has_ended(target->pidfd);
	if (target->member && target->member->recorder)
		tree__tell_maps(tree, target);
	if (usable <= 0 || target->refused)
		return;
	if (target->member && target->member->recorder) {
		tree_member__runtime(target->member, tree__name_runtimes(tree, target));
		return;
	}
	/*
	 * Recording begins before the process does anything: a short program may have ended before its
	 * first event is read.
	 */
	if (!tree__begin(tree, target, &failure)) {
		log__line(LOG_WARNING, "process %d is not recorded: %s", (int)target->pid, failure.text);
		target->refused = true;
		if (target->member)
			tree_member__close(target->member, JOB_EXIT, tree->capture, failure.text);
		target->member = NULL;
	}
}

/*
 * Copying events is urgent, processing them is not. Also takes events that did not fit at first: processes
 * that have ended will have no more events.
 */
static long take_events(struct tree *tree)
{
	long sum = 0, got;
	bool filled;

	if (!tree->buffer) {
		if (tree->samples_only)
			urgency__rest(&tree->urgency);
		else
			urgency__rush(&tree->urgency, URGENCY_DRAIN);
		return capture__poll(tree->capture, feed, tree);
	}
	for (int round = 0; round < MOST_ROUNDS; round++) {
		urgency__rush(&tree->urgency, URGENCY_DRAIN);
		filled = event_buffer__fill(tree->buffer);
		urgency__rest(&tree->urgency);
		got = event_buffer__empty(tree->buffer, feed, tree);
		if (got < 0)
			return got;
		sum += got;
		if (filled)
			break;
	}
	return sum;
}

void tree__look_home(struct tree *tree, struct drain_home *home)
{
	if (tree->buffer)
		event_buffer__look_home(tree->buffer, home);
	else
		drain_home__look(home, tree->capture);
}

long tree__drain(struct tree *tree)
{
	struct timespec ignored;
	uint64_t began_ns;
	long got;

	for (size_t i = 0; i < tree->target_count; i++) {
		if (!tree->targets[i].member)
			continue;
		tree->targets[i].member->got = 0;
		tree->targets[i].member->alone = tree->ends || tree->target_count == 1;
	}
	began_ns = clock__now_ns();
	got = take_events(tree);
	for (size_t i = 0; i < tree->target_count; i++) {
		if (got >= 0 && tree->targets[i].member && tree->targets[i].member->recorder)
			recorder__fed(tree->targets[i].member->recorder, began_ns);
		settle(tree, &tree->targets[i]);
	}
	release_held(tree);
	if (tree->fast)
		tree__drain_shims(tree);
	urgency__rest(&tree->urgency);
	for (size_t i = 0; i < tree->target_count; i++) {
		struct target *target = &tree->targets[i];

		if (target->look && may_look(tree)) {
			began_ns = urgency__cpu_ns();
			look_at(tree, target);
			tree->look_debt_ns += urgency__cpu_ns() - began_ns;
		}
		if (target->member && target->member->recorder)
			drain_pace__tick(&target->member->pace, target->member->recorder, tree->capture,
					 &target->member->before, target->member->got, &ignored);
	}
	return got;
}

void tree__drop(struct tree *tree, size_t index, enum job_reason reason)
{
	struct target *target = &tree->targets[index];

	settle(tree, target);
	if (target->member && target->member->recorder)
		tree__tell_maps(tree, target);
	if (target->member && target->member->costless)
		tree__limit(tree, true);
	if (target->member)
		windows__leave(&tree->windows, target->member->job, target->member->recorder);
	if (target->child && (target->late || target->unseen) &&
	    (!target->member || !target->member->recorder ||
	     !recorder__counts(target->member->recorder)->events))
		tree->missed++;
	if (target->member && !target->member->fleeting)
		tree__note_missed(tree, target->member);
	if (target->member && target->member->recorder && target->untold)
		tree_member__note(target->member, maybe_more);
	if (target->member)
		tree_member__close(target->member, reason, tree->capture,
				   target->untold		? maybe_used
				   : reason == JOB_EXIT		? not_used
				   : tree->fast && target->late ? not_come
								: not_used_yet);
	tree__take_probes(tree, target);
	if (tree->watch)
		watch__remove(tree->watch, target->pid);
	close(target->pidfd);
	free(target->process);
	*target = tree->targets[--tree->target_count];
	tree->hit = NULL;
}

/* ---- begin and end ---------------------------------------------------- */

int tree__open(struct tree *tree, struct job *job, struct failure *failure)
{
	struct target *target;
	int usable, error, pidfd;

	tree->jobs = job->jobs;
	tree->uid = job->view.uid;
	if (attach__open(true, job, &tree->attachment, failure) != 0)
		return -1;
	if (job->counters) {
		tree->counters = malloc(sizeof(*tree->counters));
		if (!tree->counters)
			return failure__set(failure, 503, "graind is out of memory");
		*tree->counters = *job->counters;
	}
	tree->capture = tree->attachment.capture;
	tree->ceiling_percent = job->ceiling_percent;
	tree->samples_only = job->samples_only;
	tree->sample_hz = job->sample_hz;
	tree->no_kernel_names = job->sample_optional;
	tree->fast = job->fast;
	tree->attached = !job->at_start;
	tree->lossless = job->lossless;
	tree->max_bytes = job->max_bytes;
	if (tree->fast)
		shim_server__open();
	/*
	 * The number of samples is known in advance, and the rings have room for the samples of some
	 * seconds.
	 */
	else if (!tree->samples_only &&
		 event_buffer__new(tree->capture, EVENT_BUFFER_OF_JOB, &tree->buffer) != 0)
		return failure__set(failure, 503, "graind cannot start a thread, or is out of memory");
	error = watch__open(false, account__of(tree->uid), &tree->watch);
	if (!error)
		error = watch__add(tree->watch, job->process.pid);
	if (error) {
		watch__close(tree->watch);
		tree->watch = NULL;
		log__line(LOG_WARNING, "job %llu: children are not followed: perf events: %s",
			  (unsigned long long)job->number, strerror(-error));
	}
	if (!tree->samples_only)
		tree__add_system_files(tree);
	pidfd = fcntl(job->pidfd, F_DUPFD_CLOEXEC, 0);
	target = pidfd >= 0 ? add_target(tree, job->process.pid, pidfd, 0, failure)
			    : (failure__set(failure, 503, "graind has no file descriptors left"), NULL);
	if (!target) {
		if (pidfd >= 0)
			close(pidfd);
		return -1;
	}
	target->no_probes = tree->fast && tree->attached;
	usable = tree__look(tree, target, failure);
	/* A process into which the library is injected was also running before. */
	target->late = !job->at_start && (usable > 0 || tree->fast);
	target->member = usable < 0 ? NULL : tree_member__of(job);
	if (usable >= 0 && !target->member)
		return failure__set(failure, 503, "graind is out of memory");
	return usable;
}

void tree__close(struct tree *tree)
{
	for (size_t i = 0; i < tree->target_count; i++) {
		close(tree->targets[i].pidfd);
		free(tree->targets[i].process);
		budget__give_back(budget__host(), &tree->targets[i].share);
	}
	if (tree->fast)
		shim_server__close();
	windows__close(&tree->windows);
	watch__close(tree->watch);
	program_bodies__free(tree->program_bodies);
	program_bodies__free(tree->loops);
	event_buffer__free(tree->buffer);
	attach__close(&tree->attachment);
	free(tree->held);
	free(tree->counters);
}
