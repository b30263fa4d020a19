/* SPDX-License-Identifier: BSD-2-Clause */
/* grainctl: parses the options before the verb, and calls the verb's function. */
#include "daemon/common/job_store/job_store.h"
#include "daemon/grainctl/client/store_choice.h"
#include "daemon/grainctl/verbs/verbs.h"
#include "daemon/common/programs/defaults.h"
#include "daemon/common/programs/installed_file.h"
#include "daemon/common/programs/version.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Loading the libraries that these verbs need takes longer than a short job. So only this other program,
 * which has all verbs, is linked with them. In grainctl's own table the verbs are NULL.
 */
#define WHOLE_PROGRAM "grainctl-full"
#pragma weak verb__summary
#pragma weak verb__report
#pragma weak verb__export
#pragma weak verb__analyze
#pragma weak verb__doctor
#pragma weak verb__compare
#pragma weak verb__top
#pragma weak verb__fleet
#pragma weak verb__merge

static const struct {
	const char *name;
	int (*run)(struct ctl *ctl, int argc, char **argv); /* NULL: only the other program has the verb */
	bool jobs;					    /* the verb takes numbers of jobs */
} verbs[] = {
	{"run", verb__run, true},	{"attach", verb__attach, true},	   {"detach", verb__detach, true},
	{"jobs", verb__jobs, true},	{"summary", verb__summary, true},  {"report", verb__report, true},
	{"export", verb__export, true}, {"analyze", verb__analyze, false}, {"doctor", verb__doctor, false},
	{"delete", verb__delete, true}, {"status", verb__status, false},   {"compare", verb__compare, true},
	{"top", verb__top, true},	{"fleet", verb__fleet, false},	   {"optout", verb__optout, false},
	{"merge", verb__merge, true},
};

static const struct argp_option options[] = {
	{"socket", 's', "PATH", 0,
	 "Talk to the graind that listens at PATH; default: DIR/graind.sock with --state-dir, "
	 "else " DEFAULT_SOCKET,
	 0},
	{"state-dir", 'd', "DIR", 0, "Jobs are kept in DIR, by default " DEFAULT_STATE_DIR, 0},
	CTL_COLOUR_OPTION,
	{0},
};

static const char doc[] =
	"Profiles OpenMP programs: records their tasks while they run, rebuilds the grain graph, says what "
	"is "
	"wrong and where in the source.\v"
	"Verbs:\n"
	"  run [--] CMD ARG...  start a program and profile all of it\n"
	"  attach PID           start profiling a running process\n"
	"  detach JOB           stop profiling; the report stays\n"
	"  jobs                 list the jobs, one line each\n"
	"  top                  the jobs while they run, live\n"
	"  fleet                all nodes and their jobs, from Prometheus\n"
	"  summary JOB|FILE     the worst problems with source lines, then tables\n"
	"  report JOB|FILE      draw the grain graph, or write it as data\n"
	"  compare BASE JOB     what changed between two runs, grain by grain\n"
	"  merge JOB|FILE|DIR   one summary of all ranks of an MPI job\n"
	"  export JOB|FILE      the event log, or a trace for Perfetto or Vampir\n"
	"  analyze FILE         summary or report of a file, without a daemon\n"
	"  doctor               what this machine allows; where its libgomp is probed\n"
	"  status               is graind running, and as what\n"
	"  optout [on|off]      have none of your processes recorded\n"
	"  delete JOB           remove a finished job and all that was recorded\n"
	"  help VERB            the same as VERB --help\n"
	"\n"
	"Examples:\n"
	"  sudo grainctl run -- ./fib 38 12\n"
	"  grainctl summary 1\n"
	"  grainctl report 1 -o fib.svg\n"
	"  grainctl help run\n"
	"\n"
	"The environment's GRAIND_SOCKET and GRAIND_STATE_DIR stand for these options.\n"
	"Exit status: 0 done, 1 failed, 2 wrong usage, 3 not permitted; run passes on its program's.";

static char program[] = "grainctl";

struct arguments {
	struct ctl *ctl;
	int first; /* index of the verb */
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case 's':
		arguments->ctl->socket = arg;
		return 0;
	case 'd':
		arguments->ctl->state_dir = arg;
		return 0;
	case CTL_OPTION_COLOUR:
		ctl__set_colour(arguments->ctl, state, arg);
		return 0;
	case ARGP_KEY_ARG:
		arguments->first = state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which verb? run, attach, jobs, summary, report, ...");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int run_verb(struct ctl *ctl, int argc, char **argv);
static char **whole_command_line; /* of this program */

static const struct argp argp = {options, parse_option, "VERB ...", doc, NULL, NULL, NULL};

static void print_version(FILE *stream, struct argp_state *state)
{
	(void)state;
	fprintf(stream, "grainctl %s\n", GRAIND_VERSION);
}

/* "help VERB" is the same as "VERB --help", which ends the process. */
static int help(struct ctl *ctl, int argc, char **argv)
{
	static char option[] = "--help";
	char *asked[] = {NULL, option, NULL};

	if (argc > 2)
		return ctl__fail(ctl, CTL_USAGE, "help tells of one verb at a time, not of '%s'", argv[2]);
	if (argc < 2 || !strcmp(argv[1], option) || !strcmp(argv[1], "help")) {
		asked[0] = program;
		argp_program_version_hook = print_version;
		argp_parse(&argp, 2, asked, 0, NULL, NULL);
	}
	asked[0] = argv[1];
	return run_verb(ctl, 2, asked);
}

static bool asks_for_help(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-?") || !strcmp(argv[i], "--usage"))
			return true;
	return false;
}

/* Executes the program that has all verbs. Returns only if that fails. */
static int become_whole(const struct ctl *ctl)
{
	char path[PATH_MAX];
	int error = installed_file__find(WHOLE_PROGRAM, path, sizeof(path));

	if (!error) {
		execv(path, whole_command_line);
		error = -errno;
	}
	return ctl__fail(ctl, CTL_FAILED,
			 "cannot run " WHOLE_PROGRAM ", which belongs beside grainctl: %s; "
			 "build or install graind again",
			 strerror(-error));
}

static int run_verb(struct ctl *ctl, int argc, char **argv)
{
	const char *name = argv[0];
	enum ctl_exit result;
	char why[512];

	if (!strcmp(name, "help"))
		return help(ctl, argc, argv);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (!strcmp(name, verbs[i].name)) {
			ctl->verb = verbs[i].name;
			if (!verbs[i].run)
				return become_whole(ctl);
			result = store_choice__make(ctl, verbs[i].jobs && !asks_for_help(argc, argv), why);
			if (result != CTL_DONE)
				return ctl__fail(ctl, result, "%s", why);
			return verbs[i].run(ctl, argc, argv);
		}
	}
	return ctl__fail(ctl, CTL_USAGE, "there is no verb '%s'; grainctl --help lists them", name);
}

int main(int argc, char **argv)
{
	struct ctl ctl = {0};
	struct arguments arguments = {.ctl = &ctl};
	int status;

	/* Messages start with this name, even if the program was called by another name. */
	if (argc > 0)
		argv[0] = program;
	whole_command_line = argv;
	ctl.colour = ctl__wants_colour("auto");
	argp_err_exit_status = CTL_USAGE;
	argp_program_version_hook = print_version;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);
	/* --version is an option of grainctl, but not of its verbs. */
	argp_program_version_hook = NULL;
	status = run_verb(&ctl, argc - arguments.first, argv + arguments.first);
	job_store__close(ctl.store);
	if ((fflush(stdout) || ferror(stdout)) && status == CTL_DONE)
		return ctl__fail(&ctl, CTL_FAILED, "cannot write the output: %s", strerror(errno));
	return status;
}
