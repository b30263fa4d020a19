/* SPDX-License-Identifier: BSD-2-Clause */
/* A point to probe, as plain data that does not depend on ELF or instructions. */
#ifndef GRAIND_PROBE_POINT_H
#define GRAIND_PROBE_POINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum probe_runtime {
	RUNTIME_LIBGOMP, /* GCC's runtime */
	RUNTIME_LIBOMP,	 /* LLVM's runtime, and Intel's libiomp5 */
	RUNTIME_PROGRAM, /* no runtime: the bodies of a program's constructs, see bodies.h */
	RUNTIME_LOOPS,	 /* no runtime: static loops in a program's own code, see static_loops.h */
};
/* "libgomp", "libomp" */
const char *probe_runtime__name(enum probe_runtime runtime);

enum probe_cost {
	PROBE_EMULATED,	      /* the kernel emulates the instruction in the trap: cheap */
	PROBE_SINGLE_STEPPED, /* the kernel single-steps a copy of it: about 20 times slower */
};

#define PROBE_BYTES 16 /* no instruction is longer */

struct probe_point {
	uint64_t offset;	/* in the file; the kernel uses it */
	uint64_t address;	/* in the file's own address space, for readers */
	uint64_t entry_cookie;	/* 0: nothing is recorded when the instruction is reached */
	uint64_t return_cookie; /* 0: nothing is recorded when the function returns */
	enum probe_cost cost;
	bool call;		    /* the instruction is a call */
	uint8_t bytes[PROBE_BYTES]; /* the bytes there in the file */
	uint8_t byte_count;	    /* number of valid bytes; at least the instruction's */
	const char *event;	    /* "task-create", "task-begin", ... */
	const char *function;	    /* name of the exported function, or role of the internal one */
	char instruction[64];	    /* its disassembly */
	char reads[64];		    /* "r14 = task, [rbp+8] = call site" */
};

#endif
