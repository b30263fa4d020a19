// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/log/meta_parse.h"

#include <stdlib.h>
#include <string.h>

int parse__bad(struct parse *p, const char *what, const struct field *f)
{
	snprintf(p->why, 128, "%s \"%.*s\"", what, (int)(f->value_bytes < 60 ? f->value_bytes : 60),
		 f->value);
	return -EBADMSG;
}

int parse__next(struct parse *p, struct field *f)
{
	int rc = field__next(&p->cursor, p->end, f);

	if (rc < 0)
		snprintf(p->why, 128, "a quoted value does not end properly");
	return rc;
}

int parse__text(const char **to, const struct field *f)
{
	char *text = field__string(f);

	if (!text)
		return -ENOMEM;
	if (*to && (*to)[0])
		free((char *)*to);
	*to = text;
	if (!text[0]) {
		free(text);
		*to = "";
	}
	return 0;
}

int parse__own(char **to, const struct field *f)
{
	free(*to);
	*to = field__string(f);
	return *to ? 0 : -ENOMEM;
}

int parse__id(struct parse *p, int64_t *to, const struct field *f)
{
	uint64_t v;

	if (!field__u64(f, &v) || v > INT64_MAX)
		return parse__bad(p, "not a number:", f);
	*to = (int64_t)v;
	return 0;
}

int parse__u32(struct parse *p, uint32_t *to, const struct field *f)
{
	return field__u32(f, to) ? 0 : parse__bad(p, "not a number:", f);
}

int parse__u64(struct parse *p, uint64_t *to, const struct field *f)
{
	return field__u64(f, to) ? 0 : parse__bad(p, "not a number:", f);
}

static int put(struct parse *p, const struct parse_into *into, const struct field *f)
{
	switch (into->as) {
	case PARSE_TEXT:
		return parse__text(into->to, f);
	case PARSE_OWN:
		return parse__own(into->to, f);
	case PARSE_ID:
		return parse__id(p, into->to, f);
	case PARSE_U32:
		return parse__u32(p, into->to, f);
	case PARSE_U64:
		return parse__u64(p, into->to, f);
	}
	return -EINVAL;
}

int parse__fields(struct parse *p, const struct parse_into *into, size_t count)
{
	struct field f;
	int rc, error = 0;

	while (!error && (rc = parse__next(p, &f)) != 0) {
		if (rc < 0)
			return rc;
		for (size_t i = 0; i < count; i++) {
			if (field__is(&f, into[i].name)) {
				error = put(p, &into[i], &f);
				break;
			}
		}
	}
	return error;
}
