// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/common/settings/cgroup_limits.h"
#include "daemon/common/settings/small_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A mounted hierarchy with the group of the process in it. */
struct hierarchy {
	char mount[PATH_MAX / 4];
	char group[PATH_MAX / 2];
	bool unified; /* version 2 */
};

static bool has_word(const char *list, size_t bytes, const char *word)
{
	size_t length = strlen(word);

	for (size_t at = 0; at + length <= bytes; at++) {
		if (!strncmp(list + at, word, length) && (at == 0 || list[at - 1] == ',') &&
		    (at + length == bytes || list[at + length] == ','))
			return true;
	}
	return false;
}

/* Finds the group in lines of "NUMBER:CONTROLLERS:PATH". The controller "": version 2. */
static bool find_group(const char *groups, const char *controller, char *out, size_t size)
{
	for (const char *line = groups; line && *line; line = strchr(line, '\n')) {
		const char *list, *path;

		line += *line == '\n';
		list = strchr(line, ':');
		path = list ? strchr(list + 1, ':') : NULL;
		if (!path)
			return false;
		list++;
		if (controller[0] ? has_word(list, (size_t)(path - list), controller) : path == list) {
			snprintf(out, size, "%.*s", (int)strcspn(path + 1, "\n"), path + 1);
			/* A group outside of this namespace, or one that is gone. */
			return out[0] == '/' && !strstr(out, "/..");
		}
	}
	return false;
}

/* Finds the mount in lines of "DEVICE PATH TYPE OPTIONS 0 0". */
static bool find_mount(const char *mounts, const char *controller, char *out, size_t size)
{
	const char *wanted = controller[0] ? "cgroup" : "cgroup2";

	for (const char *line = mounts; line && *line; line = strchr(line, '\n')) {
		char path[PATH_MAX / 4], type[32], options[512];

		line += *line == '\n';
		if (sscanf(line, "%*s %1023s %31s %511s", path, type, options) == 3 &&
		    !strcmp(type, wanted) &&
		    (!controller[0] || has_word(options, strlen(options), controller))) {
			snprintf(out, size, "%s", path);
			return true;
		}
	}
	return false;
}

static bool find(const char *groups, const char *mounts, const char *controller, struct hierarchy *out)
{
	out->unified = !controller[0];
	return find_group(groups, controller, out->group, sizeof(out->group)) &&
	       find_mount(mounts, controller, out->mount, sizeof(out->mount));
}

/* Turns the group into the one around it. false: it is the root. */
static bool go_up(struct hierarchy *h)
{
	char *slash = strrchr(h->group, '/');

	if (!slash || !h->group[1])
		return false;
	slash[slash == h->group] = '\0';
	return true;
}

/* CPUs that the group's own quota allows; 0: it has none. */
static double quota_of(const struct hierarchy *h)
{
	char text[128];
	double quota = 0, period = 0;

	if (h->unified) {
		if (small_file__read(text, sizeof(text), "%s%s/cpu.max", h->mount, h->group) <= 0 ||
		    sscanf(text, "%lf %lf", &quota, &period) != 2)
			return 0;
	} else {
		if (small_file__read(text, sizeof(text), "%s%s/cpu.cfs_quota_us", h->mount, h->group) > 0)
			quota = strtod(text, NULL);
		if (small_file__read(text, sizeof(text), "%s%s/cpu.cfs_period_us", h->mount, h->group) > 0)
			period = strtod(text, NULL);
	}
	return quota > 0 && period > 0 ? quota / period : 0;
}

static void read_quota(struct hierarchy h, struct cgroup_limits *out)
{
	do {
		double quota = quota_of(&h);

		if (quota > 0 && (out->quota == 0 || quota < out->quota)) {
			out->quota = quota;
			snprintf(out->stat, sizeof(out->stat), "%s%s/cpu.stat", h.mount, h.group);
		}
	} while (go_up(&h));
}

static void read_cpuset(struct hierarchy h, struct cgroup_limits *out)
{
	const char *const names[] = {"cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"};
	char text[4096];

	do {
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			if (small_file__read(text, sizeof(text), "%s%s/%s", h.mount, h.group, names[i]) > 1 &&
			    cpus__read(text, &out->cpuset) && cpus__count(&out->cpuset))
				return;
		}
	} while (go_up(&h));
}

void cgroup_limits__read(const char *groups, const char *mounts, struct cgroup_limits *out)
{
	struct hierarchy h;

	memset(out, 0, sizeof(*out));
	if (find(groups, mounts, "cpu", &h) || find(groups, mounts, "", &h))
		read_quota(h, out);
	if (find(groups, mounts, "cpuset", &h) || find(groups, mounts, "", &h))
		read_cpuset(h, out);
}

bool cgroup_limits__throttled(const struct cgroup_limits *limits, uint64_t *periods, uint64_t *stopped)
{
	char text[2048];
	const char *a, *b;

	if (!limits->stat[0] || small_file__read(text, sizeof(text), "%s", limits->stat) <= 0)
		return false;
	a = strstr(text, "nr_periods ");
	b = strstr(text, "nr_throttled ");
	return a && b && sscanf(a, "nr_periods %" SCNu64, periods) == 1 &&
	       sscanf(b, "nr_throttled %" SCNu64, stopped) == 1;
}
