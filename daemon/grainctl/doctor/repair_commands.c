/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/doctor/repair_commands.h"
#include "daemon/common/programs/installed_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The longest path that becomes part of a command. */
#define LONGEST_PATH 200

static const struct {
	const char *manager, *kernel, *libgomp;
} distributions[] = {
	{"/usr/bin/apt-get",
	 "sudo apt-get update &&\n  sudo apt-get install linux-image-$(dpkg --print-architecture) && sudo "
	 "reboot",
	 "sudo apt-get install libgomp1"},
	{"/usr/bin/dnf", "sudo dnf upgrade kernel && sudo reboot", "sudo dnf install libgomp"},
	{"/usr/bin/zypper", "sudo zypper update kernel-default && sudo reboot",
	 "sudo zypper install libgomp1"},
	{"/usr/bin/pacman", "sudo pacman -Syu linux && sudo reboot", "sudo pacman -S gcc-libs"},
};

static size_t distribution(void)
{
	size_t count = sizeof(distributions) / sizeof(distributions[0]);

	for (size_t i = 0; i < count; i++) {
		if (access(distributions[i].manager, X_OK) == 0)
			return i;
	}
	return 0;
}

void repair_command__new_kernel(char out[REPAIR_COMMAND_MAX])
{
	snprintf(out, REPAIR_COMMAND_MAX, "%s", distributions[distribution()].kernel);
}

void repair_command__install_libgomp(char out[REPAIR_COMMAND_MAX])
{
	snprintf(out, REPAIR_COMMAND_MAX, "%s", distributions[distribution()].libgomp);
}

static int have_unit(void)
{
	static const char *const places[] = {"/etc/systemd/system/graind.service",
					     "/lib/systemd/system/graind.service",
					     "/usr/local/lib/systemd/system/graind.service"};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (access(places[i], F_OK) == 0)
			return access("/run/systemd/system", F_OK) == 0;
	}
	return 0;
}

/*
 * Finds a program of graind by its name. The program may be installed in bin, while this program is in
 * lib/graind.
 */
static int find_program(const char *name, char path[PATH_MAX])
{
	char found[PATH_MAX], in_bin[64];

	snprintf(in_bin, sizeof(in_bin), "../../bin/%s", name);
	if (installed_file__find(name, found, sizeof(found)) != 0 &&
	    installed_file__find(in_bin, found, sizeof(found)) != 0)
		return -ENOENT;
	return realpath(found, path) ? 0 : -errno;
}

void repair_command__start_graind(char out[REPAIR_COMMAND_MAX])
{
	char path[PATH_MAX];

	if (have_unit())
		snprintf(out, REPAIR_COMMAND_MAX, "sudo systemctl enable --now graind");
	else
		snprintf(out, REPAIR_COMMAND_MAX, "sudo %.*s", LONGEST_PATH,
			 find_program("graind", path) == 0 && strlen(path) < LONGEST_PATH &&
					 !strpbrk(path, " '\"\\$`\n")
				 ? path
				 : "graind");
}

void repair_command__missing_file(char out[REPAIR_COMMAND_MAX])
{
	char makefile[200], self[PATH_MAX];

	if (installed_file__find("../systemd/install.mk", makefile, sizeof(makefile)) == 0)
		snprintf(out, REPAIR_COMMAND_MAX, "make -C \"%.*s\"",
			 (int)(strlen(makefile) - strlen("/systemd/install.mk")), makefile);
	else if (find_program("grainctl", self) == 0 && !strcmp(self, "/usr/bin/grainctl"))
		snprintf(out, REPAIR_COMMAND_MAX, "sudo apt-get install --reinstall ./graind_*.deb");
	else
		snprintf(out, REPAIR_COMMAND_MAX, "cd GRAIND_SOURCES && sudo make install");
}

void repair_command__reload(char out[REPAIR_COMMAND_MAX], long pid)
{
	if (have_unit())
		snprintf(out, REPAIR_COMMAND_MAX, "sudo systemctl reload graind");
	else
		snprintf(out, REPAIR_COMMAND_MAX, "sudo kill -HUP %ld", pid);
}

void repair_command__metrics(char out[REPAIR_COMMAND_MAX])
{
	if (have_unit())
		snprintf(out, REPAIR_COMMAND_MAX,
			 "sudo systemctl enable graind-metrics.socket && sudo systemctl restart graind");
	else
		snprintf(out, REPAIR_COMMAND_MAX, "sudo graind --metrics 9464");
}

void repair_command__perf_uprobes(char out[REPAIR_COMMAND_MAX])
{
	snprintf(out, REPAIR_COMMAND_MAX,
		 "sudo install -D -t /etc/systemd/system/graind.service.d \\\n"
		 "  /usr/share/graind/perf-uprobes.conf &&\n"
		 "  sudo systemctl daemon-reload && sudo systemctl restart graind");
}
