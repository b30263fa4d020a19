/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Translates code addresses to sources: writes the @source, @site, @ident and, for addresses in samples,
 * @address lines of a trace.
 */
#ifndef GRAIND_SYMBOLS_H
#define GRAIND_SYMBOLS_H

#include "daemon/common/trace/trace_writer.h"
#include "daemon/common/trace/data_objects.h"
#include "daemon/graind/process/modules.h"
#include "daemon/graind/symbols/sites.h"

#define IDENT_BYTES 1024 /* the largest size of a source string with its NUL; longer ones are left out */

#define DATA_LEAST_BYTES (64u << 10) /* the smallest variable that is looked up */

/*
 * Whether the file is in a directory of the distribution's libraries. Users rarely want to change such
 * code.
 */
bool symbols__is_system_file(const char *path);

/*
 * symbols__write() asks a worker with the rights of `uid`. Addresses that the worker cannot name in time
 * are named by module and offset. Fails only if the trace cannot be written. *unnamed: a negative errno
 * that says why the worker named nothing, or 0.
 */
struct symbols_asked {
	const struct site_set *sites, *idents, *addresses;
	const struct module_table *modules;
	struct data_objects *data; /* gets what the worker finds; NULL: not wanted */
};
int symbols__write(struct trace_writer *writer, const struct symbols_asked *asked, uid_t uid, gid_t gid,
		   unsigned int seconds, int *unnamed);

/* Runs in the worker (worker.h), from stdin to stdout. Returns the exit status. */
int worker__symbolize(void);

#endif
