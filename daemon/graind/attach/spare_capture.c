// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/attach/spare_capture.h"
#include "daemon/graind/attach/spare_askers.h"
#include "daemon/graind/base/clock.h"
#include "daemon/graind/base/urgency.h"
#include "daemon/graind/limits/account.h"

#include <pthread.h>
#include <stddef.h>

/* The size of the rings of 16 CPUs. */
#define MOST_BYTES (UINT64_C(64) << 20)

static const struct capture_opts usual = {
	.several = true,
	.ready = 1u << RUNTIME_LIBGOMP | 1u << RUNTIME_LIBOMP | 1u << RUNTIME_LOOPS,
	.method = CAPTURE_AUTO,
	.scheduler = true,
	.may_sample = true,
};

static struct {
	pthread_mutex_t lock;	/* guards what follows */
	pthread_cond_t changed; /* signalled when any of these changes */
	pthread_t thread;
	bool started, once, ended, measures;
	bool cost_wanted; /* a job wants to know what an event costs */
	enum { NONE, COMING, THERE } state;
	struct capture *capture; /* when it is loaded */
	bool awaited;		 /* a job waits for the capture that is being loaded */
	size_t running;		 /* jobs */
	struct spare_askers askers;
} spare = {.changed = PTHREAD_COND_INITIALIZER};

static void become(int state, struct capture *capture)
{
	spare.state = state;
	spare.capture = capture;
	pthread_cond_broadcast(&spare.changed);
}

/*
 * Loads a capture. Call it with the lock held; it releases the lock while it loads. Returns whether there
 * is a capture now. *perf: whether links of perf events are used.
 */
static bool load(bool *perf)
{
	struct capture *capture = NULL;
	int error;

	become(COMING, NULL);
	pthread_mutex_unlock(&spare.lock);
	error = capture__load(&usual, &capture, NULL);
	pthread_mutex_lock(&spare.lock);
	*perf = capture && capture__method_name(capture)[0] == 'p';
	become(error ? NONE : THERE, capture);
	return !error;
}

static void *keep_one(void *unused)
{
	double ignored;
	bool goes_on, perf;

	pthread_setname_np(pthread_self(), "graind-load");
	/* The job for which this graind was started waits for the capture. */
	if (spare.once)
		urgency__prefer();
	pthread_mutex_lock(&spare.lock);
	goes_on = load(&perf);
	/*
	 * A job that waits for its programs comes first. A job that records nothing does not need the cost.
	 */
	while (goes_on && spare.once && !spare.cost_wanted && !spare.ended)
		pthread_cond_wait(&spare.changed, &spare.lock);
	if (goes_on && !spare.ended) {
		pthread_mutex_unlock(&spare.lock);
		capture__calibrate_like(perf, true, &ignored);
		pthread_mutex_lock(&spare.lock);
	}
	spare.measures = false;
	while (goes_on && !spare.once && !spare.ended) {
		if (spare.state == NONE &&
		    (!spare.running || spare_askers__more_come(&spare.askers, clock__now_ns())))
			goes_on = load(&perf);
		else
			pthread_cond_wait(&spare.changed, &spare.lock);
	}
	pthread_mutex_unlock(&spare.lock);
	return unused;
}

void spare_capture__start(bool once)
{
	urgency__make_lock(&spare.lock);
	spare.once = once;
	/* Tells jobs that a capture is coming, even before the thread runs. */
	spare.state = COMING;
	spare.measures = true;
	spare.started = capture__ring_bytes(&usual) <= MOST_BYTES &&
			pthread_create(&spare.thread, NULL, keep_one, NULL) == 0;
	if (!spare.started) {
		spare.state = NONE;
		spare.measures = false;
	}
}

bool spare_capture__measures(bool wanted)
{
	bool measures;

	if (!spare.started)
		return false;
	pthread_mutex_lock(&spare.lock);
	measures = spare.measures;
	if (measures && wanted && !spare.cost_wanted) {
		spare.cost_wanted = true;
		pthread_cond_broadcast(&spare.changed);
	}
	pthread_mutex_unlock(&spare.lock);
	return measures;
}

void spare_capture__stop(void)
{
	if (!spare.started)
		return;
	pthread_mutex_lock(&spare.lock);
	spare.ended = true;
	pthread_cond_broadcast(&spare.changed);
	pthread_mutex_unlock(&spare.lock);
	pthread_join(spare.thread, NULL);
	capture__free(spare.capture);
	spare.capture = NULL;
	spare.state = NONE;
	spare.started = false;
}

static bool is_usual(const struct capture_opts *opts)
{
	return opts->several && opts->ready == usual.ready && opts->method == usual.method &&
	       opts->scheduler && !opts->whole_processes && !opts->counters && !opts->memory_event &&
	       !opts->slots_per_cpu;
}

struct capture *spare_capture__take(const struct capture_opts *opts)
{
	uid_t account = account__of(opts->owner);
	struct capture *capture = NULL;
	uint64_t now_ns = clock__now_ns();

	if (!spare.started || !is_usual(opts))
		return NULL;
	pthread_mutex_lock(&spare.lock);
	if (!spare_askers__may_take(&spare.askers, account, now_ns)) {
		pthread_mutex_unlock(&spare.lock);
		return NULL;
	}
	if (spare.state == COMING && !spare.awaited) {
		spare.awaited = true;
		while (spare.state == COMING)
			pthread_cond_wait(&spare.changed, &spare.lock);
		spare.awaited = false;
	}
	spare_askers__note(&spare.askers, account, spare.state == THERE, now_ns);
	if (spare.state == THERE) {
		capture = spare.capture;
		become(NONE, NULL);
	} else {
		/* keep_one() looks again whether it should load one. */
		pthread_cond_broadcast(&spare.changed);
	}
	pthread_mutex_unlock(&spare.lock);
	if (!capture || capture__use(capture, opts, NULL) == 0)
		return capture;
	capture__free(capture);
	return NULL;
}

void spare_capture__begin(void)
{
	if (!spare.started)
		return;
	pthread_mutex_lock(&spare.lock);
	spare.running++;
	pthread_mutex_unlock(&spare.lock);
}

void spare_capture__end(void)
{
	if (!spare.started)
		return;
	pthread_mutex_lock(&spare.lock);
	spare.running--;
	pthread_cond_broadcast(&spare.changed);
	pthread_mutex_unlock(&spare.lock);
}
