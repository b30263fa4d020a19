/* SPDX-License-Identifier: BSD-2-Clause */
/* The protocol between graind and its workers, one of which is graind-render. */
#ifndef GRAIND_RENDER_WORKER_H
#define GRAIND_RENDER_WORKER_H

#define WORKER_READY '\n' /* the first byte that a worker writes, to say that its program is running */

/*
 * graind-render FORMAT UID GID JOB VIEW DESCRIPTOR turns the trace on standard input into the report on
 * standard output. VIEW may be empty. An error is one line on DESCRIPTOR. Its first byte is RENDER_REFUSES
 * or RENDER_FAILS.
 */
#define RENDER_FILE "graind-render" /* beside graind */
#define RENDER_REFUSES '?'	    /* there is no such format or view */
#define RENDER_FAILS '!'	    /* this trace cannot be drawn in that format or view */
#define RENDER_SAYS_MAX 600

#endif
