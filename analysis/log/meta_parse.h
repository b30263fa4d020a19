/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields of a line that starts with "@". Internal to analysis. */
#ifndef GRAIND_META_PARSE_H
#define GRAIND_META_PARSE_H

#include "analysis/base/fields.h"
#include "analysis/log/log.h"

struct parse {
	const char *cursor, *end;
	struct event_stream *stream;
	struct budget *budget;
	char *why; /* 128 bytes */
};

/* Writes a message about the field's value to `why`. Returns -EBADMSG. */
int parse__bad(struct parse *p, const char *what, const struct field *f);
/* Returns 1 if *f is the next field, 0 if there is none, or -EBADMSG. */
int parse__next(struct parse *p, struct field *f);

/*
 * Store the field's value. parse__text() frees the old text in *to and replaces it; "" needs no memory. The
 * others store a number.
 */
int parse__text(const char **to, const struct field *f);
int parse__own(char **to, const struct field *f);
int parse__id(struct parse *p, int64_t *to, const struct field *f);
int parse__u32(struct parse *p, uint32_t *to, const struct field *f);
int parse__u64(struct parse *p, uint64_t *to, const struct field *f);

/*
 * Where to store a field's value: PARSE_INTO(name, pointer). The pointer's type decides how the value is
 * parsed.
 */
struct parse_into {
	const char *name;
	enum { PARSE_TEXT, PARSE_OWN, PARSE_ID, PARSE_U32, PARSE_U64 } as;
	void *to;
};
#define PARSE_INTO(field, pointer)                                                                             \
	{                                                                                                      \
		.name = (field), .to = (pointer), .as = _Generic((pointer),                                  \
			const char **: PARSE_TEXT,                                                           \
			char **: PARSE_OWN,                                                                  \
			int64_t *: PARSE_ID,                                                                 \
			uint32_t *: PARSE_U32,                                                               \
			uint64_t *: PARSE_U64) \
	}
/* Parses all fields up to the line's end. Ignores unknown names. */
int parse__fields(struct parse *p, const struct parse_into *into, size_t count);

/* meta_samples.c */
int parse__sampling(struct parse *p);
int parse__address(struct parse *p);

/* meta_windows.c */
int parse__window(struct parse *p);

/* meta_numa.c. After an error, nothing of the line is stored. */
int parse__node(struct parse *p);
int parse__allowed(struct parse *p);
int parse__settings(struct parse *p);
int parse__placement(struct parse *p);
int parse__area(struct parse *p);
int parse__pages(struct parse *p);
int parse__accesses(struct parse *p);

#endif
