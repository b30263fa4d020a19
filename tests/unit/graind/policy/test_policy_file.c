// SPDX-License-Identifier: BSD-2-Clause
/* graind.conf(5): what it may say, what is refused with which line, and which rule a process falls under. */
#include "daemon/graind/policy/policy_file.h"

#include "tests/unit/check.h"

static const char whole[] = "# a comment\n"
			    "process-ceiling-percent = 2\n"
			    "host-ceiling-percent = 0.5\n"
			    "allow-fast = true\n"
			    "job-bytes = 4G\n"
			    "keep-days = 30\n"
			    "keep-bytes = 20G\n"
			    "user-bytes = 500M\n"
			    "user-jobs = 77\n"
			    "cpus = \"0-2,5\"\n"
			    "memory-bytes = 1048576\n"
			    "report-directory = \"/shared/graind/%u\"\n"
			    "report-traces = true\n"
			    "rule {\n"
			    "	user = {daemon, 1234}\n"
			    "	exe = \"/opt/*/bin/*\"\n"
			    "	profile = always\n"
			    "}\n"
			    "rule {\n"
			    "	cgroup = {\"/system.slice/slurmstepd.scope/*\", \"/slurm/*\"}\n"
			    "	profile = off\n"
			    "}\n"
			    "rule { group = 77 profile = always }\n"
			    "rule { user = root profile = off }\n"
			    "rule { user = root profile = always }\n";

static void test_whole(void)
{
	struct policy_file *file = NULL;
	const struct policy_limits *limits;
	char why[POLICY_WHY];
	json_t *shown = json_object(), *rules;
	int error = policy_file__parse(whole, strlen(whole), "f", &file, why);

	CHECK(error == 0, "a file with everything");
	if (error) {
		printf("# %s\n", why);
		return;
	}
	limits = policy_file__limits(file);
	CHECK(limits->process_ceiling_percent == 2 && limits->host_ceiling_percent == 0.5, "percentages");
	CHECK(limits->allow_fast, "allow-fast");
	CHECK(limits->job_bytes == UINT64_C(4) << 30 && limits->keep_bytes == UINT64_C(20) << 30 &&
		      limits->user_bytes == 500u << 20 && limits->memory_bytes == 1048576,
	      "bytes");
	CHECK(limits->keep_seconds == 30 * 86400, "days");
	CHECK(limits->user_jobs == 77, "jobs");
	CHECK(limits->some_cpus && CPU_COUNT(&limits->cpus) == 4 && CPU_ISSET(5, &limits->cpus), "cpus");
	policy_file__describe(file, shown);
	rules = json_object_get(shown, "rules");
	CHECK(json_array_size(rules) == 5, "rules are shown");
	CHECK_STR(json_string_value(json_array_get(json_object_get(json_array_get(rules, 1), "cgroup"), 1)),
		  "/slurm/*", "with their conditions");
	CHECK(json_number_value(json_object_get(shown, "process_ceiling_percent")) == 2, "and limits");
	CHECK_STR(policy_file__report_directory(file), "/shared/graind/%u", "report-directory");
	CHECK(limits->report_traces, "report-traces");
	CHECK_STR(json_string_value(json_object_get(shown, "report_directory")), "/shared/graind/%u",
		  "is shown");
	json_decref(shown);
	policy_file__free(file);
}

static void test_decide(void)
{
	static const gid_t groups[] = {5, 77};
	static const struct {
		struct policy_subject subject;
		enum policy_profile expected;
		const char *name;
	} cases[] = {
		{{1234, NULL, 0, "/opt/x/bin/y", "0::/\n"}, POLICY_ALWAYS, "all conditions hold"},
		{{1, NULL, 0, "/opt/x/bin/y", "0::/\n"}, POLICY_ALWAYS, "a user by name"},
		{{1234, NULL, 0, "/usr/bin/y", "0::/\n"}, POLICY_ON_REQUEST, "one condition fails"},
		{{1235, NULL, 0, "/opt/x/bin/y", "0::/\n"}, POLICY_ON_REQUEST, "the other one fails"},
		{{1235, NULL, 0, "/a", "0::/system.slice/slurmstepd.scope/job_1/step_0\n"},
		 POLICY_OFF,
		 "a cgroup"},
		{{1235, NULL, 0, "/a", "9:cpuset:/slurm/uid_1/job_2\n1:name=systemd:/x\n"},
		 POLICY_OFF,
		 "a cgroup of version 1"},
		{{1235, NULL, 0, "/a", "1:name=systemd:/x\n0::/slurm/uid_1"}, POLICY_OFF, "in the last line"},
		{{1235, NULL, 0, "/a", "0::/user.slice/slurm/uid_1\n"},
		 POLICY_ON_REQUEST,
		 "only from its root"},
		{{1235, NULL, 0, "/a", "nonsense"}, POLICY_ON_REQUEST, "lines that are none"},
		{{1235, groups, 2, "/a", ""}, POLICY_ALWAYS, "a supplementary group"},
		{{1235, groups, 1, "/a", ""}, POLICY_ON_REQUEST, "other groups"},
		{{0, NULL, 0, "/a", ""}, POLICY_OFF, "the first match wins"},
		{{0, groups, 2, "/a", ""}, POLICY_ALWAYS, "the first match wins, by another condition"},
	};
	struct policy_file *file = NULL;
	char why[POLICY_WHY];

	if (policy_file__parse(whole, strlen(whole), "f", &file, why) != 0)
		return;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK(policy_file__decide(file, &cases[i].subject) == cases[i].expected, "%s", cases[i].name);
	CHECK(policy_file__has(file, POLICY_ALWAYS), "some are always profiled");
	policy_file__free(file);
}

static void test_refused(void)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{"speed = 3\n", "f:1: no such option 'speed'"},
		{"\n\nprocess-ceiling-percent = 101\n",
		 "f:3: process-ceiling-percent is a percentage: 0 to 100"},
		{"host-ceiling-percent = nan\n", "f:1: host-ceiling-percent is a percentage: 0 to 100"},
		{"host-ceiling-percent = -1\n", "f:1: host-ceiling-percent is a percentage: 0 to 100"},
		{"keep-days = -1\n", "f:1: keep-days is a number of days: 0 to 36500"},
		{"report-directory = shared\n",
		 "f:1: report-directory is a path that begins with /, with %u for the user's name"},
		{"report-directory = \"/home/%h\"\n",
		 "f:1: report-directory is a path that begins with /, with %u for the user's name"},
		{"report-directory = \"/home/%\"\n",
		 "f:1: report-directory is a path that begins with /, with %u for the user's name"},
		{"\nkeep-bytes = 20Q\n", "f:2: keep-bytes is a number of bytes, such as 500M or 20G"},
		{"job-bytes = 99999999999999999999\n",
		 "f:1: job-bytes is a number of bytes, such as 500M or 20G"},
		{"user-jobs = -1\n", "f:1: user-jobs is a number of jobs: 0 (no limit) to 1000000000"},
		{"user-bytes = 9999999999T\n", "f:1: user-bytes is a number of bytes, such as 500M or 20G"},
		{"cpus = \"3-1\"\n", "f:1: cpus is a list of CPUs, such as \"0-3,8\""},
		{"cpus = \"0,\"\n", "f:1: cpus is a list of CPUs, such as \"0-3,8\""},
		{"cpus = \"5000\"\n", "f:1: cpus is a list of CPUs, such as \"0-3,8\""},
		{"keep-days = 1\nkeep-days = 2\n", "f:2: keep-days is given twice"},
		{"rule {\n profile = sometimes\n}\n", "f:2: profile is off, on-request or always"},
		{"rule {\n profile = off\n profile = always\n}\n", "f:3: profile is given twice"},
		{"rule {\n user = root\n}\n", "f:3: this rule has no profile = off, on-request or always"},
		{"rule {\n user = {}\n profile = off }\n", "f:3: this rule has an empty list of user"},
		{"rule {\n user = nobody-of-that-name\n profile = off }\n",
		 "f:2: there is no user nobody-of-that-name"},
		{"rule {\n group = no-such-group\n profile = off }\n",
		 "f:2: there is no group no-such-group"},
		{"rule {\n exe = \"app\"\n profile = off }\n",
		 "f:2: exe is a pattern that begins with / or *"},
	};
	static const char zero[] = "keep-days = 1\n\0keep-days = 2\n";
	static const char *const broken[] = {
		"rule {", "rule { profile = off", "keep-days", "keep-days = ", "= 3", "\"",
		"/*",	  "keep-days = x",	  "}",	       "rule = {1}",   "{{{{"};
	static char large[70000];
	struct policy_file *file = NULL;
	char why[POLICY_WHY];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int error = policy_file__parse(cases[i].text, strlen(cases[i].text), "f", &file, why);

		CHECK(error < 0, "refused: %s", cases[i].why);
		CHECK_STR(why, cases[i].why, "and says so");
		if (!error)
			policy_file__free(file);
	}
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		int error = policy_file__parse(broken[i], strlen(broken[i]), "f", &file, why);

		CHECK(error < 0 && !strncmp(why, "f:", 2) && !strchr(why, '\n'), "broken: %s", broken[i]);
		printf("# %s\n", why);
		if (!error)
			policy_file__free(file);
	}
	CHECK(policy_file__parse(zero, sizeof(zero) - 1, "f", &file, why) < 0 && strstr(why, "f:2"),
	      "a zero byte");
	memset(large, '\n', sizeof(large));
	CHECK(policy_file__parse(large, sizeof(large), "f", &file, why) < 0, "too large");
	CHECK(policy_file__read("/nonexistent/f", &file, why) < 0 && strstr(why, "/nonexistent/f"),
	      "a file that is not there");
	CHECK(policy_file__read("/", &file, why) < 0, "a directory");
}

static void test_empty(void)
{
	const struct policy_subject subject = {1000, NULL, 0, "/a", "0::/\n"};
	struct policy_file *file = NULL;
	char why[POLICY_WHY];

	CHECK(policy_file__parse("", 0, "f", &file, why) == 0, "an empty file");
	CHECK(policy_file__decide(file, &subject) == POLICY_ON_REQUEST &&
		      !policy_file__limits(file)->job_bytes && !policy_file__has(file, POLICY_ALWAYS),
	      "forbids and limits nothing");
	policy_file__free(file);
	CHECK(policy_file__read("/dev/null", &file, why) == 0, "/dev/null, too");
	policy_file__free(file);
}

int main(void)
{
	test_whole();
	test_decide();
	test_refused();
	test_empty();
	CHECK_DONE();
}
