/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/text/bars.h"

#include <math.h>
#include <string.h>

#define EIGHTHS 8

/* One to eight eighths of a block: from the left, and from below. */
static const char *const across[EIGHTHS] = {"\u258f", "\u258e", "\u258d", "\u258c",
					    "\u258b", "\u258a", "\u2589", "\u2588"};
static const char *const upwards[EIGHTHS] = {"\u2581", "\u2582", "\u2583", "\u2584",
					     "\u2585", "\u2586", "\u2587", "\u2588"};
static const char *const plain[EIGHTHS] = {".", ".", ":", "-", "=", "+", "*", "#"};

/* Returns how many of `steps` stand for the share. 0 only if the share is 0. */
static size_t steps_of(double share, size_t steps)
{
	double wanted = fmin(share, 1) * (double)steps;

	if (!(share > 0))
		return 0;
	return wanted < 1 ? 1 : (size_t)(wanted + .5);
}

void bar__draw(char out[BARS_BYTES], double share, size_t columns, bool unicode)
{
	size_t each = unicode ? EIGHTHS : 1, steps;

	*out = '\0';
	if (columns > BARS_MOST)
		columns = BARS_MOST;
	for (steps = steps_of(share, columns * each); steps; steps -= steps < each ? steps : each)
		strcat(out, unicode ? across[(steps < each ? steps : each) - 1] : "#");
}

void bar__line(char out[BARS_BYTES], const double *values, size_t count, double most, bool unicode)
{
	*out = '\0';
	while (count && !(values[count - 1] > 0))
		count--;
	for (size_t i = 0; i < count && i < BARS_MOST; i++) {
		size_t steps = most > 0 ? steps_of(values[i] / most, EIGHTHS) : 0;

		strcat(out, !steps ? " " : unicode ? upwards[steps - 1] : plain[steps - 1]);
	}
}
