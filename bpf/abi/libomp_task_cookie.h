/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The cookies of libomp's tasks, regions and waits. The runtime itself also calls some exported functions.
 * At their entries, `off` is the distance from the probe to the start of the runtime's code, and `reg` and
 * `reg2` are the size of that code. If `when` is COOKIE_ALWAYS, `cc` says which of several functions with
 * different arguments the probe is in.
 */
#ifndef GRAIND_LIBOMP_TASK_COOKIE_H
#define GRAIND_LIBOMP_TASK_COOKIE_H

#include "bpf/abi/cookie.h"

#define LIBOMP_COOKIE_SIZE_UNIT 0x4000u
#define LIBOMP_COOKIE_SIZE(c) ((COOKIE_REG(c) | COOKIE_REG2(c) << 4) * LIBOMP_COOKIE_SIZE_UNIT)

/* `a` if the kind is RING_NONE: nothing is recorded, but something is kept for later. */
enum libomp_keep {
	/*
	 * A function that calls observed functions: its call site is also theirs. `b`: so is its first
	 * argument.
	 */
	LIBOMP_KEEP_SITE = 1,
	LIBOMP_KEEP_TASKLOOP,	  /* (loc, gtid, task, lower, upper, step, ...): makes the tasks */
	LIBOMP_KEEP_FORK,	  /* __kmp_fork_call(loc, gtid, context): context is 0 for GCC's code */
	LIBOMP_KEEP_THREADS,	  /* __kmpc_push_num_threads(loc, gtid, threads); b: (loc, gtid, n, list) */
	LIBOMP_KEEP_TEAMS,	  /* __kmpc_push_num_teams(loc, gtid, teams, thread_limit) */
	LIBOMP_KEEP_CANCEL,	  /* __kmpc_cancel(loc, gtid, kind) */
	LIBOMP_KEEP_CANCEL_POINT, /* __kmpc_cancellationpoint(loc, gtid, kind) */
};

/*
 * `cc` of TASK_CREATE. `a | b << 6`, also of UNDEFERRED_BEGIN and TASKLOOP_BEGIN, is -1/4 of the distance
 * from the task to its flags; 0: it is not known.
 */
enum libomp_create {
	LIBOMP_CREATE_PLAIN,
	LIBOMP_CREATE_DEPEND,	/* (loc, gtid, task, n, list, n2, list2) */
	LIBOMP_CREATE_TASKLOOP, /* a task of a taskloop, by the runtime */
};

/* `cc` of REGION_BEGIN. `a` of REGION_END is LIBOMP_REGION_SERIAL or 0. */
enum libomp_region {
	LIBOMP_REGION_FORK,   /* (loc, argc, microtask, ...) */
	LIBOMP_REGION_TEAMS,  /* (loc, argc, microtask, ...) */
	LIBOMP_REGION_GOMP,   /* (fn, data, threads, ...) */
	LIBOMP_REGION_SERIAL, /* (loc, gtid); the program then calls the body itself */
};

/*
 * `cc` of MEMBER_BEGIN. `off`: distance to the runtime's variable that leads to its array of threads. `b`:
 * how many pointers lead from the variable to the array. `a`: 1/8 of the offset of the team in a thread.
 */
enum libomp_member {
	LIBOMP_MEMBER_MICROTASK, /* (fn, gtid, number, ...) */
	LIBOMP_MEMBER_GOMP,	 /* member 0 is about to call what `reg` holds */
	/*
	 * (gtid): will call the body of a teams construct; `reg | reg2 << 4`: 1/4 of the offset of its
	 * number
	 */
	LIBOMP_MEMBER_LEAGUE,
};

/* `cc` of WAIT_BEGIN. `a` is an enum ring_wait. */
enum libomp_wait {
	LIBOMP_WAIT_ENTRY,   /* (loc, ...) */
	LIBOMP_WAIT_BARRIER, /* (loc, ...); its flags tell explicit from implicit barriers */
	LIBOMP_WAIT_DEPEND,  /* (loc, gtid, n, list, n2, list2) */
	LIBOMP_WAIT_CALL, /* at a call; `off`: distance from the stack pointer to the return address, < 0: not
			     known */
	LIBOMP_WAIT_BARE, /* no arguments */
	LIBOMP_WAIT_MEMBER, /* nothing to read: the body of a member has returned */
};

/* `cc` of TASKLOOP_BEGIN: (loc, gtid, task, if, lower, upper, step, nogroup, ...). */
enum libomp_taskloop_call {
	LIBOMP_TASKLOOP_PLAIN,
	LIBOMP_TASKLOOP_GROUPS, /* opens the taskgroup around the tasks without a call */
};

/* `cc` of GROUP_BEGIN. */
enum libomp_group {
	LIBOMP_GROUP_PLAIN, /* (loc, ...) */
	LIBOMP_GROUP_BARE,  /* no arguments */
};

#endif
