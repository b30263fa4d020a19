// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/grainctl/reports/job_notes.h"
#include "daemon/grainctl/client/job.h"
#include "daemon/grainctl/terminal/text.h"

#include <stdio.h>
#include <string.h>

#define INDENT 2

/* Prints a text, if there is any, and wraps it between words. */
static void put_wrapped(const char *text, size_t columns)
{
	const char *lead = "- ";

	while (*text) {
		size_t bytes = text__prefix(text, columns - INDENT - 2), at = bytes;

		while (text[bytes] && at && text[at] != ' ')
			at--;
		if (text[bytes] && at)
			bytes = at;
		printf("%*s%s%.*s\n", INDENT, "", lead, (int)bytes, text);
		lead = "  ";
		text += bytes;
		while (*text == ' ')
			text++;
	}
}

void job_notes__print(const struct ctl *ctl, uint64_t number)
{
	char why[512], socket[108], clean[1024];
	json_t *job = NULL;
	const json_t *notes, *note;
	size_t i;

	if (job__find(ctl, number, &job, socket, why) != CTL_DONE)
		return;
	notes = json_object_get(job, "notes");
	if (json_array_size(notes))
		printf("\nNOTES\n");
	json_array_foreach(notes, i, note)
	{
		text__clean(clean, sizeof(clean), json_is_string(note) ? json_string_value(note) : "");
		put_wrapped(clean, text__columns());
	}
	json_decref(job);
}
