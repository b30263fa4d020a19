/* SPDX-License-Identifier: BSD-2-Clause */
/* Quotas and cpusets of both versions, in a directory that looks like the kernel's. */
#include "daemon/common/settings/cgroup_limits.h"
#include "tests/unit/check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/graind-cgroups.XXXXXX";

static void put(const char *path, const char *text)
{
	char name[PATH_MAX];
	FILE *file;

	snprintf(name, sizeof(name), "%s/%s", root, path);
	for (char *slash = name + sizeof(root); (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		(void)mkdir(name, 0700);
	}
	file = fopen(name, "we");
	if (file) {
		fputs(text, file);
		fclose(file);
	}
}

static struct cgroup_limits limits(const char *groups)
{
	struct cgroup_limits out;
	char mounts[512];

	snprintf(mounts, sizeof(mounts),
		 "tmpfs /sys/fs/cgroup tmpfs rw 0 0\nnone %s/cpu cgroup rw,relatime,cpu,cpuacct 0 0\n"
		 "none %s/sets cgroup rw,cpuset 0 0\nnone %s/v2 cgroup2 rw 0 0\n",
		 root, root, root);
	cgroup_limits__read(groups, mounts, &out);
	return out;
}

int main(void)
{
	struct cgroup_limits l;
	uint64_t periods = 0, stopped = 0;
	char command[64];

	if (!mkdtemp(root))
		return 1;
	put("v2/a/cpu.max", "400000 100000\n");
	put("v2/a/b/cpu.max", "max 100000\n");
	put("v2/a/b/cpuset.cpus.effective", "2-5\n");
	put("v2/a/c/cpu.max", "150000 100000\n");
	put("v2/a/c/cpu.stat", "usage_usec 1\nnr_periods 20\nnr_throttled 5\nthrottled_usec 7\n");
	put("cpu/x/cpu.cfs_quota_us", "200000\n");
	put("cpu/x/cpu.cfs_period_us", "100000\n");
	put("cpu/y/cpu.cfs_quota_us", "-1\n");
	put("cpu/y/cpu.cfs_period_us", "100000\n");
	put("sets/x/cpuset.effective_cpus", "7\n");
	l = limits("0::/a/b\n");
	CHECK(l.quota == 4 && cpus__count(&l.cpuset) == 4, "a quota of the group around it, and its cpuset");
	l = limits("0::/a/c\n");
	CHECK(l.quota == 1.5, "the smallest quota counts");
	CHECK(cgroup_limits__throttled(&l, &periods, &stopped) && periods == 20 && stopped == 5,
	      "how often it had to stop");
	l = limits("4:cpuset:/x\n3:cpu,cpuacct:/x\n0::/a/c\n");
	CHECK(l.quota == 2 && cpus__has(&l.cpuset, 7), "version 1");
	l = limits("3:cpu:/y\n");
	CHECK(l.quota == 0, "no quota");
	CHECK(limits("").quota == 0 && limits("0::/../../a/c\n").quota == 0 && limits("noise").quota == 0 &&
		      limits("0::/none\n").quota == 0,
	      "groups that cannot be found limit nothing");
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command) || check_failures;
}
