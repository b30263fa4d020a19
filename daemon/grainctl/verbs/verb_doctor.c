/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * grainctl doctor: tells what is possible on this machine, and which probes would be placed; or which
 * settings of a process cost it time.
 */
#include "daemon/common/settings/settings_read.h"
#include "daemon/grainctl/doctor/checks.h"
#include "daemon/grainctl/doctor/settings_output.h"
#include "daemon/grainctl/terminal/table.h"
#include "daemon/grainctl/terminal/text.h"
#include "daemon/grainctl/verbs/verbs.h"
#include "uprobes/make_plan/make_plan.h"
#include "uprobes/runtime/runtime_find.h"
#include "uprobes/static_loops/static_loops.h"

#include <jansson.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct doctor_options {
	const char *runtime;
	long pid; /* 0: none */
	bool json;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct doctor_options *options = state->input;
	char *end;

	switch (key) {
	case 'r':
		options->runtime = arg;
		return 0;
	case 'j':
		options->json = true;
		return 0;
	case ARGP_KEY_ARG:
		options->pid = strtol(arg, &end, 10);
		if (state->arg_num || *end || options->pid <= 0)
			argp_error(state, "'%s' is no process; a runtime is named by --runtime", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char *const result_names[] = {"yes", "no", "limited"};
static const char *const result_colours[] = {"\033[32m", "\033[31m", "\033[33m"};

static void print_command(const char *command)
{
	for (const char *line = command; *line;) {
		size_t bytes = strcspn(line, "\n");

		printf("%s%.*s\n", line == command ? "    $ " : "    ", (int)bytes, line);
		line += bytes + (line[bytes] != 0);
	}
}

static void print_checks(const struct ctl *ctl, const struct check *checks, size_t count)
{
	unsigned columns = text__columns();

	for (size_t i = 0; i < count; i++) {
		const char *name = result_names[checks[i].result];
		char text[sizeof(checks[i].detail)];

		printf("%-18s %s%-7s%s ", checks[i].name, ctl->colour ? result_colours[checks[i].result] : "",
		       name, ctl->colour ? "\033[0m" : "");
		text__clean(text, sizeof(text), checks[i].detail);
		text__print_wrapped(text, 27, columns, false);
		if (checks[i].advice[0]) {
			snprintf(text, sizeof(text), "-> %.300s", checks[i].advice);
			text__print_wrapped(text, 27, columns, true);
		}
		print_command(checks[i].command);
	}
}

/*
 * Returns a short text on the cost of a probe. If the kernel cannot emulate an instruction, it steps a copy
 * of the instruction, with two more traps.
 */
static const char *short_cost(const struct probe_point *point)
{
	if (point->return_cookie && !point->entry_cookie)
		return "return";
	if (point->cost == PROBE_EMULATED)
		return point->return_cookie ? "emul+ret" : "emulated";
	return point->return_cookie ? "step+ret" : "stepped";
}

static const char *function_of(const struct probe_plan *plan, size_t index)
{
	const char *name = probe_plan__point(plan, index)->function;

	return name ? name : "(unnamed)";
}

static int add_point(struct table *table, const struct probe_point *point)
{
	char address[32];

	snprintf(address, sizeof(address), "%#9llx", (unsigned long long)point->address);
	return table__add(table,
			  (const char *const[]){address, point->event ? point->event : "-", short_cost(point),
						point->instruction, point->reads[0] ? point->reads : "-"});
}

/* Adds points by function, in the order in which functions first appear. 0 or -ENOMEM. */
static int add_points(struct table *table, const struct probe_plan *plan)
{
	size_t count = probe_plan__count(plan);
	int error = 0;

	for (size_t first = 0; !error && first < count; first++) {
		const char *function = function_of(plan, first);
		size_t i = 0;

		while (strcmp(function_of(plan, i), function))
			i++;
		if (i < first)
			continue;
		error = table__add_heading(table, function);
		for (i = first; !error && i < count; i++) {
			if (!strcmp(function_of(plan, i), function))
				error = add_point(table, probe_plan__point(plan, i));
		}
	}
	return error;
}

static int print_plan(const struct probe_plan *plan)
{
	static const struct table_column columns[] = {
		{"  ADDRESS", false, 0},    {"EVENT", false, 0}, {"COST", false, 0},
		{"INSTRUCTION", false, 11}, {"READS", false, 8},
	};
	struct table *table = table__new(columns, sizeof(columns) / sizeof(columns[0]));
	int error = table ? add_points(table, plan) : -ENOMEM;
	unsigned width = text__columns();
	size_t count = probe_plan__count(plan), stepped = 0;
	const char *missing;

	for (size_t i = 0; i < count; i++)
		stepped += probe_plan__point(plan, i)->cost != PROBE_EMULATED;
	if (!error) {
		table__print(table, width < 80 ? 80 : width > 120 ? 120 : width, stdout);
		printf("\n%zu points, %zu of them single-stepped.\n"
		       "A hit takes about 1,000 ns where the kernel emulates the instruction,\n"
		       "11,000 to 25,000 ns where it steps a copy of it.\n",
		       count, stepped);
	}
	for (size_t i = 0; !error && (missing = probe_plan__missing(plan, i)); i++)
		printf("not found, and not needed: %s\n", missing);
	if (!error && probe_plan__needs_bodies(plan))
		printf("The bodies of its constructs will be observed in the programs' own functions,\n"
		       "which costs more.\n");
	table__free(table);
	return error;
}

static json_t *plan_json(const struct probe_plan *plan)
{
	json_t *points = json_array(), *missing = json_array();
	const char *name;

	for (size_t i = 0; i < probe_plan__count(plan); i++) {
		const struct probe_point *point = probe_plan__point(plan, i);

		json_array_append_new(points,
				      json_pack("{s:s, s:s, s:I, s:I, s:s, s:s, s:s, s:b, s:b}", "event",
						point->event ? point->event : "", "function",
						point->function ? point->function : "", "address",
						(json_int_t)point->address, "offset",
						(json_int_t)point->offset, "instruction", point->instruction,
						"cost",
						point->cost == PROBE_EMULATED ? "emulated" : "single-stepped",
						"reads", point->reads, "entry", point->entry_cookie != 0,
						"return", point->return_cookie != 0));
	}
	for (size_t i = 0; (name = probe_plan__missing(plan, i)); i++)
		json_array_append_new(missing, json_string(name));
	return json_pack("{s:s, s:s, s:s, s:b, s:o, s:o}", "path", probe_plan__path(plan), "runtime",
			 probe_runtime__name(probe_plan__runtime(plan)), "build_id",
			 probe_plan__build_id(plan), "bodies_in_programs", probe_plan__needs_bodies(plan),
			 "points", points, "missing", missing);
}

#define MISSING_MOST 64 /* so many loops that are not understood are counted */

/* The static loops of a process' program. */
struct program_loops {
	char path[64];
	bool counted;
	size_t understood, missing;
	char why[512]; /* why they are not counted */
};

/*
 * Counts the static loops of the process' program that will be seen. A program without any is no failure.
 * Returns 0 or a negative errno with *error set.
 */
static int count_loops(long pid, struct program_loops *loops, struct uprobes_error *error)
{
	struct probe_plan *plan = NULL;
	int fd, result;

	snprintf(loops->path, sizeof(loops->path), "/proc/%ld/exe", pid);
	fd = open(loops->path, O_RDONLY | O_CLOEXEC);
	result = fd < 0 ? -errno : static_loops__plan_fd(fd, loops->path, &plan, error);
	if (fd < 0)
		snprintf(error->text, sizeof(error->text), "%s: %s", loops->path, strerror(-result));
	if (!result) {
		loops->counted = true;
		static_loops__count(plan, &loops->understood, &loops->missing);
	} else if (result == -ENOENT && fd >= 0) {
		snprintf(loops->why, sizeof(loops->why), "%s", error->text);
		result = 0;
	}
	probe_plan__free(plan);
	if (fd >= 0)
		close(fd);
	return result;
}

static json_t *loops_json(const struct program_loops *loops)
{
	if (!loops->counted)
		return json_pack("{s:s, s:s}", "file", loops->path, "why_none", loops->why);
	return json_pack("{s:s, s:I, s:I, s:b}", "file", loops->path, "understood",
			 (json_int_t)loops->understood, "of",
			 (json_int_t)(loops->understood + loops->missing), "at_least",
			 loops->missing >= MISSING_MOST);
}

/* Takes ownership of `settings`; NULL: none. `loops` NULL: no process was asked for. */
static void print_json(const struct check *checks, size_t count, const struct probe_plan *plan,
		       const char *why, json_t *settings, const struct program_loops *loops)
{
	json_t *list = json_array();
	json_t *all;

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s, s:s, s:s}", "name", checks[i].name, "result",
						result_names[checks[i].result], "detail", checks[i].detail,
						"advice", checks[i].advice, "command", checks[i].command));
	all = json_pack("{s:o, s:o}", "checks", list, "plan", plan ? plan_json(plan) : json_null());
	if (all && settings)
		json_object_set_new(all, "settings", settings);
	if (all && !plan)
		json_object_set_new(all, "why_no_plan", json_string(why));
	if (all && loops)
		json_object_set_new(all, "static_loops", loops_json(loops));
	json_dumpf(all, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(all);
}

static int make_plan(const char *asked, char path[PATH_MAX], struct probe_plan **plan,
		     struct uprobes_error *error)
{
	int result;

	if (asked) {
		snprintf(path, PATH_MAX, "%s", asked);
	} else {
		result = runtime_find__system(path, PATH_MAX);
		if (result) {
			snprintf(error->text, sizeof(error->text),
				 "no libgomp is installed here; programs that bring their own: --runtime "
				 "FILE");
			return result;
		}
	}
	result = probe_plan__create(path, plan, error);
	if (result && !error->text[0])
		snprintf(error->text, sizeof(error->text), "%.300s: %s", path, strerror(-result));
	return result;
}

static void print_loops(const struct program_loops *loops)
{
	if (loops->counted)
		printf("\n%s: %zu of the %s%zu static loops that GCC wrote into it are understood\n",
		       loops->path, loops->understood, loops->missing >= MISSING_MOST ? "at least " : "",
		       loops->understood + loops->missing);
	else
		printf("\n%s\n", loops->why);
}

/* With a process: nothing but its settings and its loops, for which nothing is tried or probed. */
static int examine_process(const struct ctl *ctl, long pid, bool json)
{
	struct settings_facts *facts = NULL;
	struct uprobes_error why = {""};
	struct program_loops loops = {.counted = false};
	int error = pid <= INT_MAX ? settings__read((pid_t)pid, &facts) : -ESRCH;

	if (error == -ESRCH)
		return ctl__fail(ctl, CTL_FAILED, "there is no process %ld", pid);
	if (error)
		return ctl__fail(ctl, CTL_FAILED, "process %ld: %s", pid, strerror(-error));
	if (count_loops(pid, &loops, &why))
		snprintf(loops.why, sizeof(loops.why), "%s", why.text);
	if (json) {
		print_json(NULL, 0, NULL, "a process was asked for", settings_output__json(facts), &loops);
	} else {
		settings_output__print(ctl, facts);
		print_loops(&loops);
	}
	settings__free(facts);
	return CTL_DONE;
}

static int print_runtime(const struct probe_plan *plan, const char *path)
{
	char clean[PATH_MAX];

	text__clean(clean, sizeof(clean), path);
	printf("\n%s: %s, build id %.16s\n\n", probe_runtime__name(probe_plan__runtime(plan)), clean,
	       probe_plan__build_id(plan)[0] ? probe_plan__build_id(plan) : "none");
	return print_plan(plan);
}

int verb__doctor(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp_option option_list[] = {
		{"runtime", 'r', "FILE", 0, "Plan the probes for this libgomp instead of the installed one",
		 0},
		{"json", 'j', NULL, 0, "The same as JSON", 0},
		{0},
	};
	static const struct argp argp = {
		option_list,
		parse_option,
		"[PID]",
		"Says what this kernel, machine and user allow and what to do about "
		"each \"no\"; then where the "
		"OpenMP runtime would be probed, and what a probe costs there. With PID, and "
		"without any probe: which settings cost this process time, each with the "
		"setting that cures it, and how many static loops of its program are "
		"understood.\v"
		"Examples:\n"
		"  sudo grainctl doctor\n"
		"  grainctl doctor 4711\n"
		"  grainctl doctor --runtime ./venv/lib/libgomp-a34b3233.so.1.0.0",
		NULL,
		NULL,
		NULL};
	struct doctor_options options = {0};
	struct uprobes_error error = {""};
	struct check checks[CHECKS_MAX];
	struct probe_plan *plan = NULL;
	char path[PATH_MAX] = "", command[REPAIR_COMMAND_MAX];
	size_t count;
	int result;

	ctl__parse(ctl, &argp, argc, argv, &options);
	if (options.pid)
		return examine_process(ctl, options.pid, options.json);
	count = checks__run(ctl, checks);
	result = make_plan(options.runtime, path, &plan, &error);
	if (options.json) {
		print_json(checks, count, plan, error.text, NULL, NULL);
	} else {
		print_checks(ctl, checks, count);
		if (!result) {
			result = print_runtime(plan, path);
		} else if (!options.runtime) {
			printf("%-18s %-7s ", "OpenMP runtime", "no");
			text__print_wrapped(error.text, 27, text__columns(), false);
			repair_command__install_libgomp(command);
			print_command(command);
		}
	}
	probe_plan__free(plan);
	/* If the user has named the file and it cannot be probed, this is a failure. */
	if (result && options.runtime)
		return ctl__fail(ctl, CTL_FAILED, "%s", error.text);
	return CTL_DONE;
}
