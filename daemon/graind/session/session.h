/* SPDX-License-Identifier: BSD-2-Clause */
/* The thread of a session: a job that records every process of the machine that must be recorded. */
#ifndef GRAIND_SESSION_H
#define GRAIND_SESSION_H

/* `job` is a struct job. The thread retires the job at its end. */
void *session__thread(void *job);

#endif
