// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the policy file. libconfuse parses it. Values are checked during parsing, when libconfuse still
 * knows the line.
 */
#include "daemon/common/process/read_all.h"
#include "daemon/graind/policy/policy_rules.h"
#include "daemon/graind/policy/policy_values.h"

#include <confuse.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILE (64u << 10)
#define MAX_RULES 256
#define MAX_JOBS 1000000000
#define MAX_DAYS 36500
#define DAY_S 86400u
/* Added after the text: libconfuse accepts a section that is not closed at the end. */
#define SENTINEL "end-of-settings"

/* libconfuse can read only one file at a time, because its scanner has global state. */
static struct {
	pthread_mutex_t lock;
	const char *name;
	char *why;
	const cfg_opt_t *set[1024]; /* options that were set, to find options that are set twice */
	size_t set_count;
} parse = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- values ------------------------------------------------------------ */

static bool parse_profile(const char *text, enum policy_profile *out)
{
	for (int i = POLICY_OFF; i <= POLICY_ALWAYS; i++) {
		if (strcmp(text, policy_profile__name((enum policy_profile)i)))
			continue;
		*out = (enum policy_profile)i;
		return true;
	}
	return false;
}

/* ---- checks, while the line is known ------------------------------------ */

static const char unclosed[] = "the file ends before a brace, a quote or a comment does";

static void on_error(cfg_t *cfg, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

static void on_error(cfg_t *cfg, const char *format, va_list args)
{
	char text[POLICY_WHY / 2];

	if (parse.why[0])
		return;
	vsnprintf(text, sizeof(text), format, args);
	text[strcspn(text, "\n")] = 0;
	if (strstr(text, SENTINEL))
		strcpy(text, unclosed);
	snprintf(parse.why, POLICY_WHY, "%.180s:%d: %s", parse.name, cfg->line, text);
}

/* Refuses an option that is set twice. */
static int check_once(cfg_t *cfg, const cfg_opt_t *opt)
{
	for (size_t i = 0; i < parse.set_count; i++) {
		if (parse.set[i] == opt) {
			cfg_error(cfg, "%s is given twice", opt->name);
			return -1;
		}
	}
	if (parse.set_count < sizeof(parse.set) / sizeof(parse.set[0]))
		parse.set[parse.set_count++] = opt;
	return 0;
}

static int check_percent(cfg_t *cfg, cfg_opt_t *opt)
{
	double value = cfg_opt_getnfloat(opt, 0);

	if (!isfinite(value) || value < 0 || value > 100) {
		cfg_error(cfg, "%s is a percentage: 0 to 100", opt->name);
		return -1;
	}
	return check_once(cfg, opt);
}

static int check_days(cfg_t *cfg, cfg_opt_t *opt)
{
	long value = cfg_opt_getnint(opt, 0);

	if (value < 0 || value > MAX_DAYS) {
		cfg_error(cfg, "%s is a number of days: 0 to %d", opt->name, MAX_DAYS);
		return -1;
	}
	return check_once(cfg, opt);
}

static int check_jobs(cfg_t *cfg, cfg_opt_t *opt)
{
	long value = cfg_opt_getnint(opt, 0);

	if (value < 0 || value > MAX_JOBS) {
		cfg_error(cfg, "%s is a number of jobs: 0 (no limit) to %d", opt->name, MAX_JOBS);
		return -1;
	}
	return check_once(cfg, opt);
}

static int check_bool(cfg_t *cfg, cfg_opt_t *opt)
{
	return check_once(cfg, opt);
}

static int check_bytes(cfg_t *cfg, cfg_opt_t *opt)
{
	uint64_t ignored;

	if (!policy_values__bytes(cfg_opt_getnstr(opt, 0), &ignored)) {
		cfg_error(cfg, "%s is a number of bytes, such as 500M or 20G", opt->name);
		return -1;
	}
	return check_once(cfg, opt);
}

static int check_cpus(cfg_t *cfg, cfg_opt_t *opt)
{
	cpu_set_t ignored;

	if (!policy_values__cpus(cfg_opt_getnstr(opt, 0), &ignored)) {
		cfg_error(cfg, "%s is a list of CPUs, such as \"0-3,8\"", opt->name);
		return -1;
	}
	return check_once(cfg, opt);
}

/* The only allowed conversion is %u. */
static int check_directory(cfg_t *cfg, cfg_opt_t *opt)
{
	const char *path = cfg_opt_getnstr(opt, 0);
	bool odd = false;

	for (const char *at = strchr(path, '%'); at; at = strchr(at + 1, '%'))
		odd |= at[1] != 'u';
	if (*path != '/' || odd || strlen(path) >= POLICY_PATH / 2) {
		cfg_error(cfg, "%s is a path that begins with /, with %%u for the user's name", opt->name);
		return -1;
	}
	return check_once(cfg, opt);
}

static int check_profile(cfg_t *cfg, cfg_opt_t *opt)
{
	enum policy_profile ignored;

	if (!parse_profile(cfg_opt_getnstr(opt, 0), &ignored)) {
		cfg_error(cfg, "%s is off, on-request or always", opt->name);
		return -1;
	}
	return check_once(cfg, opt);
}

static int check_names(cfg_t *cfg, cfg_opt_t *opt, int kind)
{
	for (unsigned int i = 0; i < cfg_opt_size(opt); i++) {
		unsigned int ignored;

		if (!policy_values__id(kind == OF_GROUP, cfg_opt_getnstr(opt, i), &ignored)) {
			cfg_error(cfg, "there is no %s %.60s", policy_condition_names[kind],
				  cfg_opt_getnstr(opt, i));
			return -1;
		}
	}
	return 0;
}

static int check_user(cfg_t *cfg, cfg_opt_t *opt)
{
	return check_names(cfg, opt, OF_USER);
}

static int check_group(cfg_t *cfg, cfg_opt_t *opt)
{
	return check_names(cfg, opt, OF_GROUP);
}

static int check_pattern(cfg_t *cfg, cfg_opt_t *opt)
{
	for (unsigned int i = 0; i < cfg_opt_size(opt); i++) {
		const char *pattern = cfg_opt_getnstr(opt, i);

		if (*pattern != '/' && *pattern != '*') {
			cfg_error(cfg, "%s is a pattern that begins with / or *", opt->name);
			return -1;
		}
	}
	return 0;
}

/* Refuses a rule with an empty condition: such a rule would apply to everybody. */
static int check_rule(cfg_t *cfg, cfg_opt_t *opt)
{
	cfg_t *rule = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);

	if (!cfg_size(rule, "profile")) {
		cfg_error(cfg, "this rule has no profile = off, on-request or always");
		return -1;
	}
	for (int kind = 0; kind < CONDITIONS; kind++) {
		const cfg_opt_t *condition = cfg_getopt(rule, policy_condition_names[kind]);

		if (condition->flags & CFGF_MODIFIED && !condition->nvalues) {
			cfg_error(cfg, "this rule has an empty list of %s", policy_condition_names[kind]);
			return -1;
		}
	}
	if (cfg_opt_size(opt) > MAX_RULES) {
		cfg_error(cfg, "more than %d rules", MAX_RULES);
		return -1;
	}
	return 0;
}

/* ---- the whole --------------------------------------------------------- */

static bool take_condition(cfg_t *section, int kind, struct condition *out)
{
	unsigned int count = cfg_size(section, policy_condition_names[kind]);

	out->texts = calloc(count + 1, sizeof(*out->texts));
	out->ids = calloc(count + 1, sizeof(*out->ids));
	if (!out->texts || !out->ids)
		return false;
	for (; out->count < count; out->count++) {
		const char *text =
			cfg_getnstr(section, policy_condition_names[kind], (unsigned int)out->count);

		out->texts[out->count] = strdup(text);
		if (!out->texts[out->count])
			return false;
		if (kind == OF_USER || kind == OF_GROUP)
			policy_values__id(kind == OF_GROUP, text, &out->ids[out->count]);
	}
	return true;
}

static int take(cfg_t *cfg, struct policy_file *file)
{
	struct policy_limits *limits = &file->limits;
	const struct {
		const char *name;
		uint64_t *bytes;
	} sizes[] = {{"job-bytes", &limits->job_bytes},
		     {"keep-bytes", &limits->keep_bytes},
		     {"user-bytes", &limits->user_bytes},
		     {"memory-bytes", &limits->memory_bytes}};

	limits->process_ceiling_percent = cfg_getfloat(cfg, "process-ceiling-percent");
	limits->host_ceiling_percent = cfg_getfloat(cfg, "host-ceiling-percent");
	limits->allow_fast = cfg_getbool(cfg, "allow-fast");
	limits->report_traces = cfg_getbool(cfg, "report-traces");
	limits->keep_seconds = (uint64_t)cfg_getint(cfg, "keep-days") * DAY_S;
	limits->user_jobs = (uint64_t)cfg_getint(cfg, "user-jobs");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		policy_values__bytes(cfg_getstr(cfg, sizes[i].name), sizes[i].bytes);
	limits->some_cpus =
		cfg_getstr(cfg, "cpus") && policy_values__cpus(cfg_getstr(cfg, "cpus"), &limits->cpus);
	if (cfg_getstr(cfg, "report-directory")) {
		file->report_directory = strdup(cfg_getstr(cfg, "report-directory"));
		if (!file->report_directory)
			return -ENOMEM;
	}
	file->rules = calloc(cfg_size(cfg, "rule") + 1, sizeof(*file->rules));
	if (!file->rules)
		return -ENOMEM;
	for (unsigned int i = 0; i < cfg_size(cfg, "rule"); i++) {
		cfg_t *section = cfg_getnsec(cfg, "rule", i);
		struct rule *rule = &file->rules[file->rule_count++];

		parse_profile(cfg_getstr(section, "profile"), &rule->profile);
		for (int kind = 0; kind < CONDITIONS; kind++)
			if (!take_condition(section, kind, &rule->conditions[kind]))
				return -ENOMEM;
	}
	return 0;
}

static const struct {
	const char *name;
	cfg_validate_callback_t check;
} checks[] = {{"process-ceiling-percent", check_percent},
	      {"host-ceiling-percent", check_percent},
	      {"allow-fast", check_bool},
	      {SENTINEL, check_bool},
	      {"job-bytes", check_bytes},
	      {"keep-days", check_days},
	      {"keep-bytes", check_bytes},
	      {"user-bytes", check_bytes},
	      {"user-jobs", check_jobs},
	      {"cpus", check_cpus},
	      {"memory-bytes", check_bytes},
	      {"report-directory", check_directory},
	      {"report-traces", check_bool},
	      {"rule|user", check_user},
	      {"rule|group", check_group},
	      {"rule|cgroup", check_pattern},
	      {"rule|exe", check_pattern},
	      {"rule|profile", check_profile},
	      {"rule", check_rule}};

static int parse_locked(const char *text, struct policy_file *file)
{
	cfg_opt_t rule_options[] = {CFG_STR_LIST("user", NULL, CFGF_NODEFAULT),
				    CFG_STR_LIST("group", NULL, CFGF_NODEFAULT),
				    CFG_STR_LIST("cgroup", NULL, CFGF_NODEFAULT),
				    CFG_STR_LIST("exe", NULL, CFGF_NODEFAULT),
				    CFG_STR("profile", NULL, CFGF_NODEFAULT),
				    CFG_END()};
	cfg_opt_t options[] = {CFG_FLOAT("process-ceiling-percent", 0, CFGF_NONE),
			       CFG_FLOAT("host-ceiling-percent", 0, CFGF_NONE),
			       CFG_BOOL("allow-fast", cfg_false, CFGF_NONE),
			       CFG_STR("job-bytes", "0", CFGF_NONE),
			       CFG_INT("keep-days", 0, CFGF_NONE),
			       CFG_STR("keep-bytes", "0", CFGF_NONE),
			       CFG_STR("user-bytes", "0", CFGF_NONE),
			       CFG_INT("user-jobs", POLICY_USER_JOBS, CFGF_NONE),
			       CFG_STR("cpus", NULL, CFGF_NODEFAULT),
			       CFG_STR("report-directory", NULL, CFGF_NODEFAULT),
			       CFG_BOOL("report-traces", cfg_false, CFGF_NONE),
			       CFG_STR("memory-bytes", "0", CFGF_NONE),
			       CFG_BOOL(SENTINEL, cfg_false, CFGF_NONE),
			       CFG_SEC("rule", rule_options, CFGF_MULTI),
			       CFG_END()};
	cfg_t *cfg = cfg_init(options, CFGF_NONE);
	int error = 0;

	if (!cfg)
		return -ENOMEM;
	cfg_set_error_function(cfg, on_error);
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		cfg_set_validate_func(cfg, checks[i].name, checks[i].check);
	parse.set_count = 0;
	if (cfg_parse_buf(cfg, text) != CFG_SUCCESS) {
		error = -EINVAL;
		if (!parse.why[0])
			snprintf(parse.why, POLICY_WHY, "%.180s: cannot be read as settings", parse.name);
	}
	if (!error && !cfg_getbool(cfg, SENTINEL)) {
		error = -EINVAL;
		snprintf(parse.why, POLICY_WHY, "%.180s:%d: %s", parse.name, cfg->line, unclosed);
	}
	if (!error)
		error = take(cfg, file);
	cfg_free(cfg);
	return error;
}

int policy_file__parse(const char *text, size_t size, const char *name, struct policy_file **out,
		       char why[POLICY_WHY])
{
	static const char behind[] = "\n" SENTINEL " = true\n";
	struct policy_file *file;
	char *copy;
	const char *nul = memchr(text, 0, size);
	int error, line = 1;

	why[0] = 0;
	for (const char *at = text; nul && at < nul; at++)
		line += *at == '\n';
	if (nul || size > MAX_FILE) {
		snprintf(why, POLICY_WHY, nul ? "%.180s:%d: a zero byte" : "%.180s:%d: larger than 64 KiB",
			 name, line);
		return -EINVAL;
	}
	file = policy_file__empty();
	copy = malloc(size + sizeof(behind));
	if (!file || !copy) {
		policy_file__free(file);
		free(copy);
		snprintf(why, POLICY_WHY, "graind is out of memory");
		return -ENOMEM;
	}
	memcpy(copy, text, size);
	memcpy(copy + size, behind, sizeof(behind));
	pthread_mutex_lock(&parse.lock);
	parse.name = name;
	parse.why = why;
	error = parse_locked(copy, file);
	parse.name = parse.why = NULL;
	pthread_mutex_unlock(&parse.lock);
	free(copy);
	if (error == -ENOMEM)
		snprintf(why, POLICY_WHY, "graind is out of memory");
	if (error)
		policy_file__free(file);
	else
		*out = file;
	return error;
}

int policy_file__read(const char *path, struct policy_file **out, char why[POLICY_WHY])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), error = fd < 0 ? -errno : 0;
	char *text = malloc(MAX_FILE + 1);
	size_t used = 0;
	struct stat st;

	if (!error && !text)
		error = -ENOMEM;
	if (!error && (fstat(fd, &st) != 0 || S_ISDIR(st.st_mode)))
		error = -EISDIR;
	if (!error)
		error = read_all(fd, text, MAX_FILE + 1, &used);
	if (fd >= 0)
		close(fd);
	if (error)
		snprintf(why, POLICY_WHY, "cannot read the settings %.250s: %s", path, strerror(-error));
	else
		error = policy_file__parse(text, used, path, out, why);
	free(text);
	return error;
}
