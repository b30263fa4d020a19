// SPDX-License-Identifier: BSD-2-Clause
/* Which event gives addresses of data, by trees like sysfs' of several machines, and events that are named.
 */
#include "tests/unit/check.h"
#include "uprobes/counters/memory_event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[] = "/tmp/graind-unit-devices.XXXXXX";

/* PATH TEXT of each file; NULL ends them. */
static void plant(const char *machine, const char *const *files, char devices[200])
{
	char path[400];

	snprintf(devices, 200, "%s/%s", root, machine);
	mkdir(devices, 0700);
	for (; *files; files += 2) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s", devices, files[0]);
		for (char *c = path + strlen(devices) + 1; *c; c++)
			if (*c == '/') {
				*c = '\0';
				mkdir(path, 0700);
				*c = '/';
			}
		f = fopen(path, "w");
		if (!f || fprintf(f, "%s\n", files[1]) < 0 || fclose(f))
			exit(1);
	}
}

#define INTEL_FORMATS                                                                                        \
	"cpu/format/event", "config:0-7", "cpu/format/umask", "config:8-15", "cpu/format/ldlat",             \
		"config1:0-15", "cpu/format/edge", "config:18"
static const char *const intel[] = {"cpu/type",
				    "4",
				    "cpu/events/mem-loads",
				    "event=0xcd,umask=0x1,ldlat=3",
				    INTEL_FORMATS,
				    "software/type",
				    "1",
				    NULL};
/* One of which the event only counts beside another. */
static const char *const intel_led[] = {"cpu/type",
					"4",
					"cpu/events/mem-loads",
					"event=0xcd,umask=0x1,ldlat=3",
					"cpu/events/mem-loads-aux",
					"event=0x03,umask=0x82",
					INTEL_FORMATS,
					NULL};
static const char *const amd[] = {"cpu/type",
				  "4",
				  "cpu/events/cpu-cycles",
				  "event=0x76",
				  "cpu/format/event",
				  "config:0-7,32-35",
				  "ibs_fetch/type",
				  "9",
				  "ibs_op/type",
				  "10",
				  "ibs_op/format/cnt_ctl",
				  "config:19",
				  NULL};
static const char *const hybrid[] = {
	"cpu_core/type", "4", "cpu_core/events/mem-loads", "event=0xcd", "cpu_atom/type", "10", NULL};
static const char *const virtual[] = {"cpu/type",      "4",	   "cpu/events/cpu-cycles",
				      "event=0x3c",    "msr/type", "6",
				      "software/type", "1",	   NULL};

static void test_machines(void)
{
	struct memory_event e;
	char devices[200];

	plant("intel", intel, devices);
	CHECK(memory_event__find(devices, &e) && !strcmp(e.name, "mem-loads") && e.type == 4,
	      "Intel: mem-loads");
	CHECK(e.config == 0x1cd && e.config1 == 3 && !e.config2,
	      "its event, mask and latency where they belong");
	CHECK(e.precise == 2 && !e.period && e.exclude_kernel && !e.led && !e.absent[0],
	      "precise, as often as asked for, and of programs");
	CHECK(memory_event__flaw(&e) == NULL, "it gives addresses");
	plant("led", intel_led, devices);
	CHECK(memory_event__find(devices, &e) && e.config == 0x1cd && e.led && e.leader == 0x8203,
	      "newer Intel: with the event beside which it counts");
	plant("amd", amd, devices);
	CHECK(memory_event__find(devices, &e) && !strcmp(e.name, "ibs_op") && e.type == 10 && !e.config &&
		      !e.precise && !e.exclude_kernel && !memory_event__flaw(&e),
	      "AMD: IBS of ops");
	plant("hybrid", hybrid, devices);
	CHECK(!memory_event__find(devices, &e) && !e.name[0], "two kinds of cores: none");
	CHECK_STR(e.absent, "addresses are not sampled on processors with two kinds of cores", "and why");
	plant("virtual", virtual, devices);
	CHECK(!memory_event__find(devices, &e) && !e.name[0], "a virtual machine without: none");
	CHECK_STR(
		e.absent,
		"no event of this machine gives addresses: it has neither mem-loads (Intel) nor ibs_op (AMD)",
		"and why");
	CHECK(!memory_event__find("/nonexistent", &e) && e.absent[0], "no such directory: none");
}

/* What does not say where a value belongs is no event. */
static void test_strange(void)
{
	static const struct {
		const char *what, *event, *format;
		uint64_t config, config1;
	} cases[] = {
		{"several ranges of bits", "event=0x1cd", "config:0-7,32-35", UINT64_C(0x1000000cd), 0},
		{"one bit, without a value", "event", "config:18", 1 << 18, 0},
		{"the whole of another word", "event=0x7", "config1:0-63", 0, 7},
		{"more than its bits hold", "event=0x1ff", "config:0-7", 0, 0},
		{"bits beyond the last", "event=1", "config:60-64", 0, 0},
		{"bits the wrong way round", "event=1", "config:7-0", 0, 0},
		{"no such word", "event=1", "config7:0-7", 0, 0},
		{"no bits", "event=1", "config:", 0, 0},
		{"noise", "event=1", "what:ever", 0, 0},
		{"no number", "event=0xzz", "config:0-7", 0, 0},
		{"a path", "../type=1", "config:0-7", 0, 0},
		{"a term of which nothing is said", "other=1", "config:0-7", 0, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *files[] = {
			"cpu/type",	 "4", "cpu/events/mem-loads", cases[i].event, "cpu/format/event",
			cases[i].format, NULL};
		bool good = cases[i].config || cases[i].config1;
		struct memory_event e;
		char machine[20], devices[200];

		snprintf(machine, sizeof(machine), "strange%zu", i);
		plant(machine, files, devices);
		CHECK(memory_event__find(devices, &e) == good &&
			      (!good || (e.config == cases[i].config && e.config1 == cases[i].config1)),
		      "%s", cases[i].what);
	}
}

static void test_named(void)
{
	static const struct {
		const char *what;
		struct memory_event event;
		bool good;
	} cases[] = {
		{"page faults",
		 {.name = "a", .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS},
		 true},
		{"every minor fault",
		 {.name = "a",
		  .type = PERF_TYPE_SOFTWARE,
		  .config = PERF_COUNT_SW_PAGE_FAULTS_MIN,
		  .period = 1},
		 true},
		{"switches",
		 {.name = "a", .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CONTEXT_SWITCHES},
		 false},
		{"cycles", {.name = "a", .type = PERF_TYPE_HARDWARE}, false},
		{"precise cycles", {.name = "a", .type = PERF_TYPE_HARDWARE, .precise = 2}, true},
		{"every cycle", {.name = "a", .type = PERF_TYPE_HARDWARE, .precise = 2, .period = 1}, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		CHECK((memory_event__flaw(&cases[i].event) == NULL) == cases[i].good, "%s: %s", cases[i].what,
		      cases[i].good ? "addresses" : "none");
}

#define LONG "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void test_text(void)
{
	static const struct memory_event event = {.name = "page-faults:u:period=3",
						  .type = PERF_TYPE_SOFTWARE,
						  .config = PERF_COUNT_SW_PAGE_FAULTS,
						  .config1 = 5,
						  .config2 = UINT64_MAX,
						  .period = 3,
						  .exclude_kernel = true};
	static const char *const bad[] = {
		"",
		"memory\n",
		"memory\ta b\t1\t0x2\t0x0\t0x0\t1\t0\t0\n",
		"memory\ta\t1\t0x2\t0x0\t0x0\t1\t0\t8\n",
		"memory\ta\t1\t0x2\t0x0\t0x0\t1\t0\t0",
		"memory\ta\t1\t0x2\t0x0\t0x0\t1\t0\t0\nmore\n",
		"memory\ta\t1\t0x2\t0x0\t0x0\t1\t4\t0\n",
		"memory\ta\t2\t0x2\t0x0\t0x0\t0\t2\t0\n",
		"memory\ta\t5\t0x2\t0x0\t0x0\t0\t2\t0\n",
		"memory\ta\t4000000000\t0x2\t0x0\t0x0\t0\t2\t0\n",
		"memory\ta\t1\t0x3\t0x0\t0x0\t1\t0\t0\n",
		"memory\t" LONG "\t1\t0x2\t0x0\t0x0\t1\t0\t0\n",
	};
	struct memory_event again;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	CHECK(f && !memory_event__write(&event, f) && !fclose(f) && !memory_event__read(text, &again) &&
		      !memcmp(&event, &again, sizeof(event)),
	      "written and read it is the same");
	free(text);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK(memory_event__read(bad[i], &again) == -EBADMSG, "refused: %.*s",
		      (int)strcspn(bad[i], "\n"), bad[i]);
}

int main(void)
{
	char command[100];

	if (!mkdtemp(root))
		return 1;
	test_machines();
	test_strange();
	test_named();
	test_text();
	snprintf(command, sizeof(command), "rm -r %s", root);
	CHECK(system(command) == 0, "cleaned up");
	CHECK_DONE();
}
