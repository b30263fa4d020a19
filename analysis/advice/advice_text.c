/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/advice/advice_text.h"

#include <inttypes.h>

const char *advice__count(uint64_t count, char text[32])
{
	char digits[24];
	int n = snprintf(digits, sizeof digits, "%" PRIu64, count), i, used = 0;

	for (i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			text[used++] = ',';
		text[used++] = digits[i];
	}
	text[used] = '\0';
	return text;
}

const char *advice__time(double ns, char text[32])
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	size_t unit = 0;
	uint64_t tenths;

	while (unit < 3 && ns >= 999.5) {
		ns /= 1000;
		unit++;
	}
	tenths = (uint64_t)(ns * 10 + 0.5);
	if (tenths < 1000 && unit > 0)
		snprintf(text, 32, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10, tenths % 10, units[unit]);
	else
		snprintf(text, 32, "%" PRIu64 " %s", (uint64_t)(ns + 0.5), units[unit]);
	return text;
}

const char *advice__place(const struct grain_graph *g, uint32_t definition)
{
	return definition == GRAIN_NONE ? "an unknown place" : g->definitions[definition].source;
}
