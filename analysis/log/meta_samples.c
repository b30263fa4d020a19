// SPDX-License-Identifier: BSD-2-Clause
/* The lines that say how a program was sampled, and what is at its code addresses. */
#include "analysis/log/meta_parse.h"

#include <stdlib.h>
#include <string.h>

/* @sampling hz=N clock=CLOCK or why=REASON; lost=COUNT may come later. */
int parse__sampling(struct parse *p)
{
	struct event_sampling *sampling = &p->stream->sampling;
	const struct parse_into into[] = {
		PARSE_INTO("hz", &sampling->hz),
		PARSE_INTO("clock", &sampling->clock),
		PARSE_INTO("why", &sampling->why),
		PARSE_INTO("lost", &sampling->lost),
	};

	sampling->asked = true;
	return parse__fields(p, into, sizeof(into) / sizeof(into[0]));
}

/* The offset within the module does not matter. */
static int module(struct event_address *named, const struct field *f)
{
	int error = parse__own(&named->module, f);
	char *offset = error ? NULL : strrchr(named->module, '+');

	if (offset && offset > named->module && !strncmp(offset, "+0x", 3))
		*offset = '\0';
	return error;
}

static int names(struct parse *p, struct event_address *named)
{
	struct field f;
	int rc, error = 0;

	while (!error && (rc = parse__next(p, &f)) != 0) {
		if (rc < 0)
			return rc;
		if (field__is(&f, "func"))
			error = parse__own(&named->func, &f);
		else if (field__is(&f, "file"))
			error = parse__own(&named->file, &f);
		else if (field__is(&f, "path"))
			error = parse__own(&named->path, &f);
		else if (field__is(&f, "module"))
			error = module(named, &f);
		else if (field__is(&f, "line"))
			error = parse__u32(p, &named->line, &f);
		else if (field__is(&f, "system"))
			named->system = field__value_is(&f, "1");
	}
	return error;
}

/* @address ADDRESS func=NAME file=NAME line=N path=PATH, or module=NAME+OFFSET; system=1: of a system's
 * library */
int parse__address(struct parse *p)
{
	struct event_address named = {0};
	struct field f;
	int rc = parse__next(p, &f), error;

	if (rc < 0)
		return rc;
	if (rc == 0 || f.key_bytes || !field__u64(&f, &named.address)) {
		snprintf(p->why, 128, "@address needs its number");
		return -EBADMSG;
	}
	error = names(p, &named);
	if (error) {
		event_address__clear(&named);
		return error;
	}
	error = event_stream__name_address(p->stream, &named, p->budget);
	if (error == -EEXIST) {
		snprintf(p->why, 128, "address 0x%llx is declared twice", (unsigned long long)named.address);
		return -EBADMSG;
	}
	return error;
}
