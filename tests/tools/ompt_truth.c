/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An OMPT tool: writes what LLVM's libomp itself says of a run to the file
 * named by GRAIN_OMPT_TRUTH, for tests/root/ompt_compare.py. Loaded by libomp
 * through OMP_TOOL_LIBRARIES; silent without GRAIN_OMPT_TRUTH. Loaded before another
 * tool (LD_PRELOAD) it hands all events on to that one. One line an event:
 *
 *     NS TID parallel-begin REGION ENCOUNTERING_TASK REQUESTED FLAGS
 *     NS TID parallel-end REGION
 *     NS TID implicit-begin|implicit-end REGION TASK TEAM INDEX FLAGS
 *     NS TID create TASK PARENT FLAGS HAS_DEPENDENCES
 *     NS TID wait-depend PARENT
 *     NS TID schedule PRIOR STATUS NEXT
 *     NS TID depends TASK TYPE ADDRESS
 *     NS TID dependence SOURCE SINK
 *     NS TID sync-begin|sync-end KIND REGION TASK
 *     NS TID wait-begin|wait-end KIND REGION TASK
 *     NS TID work-begin|work-end KIND REGION TASK COUNT
 *     NS TID dispatch KIND REGION TASK START ITERATIONS
 *     NS TID mutex-acquire|mutex-acquired KIND ID
 *     NS TID cancel TASK FLAGS
 *
 * Numbers of tasks and regions are given in the order of creation from 1;
 * 0: none. Kinds and flags are the numbers of OMPT.
 */
#include "tests/tools/ompt_next.h"

#include <inttypes.h>
#include <omp-tools.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Lines of one thread; never freed before the end, threads may end earlier. */
struct lines {
	struct lines *next;
	char *text;
	size_t used, size;
	long tid;
};

/* OMPT 5.2; this header may be older. */
struct dispatch_chunk {
	uint64_t start, iterations;
};
enum { DISPATCH_LOOP_CHUNK = 3, DISPATCH_DISTRIBUTE_CHUNK = 5 };

static const char *out_path;
static struct lines *all;
static pthread_mutex_t all_mutex = PTHREAD_MUTEX_INITIALIZER;
static __thread struct lines *mine;
static uint64_t last_number;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
	struct timespec ts;
	va_list args;

	if (!mine) {
		mine = calloc(1, sizeof(*mine));
		if (!mine)
			abort();
		mine->tid = syscall(SYS_gettid);
		pthread_mutex_lock(&all_mutex);
		mine->next = all;
		all = mine;
		pthread_mutex_unlock(&all_mutex);
	}
	if (mine->size - mine->used < 256) {
		mine->size = mine->size ? mine->size * 2 : 65536;
		mine->text = realloc(mine->text, mine->size);
		if (!mine->text)
			abort();
	}
	clock_gettime(CLOCK_MONOTONIC, &ts);
	mine->used += (size_t)snprintf(mine->text + mine->used, 64, "%" PRIu64 " %ld ",
				       (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec, mine->tid);
	va_start(args, format);
	mine->used += (size_t)vsnprintf(mine->text + mine->used, 160, format, args);
	va_end(args);
	mine->text[mine->used++] = '\n';
}

static uint64_t number(const ompt_data_t *data)
{
	return data ? pair_of(data)->own.value : 0;
}

static void name(ompt_data_t *data)
{
	pair__begin(data);
	pair_of(data)->own.value = __atomic_add_fetch(&last_number, 1, __ATOMIC_RELAXED);
}

static void on_parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel,
			      unsigned requested, int flags, const void *code)
{
	name(parallel);
	say("parallel-begin %" PRIu64 " %" PRIu64 " %u %d", number(parallel), number(task), requested, flags);
	NEXT(ompt_callback_parallel_begin, ompt_callback_parallel_begin_t, next__data(task), frame,
	     next__data(parallel), requested, flags, code);
}

static void on_parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *code)
{
	say("parallel-end %" PRIu64, number(parallel));
	NEXT(ompt_callback_parallel_end, ompt_callback_parallel_end_t, next__data(parallel), next__data(task),
	     flags, code);
}

static void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel, ompt_data_t *task,
			     unsigned team, unsigned index, int flags)
{
	if (endpoint == ompt_scope_begin)
		name(task);
	say("implicit-%s %" PRIu64 " %" PRIu64 " %u %u %d", endpoint == ompt_scope_begin ? "begin" : "end",
	    number(parallel), number(task), team, index, flags);
	NEXT(ompt_callback_implicit_task, ompt_callback_implicit_task_t, endpoint, next__data(parallel),
	     next__data(task), team, index, flags);
}

static void on_task_create(ompt_data_t *parent, const ompt_frame_t *frame, ompt_data_t *task, int flags,
			   int depends, const void *code)
{
	struct pair *pair;
	ompt_data_t kept;

	/* What stands for a wait's dependences has no life, and libomp wants its data left alone. */
	if (flags & ompt_task_taskwait) {
		say("wait-depend %" PRIu64, number(parent));
	} else {
		name(task);
		say("create %" PRIu64 " %" PRIu64 " %u %d", number(task), number(parent), (unsigned)flags,
		    depends);
	}
	if (!next.on[ompt_callback_task_create])
		return;
	/* The next tool may know the task by where its word lies. Nobody else reads that yet. */
	pair = pair_of(task);
	kept = *task;
	*task = pair->next;
	((ompt_callback_task_create_t)next.on[ompt_callback_task_create])(next__data(parent), frame, task,
									  flags, depends, code);
	pair->next = *task;
	*task = kept;
}

static void on_task_schedule(ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *follows)
{
	say("schedule %" PRIu64 " %d %" PRIu64, number(prior), (int)status, number(follows));
	NEXT(ompt_callback_task_schedule, ompt_callback_task_schedule_t, next__data(prior), status,
	     next__data(follows));
}

static void on_dependences(ompt_data_t *task, const ompt_dependence_t *list, int count)
{
	for (int i = 0; i < count; i++)
		say("depends %" PRIu64 " %d %" PRIu64, number(task), (int)list[i].dependence_type,
		    list[i].variable.value);
	NEXT(ompt_callback_dependences, ompt_callback_dependences_t, next__data(task), list, count);
}

static void on_task_dependence(ompt_data_t *source, ompt_data_t *sink)
{
	say("dependence %" PRIu64 " %" PRIu64, number(source), number(sink));
}

static void on_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t *parallel,
			   ompt_data_t *task, const void *code)
{
	say("sync-%s %d %" PRIu64 " %" PRIu64, endpoint == ompt_scope_begin ? "begin" : "end", (int)kind,
	    number(parallel), number(task));
	NEXT(ompt_callback_sync_region, ompt_callback_sync_region_t, kind, endpoint, next__data(parallel),
	     next__data(task), code);
}

static void on_sync_region_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint,
				ompt_data_t *parallel, ompt_data_t *task, const void *code)
{
	say("wait-%s %d %" PRIu64 " %" PRIu64, endpoint == ompt_scope_begin ? "begin" : "end", (int)kind,
	    number(parallel), number(task));
	NEXT(ompt_callback_sync_region_wait, ompt_callback_sync_region_t, kind, endpoint,
	     next__data(parallel), next__data(task), code);
}

static void on_work(ompt_work_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t *parallel,
		    ompt_data_t *task, uint64_t count, const void *code)
{
	(void)code;
	say("work-%s %d %" PRIu64 " %" PRIu64 " %" PRIu64, endpoint == ompt_scope_begin ? "begin" : "end",
	    (int)kind, number(parallel), number(task), count);
}

static void on_dispatch(ompt_data_t *parallel, ompt_data_t *task, ompt_dispatch_t kind, ompt_data_t instance)
{
	const struct dispatch_chunk *chunk = instance.ptr;

	if ((int)kind >= DISPATCH_LOOP_CHUNK && (int)kind <= DISPATCH_DISTRIBUTE_CHUNK && chunk)
		say("dispatch %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, (int)kind, number(parallel),
		    number(task), chunk->start, chunk->iterations);
	else
		say("dispatch %d %" PRIu64 " %" PRIu64 " 0 0", (int)kind, number(parallel), number(task));
}

static void on_mutex_acquire(ompt_mutex_t kind, unsigned hint, unsigned impl, ompt_wait_id_t id,
			     const void *code)
{
	say("mutex-acquire %d %" PRIu64, (int)kind, (uint64_t)id);
	NEXT(ompt_callback_mutex_acquire, ompt_callback_mutex_acquire_t, kind, hint, impl, id, code);
}

static void on_mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t id, const void *code)
{
	say("mutex-acquired %d %" PRIu64, (int)kind, (uint64_t)id);
	NEXT(ompt_callback_mutex_acquired, ompt_callback_mutex_t, kind, id, code);
}

static void on_cancel(ompt_data_t *task, int flags, const void *code)
{
	(void)code;
	say("cancel %" PRIu64 " %d", number(task), flags);
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *tool)
{
	ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");

	(void)tool;
	if (!set)
		return 0;
	set(ompt_callback_parallel_begin, (ompt_callback_t)on_parallel_begin);
	set(ompt_callback_parallel_end, (ompt_callback_t)on_parallel_end);
	set(ompt_callback_implicit_task, (ompt_callback_t)on_implicit_task);
	set(ompt_callback_task_create, (ompt_callback_t)on_task_create);
	set(ompt_callback_task_schedule, (ompt_callback_t)on_task_schedule);
	set(ompt_callback_dependences, (ompt_callback_t)on_dependences);
	set(ompt_callback_task_dependence, (ompt_callback_t)on_task_dependence);
	set(ompt_callback_sync_region, (ompt_callback_t)on_sync_region);
	set(ompt_callback_sync_region_wait, (ompt_callback_t)on_sync_region_wait);
	set(ompt_callback_work, (ompt_callback_t)on_work);
	set(ompt_callback_dispatch, (ompt_callback_t)on_dispatch);
	set(ompt_callback_mutex_acquire, (ompt_callback_t)on_mutex_acquire);
	set(ompt_callback_mutex_acquired, (ompt_callback_t)on_mutex_acquired);
	set(ompt_callback_cancel, (ompt_callback_t)on_cancel);
	next__initialize(lookup, device);
	return 1;
}

static void finalize(ompt_data_t *tool)
{
	const struct lines *l;
	FILE *out = fopen(out_path, "we");

	(void)tool;
	if (!out) {
		perror(out_path);
		return;
	}
	pthread_mutex_lock(&all_mutex);
	for (l = all; l; l = l->next)
		fwrite(l->text, 1, l->used, out);
	pthread_mutex_unlock(&all_mutex);
	if (fclose(out) != 0)
		perror(out_path);
	next__finalize();
}

/* What libomp looks up. */
ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime);

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
	static ompt_start_tool_result_t result = {initialize, finalize, {0}};

	out_path = getenv("GRAIN_OMPT_TRUTH");
	next__ask(version, runtime);
	return out_path ? &result : NULL;
}
