/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fib that reads the counter at the begin and end of each creation, of each body and of each wait: five times
 * a task of fib without cutoff. None of its tasks runs inside of its creation, with either runtime.
 */
#include "read_counter.h"

#include "fib.c"
