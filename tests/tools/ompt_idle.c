/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An OMPT tool that is told of tasks and waits, as a recorder has to be, and does nothing: what libomp's
 * calls cost by themselves. Loaded by libomp through OMP_TOOL_LIBRARIES.
 */
#include <omp-tools.h>
#include <stddef.h>

static void on_create(ompt_data_t *parent, const ompt_frame_t *frame, ompt_data_t *task, int flags,
		      int depends, const void *code)
{
	(void)parent, (void)frame, (void)task, (void)flags, (void)depends, (void)code;
}

static void on_schedule(ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next)
{
	(void)prior, (void)status, (void)next;
}

static void on_sync(ompt_sync_region_t kind, ompt_scope_endpoint_t end, ompt_data_t *region,
		    ompt_data_t *task, const void *code)
{
	(void)kind, (void)end, (void)region, (void)task, (void)code;
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *tool)
{
	ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");

	(void)device, (void)tool;
	return set && set(ompt_callback_task_create, (ompt_callback_t)on_create) == ompt_set_always &&
	       set(ompt_callback_task_schedule, (ompt_callback_t)on_schedule) == ompt_set_always &&
	       set(ompt_callback_sync_region, (ompt_callback_t)on_sync) == ompt_set_always;
}

static void finalize(ompt_data_t *tool)
{
	(void)tool;
}

/* What libomp looks up. */
ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime);

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
	static ompt_start_tool_result_t result = {initialize, finalize, {0}};

	(void)version, (void)runtime;
	return &result;
}
