// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/attach/attach.h"
#include "daemon/graind/attach/spare_capture.h"
#include "daemon/graind/plan/plan_cache.h"
#include "daemon/graind/process/process.h"
#include "daemon/graind/process/shadow_stack.h"
#include "uprobes/probe/probe_links.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define THREADS_FIELD 20 /* proc_pid_stat(5) */
#define MORE_THREADS 64

int attach__find(pid_t pid, struct runtime_file runtimes[ATTACH_MAX_RUNTIMES], struct failure *failure)
{
	struct uprobes_error err = {.text = ""};
	struct process process;
	int found = process__read_ids(pid, &process);

	if (found)
		snprintf(err.text, sizeof(err.text), "cannot tell whose process %d is: %s", (int)pid,
			 strerror(-found));
	else
		found = runtime_find__in_process(pid, runtimes, ATTACH_MAX_RUNTIMES, &err);
	for (int i = 0; i < found; i++)
		runtimes[i].user = process.uid;

	if (found == -ESRCH)
		return failure__set(failure, 422, "process %d has ended", (int)pid);
	if (found < 0)
		return failure__set(failure, 503, "%s", err.text);
	return found;
}

const char *attach__name(const struct runtime_file *runtimes, int count)
{
	bool gomp = false, omp = false;

	for (int i = 0; i < count; i++) {
		gomp |= runtimes[i].runtime == RUNTIME_LIBGOMP;
		omp |= runtimes[i].runtime == RUNTIME_LIBOMP;
	}
	return gomp && omp ? "libgomp+libomp" : omp ? "libomp" : "libgomp";
}

int attach__system(struct runtime_file runtimes[2])
{
	static const enum probe_runtime all[] = {RUNTIME_LIBGOMP, RUNTIME_LIBOMP};
	int count = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct runtime_file *file = &runtimes[count];
		struct stat st;

		if (runtime_find__system_of(all[i], file->path, sizeof(file->path)) != 0 ||
		    stat(file->path, &st) != 0)
			continue;
		snprintf(file->opened, sizeof(file->opened), "%s", file->path);
		file->device = st.st_dev;
		file->inode = st.st_ino;
		file->runtime = all[i];
		file->user = 0;
		count++;
	}
	return count;
}

/*
 * Returns the HTTP status for an error: 422 for a fault of the request or of the file, 503 for a fault of
 * this machine.
 */
static int status_of(int error)
{
	return error == -ENOTSUP || error == -ENOEXEC || error == -ENOENT || error == -ESRCH ? 422 : 503;
}

bool attach__may_kill(const struct capture *capture, const struct probe_plan *plan, bool unseen)
{
	bool multi = strcmp(capture__method_name(capture), "perf") != 0;

	return shadow_stack__is_lost() && probe_plan__may_have_shadow_stack(plan) &&
	       (unseen || !probe_links__filter_by_process(multi));
}

int attach__add(struct capture *capture, const struct runtime_file *runtime, bool unseen, bool *lost,
		bool *bodies, struct failure *failure)
{
	struct uprobes_error err = {.text = ""};
	struct cached_plan *plan = NULL;
	struct stat st;
	char path[64];
	int error, fd;

	*lost = false;
	/* Planning and attaching use the same open file, even if its name leads to another file by then. */
	fd = open(runtime->opened, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_ino != runtime->inode) {
		error = errno;
		if (fd >= 0)
			close(fd);
		return failure__set(failure, 422, "cannot open the runtime %.300s: %s", runtime->path,
				    fd < 0 ? strerror(error) : "the file was replaced");
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	error = plan_cache__get(&(struct plan_wish){.fd = fd, .name = runtime->path, .user = runtime->user},
				&plan, &err);
	*lost = !error && attach__may_kill(capture, cached_plan__plan(plan), unseen);
	if (*lost) {
		snprintf(err.text, sizeof(err.text),
			 "%.300s is left out: programs with shadow stacks may use it, which this kernel's "
			 "probes "
			 "do not keep, so that they would be killed; record a process by its number, or from "
			 "inside with grainctl run "
			 "--fast",
			 runtime->path);
		error = -ENOTSUP;
	}
	if (!error)
		error = capture__attach(capture, cached_plan__plan(plan), path, &err);
	if (!error)
		*bodies = probe_plan__needs_bodies(cached_plan__plan(plan));
	plan_cache__put(plan);
	close(fd);
	if (error)
		return failure__set(failure, status_of(error), "%s",
				    err.text[0] ? err.text : strerror(-error));
	return 0;
}

/* Adds room for threads that start before probes are attached. */
static size_t threads_of(const struct job *job)
{
	uint64_t threads = 1;

	if (!job->at_start)
		process__stat(job->process.pid, THREADS_FIELD, &threads);
	return (size_t)threads + threads / 4 + MORE_THREADS;
}

static int take(struct budget_share *share, enum budget_resource resource, uint64_t amount,
		struct failure *failure)
{
	char why[400];

	return budget__take(budget__host(), share, resource, amount, why, sizeof(why))
		       ? failure__set(failure, 429, "%s", why)
		       : 0;
}

/*
 * Whether to sample CPUs instead of threads. CPUs are sampled as long as few enough recordings do so. Then
 * threads that live shorter than a sampling period get their share of samples. Otherwise each thread is
 * sampled, which costs other users nothing.
 */
static bool take_cpus(struct job *job, bool several, struct budget_share *share)
{
	char ignored[400];

	if (!several)
		return true;
	return budget__take(budget__host(), share, BUDGET_CPU_SAMPLES, job->sample_hz, ignored,
			    sizeof(ignored)) == 0;
}

/*
 * Takes what the samples of a job need that can also go on without them: they are only taken on CPUs, as
 * samples of threads cost more. Returns false, and takes nothing, if the budget has not enough left.
 */
static bool take_optional(const struct job *job, struct capture_opts *opts, struct budget_share *share,
			  char why[400])
{
	struct budget *budget = budget__host();
	struct budget_share wanted = {.account = share->account};
	uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_CONF), hz = job->sample_hz;

	if (budget__take(budget, &wanted, BUDGET_CPU_SAMPLES, hz, why, 400) ||
	    budget__take(budget, &wanted, BUDGET_SAMPLES, hz, why, 400) ||
	    budget__take(budget, &wanted, BUDGET_EVENTS, cpus, why, 400)) {
		budget__give_back(budget, &wanted);
		return false;
	}
	for (int i = 0; i < BUDGET_RESOURCES; i++)
		share->taken[i] += wanted.taken[i];
	opts->sample_cpus = true;
	return true;
}

static int take_samples(bool several, struct job *job, struct capture_opts *opts, struct budget_share *share,
			uint64_t *events, struct failure *failure)
{
	const uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
	unsigned int kinds = opts->memory_event && !opts->memory_event->absent[0] ? 2 : 1;

	if (opts->memory_event && opts->memory_event->led)
		kinds++;
	if (take(share, BUDGET_SAMPLES, (uint64_t)opts->sample_hz * kinds, failure))
		return -1;
	opts->sample_cpus = take_cpus(job, several, share);
	opts->sampled_threads = several ? threads_of(job) : 0;
	*events += opts->sample_cpus ? cpus : opts->sampled_threads;
	*events += (kinds - 1) * (several ? opts->sampled_threads : cpus);
	return 0;
}

static int take_all(bool several, struct job *job, struct capture_opts *opts, struct budget_share *share,
		    struct failure *failure)
{
	const uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
	uint64_t events = opts->counters ? opts->counters->perf_count * cpus : 0;
	char why[400], note[440];

	if (take(share, BUDGET_SESSIONS, !several, failure) || take(share, BUDGET_CAPTURES, 1, failure))
		return -1;
	if (opts->sample_hz && !job->sample_optional &&
	    take_samples(several, job, opts, share, &events, failure))
		return -1;
	if (take(share, BUDGET_EVENTS, events, failure))
		return -1;
	if (opts->sample_hz && job->sample_optional && !take_optional(job, opts, share, why)) {
		opts->sample_hz = job->sample_hz = 0;
		snprintf(note, sizeof(note), "no samples: %s", why);
		job__note(job, note);
	}
	return 0;
}

int attach__open(bool several, struct job *job, struct attachment *out, struct failure *failure)
{
	struct capture_opts opts = {.several = several,
				    .owner = job->asker,
				    /* Chooses the programs that are attached at once. */
				    .ready = job->samples_only ? 0
					     : job->fast       ? 1u << RUNTIME_LOOPS
							 : 1u << RUNTIME_LIBGOMP | 1u << RUNTIME_LIBOMP |
								   1u << RUNTIME_LOOPS,
				    .method = CAPTURE_AUTO,
				    .scheduler = !job->samples_only,
				    .whole_processes = job->fast,
				    .counters = job->fast ? NULL : job->counters,
				    .sample_hz = job->sample_hz,
				    .memory_event = job->memory_event};
	struct uprobes_error err = {.text = ""};
	struct attachment made = {.share = {.account = job->asker}};
	int error = take_all(several, job, &opts, &made.share, failure);

	if (several)
		spare_capture__begin();
	if (!error)
		made.capture = spare_capture__take(&opts);
	if (!error && !made.capture && capture__open(&opts, &made.capture, &err))
		error = failure__set(failure, 503, "%s", err.text);
	if (error) {
		if (several)
			spare_capture__end();
		budget__give_back(budget__host(), &made.share);
		return -1;
	}
	made.one_of_several = several;
	if (opts.sample_hz && !opts.sample_cpus)
		job__note(job,
			  "samples: each thread is asked by itself, as CPUs are asked often enough for "
			  "others: threads that run for less than a thousandth of a second have few or none");
	*out = made;
	return 0;
}

double attach__ns_per_event(const struct attachment *attachment)
{
	double ns;

	/* Without this cost the report has no costs, and says so. */
	return capture__calibrate(attachment->capture, &ns) ? 0 : ns;
}

bool attach__measures(const struct attachment *attachment, bool wanted)
{
	return !capture__is_calibrated(attachment->capture) && spare_capture__measures(wanted);
}

void attach__close(struct attachment *attachment)
{
	/*
	 * Now the next capture may be loaded, while the kernel takes its time to remove the probes of this
	 * one.
	 */
	if (attachment->capture && attachment->one_of_several)
		spare_capture__end();
	capture__free(attachment->capture);
	budget__give_back(budget__host(), &attachment->share);
	attachment->capture = NULL;
}

void attach__describe(const struct capture *capture, struct recorder_capture *out)
{
	out->method = capture__method_name(capture);
	out->scheduler_absent = capture__scheduler_absent(capture);
	out->counters = capture__counters(capture);
	capture__sampling(capture, &out->sampling);
	capture__accesses(capture, &out->accesses);
}

void attach__tell_shares(const struct capture *capture, struct recorder *recorder)
{
	const struct counter_set *set = capture__counters(capture);

	for (size_t i = 0; i < set->counter_count && !set->counters[i].absent[0]; i++)
		recorder__share(recorder, i, capture__counter_share(capture, i));
}
