// SPDX-License-Identifier: BSD-2-Clause
/* Who may stay at the metrics' socket, and by which names they ask. */
#include "daemon/graind/metrics/metrics_guests.h"
#include "tests/unit/check.h"

#include <arpa/inet.h>

static struct guests guests;

static int enter(int fd, const char *address)
{
	struct sockaddr_in four = {.sin_family = AF_INET};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6};

	if (inet_pton(AF_INET, address, &four.sin_addr) == 1)
		return guests__enter(&guests, fd, (const struct sockaddr *)&four);
	inet_pton(AF_INET6, address, &six.sin6_addr);
	return guests__enter(&guests, fd, (const struct sockaddr *)&six);
}

static void places(void)
{
	int fd = 100, gone = 0;

	guests__init(&guests);
	for (; fd < 100 + GUESTS_OF_AN_ADDRESS; fd++)
		gone += enter(fd, "127.0.0.1") >= 0;
	CHECK(gone == 0, "an address gets its connections");
	CHECK(enter(fd++, "127.0.0.2") == 100,
	      "then the oldest of them goes, whichever loopback it comes from");
	guests__leave(&guests, 100);
	for (; fd < 100 + 1 + GUESTS_MOST; fd++)
		gone += enter(fd, "10.0.0.1") >= 0;
	CHECK(gone == 0, "others get theirs");
	CHECK(enter(fd++, "10.0.0.2") == 101, "where all are taken the oldest of who has most goes");
	CHECK(enter(fd++, "10.0.0.3") == 102, "and the next");

	guests__init(&guests);
	for (fd = 0; fd < GUESTS_OF_AN_ADDRESS; fd++)
		enter(fd, fd % 2 ? "2001:db8::1" : "2001:db8::ffff:1");
	CHECK(enter(fd++, "2001:db8::2:2") == 0, "a network of IPv6 is one address");
	CHECK(enter(fd++, "2001:db8:0:1::1") == -1, "another one is not");
	CHECK(enter(fd++, "::ffff:127.0.0.1") == -1, "nor is one of IPv4");
	/* They have been told to go and do not. */
	guests__init(&guests);
	for (fd = 0; fd < 2 * GUESTS_MOST; fd++)
		enter(fd, "127.0.0.1");
	CHECK(enter(fd, "127.0.0.1") == fd, "without any place the newcomer goes");
}

static void names(void)
{
	static const char *const more[] = {"metrics.example.org", NULL};
	static const char *const good[] = {
		"10.0.0.7:9464",
		"127.0.0.1",
		"[::1]:9464",
		"[2001:db8::1]",
		"localhost:9464",
		"a.localhost:9464",
		"node1:9464",
		"node1.cluster:1",
		"NODE1.example.org",
		"login:9464",
		"node1.example.org.",
		"METRICS.example.org:9464",
		"",
	};
	static const char *const bad[] = {
		"evil.example:9464",
		"node1evil.example",
		"node12.example.org",
		"xnode1.example",
		"metrics.example.org.evil.example",
		"127.0.0.1.evil.example",
		"[evil.example]:9464",
		"[::1",
		"localhost.evil.example",
		"1.1",
	};

	CHECK(guests__may_ask_for(NULL, "node1", NULL), "who names no host may ask");
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		CHECK(guests__may_ask_for(good[i], "node1.cluster", more), "who asks for '%s' may", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK(!guests__may_ask_for(bad[i], "node1.cluster", more), "who asks for '%s' may not",
		      bad[i]);
	CHECK(!guests__may_ask_for("node1.example.org", "", NULL), "a machine without a name has none");
}

int main(void)
{
	places();
	names();
	CHECK_DONE();
}
