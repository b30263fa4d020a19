// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/metrics/metrics_guests.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#define PLACES (2 * GUESTS_MOST)
#define LOCALHOST ".localhost"
#define HOST_MAX 256

void guests__init(struct guests *guests)
{
	*guests = (struct guests){.came = 0};
	for (size_t i = 0; i < PLACES; i++)
		guests->list[i].fd = -1;
}

/*
 * All addresses in 127.0.0.0/8 are this machine. A host with one IPv6 address can use all addresses of its
 * network.
 */
static void read_address(const struct sockaddr *from, uint8_t to[16])
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	memset(to, 0, 16);
	if (from && from->sa_family == AF_INET6) {
		memcpy(to, &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr, 16);
	} else if (from && from->sa_family == AF_INET) {
		memcpy(to, mapped, sizeof(mapped));
		memcpy(to + 12, &((const struct sockaddr_in *)(const void *)from)->sin_addr, 4);
	}
	if (memcmp(to, mapped, sizeof(mapped)) != 0)
		memset(to + 8, 0, 8);
	else if (to[12] == 127)
		memset(to + 13, 0, 3);
}

static size_t count_of(const struct guests *guests, const uint8_t address[16])
{
	size_t count = 0;

	for (size_t i = 0; i < PLACES; i++)
		count += guests->list[i].fd >= 0 && !guests->list[i].leaves &&
			 (!address || !memcmp(guests->list[i].address, address, 16));
	return count;
}

static struct guest *oldest_of(struct guests *guests, const uint8_t address[16])
{
	struct guest *oldest = NULL;

	for (size_t i = 0; i < PLACES; i++) {
		struct guest *guest = &guests->list[i];

		if (guest->fd >= 0 && !guest->leaves && !memcmp(guest->address, address, 16) &&
		    (!oldest || guest->came < oldest->came))
			oldest = guest;
	}
	return oldest;
}

/* Returns the address with the most connections. The list must not be empty. */
static const uint8_t *heaviest(const struct guests *guests)
{
	const uint8_t *address = NULL;
	size_t most = 0;

	for (size_t i = 0; i < PLACES; i++) {
		const struct guest *guest = &guests->list[i];
		size_t count = guest->fd >= 0 && !guest->leaves ? count_of(guests, guest->address) : 0;

		if (count > most) {
			most = count;
			address = guest->address;
		}
	}
	return address;
}

int guests__enter(struct guests *guests, int fd, const struct sockaddr *address)
{
	struct guest *place = guests->list, *goes = NULL, newcomer = {.fd = fd, .came = ++guests->came};

	read_address(address, newcomer.address);
	while (place < guests->list + PLACES && place->fd >= 0)
		place++;
	/* The connections that must leave are still there. */
	if (place == guests->list + PLACES)
		return fd;
	if (count_of(guests, newcomer.address) >= GUESTS_OF_AN_ADDRESS)
		goes = oldest_of(guests, newcomer.address);
	else if (count_of(guests, NULL) >= GUESTS_MOST)
		goes = oldest_of(guests, heaviest(guests));
	*place = newcomer;
	if (!goes)
		return -1;
	goes->leaves = true;
	return goes->fd;
}

void guests__leave(struct guests *guests, int fd)
{
	for (size_t i = 0; i < PLACES; i++)
		if (guests->list[i].fd == fd)
			guests->list[i].fd = -1;
}

/* Reads the name without brackets, port and last dot. False: it is too long. */
static bool read_name(const char *host, char name[HOST_MAX])
{
	const char *end = *host == '[' ? strchr(host, ']') : host + strcspn(host, ":");
	size_t length;

	host += *host == '[';
	if (!end || end - host >= HOST_MAX)
		return false;
	length = (size_t)(end - host);
	memcpy(name, host, length);
	name[length] = 0;
	if (length && name[length - 1] == '.')
		name[length - 1] = 0;
	return true;
}

static bool is_number(const char *name)
{
	uint8_t ignored[16];

	return inet_pton(AF_INET, name, ignored) == 1 || inet_pton(AF_INET6, name, ignored) == 1;
}

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), rest = strlen(end);

	return length > rest && !strcasecmp(name + length - rest, end);
}

bool guests__may_ask_for(const char *host, const char *own, const char *const *more)
{
	char name[HOST_MAX];
	size_t label = strcspn(own, ".");

	if (!host)
		return true;
	if (!read_name(host, name))
		return false;
	/* Names without a dot belong to the local network. */
	if (!strchr(name, '.') || is_number(name) || ends_with(name, LOCALHOST))
		return true;
	/* This machine's name is accepted in any domain: the machine may not know its own domain. */
	if (label && !strncasecmp(name, own, label) && name[label] == '.')
		return true;
	for (; more && *more; more++)
		if (!strcasecmp(name, *more))
			return true;
	return false;
}
