/* SPDX-License-Identifier: BSD-2-Clause */
/* Code addresses become sources: the @source, @site and @ident lines of a trace. */
#ifndef GRAIND_SYMBOLS_H
#define GRAIND_SYMBOLS_H

#include "daemon/common/trace_writer.h"
#include "daemon/graind/modules.h"
#include "daemon/graind/sites.h"

#define IDENT_BYTES 1024 /* of a source string with its end; longer ones are left out */

/*
 * Asks a worker with the rights of `uid`; what it cannot tell in time is named
 * by module and offset. Fails only when the trace cannot be written; *unnamed
 * is why the worker told nothing, or 0.
 */
int symbols__write(struct trace_writer *writer, const struct site_set *sites, const struct site_set *idents,
		   const struct module_table *modules, uid_t uid, gid_t gid, unsigned int seconds,
		   int *unnamed);

#endif
