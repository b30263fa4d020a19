/* SPDX-License-Identifier: BSD-2-Clause */
/* chunks that reads the counter at the begin and end of each chunk. */
#include "read_counter.h"

#include "chunks.c"
