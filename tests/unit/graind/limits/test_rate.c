// SPDX-License-Identifier: BSD-2-Clause
/* How often accounts may ask: nobody gets a new allowance by having others ask. */
#include "daemon/graind/limits/rate.h"
#include "tests/unit/check.h"

#include <stddef.h>

#define SECOND UINT64_C(1000000000)

static size_t asks(enum rate_of what, uid_t account, size_t times, uint64_t now)
{
	size_t allowed = 0;

	for (size_t i = 0; i < times; i++)
		allowed += rate__allows(what, account, now);
	return allowed;
}

int main(void)
{
	uint64_t now = 1000 * SECOND;
	size_t got = 0;

	CHECK(asks(RATE_OF_REQUESTS, 1000, 1000, now) == RATE_AT_ONCE, "so many at once");
	CHECK(asks(RATE_OF_REQUESTS, 1001, 1000, now) == RATE_AT_ONCE, "another one as many");
	CHECK(asks(RATE_OF_CONNECTIONS, 1000, 1000, now) == RATE_AT_ONCE, "connections count for themselves");
	now += SECOND;
	CHECK(asks(RATE_OF_CONNECTIONS, 1000, 1000, now) == RATE_CONNECTIONS_PER_SECOND,
	      "a second later some more of these");
	CHECK(asks(RATE_OF_REQUESTS, 1000, 1000, now) == RATE_PER_SECOND, "a second later so many more");
	CHECK(asks(RATE_OF_REQUESTS, 1000, 1000, now - SECOND / 2) == 0, "time that goes back gives nothing");
	CHECK(asks(RATE_OF_REQUESTS, 1000, 1000, now) == 0, "nor does it then");
	/* More accounts than there are places for: those of before are not forgotten. */
	for (uid_t account = 2000; account < 2000 + 4 * RATE_ACCOUNTS; account++)
		got += asks(RATE_OF_REQUESTS, account, 1, now);
	CHECK(got >= RATE_ACCOUNTS, "others are allowed meanwhile: %zu", got);
	CHECK(asks(RATE_OF_REQUESTS, 1000, 1000, now) == 0, "who asked too often still did");
	got = asks(RATE_OF_REQUESTS, 9000, 1000, now) + asks(RATE_OF_REQUESTS, 9001, 1000, now);
	CHECK(got <= RATE_AT_ONCE, "those for whom there is no place share one allowance: %zu", got);
	now += 10 * SECOND;
	CHECK(asks(RATE_OF_REQUESTS, 9000, 1000, now) == RATE_AT_ONCE,
	      "and have their own when there is one");
	CHECK(asks(RATE_OF_REQUESTS, 1000, 1000, now) == RATE_AT_ONCE, "nobody gets more than that at once");
	now += 10 * SECOND;
	CHECK(rate__is_seldom(RATE_OF_REQUESTS, 9000, now) && rate__is_seldom(RATE_OF_REQUESTS, 77, now),
	      "who has not asked for long asks seldom");
	CHECK(asks(RATE_OF_REQUESTS, 9000, RATE_RARE, now) && rate__is_seldom(RATE_OF_REQUESTS, 9000, now),
	      "and who asks for little");
	CHECK(asks(RATE_OF_REQUESTS, 9000, 1, now) && !rate__is_seldom(RATE_OF_REQUESTS, 9000, now),
	      "but not for more");
	CHECK(rate__is_seldom(RATE_OF_REQUESTS, 9000, now + SECOND), "until it is forgotten");
	CHECK_DONE();
}
