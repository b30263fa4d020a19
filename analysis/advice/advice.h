/* SPDX-License-Identifier: BSD-2-Clause */
/* Advice: what to change in a program, ranked by the wall-clock time that it could save. */
#ifndef GRAIND_ADVICE_H
#define GRAIND_ADVICE_H

struct grain_graph;

/* Finds the advice. This is the last step of grain_graph__build(). Returns 0, -ENOMEM or -E2BIG. */
int graph__advise(struct grain_graph *graph);

#endif
