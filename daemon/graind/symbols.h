/* SPDX-License-Identifier: BSD-2-Clause */
/* Code addresses become sources: the @source, @site, @ident and, for those in samples, @address lines of a
 * trace. */
#ifndef GRAIND_SYMBOLS_H
#define GRAIND_SYMBOLS_H

#include "daemon/common/trace_writer.h"
#include "daemon/common/data_objects.h"
#include "daemon/graind/modules.h"
#include "daemon/graind/sites.h"

#define IDENT_BYTES 1024 /* of a source string with its end; longer ones are left out */

#define DATA_LEAST_BYTES (64u << 10) /* of a variable that is wanted */

/* What is installed where distributions have their libraries is hardly what its user wants to change. */
bool symbols__is_system_file(const char *path);

/*
 * Asks a worker with the rights of `uid`; what it cannot tell in time is named
 * by module and offset. Fails only when the trace cannot be written; *unnamed
 * is why the worker told nothing, or 0.
 */
struct symbols_asked {
	const struct site_set *sites, *idents, *addresses;
	const struct module_table *modules;
	struct data_objects *data; /* filled with what the worker finds; NULL: not wanted */
};
int symbols__write(struct trace_writer *writer, const struct symbols_asked *asked, uid_t uid, gid_t gid,
		   unsigned int seconds, int *unnamed);

#endif
