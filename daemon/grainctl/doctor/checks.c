/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/doctor/checks.h"
#include "daemon/grainctl/doctor/service_checks.h"
#include "daemon/grainctl/launch/shim_library.h"
#include "uprobes/capture/capture.h"
#include "uprobes/counters/memory_event.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <numa.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* some installed headers have a linux/capability.h without these enum constants */
#define BIT_PERFMON 38
#define BIT_BPF 39
#define RING_MIB_PER_CPU 4

void check__set(struct check *check, const char *name, enum check_result result, const char *detail,
		const char *advice)
{
	check->name = name;
	check->result = result;
	snprintf(check->detail, sizeof(check->detail), "%.300s", detail);
	snprintf(check->advice, sizeof(check->advice), "%.300s", advice);
	check->command[0] = 0;
}

void check__set_command(struct check *check, const char *command)
{
	snprintf(check->command, sizeof(check->command), "%s", command);
}

/* Reads the first line of a small file; "": the file cannot be read. */
static void read_line(const char *path, char *out, size_t size)
{
	FILE *file = fopen(path, "re");

	out[0] = 0;
	if (!file)
		return;
	if (!fgets(out, (int)size, file))
		out[0] = 0;
	out[strcspn(out, "\n")] = 0;
	fclose(file);
}

static unsigned kernel_version(char release[65])
{
	unsigned major = 0, minor = 0;
	struct utsname name;

	uname(&name);
	snprintf(release, 65, "%s", name.release);
	if (sscanf(name.release, "%u.%u", &major, &minor) != 2)
		return 0;
	return major * 1000 + minor;
}

static void check_kernel(struct check *check)
{
	char release[65], detail[160];
	unsigned version = kernel_version(release);

	snprintf(detail, sizeof(detail), "Linux %s", release);
	if (version >= 5015)
		check__set(check, "kernel", CHECK_YES, detail, "");
	else
		check__set(check, "kernel", CHECK_NO, detail,
			   "graind needs Linux 5.15 or newer (probes with cookies)");
	if (check->result != CHECK_YES)
		repair_command__new_kernel(check->command);
}

static void check_btf(struct check *check)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK) == 0)
		check__set(check, "kernel types", CHECK_YES, "/sys/kernel/btf/vmlinux is there", "");
	else
		check__set(check, "kernel types", CHECK_NO, "no /sys/kernel/btf/vmlinux",
			   "use a kernel built with CONFIG_DEBUG_INFO_BTF=y, as distributions' are");
	if (check->result != CHECK_YES)
		repair_command__new_kernel(check->command);
}

static uint64_t effective_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};

	if (syscall(SYS_capget, &header, data) < 0)
		return 0;
	return (uint64_t)data[1].effective << 32 | data[0].effective;
}

/* Checks the capabilities of the running graind, or else of the caller, who may start a private graind. */
static void check_capabilities(struct check *check, const json_t *service)
{
	static const struct {
		unsigned bit;
		const char *name;
	} needed[] = {{BIT_BPF, "CAP_BPF"},
		      {BIT_PERFMON, "CAP_PERFMON"},
		      {CAP_SYS_PTRACE, "CAP_SYS_PTRACE"},
		      {CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH"}};
	uint64_t have = effective_capabilities();
	char missing[160] = "";

	if (service) {
		service_checks__capabilities(check, service);
		return;
	}
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (!(have >> needed[i].bit & 1) &&
		    !(have >> CAP_SYS_ADMIN & 1 && needed[i].bit >= BIT_PERFMON)) {
			if (missing[0])
				strncat(missing, ", ", sizeof(missing) - strlen(missing) - 1);
			strncat(missing, needed[i].name, sizeof(missing) - strlen(missing) - 1);
		}
	}
	if (missing[0]) {
		char detail[200];

		snprintf(detail, sizeof(detail), "you lack %s", missing);
		check__set(check, "capabilities", CHECK_LIMITED, detail,
			   "where graind runs it has them; without one only root can profile");
		check__set_command(check, "sudo grainctl run -- CMD");
	} else {
		check__set(check, "capabilities", CHECK_YES,
			   "CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH", "");
	}
}

/* Checks uprobe_multi by the kernel's version, and tries it if the caller has the rights. */
static void check_multi(struct check *check)
{
	const struct capture_opts opts = {.pid = getpid(),
					  .ready = 1u << RUNTIME_LIBGOMP | 1u << RUNTIME_LIBOMP |
						   1u << RUNTIME_PROGRAM,
					  .method = CAPTURE_MULTI,
					  .slots_per_cpu = 1024};
	struct uprobes_error error = {""};
	struct capture *capture = NULL;
	char release[65], detail[320];
	unsigned version = kernel_version(release);
	int result;

	if (geteuid() != 0) {
		snprintf(detail, sizeof(detail), "by its version this kernel %s (tried as root only)",
			 version >= 6006 ? "has it" : "lacks it");
		check__set(check, "uprobe_multi", version >= 6006 ? CHECK_YES : CHECK_LIMITED, detail,
			   version >= 6006
				   ? ""
				   : "Linux 6.6 attaches in milliseconds; older kernels use perf events");
		if (version < 6006)
			repair_command__new_kernel(check->command);
		return;
	}
	result = capture__open(&opts, &capture, &error);
	if (!result) {
		check__set(check, "uprobe_multi", CHECK_YES,
			   "tried: programs load and probes can be attached", "");
	} else {
		snprintf(detail, sizeof(detail), "tried: %.300s",
			 error.text[0] ? error.text : strerror(-result));
		check__set(check, "uprobe_multi", CHECK_LIMITED, detail,
			   version >= 6006
				   ? "the kernel has it, but does not let this user try it"
				   : "Linux 6.6 attaches in milliseconds; older kernels use perf events");
		if (version < 6006)
			repair_command__new_kernel(check->command);
		else
			repair_command__start_graind(check->command);
	}
	capture__free(capture);
}

static void check_perf_uprobes(struct check *check, const json_t *service)
{
	char release[65];
	bool needed = kernel_version(release) < 6006 || service_checks__uses_perf(service);
	bool admin = service ? service_checks__has(service, "CAP_SYS_ADMIN")
			     : effective_capabilities() >> CAP_SYS_ADMIN & 1;

	if (access("/sys/bus/event_source/devices/uprobe/type", R_OK) < 0)
		check__set(check, "perf uprobes", CHECK_LIMITED, "the kernel does not offer them",
			   "only needed where uprobe_multi is missing: CONFIG_UPROBE_EVENTS=y");
	else if (!admin)
		check__set(check, "perf uprobes", CHECK_LIMITED,
			   service ? "there, but recent kernels want CAP_SYS_ADMIN for them, which graind "
				     "has not"
				   : "there, but recent kernels want CAP_SYS_ADMIN for them",
			   "only needed where uprobe_multi is missing");
	else
		check__set(check, "perf uprobes", CHECK_YES,
			   "there (slow to detach; used where uprobe_multi is missing)", "");
	if (check->result == CHECK_YES || !needed)
		return;
	if (access("/sys/bus/event_source/devices/uprobe/type", R_OK) < 0)
		repair_command__new_kernel(check->command);
	else
		repair_command__perf_uprobes(check->command);
}

static void check_memory(struct check *check)
{
	unsigned long long available_kib = 0;
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	unsigned long long need_mib = (unsigned long long)(cpus > 0 ? cpus : 1) * RING_MIB_PER_CPU;
	char line[256], detail[200];
	FILE *file = fopen("/proc/meminfo", "re");

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "MemAvailable: %llu kB", &available_kib) == 1)
			break;
	}
	if (file)
		fclose(file);
	snprintf(detail, sizeof(detail), "%llu MiB for the event rings of %ld CPUs a job, %llu MiB available",
		 need_mib, cpus, available_kib / 1024);
	if (need_mib * 4 < available_kib / 1024)
		check__set(check, "ring memory", CHECK_YES, detail, "");
	else
		check__set(check, "ring memory", CHECK_LIMITED, detail,
			   "free memory, or profile fewer jobs at a time; this shows them");
	if (check->result != CHECK_YES)
		check__set_command(check, "grainctl top");
}

static void check_paranoid(struct check *check)
{
	char line[32], detail[160];
	bool perfmon = effective_capabilities() & (1ull << BIT_PERFMON | 1ull << CAP_SYS_ADMIN);
	int level = 4;

	read_line("/proc/sys/kernel/perf_event_paranoid", line, sizeof(line));
	sscanf(line, "%d", &level);
	snprintf(detail, sizeof(detail), "kernel.perf_event_paranoid = %s", line[0] ? line : "(unreadable)");
	if (perfmon || level <= 1)
		check__set(check, "perf events", CHECK_YES, detail, "");
	else
		check__set(check, "perf events", CHECK_LIMITED, detail,
			   "graind has its own capabilities; only for what you run without it");
	if (check->result != CHECK_YES)
		check__set_command(check, "sudo sysctl kernel.perf_event_paranoid=1");
}

static void check_pmu(struct check *check)
{
	struct perf_event_attr attribute = {.type = PERF_TYPE_HARDWARE,
					    .size = sizeof(attribute),
					    .config = PERF_COUNT_HW_CPU_CYCLES,
					    .exclude_kernel = 1,
					    .exclude_hv = 1};
	bool denied;
	long fd = syscall(SYS_perf_event_open, &attribute, 0, -1, -1, 0);
	char detail[160];

	if (fd >= 0) {
		close((int)fd);
		check__set(check, "hardware counters", CHECK_YES, "a cycle counter can be read", "");
		return;
	}
	denied = errno == EACCES || errno == EPERM;
	snprintf(detail, sizeof(detail), "no cycle counter: %s", strerror(errno));
	check__set(check, "hardware counters", CHECK_LIMITED, detail,
		   denied ? "this user may not read it"
			  : "metrics from counters stay absent; a virtual machine has some if its host "
			    "starts it "
			    "so, as "
			    "QEMU does with -cpu host,pmu=on");
	if (denied)
		check__set_command(check, "sudo sysctl kernel.perf_event_paranoid=1");
}

static void check_numa(struct check *check)
{
	char line[128], detail[200];

	read_line("/sys/devices/system/node/online", line, sizeof(line));
	if (strpbrk(line, ",-")) {
		snprintf(detail, sizeof(detail), "nodes %s", line);
		check__set(check, "NUMA", CHECK_YES, detail, "");
	} else {
		check__set(check, "NUMA", CHECK_LIMITED, "one node", "distances between nodes stay absent");
	}
}

static void check_pages(struct check *check)
{
	char here;
	void *page = &here;
	int node = 0;

	if (numa_move_pages(0, 1, &page, NULL, &node, 0) == 0)
		check__set(
			check, "page placement", CHECK_YES,
			"the kernel tells on which node a page is; remote accesses are judged by that where "
			"addresses are not sampled",
			"");
	else
		check__set(
			check, "page placement", CHECK_NO, strerror(errno),
			"where memory is stays absent; use a kernel with CONFIG_NUMA and CONFIG_MIGRATION");
	if (check->result != CHECK_YES)
		repair_command__new_kernel(check->command);
}

static void check_addresses(struct check *check)
{
	struct memory_event event;
	char detail[200];

	if (memory_event__find(MEMORY_EVENT_DEVICES, &event)) {
		snprintf(detail, sizeof(detail), "--sample takes them from %s", event.name);
		check__set(check, "memory addresses", CHECK_YES, detail, "");
	} else {
		check__set(check, "memory addresses", CHECK_LIMITED, event.absent,
			   "remote accesses are judged by where pages are; --memory-event page-faults "
			   "samples first "
			   "touches");
	}
}

static void check_fast(const struct ctl *ctl, struct check *check)
{
	char library[4400], where[128], why[512];

	if (shim_library__find(ctl->socket, library, where, why) == 0) {
		check__set(check, "recording inside", CHECK_YES, "libgrainshim.so is there, for --fast", "");
	} else {
		check__set(check, "recording inside", CHECK_LIMITED, why,
			   "only --fast needs it; it comes with grainctl");
		repair_command__missing_file(check->command);
	}
}

/* Checks the free space. Traces grow by at most tens of megabytes a second. */
static void check_disk(const struct ctl *ctl, struct check *check)
{
	struct statvfs disk;
	char detail[320];
	double free_gb;

	if (statvfs(ctl->state_dir, &disk) < 0) {
		snprintf(detail, sizeof(detail), "%.200s: %s", ctl->state_dir, strerror(errno));
		check__set(check, "state directory", CHECK_LIMITED, detail, "graind makes it when it starts");
		repair_command__start_graind(check->command);
		return;
	}
	free_gb = (double)disk.f_bavail * (double)disk.f_frsize / 1e9;
	snprintf(detail, sizeof(detail), "%.200s has %.1f GB free", ctl->state_dir, free_gb);
	if (free_gb >= 1) {
		check__set(check, "state directory", CHECK_YES, detail, "");
	} else {
		check__set(check, "state directory", free_gb >= 0.05 ? CHECK_LIMITED : CHECK_NO, detail,
			   "delete jobs that nobody needs any more");
		check__set_command(check, "grainctl jobs --all; grainctl delete JOB");
	}
}

size_t checks__run(const struct ctl *ctl, struct check out[CHECKS_MAX])
{
	json_t *service = service_checks__ask(ctl, &out[0]);
	struct check graind = out[0];
	size_t count = 0;

	check_kernel(&out[count++]);
	check_btf(&out[count++]);
	check_multi(&out[count++]);
	check_perf_uprobes(&out[count++], service);
	check_capabilities(&out[count++], service);
	out[count++] = graind;
	if (service)
		count += service_checks__run(service, &out[count]);
	check_disk(ctl, &out[count++]);
	check_fast(ctl, &out[count++]);
	check_memory(&out[count++]);
	check_paranoid(&out[count++]);
	check_pmu(&out[count++]);
	check_numa(&out[count++]);
	check_pages(&out[count++]);
	check_addresses(&out[count++]);
	json_decref(service);
	return count;
}
