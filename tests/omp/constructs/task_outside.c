/* SPDX-License-Identifier: BSD-2-Clause */
/* Tasks outside of every region. */
#include "expect.h"

CONSTRUCT construct(struct truth *initial)
{
	TASK(initial, , TASK(t, , ); TASK(t, if (0), ));
	TASK(initial, if (0), );
	TASK(initial, final(1), TASK(t, , ));
	WAIT(initial);
}
