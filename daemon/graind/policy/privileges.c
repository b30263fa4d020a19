// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/policy/privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

/* The capabilities that graind needs; systemd/README.md says why. */
static const struct {
	const char *name;
	unsigned int bit;
	bool part_of_admin; /* CAP_SYS_ADMIN includes this one */
} needed[] = {
	{"CAP_BPF", CAP_BPF, true},
	{"CAP_PERFMON", CAP_PERFMON, true},
	{"CAP_SYS_PTRACE", CAP_SYS_PTRACE, false},
	{"CAP_DAC_READ_SEARCH", CAP_DAC_READ_SEARCH, false},
	{"CAP_SETUID", CAP_SETUID, false},
	{"CAP_SETGID", CAP_SETGID, false},
	{"CAP_CHOWN", CAP_CHOWN, false},
};

/* Capabilities that are needed only on some machines. */
static const struct {
	const char *name;
	unsigned int bit;
} wanted[] = {
	{"CAP_SYS_ADMIN", CAP_SYS_ADMIN},
	{"CAP_CHECKPOINT_RESTORE", CAP_CHECKPOINT_RESTORE},
};

static int read_effective(uint64_t *out)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};

	if (syscall(SYS_capget, &header, data) != 0)
		return -errno;
	*out = data[0].effective | (uint64_t)data[1].effective << 32;
	return 0;
}

int privileges__check(char *why, size_t size)
{
	char missing[256] = "";
	uint64_t effective;
	int error = read_effective(&effective);

	if (error) {
		snprintf(why, size, "cannot read the capabilities of this process: %s", strerror(-error));
		return error;
	}
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (effective >> needed[i].bit & 1 ||
		    (needed[i].part_of_admin && effective >> CAP_SYS_ADMIN & 1))
			continue;
		snprintf(missing + strlen(missing), sizeof(missing) - strlen(missing), "%s%s",
			 missing[0] ? ", " : "", needed[i].name);
	}
	if (!missing[0])
		return 0;
	snprintf(why, size, "lacks %s: start it as root, or by systemctl start graind", missing);
	return -EPERM;
}

json_t *privileges__json(void)
{
	json_t *names = json_array();
	uint64_t effective = 0;

	if (read_effective(&effective) != 0)
		effective = 0;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (effective >> needed[i].bit & 1)
			json_array_append_new(names, json_string(needed[i].name));
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (effective >> wanted[i].bit & 1)
			json_array_append_new(names, json_string(wanted[i].name));
	return names;
}
