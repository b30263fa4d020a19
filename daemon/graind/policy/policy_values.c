// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/policy/policy_values.h"

#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

bool policy_values__bytes(const char *text, uint64_t *out)
{
	static const char units[] = "KMGT";
	unsigned long long value;
	const char *unit;
	unsigned int shift = 0;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno)
		return false;
	unit = *end ? strchr(units, *end) : NULL;
	if (unit) {
		shift = 10 * (unsigned int)(unit - units + 1);
		end++;
	}
	if (*end || value > (uint64_t)INT64_MAX >> shift)
		return false;
	*out = (uint64_t)value << shift;
	return true;
}

bool policy_values__cpus(const char *text, cpu_set_t *out)
{
	CPU_ZERO(out);
	do {
		unsigned long first, last;
		char *end;

		if (!isdigit((unsigned char)*text))
			return false;
		first = last = strtoul(text, &end, 10);
		if (*end == '-') {
			if (!isdigit((unsigned char)end[1]))
				return false;
			last = strtoul(end + 1, &end, 10);
		}
		if (first > last || last >= CPU_SETSIZE)
			return false;
		for (unsigned long cpu = first; cpu <= last; cpu++)
			CPU_SET(cpu, out);
		if (*end && *end != ',')
			return false;
		text = end + (*end == ',');
		if (!*text)
			return *end == 0;
	} while (true);
}

bool policy_values__id(bool of_group, const char *name, unsigned int *out)
{
	char buffer[65536], *end;
	struct passwd user, *known_user = NULL;
	struct group group, *known_group = NULL;
	unsigned long number = strtoul(name, &end, 10);

	if (isdigit((unsigned char)*name) && !*end && number < UINT32_MAX) {
		*out = (unsigned int)number;
		return true;
	}
	if (!of_group && getpwnam_r(name, &user, buffer, sizeof(buffer), &known_user) == 0 && known_user)
		*out = known_user->pw_uid;
	else if (of_group && getgrnam_r(name, &group, buffer, sizeof(buffer), &known_group) == 0 &&
		 known_group)
		*out = known_group->gr_gid;
	else
		return false;
	return true;
}
