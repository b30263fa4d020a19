/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Settings that cost a program time: the facts about a process, and the rules that judge them. The rules look
 * at nothing but the facts.
 */
#ifndef GRAIND_SETTINGS_H
#define GRAIND_SETTINGS_H

#include "daemon/common/settings/cpus.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SETTINGS_LEVELS 4
#define SETTINGS_VALUE_MAX 128

/* What the environment of the process says. Strings are empty and numbers 0 where it says nothing. */
struct settings_environment {
	bool known;				/* false: it may not be read */
	unsigned int threads[SETTINGS_LEVELS];	/* OMP_NUM_THREADS, for each level */
	unsigned int active_levels;		/* OMP_MAX_ACTIVE_LEVELS; OMP_NESTED=true counts as many */
	char bind[SETTINGS_VALUE_MAX];		/* OMP_PROC_BIND */
	char places[SETTINGS_VALUE_MAX];	/* OMP_PLACES */
	char gomp_affinity[SETTINGS_VALUE_MAX]; /* GOMP_CPU_AFFINITY */
	char kmp_affinity[SETTINGS_VALUE_MAX];	/* KMP_AFFINITY */
	char wait[SETTINGS_VALUE_MAX];		/* OMP_WAIT_POLICY */
	char spin[SETTINGS_VALUE_MAX];		/* GOMP_SPINCOUNT */
	char blocktime[SETTINGS_VALUE_MAX];	/* KMP_BLOCKTIME */
	char library[SETTINGS_VALUE_MAX];	/* KMP_LIBRARY */
	unsigned int pool_threads; /* OPENBLAS_NUM_THREADS, GOTO_NUM_THREADS or BLIS_NUM_THREADS */
};

/* Reads a block of "NAME=VALUE\0". Call it with a zeroed *out. */
void settings_environment__read(const char *block, size_t bytes, struct settings_environment *out);
/*
 * The setting that lets waiting threads spin without an end in sight: "GOMP_SPINCOUNT=infinity". *cure is the
 * one that does not. NULL: there is none.
 */
const char *settings_environment__spins(const struct settings_environment *environment, char *text,
					size_t size, const char **cure);

struct settings_process {
	pid_t pid;
	char command[16];
	bool kin; /* it runs the same program, for the same parent */
};

/* A thread during the sample. */
struct settings_thread {
	pid_t tid;
	uint32_t process;  /* index in `processes` */
	struct cpus cpus;  /* its affinity */
	double runnable;   /* part of the sample in which it ran or wanted to */
	double waited;	   /* part of the sample in which it wanted to run and had no CPU */
	double migrations; /* a second; negative: not known */
	uint64_t nodes;	   /* NUMA nodes on which it was seen, one bit each */
};

struct settings_facts {
	double seconds; /* length of the sample */
	struct cpus online;
	struct cpus cpuset; /* what its cgroup allows; empty: not known */
	double quota;	    /* CPUs; 0: none */
	double throttled;   /* part of the quota's periods in which the group had to stop; negative: not known
			     */
	uint16_t core[CPUS_MAX]; /* a CPU's core; CPUs with the same number are siblings */
	uint8_t node[CPUS_MAX];
	unsigned int nodes;
	struct settings_environment environment;
	bool maps_known;
	bool libgomp, libomp; /* mapped */
	char pool[32];	      /* library with threads of its own that is mapped, such as OpenBLAS; "": none */
	uint64_t memory_nodes; /* nodes that hold memory it may use; 0: not known */
	uint64_t bound_nodes;  /* nodes to which most of its memory is bound by a policy; 0: none is */
	bool interleaved;      /* most of its memory is interleaved */
	struct settings_process *processes; /* the first is the process itself */
	size_t process_count;
	struct settings_thread *threads; /* of the process, and the busy ones of others */
	size_t thread_count;
	double passing; /* how many threads want to run, on average, that began during the sample */
};

enum settings_kind {
	SETTINGS_OVER_QUOTA,	/* more threads than the quota of the cgroup */
	SETTINGS_OVER_AFFINITY, /* more than the cpuset or the affinity */
	SETTINGS_OVER_MACHINE,	/* more than the machine has CPUs */
	SETTINGS_NESTED,	/* nested teams multiply threads */
	SETTINGS_TWO_RUNTIMES,	/* libgomp and libomp, each with threads */
	SETTINGS_POOL,		/* a library's pool beside OpenMP */
	SETTINGS_PROCESSES,	/* processes that each start a team or pool */
	SETTINGS_FEW_CPUS,	/* bound to fewer CPUs than there are threads, while others are free */
	SETTINGS_SIBLINGS,	/* bound to siblings of a core, while other cores are free */
	SETTINGS_SPINNING,	/* waits spin while others want the CPU */
	SETTINGS_PINNED,	/* another job is pinned to the same CPUs */
	SETTINGS_MIGRATIONS,
	SETTINGS_MEMORY, /* memory policy against first touch */
	SETTINGS_KINDS
};
/* "threads_over_quota", ... */
const char *settings_kind__name(enum settings_kind kind);

struct settings_finding {
	enum settings_kind kind;
	char sentence[256];
	char cure[192];	      /* a setting or a command */
	unsigned int threads; /* that want to run */
	unsigned int cpus;    /* on which they can */
	double waited;	      /* part of the time they wanted to run in which they had no CPU */
	pid_t other;	      /* the process that is in the way; 0: none */
};

#define SETTINGS_FINDINGS_MAX 8
/* Returns the number of findings. The one that costs most comes first. */
size_t settings__judge(const struct settings_facts *facts,
		       struct settings_finding out[SETTINGS_FINDINGS_MAX]);

/* ---- what the rules share (settings_judge.c) ---- */

/* What the busy threads of a process do together. */
struct settings_load {
	unsigned int threads; /* busy */
	double runnable, waited;
	struct cpus cpus; /* all CPUs on which they may run */
};
/* A thread that wants to run for less than this part of the sample is not busy. */
#define SETTINGS_BUSY 0.25
/* If threads are without a CPU for less than this part of the time they want one, nobody is in the way. */
#define SETTINGS_CONTENDED 0.1

/* `kin`: of the process and its kin; else of the process alone. */
struct settings_load settings__load(const struct settings_facts *facts, bool kin);
bool settings_load__contended(const struct settings_load *load);
/* CPUs that the process could use: its cpuset, or the machine's. */
struct cpus settings__usable(const struct settings_facts *facts);
/* CPUs to which busy threads of other processes are pinned. *other: one of these processes, or 0. */
struct cpus settings__taken(const struct settings_facts *facts, const struct cpus *among, pid_t *other);

/* Each adds at most one finding to `out` and returns whether it did. */
bool settings__judge_threads(const struct settings_facts *facts, struct settings_finding *out);
bool settings__judge_few_cpus(const struct settings_facts *facts, struct settings_finding *out);
bool settings__judge_siblings(const struct settings_facts *facts, struct settings_finding *out);
bool settings__judge_pinned(const struct settings_facts *facts, struct settings_finding *out);
bool settings__judge_spinning(const struct settings_facts *facts, struct settings_finding *out);
bool settings__judge_migrations(const struct settings_facts *facts, struct settings_finding *out);
bool settings__judge_memory(const struct settings_facts *facts, struct settings_finding *out);

#endif
