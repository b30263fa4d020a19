/* SPDX-License-Identifier: BSD-2-Clause */
/* What graind and its workers, graind-render among them, agree on. */
#ifndef GRAIND_RENDER_WORKER_H
#define GRAIND_RENDER_WORKER_H

#define WORKER_READY '\n' /* what a worker writes first: it has executed its program */

/*
 * graind-render FORMAT UID GID JOB VIEW DESCRIPTOR: the trace on standard
 * input becomes the report on standard output. VIEW may be empty. What goes
 * wrong is one line on DESCRIPTOR, its first byte one of these.
 */
#define RENDER_FILE "graind-render" /* beside graind */
#define RENDER_REFUSES '?'	    /* there is no such format or view */
#define RENDER_FAILS '!'	    /* this trace cannot be drawn like that */
#define RENDER_SAYS_MAX 600

#endif
