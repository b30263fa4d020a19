/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every fuzz target has: its entry, MUST, and with REPLAY a main() that
 * runs the files that it is given:
 *   replay_NAME FILE...
 */
#ifndef GRAIND_FUZZ_TARGET_H
#define GRAIND_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                                      \
	do {                                                                                                 \
		if (!(condition)) {                                                                          \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                      \
			abort();                                                                             \
		}                                                                                            \
	} while (0)

#ifdef REPLAY
/* In memory that ends where the file does, so that ASan sees who reads on. NULL: it cannot be read. */
static uint8_t *replay_read(const char *path, size_t *size)
{
	const size_t room = 64u << 20;
	FILE *in = fopen(path, "rbe");
	uint8_t *bytes = malloc(room), *fit = NULL;

	if (in && bytes) {
		*size = fread(bytes, 1, room, in);
		fit = realloc(bytes, *size ? *size : 1);
	}
	if (!fit)
		free(bytes);
	if (in)
		fclose(in);
	return fit;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		size_t size;
		uint8_t *bytes = replay_read(argv[i], &size);

		if (!bytes) {
			fprintf(stderr, "cannot read %s\n", argv[i]);
			return 1;
		}
		LLVMFuzzerTestOneInput(bytes, size);
		free(bytes);
	}
	printf("%d files\n", argc - 1);
	return 0;
}
#endif

#endif
