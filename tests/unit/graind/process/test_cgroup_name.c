// SPDX-License-Identifier: BSD-2-Clause
/* Names of jobs by what /proc/PID/cgroup says under batch systems, container engines and systemd. */
#include "daemon/graind/process/cgroup_name.h"

#include "tests/unit/check.h"

#define HEX "3f4e0d1c2b3a49586776859493a2b1c0d9e8f7061524334251607f8e9dacbbca"

static const struct {
	const char *lines, *expected, *name;
} cases[] = {
	{"0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n", "slurm:4711.0",
	 "Slurm, version 2"},
	{"0::/system.slice/node017_slurmstepd.scope/job_4711/step_batch/user/task_special\n",
	 "slurm:4711.batch", "Slurm, several slurmd on a node"},
	{"0::/system.slice/slurmstepd.scope/job_4711\n", "slurm:4711", "Slurm, without a step"},
	{"12:cpuset:/slurm/uid_1000/job_88/step_extern/task_0\n"
	 "11:freezer:/slurm/uid_1000/job_88/step_extern\n"
	 "1:name=systemd:/system.slice/slurmd.service\n"
	 "0::/system.slice/slurmd.service\n",
	 "slurm:88.extern", "Slurm, version 1"},
	{"4:memory:/slurm_node3/uid_0/job_9/step_2\n", "slurm:9.2", "Slurm, version 1, named node"},
	{"9:cpuset:/pbs_jobs.service/jobid/1234.pbs01\n1:name=systemd:/system.slice/pbs.service\n",
	 "pbs:1234.pbs01", "PBS"},
	{"0::/pbs_jobs.service/jobid/1234[7].pbs01\n", "pbs:1234[7].pbs01", "PBS, an array"},
	{"3:cpuset:/pbspro.service/jobid/55.head\n", "pbs:55.head", "PBS Pro"},
	{"3:cpuset:/pbspro.slice/pbspro-55.head.slice\n", "pbs:55.head", "PBS Pro with systemd"},
	{"0::/system.slice/docker-" HEX ".scope\n", "container:3f4e0d1c2b3a", "Docker with systemd"},
	{"12:pids:/docker/" HEX "\n1:name=systemd:/docker/" HEX "\n", "container:3f4e0d1c2b3a",
	 "Docker without"},
	{"0::/machine.slice/libpod-" HEX ".scope/container\n", "container:3f4e0d1c2b3a", "Podman"},
	{"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" HEX ".scope/container\n",
	 "container:3f4e0d1c2b3a", "Podman of a user"},
	{"0::/machine.slice/libpod-conmon-" HEX ".scope\n", "unit:libpod-conmon-" HEX ".scope",
	 "Podman's monitor"},
	{"0::/kubepods.slice/kubepods-burstable.slice/"
	 "kubepods-burstable-pod2f9a1f9e_0d0c_4a5c_8a4e_1d2c3b4a5968.slice/cri-containerd-" HEX ".scope\n",
	 "pod:2f9a1f9e-0d0c-4a5c-8a4e-1d2c3b4a5968.3f4e0d1c2b3a", "a pod with systemd"},
	{"0::/kubepods.slice/kubepods-pod2f9a1f9e_0d0c_4a5c_8a4e_1d2c3b4a5968.slice/crio-" HEX ".scope\n",
	 "pod:2f9a1f9e-0d0c-4a5c-8a4e-1d2c3b4a5968.3f4e0d1c2b3a", "a guaranteed pod"},
	{"11:cpuset:/kubepods/besteffort/pod2f9a1f9e-0d0c-4a5c-8a4e-1d2c3b4a5968/" HEX "\n",
	 "pod:2f9a1f9e-0d0c-4a5c-8a4e-1d2c3b4a5968.3f4e0d1c2b3a", "a pod without"},
	{"0::/system.slice/nginx.service\n", "unit:nginx.service", "a service"},
	{"0::/system.slice/postgres.service/worker\n", "unit:postgres.service", "a group of a service"},
	{"0::/user.slice/user-1000.slice/session-3.scope\n", "unit:session-3.scope", "a session"},
	{"0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-r5f.scope\n", "unit:run-r5f.scope",
	 "a user's scope"},
	{"0::/system.slice/system-getty.slice/getty@tty1.service\n", "unit:getty@tty1.service",
	 "an instance"},
	{"0::/\n", "", "none"},
	{"", "", "nothing"},
	{"nonsense\n::\n:\n0:", "", "nonsense"},
	{"0::/../../x", "", "outside of graind's namespace"},
	{"0::/user.slice/user-1000.slice/user@1000.service/system.slice/slurmstepd.scope/job_1/step_0\n",
	 "unit:slurmstepd.scope", "a user who plays Slurm"},
	{"0::/user.slice/user@1000.service/slurm/uid_0/job_1\n", "unit:user@1000.service",
	 "in the old way, too"},
	{"0::/system.slice/slurmstepd.scope/job_\n", "unit:slurmstepd.scope", "a job without a number"},
	{"0::/system.slice/a\"b\\c\033[31m.service\n", "unit:a?b?c?[31m.service",
	 "characters that are no text"},
	{"0::/system.slice/docker-12.scope\n", "unit:docker-12.scope", "what only looks like a container"},
};

int main(void)
{
	char longest[20000] = "0::/system.slice/slurmstepd.scope/job_", text[160];
	struct cgroup_name name;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cgroup_name__read(cases[i].lines, &name);
		cgroup_name__text(&name, text);
		CHECK_STR(text, cases[i].expected, "%s", cases[i].name);
	}
	memset(longest + strlen(longest), '7', sizeof(longest) - strlen(longest) - 1);
	cgroup_name__read(longest, &name);
	cgroup_name__text(&name, text);
	CHECK(strlen(text) < sizeof(text), "a name without end is cut");
	for (size_t i = 4; i + 2 < sizeof(longest); i += 2)
		memcpy(longest + i, "/a", 2);
	cgroup_name__read(longest, &name);
	CHECK_STR(name.kind, "", "a path without end");
	CHECK_DONE();
}
