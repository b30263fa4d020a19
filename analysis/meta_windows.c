// SPDX-License-Identifier: BSD-2-Clause
/* The lines that say when a program was recorded. */
#include "analysis/meta_parse.h"

/*
 * @window begin_ns=N, and when it is over the same with end_ns=N cost_ns=N. In
 * ascending order; an empty one says up to when nothing was recorded.
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
