// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads lines on standard input. Numbers are hexadecimal, except FD:
 *   mapping START END OFFSET FD PATH
 *   address ADDRESS IS_RETURN SHARE
 *   ident ADDRESS
 *   data LEAST
 *
 * For each address it writes one line: ADDRESS LINE OFFSET, FUNCTION, FILE, MODULE and LOOP, separated by
 * tabs. LINE is decimal. LOOP is "static" if SHARE is not 0 and the address is a call of
 * omp_get_num_threads that divides the iterations of a loop, and "-" otherwise. For each ident it writes
 * one line: ADDRESS and the string there. The data line must come last. For it, the worker writes a line
 * START BYTES, MODULE and NAME for each variable of at least LEAST bytes (decimal).
 */

#include "daemon/graind/symbols/symbols.h"
#include "uprobes/symbolize/symbolize.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void harmless(char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = '?';
	}
}

static void add_mapping(struct symbolizer *symbolizer, char *rest)
{
	uint64_t start, end, offset;
	int fd, used = 0;

	if (sscanf(rest, "%" SCNx64 " %" SCNx64 " %" SCNx64 " %d %n", &start, &end, &offset, &fd, &used) ==
		    4 &&
	    used)
		symbolizer__add_mapping(symbolizer, start, end, offset, rest + used, fd);
}

static void look_up(struct symbolizer *symbolizer, const char *rest)
{
	struct symbol symbol;
	uint64_t address;
	int is_return, share;
	bool divides;

	if (sscanf(rest, "%" SCNx64 " %d %d", &address, &is_return, &share) != 3)
		return;
	if (symbolizer__lookup(symbolizer, address, is_return, &symbol) != 0)
		memset(&symbol, 0, sizeof(symbol));
	harmless(symbol.function);
	harmless(symbol.file);
	harmless(symbol.module);
	divides = share && symbolizer__is_static_loop(symbolizer, address);
	printf("%" PRIx64 "\t%u\t%" PRIx64 "\t%s\t%s\t%s\t%s\n", address, symbol.line, symbol.module_offset,
	       symbol.function, symbol.file, symbol.module, divides ? "static" : "-");
}

static void tell_ident(struct symbolizer *symbolizer, const char *rest)
{
	char text[IDENT_BYTES];
	uint64_t address;

	if (sscanf(rest, "%" SCNx64, &address) != 1)
		return;
	if (symbolizer__string(symbolizer, address, text, sizeof(text)) != 0)
		text[0] = '\0';
	printf("%" PRIx64 "\t%s\n", address, text);
}

static bool is_wanted(const char *path)
{
	return !symbols__is_system_file(path);
}

static void tell_data(void *ctx, const struct data_symbol *symbol)
{
	const char *slash = strrchr(symbol->path, '/');
	char name[sizeof(symbol->name)], module[256];

	(void)ctx;
	snprintf(name, sizeof(name), "%s", symbol->name);
	snprintf(module, sizeof(module), "%s", slash ? slash + 1 : symbol->path);
	harmless(name);
	harmless(module);
	printf("%" PRIx64 "\t%" PRIx64 "\t%s\t%s\n", symbol->start, symbol->bytes, module, name);
}

int worker__symbolize(void)
{
	struct symbolizer *symbolizer;
	char *line = NULL;
	size_t capacity = 0;
	ssize_t length;

	if (symbolizer__new(&symbolizer) != 0)
		return 1;
	while ((length = getline(&line, &capacity, stdin)) > 0) {
		if (line[length - 1] == '\n')
			line[length - 1] = 0;
		if (!strncmp(line, "mapping ", 8))
			add_mapping(symbolizer, line + 8);
		else if (!strncmp(line, "address ", 8))
			look_up(symbolizer, line + 8);
		else if (!strncmp(line, "ident ", 6))
			tell_ident(symbolizer, line + 6);
		else if (!strncmp(line, "data ", 5))
			symbolizer__each_data(symbolizer, strtoull(line + 5, NULL, 10), is_wanted, tell_data,
					      NULL);
	}
	free(line);
	symbolizer__free(symbolizer);
	return fflush(stdout) != 0;
}
