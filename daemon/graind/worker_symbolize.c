// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lines on standard input, numbers in hexadecimal but for FD:
 *   mapping START END OFFSET FD PATH
 *   address ADDRESS IS_RETURN
 * For each address one line: ADDRESS LINE OFFSET, FUNCTION, FILE and MODULE,
 * separated by tabs; LINE in decimal.
 */
#include "daemon/graind/worker.h"

#include "uprobes/symbolize.h"

#include <inttypes.h>
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
	int is_return;

	if (sscanf(rest, "%" SCNx64 " %d", &address, &is_return) != 2)
		return;
	if (symbolizer__lookup(symbolizer, address, is_return, &symbol) != 0)
		memset(&symbol, 0, sizeof(symbol));
	harmless(symbol.function);
	harmless(symbol.file);
	harmless(symbol.module);
	printf("%" PRIx64 "\t%u\t%" PRIx64 "\t%s\t%s\t%s\n", address, symbol.line, symbol.module_offset,
	       symbol.function, symbol.file, symbol.module);
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
	}
	free(line);
	symbolizer__free(symbolizer);
	return fflush(stdout) != 0;
}
