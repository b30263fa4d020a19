// SPDX-License-Identifier: BSD-2-Clause
/*
 * The trial of what probes do to shadow stacks, here: "calls 1 returns 1" when both are kept.
 *   shadow_trial [plain]
 * plain: on children without a shadow stack.
 */
#include "uprobes/capture/shadow_trial.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	struct shadow_trial kept;

	(void)argv;
	shadow_trial__run(argc < 2, &kept);
	printf("calls %d returns %d\n", kept.calls, kept.returns);
	return 0;
}
