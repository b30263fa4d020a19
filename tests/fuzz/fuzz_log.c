// SPDX-License-Identifier: BSD-2-Clause
/*
 * The analysis on hostile event logs. With libFuzzer (make fuzz-log) inputs are
 * mutated, by bytes and by lines; as a plain program it replays the files that
 * it is given.
 */
#include "tests/fuzz/fuzz_analysis.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	analysis_fuzz(data, size);
	return 0;
}

#ifndef REPLAY
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

#define LINES 512

static uint32_t below(unsigned *state, size_t n)
{
	*state = *state * 1664525u + 1013904223u;
	return n ? (uint32_t)((*state >> 8) % n) : 0;
}

/* Replaces one number in the line by one that matters. */
static size_t change_number(char *line, size_t bytes, size_t room, unsigned *state)
{
	static const char *const numbers[] = {"0",
					      "1",
					      "2",
					      "3",
					      "7",
					      "65535",
					      "65536",
					      "4294967295",
					      "4294967296",
					      "9223372036854775807",
					      "9223372036854775808",
					      "18446744073709551615",
					      "-1",
					      "-9223372036854775808"};
	const char *number = numbers[below(state, sizeof(numbers) / sizeof(numbers[0]))];
	size_t starts[64], count = 0, at, past, n = strlen(number);

	for (size_t i = 0; i < bytes && count < 64; i++)
		if (line[i] >= '0' && line[i] <= '9' && (i == 0 || line[i - 1] < '0' || line[i - 1] > '9'))
			starts[count++] = i;
	if (!count)
		return bytes;
	at = past = starts[below(state, count)];
	while (past < bytes && line[past] >= '0' && line[past] <= '9')
		past++;
	if (bytes - (past - at) + n > room)
		return bytes;
	memmove(line + at + n, line + past, bytes - past);
	memcpy(line + at, number, n);
	return bytes - (past - at) + n;
}

/* Leaves out, repeats or moves lines, or changes their numbers. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	struct {
		const uint8_t *at;
		size_t bytes;
	} lines[LINES], moved;
	unsigned state = seed;
	size_t count = 0, used = 0, a, b;
	uint32_t way = below(&state, 8);
	uint8_t *out;

	for (size_t at = 0; at < size && count + 1 < LINES;) {
		const uint8_t *lf = memchr(data + at, '\n', size - at);
		size_t past = lf ? (size_t)(lf - data) + 1 : size;

		lines[count].at = data + at;
		lines[count++].bytes = past - at;
		at = past;
	}
	if (way < 3 || count < 3)
		return LLVMFuzzerMutate(data, size, max_size);
	a = 1 + below(&state, count - 1);
	b = 1 + below(&state, count - 1);
	moved = lines[a];
	if (way == 3) {
		lines[a].bytes = 0;
	} else if (way == 4) {
		lines[a] = lines[b];
		lines[b] = moved;
	} else if (way == 5) {
		memmove(&lines[b + 1], &lines[b], (count - b) * sizeof(lines[0]));
		lines[b] = moved;
		count++;
	}
	out = malloc(max_size + 1);
	if (!out)
		return size;
	for (size_t i = 0; i < count && used + lines[i].bytes <= max_size; i++) {
		memcpy(out + used, lines[i].at, lines[i].bytes);
		if (way > 5 && i == a)
			used += change_number((char *)out + used, lines[i].bytes, max_size - used, &state);
		else
			used += lines[i].bytes;
	}
	memcpy(data, out, used);
	free(out);
	return used;
}
#endif
