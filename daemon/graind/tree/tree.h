/* SPDX-License-Identifier: BSD-2-Clause */
/* A tree: the thread of a job that records a process and its descendants. */
#ifndef GRAIND_TREE_H
#define GRAIND_TREE_H

/* `job` is a struct job. The thread retires the job at its end. */
void *tree__thread(void *job);

#endif
