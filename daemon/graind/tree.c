// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/tree.h"
#include "daemon/graind/log.h"
#include "daemon/graind/optout.h"
#include "daemon/graind/policy.h"
#include "daemon/graind/shim_counters.h"
#include "daemon/graind/shim_server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/* From now on its probes are in place; NULL when it cannot be followed. */
static struct target *add_target(struct tree *tree, pid_t pid, int pidfd, struct failure *failure)
{
	struct target *target = &tree->targets[tree->target_count];
	struct uprobes_error err = {.text = ""};

	if (tree->target_count == TREE_MAX_TARGETS) {
		failure__set(failure, 503, "too many processes are followed");
		return NULL;
	}
	if (capture__add_process(tree->capture, pid, &err) != 0) {
		failure__set(failure, 503, "%s", err.text);
		return NULL;
	}
	*target = (struct target){.pid = pid, .pidfd = pidfd, .attached_ns = job__now_ns()};
	target->process = calloc(1, sizeof(*target->process));
	if (!target->process) {
		capture__drop_process(tree->capture, pid);
		failure__set(failure, 503, "graind is out of memory");
		return NULL;
	}
	process__read(pid, target->process);
	tree->target_count++;
	tree->hit = NULL;
	return target;
}

static uint64_t job_of(const struct target *target)
{
	return target->member ? target->member->job->number : target->parent_job;
}

/* Its probes are in place only now: what has it done before? */
static void look_late(struct tree *tree, struct target *target)
{
	struct failure ignored = {.status = 0};
	int usable = tree__look(tree, target, &ignored);

	target->late = usable > 0;
	target->unseen = usable < 0;
}

static void on_fork(struct tree *tree, const struct watch_event *event)
{
	struct target *parent = find_target(tree, event->parent), *target;
	uint64_t parent_job = parent ? job_of(parent) : 0;
	int pidfd = parent ? (int)syscall(SYS_pidfd_open, event->pid, 0) : -1;
	struct failure failure = {.status = 0};

	target = pidfd >= 0 && may_follow(tree, event->pid) ? add_target(tree, event->pid, pidfd, &failure)
							    : NULL;
	if (!target) {
		if (pidfd >= 0) {
			close(pidfd);
			tree->missed++;
		}
		watch__remove(tree->watch, event->pid);
		return;
	}
	target->child = true;
	target->parent_job = parent_job;
	target->wants_probes = parent->wants_probes;
	target->no_probes = parent->no_probes;
	target->since_ns = event->time_ns;
	/* What it shares with its parent, or its next program if that was faster than we. */
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
	/* Another user's from now on: nothing more is read of it. Root may see whatever it was. */
	if (tree->uid != 0 && !may_follow(tree, target->pid)) {
		over = process__has_ended(target->pidfd);
		target->refused = true;
		capture__drop_process(tree->capture, target->pid);
	}
	target->since_ns = event->time_ns;
	target->look = true;
	process__read(target->pid, target->process);
	target->forbidden = over ? unknown_owner : why_forbidden(tree, target->process);
	target->refused |= target->forbidden != NULL;
	if (target->leader_gone && !target->refused) {
		if (capture__renew_process(tree->capture, target->pid, &err) != 0)
			target->refused = true;
		target->leader_gone = false;
		target->attached_ns = job__now_ns();
	}
	/* If the probes were there first, or are now before a runtime is mapped, nothing is missing. */
	target->late = target->unseen = target->by_itself = target->wants_probes = target->probed = false;
	target->no_probes = false;
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

/* Without news from the kernel. */
static void look_now_and_then(struct tree *tree)
{
	uint64_t now = job__now_ns();

	if (tree->watch || now - tree->looked_ns < 50000000)
		return;
	tree->looked_ns = now;
	for (size_t i = 0; i < tree->target_count; i++) {
		uint64_t signature = process__map_signature(tree->targets[i].pid);

		tree->targets[i].look |= signature != tree->targets[i].signature;
		tree->targets[i].signature = signature;
	}
}

/* A program that has not used OpenMP leaves its job to the next one. */
static void settle(struct tree *tree, struct target *target)
{
	struct member *previous = target->previous;

	target->previous = NULL;
	if (!previous)
		return;
	if (!previous->recorder || recorder__counts(previous->recorder)->events == 0) {
		if (target->refused) {
			member__close(previous, JOB_EXIT, tree->capture,
				      target->forbidden ? target->forbidden : not_used);
			return;
		}
		previous->until_ns = UINT64_MAX;
		member__start_over(previous);
		target->member = previous;
		return;
	}
	target->parent_job = previous->job->number;
	member__close(previous, JOB_EXEC, tree->capture, NULL);
}

void tree__follow(struct tree *tree)
{
	struct watch_event event;

	look_now_and_then(tree);
	if (!tree->watch)
		return;
	watch__sync(tree->watch);
	while (watch__next(tree->watch, &event)) {
		struct target *target = find_target(tree, event.pid);

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
			target->mapped_ns = target->mapped_ns ? target->mapped_ns : event.time_ns;
		}
	}
}

/* ---- events ----------------------------------------------------------- */

/* What it has mapped, by the kernel's word: the process may have ended. */
static void tell_maps(struct tree *tree, const struct target *target)
{
	struct module_table maps = {0};

	if (!tree->watch || target->refused)
		return;
	watch__take_maps(tree->watch, target->pid, &maps);
	recorder__add_modules(target->member->recorder, &maps);
	module_table__free(&maps);
}

/* Probes are in it after all, for which no counters were opened. */
static void tell_no_counters(struct recorder *recorder, const struct counter_set *asked)
{
	struct counter_set none = *asked;

	shim_counters__none(&none, "this process is recorded by probes: ask for counters without --fast");
	recorder__counters(recorder, &none);
}

bool tree__begin(struct tree *tree, struct target *target, struct failure *failure)
{
	const struct member_start start = {
		.runtime = tree__name_runtimes(tree, target),
		.method = capture__method_name(tree->capture),
		.ns_per_event = target->by_itself ? 0 : tree->ns_per_event,
		.attach_ns = target->attached_ns > target->since_ns ? target->attached_ns : target->since_ns,
		.late = target->late,
		.source = tree->samples_only  ? "samples"
			  : target->by_itself ? "shim"
					      : "uprobes",
	};

	if (!target->member)
		target->member =
			member__new(tree->jobs, target->process, target->pidfd, target->parent_job, failure);
	if (!target->member)
		return false;
	target->member->job->max_bytes = tree->max_bytes;
	if (member__begin(target->member, &start, tree->capture, failure) != 0)
		return false;
	tell_maps(tree, target);
	if (tree->fast && !target->by_itself && tree->counters)
		tell_no_counters(target->member->recorder, tree->counters);
	windows__enter(&tree->windows, target->member->job);
	if (tree->fast && !target->by_itself)
		member__note(target->member,
			     "recorded by probes, as without --fast: its OpenMP runtime is linked into the "
			     "program, or is a libomp that runs GCC's code or has another tool, or "
			     "libgrainshim.so is not loaded");
	if (target->bodies)
		member__note(
			target->member,
			"libgomp is one whose calls of task and region bodies were not recognised: they are "
			"observed in the program's own functions, which costs it more");
	return true;
}

/* The recorder for an event of the target's present program, NULL for none. */
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

/* A program may be sampled before it uses OpenMP, if it ever does. */
static size_t count_early(const struct tree *tree, const struct target *target,
			  const struct ring_event *events, size_t count)
{
	size_t n = 0;

	if (tree->samples_only || (target->member && target->member->recorder))
		return 0;
	while (n < count && (events[n].kind == RING_SAMPLE || events[n].kind == RING_SAMPLE_STACK ||
			     events[n].kind == RING_ACCESS ||
			     (tree->fast && (events[n].kind == RING_OFF_CPU ||
					     events[n].kind == RING_ON_CPU || events[n].kind == RING_LOST))))
		n++;
	return n;
}

/* Probes that are there for another process' sake tell what a process tells by itself. */
static bool is_wanted(const struct target *target, const struct ring_event *event)
{
	return !target->by_itself || target->probed || event->kind >= RING_OFF_CPU ||
	       event->kind == RING_LOST;
}

static void give(struct tree *tree, struct target *target, unsigned int cpu, const struct ring_event *events,
		 size_t count)
{
	size_t early = count_early(tree, target, events, count), run;
	struct recorder *recorder = early < count ? recorder_of(tree, target) : NULL;

	events += early;
	count -= early;
	for (; recorder && count; events += run, count -= run) {
		bool wanted = is_wanted(target, events);

		for (run = 1; run < count && wanted == is_wanted(target, &events[run]); run++)
			;
		if (!wanted)
			continue;
		recorder__by_itself(recorder, target->by_itself && !target->probed);
		recorder__feed(recorder, cpu, events, run);
		target->member->got += (long)run;
	}
}

/* Until all events of the program before are read. The CPU is kept where the ring's own number was. */
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

/* Bodies that the runtime is handed for the first time. */
static void look_at_bodies(struct tree *tree, const struct ring_event *events, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct target *target =
			events[i].kind == RING_BODY ? find_target(tree, (pid_t)events[i].tgid) : NULL;

		if (target && program_bodies__seen(tree->program_bodies, target->pid, events[i].key) &&
		    target->member)
			member__note(target->member, "late: a function that is the body of a construct was "
						     "probed only after its first use; what it did until "
						     "then is missing");
	}
}

static int feed(void *ctx, unsigned int cpu, const struct ring_event *events, size_t count)
{
	struct tree *tree = ctx;

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

/* A target whose mappings have changed: a runtime may be among them. */
static void look_at(struct tree *tree, struct target *target)
{
	struct failure failure = {.status = 0};
	int usable = tree__look(tree, target, &failure);

	target->untold &= process__has_ended(target->pidfd);
	if (target->member && target->member->recorder)
		tell_maps(tree, target);
	if (usable <= 0 || target->refused)
		return;
	if (target->member && target->member->recorder) {
		member__runtime(target->member, tree__name_runtimes(tree, target));
		return;
	}
	/* Before it does anything: a short program may be gone when its first event is read. */
	if (!tree__begin(tree, target, &failure)) {
		log__line(LOG_WARNING, "process %d is not recorded: %s", (int)target->pid, failure.text);
		target->refused = true;
		if (target->member)
			member__close(target->member, JOB_EXIT, tree->capture, failure.text);
		target->member = NULL;
	}
}

long tree__drain(struct tree *tree)
{
	struct timespec ignored;
	uint64_t began_ns;
	long got;

	for (size_t i = 0; i < tree->target_count; i++)
		if (tree->targets[i].member)
			tree->targets[i].member->got = 0;
	began_ns = job__now_ns();
	got = capture__poll(tree->capture, feed, tree);
	for (size_t i = 0; i < tree->target_count; i++) {
		if (got >= 0 && tree->targets[i].member && tree->targets[i].member->recorder)
			recorder__fed(tree->targets[i].member->recorder, began_ns);
		settle(tree, &tree->targets[i]);
	}
	release_held(tree);
	if (tree->fast)
		tree__drain_shims(tree);
	for (size_t i = 0; i < tree->target_count; i++) {
		struct target *target = &tree->targets[i];

		if (target->look)
			look_at(tree, target);
		if (target->member && target->member->recorder)
			drain_pace__tick(&target->member->pace, target->member->recorder, tree->capture,
					 &target->member->before, target->member->got, &ignored);
	}
	return got;
}

/* Shown with the job that was asked for. */
static void note_missed(struct tree *tree, struct member *member)
{
	char text[160];

	if (!tree->missed)
		return;
	snprintf(text, sizeof(text),
		 "%llu child processes ended before they could be probed; whether they used OpenMP is not "
		 "known",
		 (unsigned long long)tree->missed);
	member__note(member, text);
}

void tree__drop(struct tree *tree, size_t index, enum job_reason reason)
{
	struct target *target = &tree->targets[index];

	settle(tree, target);
	if (target->member && target->member->recorder)
		tell_maps(tree, target);
	if (target->member)
		windows__leave(&tree->windows, target->member->job, target->member->recorder);
	if (target->child && (target->late || target->unseen) &&
	    (!target->member || !target->member->recorder ||
	     !recorder__counts(target->member->recorder)->events))
		tree->missed++;
	if (target->member && !target->member->fleeting)
		note_missed(tree, target->member);
	if (target->member && target->member->recorder && target->untold)
		member__note(target->member, maybe_more);
	if (target->member)
		member__close(target->member, reason, tree->capture,
			      target->untold		   ? maybe_used
			      : reason == JOB_EXIT	   ? not_used
			      : tree->fast && target->late ? not_come
							   : not_used_yet);
	capture__drop_process(tree->capture, target->pid);
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
	struct attachment attachment;
	struct target *target;
	int usable, error, pidfd;

	tree->jobs = job->jobs;
	tree->uid = job->view.uid;
	if (attach__open(true, job, &attachment, failure) != 0)
		return -1;
	tree->capture = attachment.capture;
	tree->ns_per_event = attachment.ns_per_event;
	tree->samples_only = job->samples_only;
	tree->fast = job->fast;
	tree->attached = !job->at_start;
	tree->lossless = job->lossless;
	tree->counters = job->counters;
	tree->max_bytes = job->max_bytes;
	if (tree->fast)
		shim_server__open();
	error = watch__open(false, &tree->watch);
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
	target = pidfd >= 0 ? add_target(tree, job->process.pid, pidfd, failure)
			    : (failure__set(failure, 503, "graind has no file descriptors left"), NULL);
	if (!target) {
		if (pidfd >= 0)
			close(pidfd);
		return -1;
	}
	target->no_probes = tree->fast && tree->attached;
	usable = tree__look(tree, target, failure);
	/* One that is to come by itself has been running, too. */
	target->late = !job->at_start && (usable > 0 || tree->fast);
	target->member = usable < 0 ? NULL : member__of(job);
	if (usable >= 0 && !target->member)
		return failure__set(failure, 503, "graind is out of memory");
	return usable;
}

void tree__close(struct tree *tree)
{
	for (size_t i = 0; i < tree->target_count; i++) {
		close(tree->targets[i].pidfd);
		free(tree->targets[i].process);
	}
	if (tree->fast)
		shim_server__close();
	windows__close(&tree->windows);
	watch__close(tree->watch);
	program_bodies__free(tree->program_bodies);
	capture__free(tree->capture);
	free(tree->held);
}
