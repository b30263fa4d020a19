// SPDX-License-Identifier: BSD-2-Clause
/* The lines that say when a program was recorded. */
#include "analysis/log/meta_parse.h"

#include <string.h>

/* Reads words with commas between them. Ignores unknown words. */
static uint8_t read_kept(const struct field *f)
{
	static const struct {
		const char *name;
		enum event_kept kept;
	} names[] = {{"first", EVENT_KEPT_FIRST},
		     {"slowest", EVENT_KEPT_SLOWEST},
		     {"last", EVENT_KEPT_LAST},
		     {"every", EVENT_KEPT_EVERY}};
	const char *at = f->value, *end = at + f->value_bytes;
	uint8_t kept = 0;

	while (at < end) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		size_t bytes = (size_t)((comma ? comma : end) - at);

		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (bytes == strlen(names[i].name) && !memcmp(at, names[i].name, bytes))
				kept |= (uint8_t)names[i].kept;
		at += bytes + 1;
	}
	return kept;
}

/*
 * @window begin_ns=N. When the window is over, the line comes again with end_ns=N cost_ns=N. Windows are in
 * ascending order. An empty window means that nothing was recorded up to then. For kept= and every= see
 * trace_format.h.
 */
int parse__window(struct parse *p)
{
	struct event_stream *s = p->stream;
	struct event_window window = {.end_ns = UINT64_MAX}, *last;
	struct field f;
	bool found = false;
	int rc, error = 0;

	while (!error && (rc = parse__next(p, &f)) != 0) {
		if (rc < 0)
			return rc;
		if (field__is(&f, "begin_ns")) {
			error = parse__u64(p, &window.begin_ns, &f);
			found = true;
		} else if (field__is(&f, "end_ns")) {
			error = parse__u64(p, &window.end_ns, &f);
		} else if (field__is(&f, "cost_ns")) {
			error = parse__u64(p, &window.cost_ns, &f);
		} else if (field__is(&f, "every")) {
			error = parse__u64(p, &window.every, &f);
		} else if (field__is(&f, "kept")) {
			window.kept = read_kept(&f);
		}
	}
	if (error)
		return error;
	last = s->window_count ? &s->windows[s->window_count - 1] : NULL;
	if (!found || window.end_ns < window.begin_ns ||
	    (last && window.begin_ns != last->begin_ns &&
	     (last->end_ns == UINT64_MAX || window.begin_ns < last->end_ns))) {
		snprintf(p->why, 128, "@window needs begin_ns=, not before the window before it has ended");
		return -EBADMSG;
	}
	if (last && window.begin_ns == last->begin_ns) {
		*last = window;
		return 0;
	}
	error = array__grow(&s->windows, s->window_count, sizeof(*s->windows), p->budget);
	if (!error)
		s->windows[s->window_count++] = window;
	return error;
}
