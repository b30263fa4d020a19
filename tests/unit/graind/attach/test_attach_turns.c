// SPDX-License-Identifier: BSD-2-Clause
/* How many recordings of an account begin at a time, and who waits for whom. */
#include "daemon/graind/attach/attach_turns.h"
#include "tests/unit/check.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ANN 1000
#define BOB 1001

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(void)
{
	size_t each = attach_turns__of_account(sysconf(_SC_NPROCESSORS_ONLN));
	struct attach_turn *anns = calloc(each + 1, sizeof(*anns)), bob, root;
	double began;

	CHECK(attach_turns__of_account(1) == 1 && attach_turns__of_account(2) == 1 &&
		      attach_turns__of_account(8) == 2 && attach_turns__of_account(64) == 16,
	      "by the number of CPUs");
	for (size_t i = 0; i < each; i++)
		attach_turns__begin(&anns[i], ANN);
	CHECK(anns[0].has && anns[each - 1].has, "%zu of ann's begin at a time", each);
	attach_turns__begin(&bob, BOB);
	attach_turns__begin(&root, 0);
	CHECK(bob.has && root.has, "nobody else waits for these");
	began = seconds();
	attach_turns__begin(&anns[each], ANN);
	CHECK(!anns[each].has && seconds() - began > 1, "another one of hers waits, but not for ever");
	attach_turns__end(&anns[each]);
	attach_turns__end(&anns[0]);
	attach_turns__begin(&anns[each], ANN);
	CHECK(anns[each].has, "and has its turn when one is done");
	attach_turns__end(&anns[each]);
	for (size_t i = 1; i < each; i++)
		attach_turns__end(&anns[i]);
	attach_turns__end(&bob);
	attach_turns__end(&root);
	free(anns);
	CHECK_DONE();
}
