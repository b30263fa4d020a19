/* SPDX-License-Identifier: BSD-2-Clause */
/* What graind's program does when it is started as a worker. */
#ifndef GRAIND_WORKER_MAIN_H
#define GRAIND_WORKER_MAIN_H

#include <stdbool.h>

/* Whether `work` is a WORKER_... of worker.h. */
bool worker__has(const char *work);
/* The main function for an argv[1] that is a WORKER_... of worker.h. Returns the exit status. */
int worker__main(int argc, char **argv);

#endif
