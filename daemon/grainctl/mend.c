/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/mend.h"
#include "daemon/common/beside.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

void mend__new_kernel(char out[MEND_MAX])
{
	snprintf(out, MEND_MAX, "%s", distributions[distribution()].kernel);
}

void mend__install_libgomp(char out[MEND_MAX])
{
	snprintf(out, MEND_MAX, "%s", distributions[distribution()].libgomp);
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

void mend__start_graind(char out[MEND_MAX])
{
	char path[200];

	if (have_unit())
		snprintf(out, MEND_MAX, "sudo systemctl enable --now graind");
	else
		snprintf(out, MEND_MAX, "sudo %s",
			 beside__find("graind", path, sizeof(path)) == 0 && !strpbrk(path, " '\"\\$`\n")
				 ? path
				 : "graind");
}

void mend__missing_file(char out[MEND_MAX])
{
	char makefile[200], self[200];

	if (beside__find("../systemd/install.mk", makefile, sizeof(makefile)) == 0)
		snprintf(out, MEND_MAX, "make -C \"%.*s\"",
			 (int)(strlen(makefile) - strlen("/systemd/install.mk")), makefile);
	else if (beside__find("grainctl", self, sizeof(self)) == 0 && !strcmp(self, "/usr/bin/grainctl"))
		snprintf(out, MEND_MAX, "sudo apt-get install --reinstall ./graind_*.deb");
	else
		snprintf(out, MEND_MAX, "cd GRAIND_SOURCES && sudo make install");
}

void mend__reload(char out[MEND_MAX], long pid)
{
	if (have_unit())
		snprintf(out, MEND_MAX, "sudo systemctl reload graind");
	else
		snprintf(out, MEND_MAX, "sudo kill -HUP %ld", pid);
}

void mend__metrics(char out[MEND_MAX])
{
	if (have_unit())
		snprintf(out, MEND_MAX,
			 "sudo systemctl enable graind-metrics.socket && sudo systemctl restart graind");
	else
		snprintf(out, MEND_MAX, "sudo graind --metrics 9464");
}

void mend__perf_uprobes(char out[MEND_MAX])
{
	snprintf(out, MEND_MAX,
		 "sudo install -D -t /etc/systemd/system/graind.service.d \\\n"
		 "  /usr/share/graind/perf-uprobes.conf &&\n"
		 "  sudo systemctl daemon-reload && sudo systemctl restart graind");
}
