// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/process/shadow_stack.h"
#include "daemon/common/process/process_status.h"
#include "daemon/common/process/read_all.h"
#include "daemon/graind/base/log.h"
#include "uprobes/capture/shadow_trial.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPUINFO_BYTES (64u << 10) /* enough for the first processor's lines */

static struct shadow_stack_machine machine;

bool shadow_stack__is_for_users(const char *cpuinfo)
{
	static const char word[] = "user_shstk";
	const size_t length = sizeof(word) - 1;
	const char *line = strncmp(cpuinfo, "flags", 5) ? strstr(cpuinfo, "\nflags") : cpuinfo;
	const char *end = line ? strchr(line + 1, '\n') : NULL;

	for (const char *at = line; at && (at = strstr(at, word)) && (!end || at < end); at += length)
		if (at > line && strchr(" \t", at[-1]) && strchr(" \t\n", at[length]))
			return true;
	return false;
}

const char *shadow_stack__why_not(const struct shadow_stack_machine *of, bool has)
{
	if (!has || (of->calls && of->returns))
		return NULL;
	return "has a shadow stack, which this kernel's probes do not keep: it would be killed; start it "
	       "with GLIBC_TUNABLES=glibc.cpu.hwcaps=-SHSTK, or record it from inside with grainctl run "
	       "--fast";
}

void shadow_stack__find_out(void)
{
	struct shadow_trial kept = {.calls = false};
	char *text = malloc(CPUINFO_BYTES);
	int fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
	size_t used = 0;

	if (text && fd >= 0 && read_all(fd, text, CPUINFO_BYTES - 1, &used) == 0) {
		text[used] = '\0';
		machine.user = shadow_stack__is_for_users(text);
	}
	if (fd >= 0)
		close(fd);
	free(text);
	if (!machine.user)
		return;
	shadow_trial__run(true, &kept);
	machine.calls = kept.calls;
	machine.returns = kept.returns;
	if (shadow_stack__is_lost())
		log__line(LOG_WARNING,
			  "this kernel does not keep shadow stacks where %s probed: processes that have one "
			  "are not probed, and sessions leave out runtimes that are marked for them",
			  machine.calls	    ? "returns are"
			  : machine.returns ? "calls are"
					    : "calls and returns are");
	else
		log__line(LOG_INFO,
			  "this kernel keeps shadow stacks where it probes: processes that have one "
			  "are recorded like all");
}

bool shadow_stack__is_lost(void)
{
	return machine.user && !(machine.calls && machine.returns);
}

const char *shadow_stack__why_not_process(pid_t pid)
{
	char *status = shadow_stack__is_lost() ? process_status__read(pid, pid) : NULL;
	const char *why =
		status ? shadow_stack__why_not(&machine, process_status__has_shadow_stack(status)) : NULL;

	free(status);
	return why;
}
