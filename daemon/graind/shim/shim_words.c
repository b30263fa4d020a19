// SPDX-License-Identifier: BSD-2-Clause
/*
 * Words that processes write go into traces unchanged, because both formats have the same numbers and bits.
 */
#include "analysis/trace/trace_format.h"
#include "bpf/abi/shim_abi.h"

_Static_assert(
	(int)SHIM_TASK_CREATE == (int)TRACE_TASK_CREATE && (int)SHIM_TASK_BEGIN == (int)TRACE_TASK_BEGIN &&
		(int)SHIM_TASK_CREATE_END == (int)TRACE_TASK_CREATE_END &&
		(int)SHIM_TASK_END == (int)TRACE_TASK_END &&
		(int)SHIM_REGION_BEGIN == (int)TRACE_REGION_BEGIN &&
		(int)SHIM_REGION_END == (int)TRACE_REGION_END &&
		(int)SHIM_TEAM_START == (int)TRACE_TEAM_START &&
		(int)SHIM_TEAM_STARTED == (int)TRACE_TEAM_STARTED &&
		(int)SHIM_MEMBER_BEGIN == (int)TRACE_MEMBER_BEGIN &&
		(int)SHIM_WAIT_BEGIN == (int)TRACE_WAIT_BEGIN && (int)SHIM_WAIT_END == (int)TRACE_WAIT_END &&
		(int)SHIM_GROUP_BEGIN == (int)TRACE_GROUP_BEGIN && (int)SHIM_SINGLE == (int)TRACE_SINGLE &&
		(int)SHIM_SINGLE_END == (int)TRACE_SINGLE_END && (int)SHIM_DEPEND == (int)TRACE_DEPEND &&
		(int)SHIM_TASK_BOUNDS == (int)TRACE_TASK_BOUNDS,
	"kinds of tasks and teams");
_Static_assert((int)SHIM_TASKLOOP_BEGIN == (int)TRACE_TASKLOOP_BEGIN &&
		       (int)SHIM_TASKLOOP_END == (int)TRACE_TASKLOOP_END &&
		       (int)SHIM_TASK_FULFILL == (int)TRACE_TASK_FULFILL &&
		       (int)SHIM_CANCEL == (int)TRACE_CANCEL &&
		       (int)SHIM_LOOP_BEGIN == (int)TRACE_LOOP_BEGIN &&
		       (int)SHIM_LOOP_PARAMS == (int)TRACE_LOOP_PARAMS &&
		       (int)SHIM_CHUNK_NEXT == (int)TRACE_CHUNK_NEXT &&
		       (int)SHIM_CHUNK_BEGIN == (int)TRACE_CHUNK_BEGIN &&
		       (int)SHIM_CHUNK_STRIDE == (int)TRACE_CHUNK_STRIDE &&
		       (int)SHIM_LOOP_END == (int)TRACE_LOOP_END &&
		       (int)SHIM_SECTIONS_BEGIN == (int)TRACE_SECTIONS_BEGIN &&
		       (int)SHIM_SECTION_NEXT == (int)TRACE_SECTION_NEXT &&
		       (int)SHIM_SECTION_BEGIN == (int)TRACE_SECTION_BEGIN &&
		       (int)SHIM_SECTIONS_END == (int)TRACE_SECTIONS_END &&
		       (int)SHIM_LOCK_WAIT == (int)TRACE_LOCK_WAIT &&
		       (int)SHIM_STATIC_SHARE == (int)TRACE_STATIC_SHARE &&
		       (int)SHIM_COUNTERS == (int)TRACE_COUNTERS,
	       "kinds of loops and locks");
_Static_assert((int)SHIM_JOIN == (int)TRACE_WORD_JOIN && (int)SHIM_CPU == (int)TRACE_WORD_CPU &&
		       (int)SHIM_LOST == (int)TRACE_WORD_LOST && (int)SHIM_TIME == (int)TRACE_WORD_TIME &&
		       (int)SHIM_CHUNK_SHORT == (int)TRACE_WORD_SHORT && SHIM_SITES == TRACE_WORD_SITES &&
		       SHIM_TASK_KEYED == TRACE_WORD_KEYED && (int)SHIM_CHUNK_TURN == (int)TRACE_WORD_TURN &&
		       (int)SHIM_START_OUTSIDE == (int)TRACE_WORD_OUTSIDE &&
		       (int)SHIM_NOTHING == (int)TRACE_WORD_NOTHING &&
		       (int)SHIM_HERE == (int)TRACE_WORD_HERE && SHIM_HERE_MARK == TRACE_WORD_HERE_MARK,
	       "other words");
#define PROBE_WORD SHIM_WORD(SHIM_TASK_BEGIN, 5, 7)
_Static_assert(TRACE_WORD_KIND(PROBE_WORD) == SHIM_TASK_BEGIN && TRACE_WORD_SITE(PROBE_WORD) == 5 &&
		       TRACE_WORD_ARG(PROBE_WORD) == 7 && TRACE_WORD_KEY(3, 4) == SHIM_TASK_KEY(3, 4),
	       "layout of a word");
_Static_assert(SHIM_COUNTERS_MAX == TRACE_READING_MAX && SHIM_COUNTERS_EACH == TRACE_COUNTERS_EACH &&
		       TRACE_WORD_COUNTERS_FIRST(SHIM_COUNTERS_ARG(6, 2, 3)) == 6 &&
		       TRACE_WORD_COUNTERS_COUNT(SHIM_COUNTERS_ARG(6, 2, 3)) == 2 &&
		       TRACE_WORD_COUNTERS_BLIND(SHIM_COUNTERS_ARG(6, 2, 3)) == 3,
	       "arg of COUNTERS");
#define PROBE_TURN SHIM_TURN(SHIM_CHUNK_EXCLUSIVE, (1u << SHIM_TURN_TICK_BITS) - 2)
_Static_assert(TRACE_WORD_KIND(PROBE_TURN) == SHIM_CHUNK_TURN && TRACE_WORD_TICKS(PROBE_TURN) == 0 &&
		       TRACE_WORD_TURN_EXCLUSIVE(PROBE_TURN) &&
		       TRACE_WORD_TURN_TICKS(PROBE_TURN) == (1u << SHIM_TURN_TICK_BITS) - 2,
	       "layout of a turn");
