/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields of a line that starts with "@". Internal to analysis. */
#ifndef GRAIND_META_PARSE_H
#define GRAIND_META_PARSE_H

#include "analysis/event_build.h"
#include "analysis/fields.h"

struct parse {
	const char *cursor, *end;
	struct event_stream *stream;
	struct budget *budget;
	char *why; /* 128 bytes */
};

/* -EBADMSG, with that value in `why`. */
int parse__bad(struct parse *p, const char *what, const struct field *f);
/* 1: *f is the next field, 0: there is none, or -EBADMSG. */
int parse__next(struct parse *p, struct field *f);

/* The field's value: text that replaces *to, which is freed ("" needs no memory in parse__text), or a number.
 */
int parse__text(const char **to, const struct field *f);
int parse__own(char **to, const struct field *f);
int parse__id(struct parse *p, int64_t *to, const struct field *f);
int parse__u32(struct parse *p, uint32_t *to, const struct field *f);
int parse__u64(struct parse *p, uint64_t *to, const struct field *f);

/* Where the value of a field goes: PARSE_INTO(name, pointer), as the pointer's type says. */
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
/* All fields up to the line's end; those with other names are left out. */
int parse__fields(struct parse *p, const struct parse_into *into, size_t count);

/* meta_samples.c */
int parse__sampling(struct parse *p);
int parse__address(struct parse *p);

/* meta_windows.c */
int parse__window(struct parse *p);

/* meta_numa.c; an error leaves nothing of the line */
int parse__node(struct parse *p);
int parse__allowed(struct parse *p);
int parse__placement(struct parse *p);
int parse__area(struct parse *p);
int parse__pages(struct parse *p);
int parse__accesses(struct parse *p);

#endif
