/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Another OMPT tool beside this one, of which libomp knows nothing: it is handed
 * every event that it asks for, with words of its own. Of the word that libomp
 * keeps for the tool of a task or region, a struct pair is made at its begin.
 */
#ifndef GRAIND_TESTS_OMPT_NEXT_H
#define GRAIND_TESTS_OMPT_NEXT_H

#include <dlfcn.h>
#include <omp-tools.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct pair {
	ompt_data_t own, next;
};

#define NEXT_CALLBACKS 64
static struct {
	ompt_start_tool_result_t *tool;
	ompt_function_lookup_t lookup;
	ompt_get_task_info_t task_info;
	ompt_callback_t on[NEXT_CALLBACKS];
} next;

/* What is not begun has words that nobody keeps. */
static struct pair *pair_of(const ompt_data_t *data)
{
	static __thread struct pair nobody;
	struct pair *pair = data ? __atomic_load_n((struct pair *const *)&data->ptr, __ATOMIC_ACQUIRE) : NULL;

	if (pair)
		return pair;
	nobody = (struct pair){0};
	return &nobody;
}

/* They live as long as the program: libomp says of no task for sure that it is over. */
static void pair__begin(ompt_data_t *data)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	if (!pair)
		abort();
	__atomic_store_n((struct pair **)&data->ptr, pair, __ATOMIC_RELEASE);
}

static ompt_data_t *next__data(ompt_data_t *data)
{
	return data ? &pair_of(data)->next : NULL;
}

/* As a call of the next tool's callback, if it has asked for that; `type` is the callback's of OMPT. */
#define NEXT(event, type, ...)                                                                               \
	do {                                                                                                 \
		if (next.on[event])                                                                          \
			((type)next.on[event])(__VA_ARGS__);                                                 \
	} while (0)

static ompt_set_result_t next__set(ompt_callbacks_t which, ompt_callback_t callback)
{
	if ((unsigned)which >= NEXT_CALLBACKS)
		return ompt_set_never;
	next.on[which] = callback;
	return ompt_set_always;
}

static int next__task_info(int ancestor, int *flags, ompt_data_t **task, ompt_frame_t **frame,
			   ompt_data_t **parallel, int *thread)
{
	int found = next.task_info(ancestor, flags, task, frame, parallel, thread);

	if (found && task)
		*task = next__data(*task);
	if (found && parallel)
		*parallel = next__data(*parallel);
	return found;
}

static ompt_interface_fn_t next__lookup(const char *name)
{
	if (!strcmp(name, "ompt_set_callback"))
		return (ompt_interface_fn_t)next__set;
	if (!strcmp(name, "ompt_get_task_info"))
		return (ompt_interface_fn_t)next__task_info;
	return next.lookup(name);
}

/* Asks the tool that comes after this one in the order of symbols, if there is one. */
static void next__ask(unsigned version, const char *runtime)
{
	ompt_start_tool_result_t *(*start)(unsigned, const char *) =
		(ompt_start_tool_result_t * (*)(unsigned, const char *)) dlsym(RTLD_NEXT, "ompt_start_tool");

	if (start)
		next.tool = start(version, runtime);
}

static void next__initialize(ompt_function_lookup_t lookup, int device)
{
	next.lookup = lookup;
	next.task_info = (ompt_get_task_info_t)lookup("ompt_get_task_info");
	if (next.tool && !next.tool->initialize(next__lookup, device, &next.tool->tool_data))
		next.tool = NULL;
}

static void next__finalize(void)
{
	if (next.tool)
		next.tool->finalize(&next.tool->tool_data);
}

#endif
