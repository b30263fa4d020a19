/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where to probe the file of an OpenMP runtime, a library or an executable that
 * contains one: found from its symbols and by disassembling the few functions
 * involved, never from a table of versions.
 */
#ifndef GRAIND_PLAN_H
#define GRAIND_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct uprobes_error {
	char text[512]; /* one line: what was not found or refused, and what to do */
};

enum probe_runtime {
	RUNTIME_LIBGOMP, /* GCC's */
	RUNTIME_LIBOMP,	 /* LLVM's, and Intel's libiomp5 */
	RUNTIME_PROGRAM, /* none: functions of a program that are bodies of its constructs, see bodies.h */
};
/* "libgomp", "libomp" */
const char *probe_runtime__name(enum probe_runtime runtime);

enum probe_cost {
	PROBE_EMULATED,	      /* the kernel emulates the instruction in the trap: cheap */
	PROBE_SINGLE_STEPPED, /* the kernel steps a copy of it: about 20 times dearer */
};

struct probe_point {
	uint64_t offset;	/* in the file, as the kernel wants it */
	uint64_t address;	/* in the file's own address space, for people */
	uint64_t entry_cookie;	/* 0: nothing is recorded when the instruction is reached */
	uint64_t return_cookie; /* 0: nothing is recorded when the function returns */
	enum probe_cost cost;
	const char *event;    /* "task-create", "task-begin", ... */
	const char *function; /* exported function or role of the internal one */
	char instruction[64]; /* as disassembled */
	char reads[64];	      /* "r14 = task, [rbp+8] = call site" */
};

struct probe_plan;

/*
 * Plans the probes for the ELF file `path`. Returns 0 and the plan, or a
 * negative errno: -ENOEXEC not an ELF file of this machine, -ENOENT no
 * OpenMP runtime in it, -ENOTSUP a runtime without the instructions that are
 * needed (*err names them). Nothing is guessed.
 */
int probe_plan__create(const char *path, struct probe_plan **out, struct uprobes_error *err);
/* The same for an open file that people know as `name`; the descriptor stays the caller's. */
int probe_plan__create_fd(int fd, const char *name, struct probe_plan **out, struct uprobes_error *err);
/* ... of any machine that the planner knows: for reading, not for attaching. */
int probe_plan__create_foreign(int fd, const char *name, struct probe_plan **out, struct uprobes_error *err);
void probe_plan__free(struct probe_plan *plan);

const char *probe_plan__path(const struct probe_plan *plan);
enum probe_runtime probe_plan__runtime(const struct probe_plan *plan);
const char *probe_plan__build_id(const struct probe_plan *plan); /* hex, or "" */
size_t probe_plan__count(const struct probe_plan *plan);
const struct probe_point *probe_plan__point(const struct probe_plan *plan, size_t index);
/*
 * Whether the places where this libgomp calls the bodies of tasks, or of parallel regions, were not found:
 * the functions of the programs that use it have to be probed as well (uprobes/bodies.h).
 */
bool probe_plan__needs_bodies(const struct probe_plan *plan);
/* Optional points that were not found, one name each; NULL past the last. */
const char *probe_plan__missing(const struct probe_plan *plan, size_t index);

/* As text, from one process to another or to a later one. Reading: -EBADMSG for anything else. */
int probe_plan__write(const struct probe_plan *plan, FILE *out);
int probe_plan__read(const char *path, const char *text, struct probe_plan **out);
/* Whether every point lies in an executable segment of the file; -EBADMSG when not. */
int probe_plan__check(const struct probe_plan *plan, int fd);

#endif
