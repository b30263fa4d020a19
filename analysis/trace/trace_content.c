// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/trace/trace_content.h"

#include <stdlib.h>
#include <string.h>

int trace_content__put(struct number_map *map, uint64_t key, uint32_t value, struct budget *budget)
{
	int error = budget__take(budget, 4 * sizeof(struct number_map_slot));

	return error ? error : number_map__put(map, key, value);
}

void trace_content__free(struct trace_content *content)
{
	free(content->records);
	free(content->sites);
	free(content->threads);
	free(content->window_threads);
	number_map__free(&content->site_index);
	number_map__free(&content->thread_index);
	number_map__free(&content->site_source);
	number_map__free(&content->source_index);
	number_map__free(&content->static_loops);
	number_map__free(&content->ident_index);
	for (uint32_t i = 0; i < content->ident_count; i++) {
		free(content->idents[i].path);
		free(content->idents[i].func);
	}
	free(content->idents);
	memset(content, 0, sizeof(*content));
}

bool trace_ident__parse(const char *text, struct trace_ident *out)
{
	const char *part[5];
	unsigned long line = 0;
	char *end;

	for (size_t i = 0; i < 5; i++) {
		text = strchr(text, ';');
		if (!text)
			return false;
		part[i] = ++text;
	}
	line = strtoul(part[2], &end, 10);
	if (*end != ';' || line == 0 || line > UINT32_MAX || part[1] == part[0] + 1)
		return false;
	out->line = (uint32_t)line;
	out->path = strndup(part[0], (size_t)(part[1] - part[0]) - 1);
	out->func = strndup(part[1], (size_t)(part[2] - part[1]) - 1);
	return out->path && out->func;
}
