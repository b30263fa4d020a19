/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The account: where the time of a program's threads went. It is exact to the nanosecond, and no time is left
 * over. METRICS.md says what each cause means.
 */
#ifndef GRAIN_ACCOUNT_H
#define GRAIN_ACCOUNT_H

#include "analysis/include/grain.h"

enum grain_cause {
	GRAIN_CAUSE_USEFUL,	  /* work in regions of two members or more */
	GRAIN_CAUSE_SERIAL_WORK,  /* work while no other thread has something to do */
	GRAIN_CAUSE_SERIAL,	  /* threads have no region, because one thread works alone */
	GRAIN_CAUSE_FORK_JOIN,	  /* begin and end of regions */
	GRAIN_CAUSE_MANAGEMENT,	  /* creating tasks, handing out chunks, and waits while some task could be
				     begun */
	GRAIN_CAUSE_IMBALANCE,	  /* waits at barriers while others of the team have something to do */
	GRAIN_CAUSE_LACK_OF_WORK, /* other waits in which no task can be begun; teams smaller than the largest
				     team */
	GRAIN_CAUSE_LOCKS,	  /* waits for locks, critical and ordered sections */
	GRAIN_CAUSE_PREEMPTED,	  /* the thread has something to do, but another process has the CPU */
	GRAIN_CAUSE_OVERSUBSCRIBED, /* the thread has something to do, but another thread of the program has
				       the CPU */
	GRAIN_CAUSE_BLOCKED, /* the thread has something to do, but waits for the kernel: input, pages, sleep
			      */
	GRAIN_CAUSE_MEASURING, /* the cost of events */
	GRAIN_CAUSE_UNKNOWN,   /* time in regions with missing events */
	GRAIN_CAUSE_COUNT
};

/* Its name in JSON: "useful", "serial_work", ... */
const char *grain_cause__name(enum grain_cause cause);
/* What a thread does then, for people: "work in parallel regions". */
const char *grain_cause__label(enum grain_cause cause);
/* What the time is lost to, as the end of a sentence: "serial code". NULL: it is not lost. */
const char *grain_cause__lost(enum grain_cause cause);

/* A part of the account: all of it, or the regions of one definition. */
struct grain_account_part {
	uint32_t definition; /* GRAIN_NONE: outside of regions, or of regions without definition */
	bool serial;	     /* true: outside of regions */
	uint64_t regions;
	uint64_t capacity_ns; /* the sum of all causes */
	uint64_t cause_ns[GRAIN_CAUSE_COUNT];
};

struct grain_account {
	const char *why;  /* why there is no account; NULL: there is one, and the other fields are valid */
	uint32_t threads; /* the largest number of threads that took part at a time */
	struct grain_account_part all; /* capacity: threads * wall time */
	/* POP's hierarchy of factors. Each is 0 to 1. `parallel` is the product of the others. */
	double parallel;	/* the part of the capacity that is work */
	double serial;		/* the part that serial code leaves */
	double load_balance;	/* the part of that which imbalance leaves */
	double synchronisation; /* the part of that which lack of work, locks, and begin and end of regions
				   leave */
	double scheduling;	/* the part of that which management leaves */
	double system;		/* the part of that which the system, measuring and unknown time leave */
};

/* Returns the graph's account. The graph owns it. */
const struct grain_account *grain_graph__account(const struct grain_graph *graph);
/* The parts by definition. The part that loses the most time comes first. */
size_t grain_graph__account_part_count(const struct grain_graph *graph);
const struct grain_account_part *grain_graph__account_part(const struct grain_graph *graph, size_t index);
/* The time that a part loses: all except useful and serial work. */
uint64_t grain_account_part__lost_ns(const struct grain_account_part *part);
/* The cause to which a part loses the most time. */
enum grain_cause grain_account_part__worst(const struct grain_account_part *part);

/* A function that ran while no parallel region was open, with its hottest line. */
struct grain_serial_function {
	const char *function; /* the module if it has no name; never empty */
	const char *file;     /* base name, or module; may be "" */
	uint32_t line;	      /* 0: not known */
	uint64_t samples;
};

/* All times between the end of one region and the begin of the next one in which no parallel region was open.
 */
struct grain_serial_gap {
	uint32_t before, after; /* definitions of the regions; GRAIN_NONE: the recording begins or ends here,
				   or the region has no definition */
	uint64_t times, ns;
	uint64_t samples;
	uint32_t function; /* index of the function with most of these samples; GRAIN_NONE: there are none */
};

/*
 * The serial code of the program. Samples count that were taken while a thread worked and no parallel region
 * was open. A sample belongs to the innermost function of the program itself, which has called the system's
 * libraries and the kernel.
 */
struct grain_serial {
	uint64_t samples; /* 0: the program was not sampled, or has no serial code */
	uint64_t ns;	  /* time while no parallel region was open */
	const struct grain_serial_function *functions; /* the one with the most samples comes first */
	size_t function_count;
	const struct grain_serial_gap *gaps; /* the longest comes first; no more than some thousands */
	size_t gap_count;
};
const struct grain_serial *grain_graph__serial(const struct grain_graph *graph);

/* What a report says first. */
enum grain_verdict {
	GRAIN_VERDICT_ADVICE,	 /* the first advice */
	GRAIN_VERDICT_LOST,	 /* time is lost, and there is no advice: the cause to which most is lost */
	GRAIN_VERDICT_NONE,	 /* hardly any time is lost */
	GRAIN_VERDICT_NO_GRAINS, /* nothing was seen that could be judged */
};
/* Its name in JSON: "advice", "lost", "none", "no_grains". */
const char *grain_verdict__name(enum grain_verdict verdict);
enum grain_verdict grain_graph__verdict(const struct grain_graph *graph);

#endif
