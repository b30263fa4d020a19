// SPDX-License-Identifier: BSD-2-Clause
/* Writes stacks as lines, for flame graphs. */
#include "analysis/include/grain_samples.h"
#include "analysis/graph/sample_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Writes a name without semicolons and line ends, because the format uses these itself. */
static void write_name(FILE *out, const char *name)
{
	for (; *name; name++)
		fputc(*name == ';' ? ':' : (unsigned char)*name < 0x20 ? '?' : *name, out);
}

static const char *program_of(const struct grain_graph *g)
{
	const char *exe = g->info.exe && g->info.exe[0] ? g->info.exe : "program", *slash = strrchr(exe, '/');

	return slash ? slash + 1 : exe;
}

static int write_stack(const struct grain_graph *g, uint32_t stack, char **out)
{
	const struct event_stack *s = &g->stream->stacks[stack];
	size_t size;
	FILE *f = open_memstream(out, &size);

	if (!f)
		return -ENOMEM;
	write_name(f, program_of(g));
	for (uint32_t i = sample_stack__depth(g->stream, s); i-- > 0;) {
		fputc(';', f);
		write_name(f,
			   g->functions->names[g->functions->row[g->stream->frames[s->first + i]]].function);
	}
	return fclose(f) ? -ENOMEM : 0;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int grain_graph__write_folded(const struct grain_graph *graph, FILE *out)
{
	size_t n = graph->sample_count;
	char **lines = calloc(n + 1, sizeof(*lines));
	int error = lines ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !error; i++)
		error = write_stack(graph, graph->samples[i].stack, &lines[i]);
	if (!error)
		qsort(lines, n, sizeof(*lines), compare);
	for (size_t i = 0, same; i < n && !error; i += same) {
		for (same = 1; i + same < n && !strcmp(lines[i], lines[i + same]); same++)
			;
		if (fprintf(out, "%s %zu\n", lines[i], same) < 0)
			error = -EIO;
	}
	for (size_t i = 0; i < n && lines; i++)
		free(lines[i]);
	free(lines);
	if (!error && fflush(out))
		error = -errno;
	return error;
}
