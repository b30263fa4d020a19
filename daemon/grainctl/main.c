/* SPDX-License-Identifier: BSD-2-Clause */
/* grainctl: the options before the verb, and which function a verb is. */
#include "daemon/grainctl/ctl.h"
#include "daemon/grainctl/text.h"
#include "daemon/common/defaults.h"
#include "daemon/common/version.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name;
	int (*run)(struct ctl *ctl, int argc, char **argv);
} verbs[] = {
	{"run", verb__run},	  {"attach", verb__attach},   {"detach", verb__detach},
	{"jobs", verb__jobs},	  {"summary", verb__summary}, {"report", verb__report},
	{"export", verb__export}, {"analyze", verb__analyze}, {"doctor", verb__doctor},
	{"delete", verb__delete}, {"status", verb__status},   {"compare", verb__compare},
	{"top", verb__top},	  {"fleet", verb__fleet},     {"optout", verb__optout},
	{"merge", verb__merge},
};

/* Parts of a verb's options that are shared with others. */
#define MOST_CHILDREN 4

enum { OPT_COLOUR = 0x100 };

#define COLOUR_OPTION                                                                                        \
	{                                                                                                    \
		"color", OPT_COLOUR, "WHEN", 0, "auto (the default: on a terminal), always or never", 0      \
	}

static const struct argp_option options[] = {
	{"socket", 's', "PATH", 0,
	 "Talk to the graind that listens at PATH; default: DIR/graind.sock with --state-dir, "
	 "else " DEFAULT_SOCKET,
	 0},
	{"state-dir", 'd', "DIR", 0, "Jobs are kept in DIR, by default " DEFAULT_STATE_DIR, 0},
	COLOUR_OPTION,
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

/* The one whose options are parsed: verbs have --color, too. */
static struct ctl *parsed;

struct arguments {
	struct ctl *ctl;
	int first; /* index of the verb */
};

static bool want_colour(const char *when)
{
	const char *no_colour = getenv("NO_COLOR");

	if (!strcmp(when, "always"))
		return true;
	if (!strcmp(when, "never") || (no_colour && *no_colour) || !isatty(STDOUT_FILENO))
		return false;
	return !getenv("TERM") || strcmp(getenv("TERM"), "dumb");
}

static error_t parse_colour(int key, char *arg, struct argp_state *state)
{
	if (key != OPT_COLOUR)
		return ARGP_ERR_UNKNOWN;
	if (strcmp(arg, "auto") && strcmp(arg, "always") && strcmp(arg, "never"))
		argp_error(state, "--color is auto, always or never, not '%s'", arg);
	parsed->colour = want_colour(arg);
	return 0;
}

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
	case OPT_COLOUR:
		return parse_colour(key, arg, state);
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

__attribute__((format(printf, 2, 0))) static void print_line(const struct ctl *ctl, const char *format,
							     va_list args)
{
	char text[2048], clean[2048];

	vsnprintf(text, sizeof(text), format, args);
	text__clean(clean, sizeof(clean), text);
	fflush(stdout);
	if (ctl->verb)
		fprintf(stderr, "grainctl: %s: %s\n", ctl->verb, clean);
	else
		fprintf(stderr, "grainctl: %s\n", clean);
}

int ctl__fail(const struct ctl *ctl, enum ctl_exit status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(ctl, format, args);
	va_end(args);
	return (int)status;
}

void ctl__say(const struct ctl *ctl, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(ctl, format, args);
	va_end(args);
}

void ctl__parse(const struct ctl *ctl, const struct argp *argp, int argc, char **argv, void *input)
{
	static const struct argp_option colour_options[] = {COLOUR_OPTION, {0}};
	static const struct argp colour = {colour_options, parse_colour, NULL, NULL, NULL, NULL, NULL};
	struct argp_child children[MOST_CHILDREN + 2] = {0};
	size_t count = 0;
	struct argp with_colour = *argp;
	char name[64];

	for (; argp->children && argp->children[count].argp && count < MOST_CHILDREN; count++)
		children[count] = argp->children[count];
	children[count] = (struct argp_child){&colour, 0, NULL, 0};
	with_colour.children = children;
	snprintf(name, sizeof(name), "grainctl %s", ctl->verb);
	argv[0] = name;
	argp_parse(&with_colour, argc, argv, ARGP_IN_ORDER, NULL, input);
	argv[0] = (char *)ctl->verb;
}

bool ctl__parse_number(const char *text, uint64_t max, uint64_t *out)
{
	unsigned long long value;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end || value == 0 || value > max)
		return false;
	*out = value;
	return true;
}

uint64_t ctl__parse_job(const struct argp_state *state, const char *text)
{
	uint64_t job = 0;

	if (!ctl__parse_number(text, INT64_MAX, &job))
		argp_error(state, "'%s' is not a job number; grainctl jobs --all lists them", text);
	return job;
}

static int run_verb(struct ctl *ctl, int argc, char **argv);

static const struct argp argp = {options, parse_option, "VERB ...", doc, NULL, NULL, NULL};

static void print_version(FILE *stream, struct argp_state *state)
{
	(void)state;
	fprintf(stream, "grainctl %s\n", GRAIND_VERSION);
}

/* help VERB is VERB --help, which ends the process. */
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

static int run_verb(struct ctl *ctl, int argc, char **argv)
{
	const char *name = argv[0];

	if (!strcmp(name, "help"))
		return help(ctl, argc, argv);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (!strcmp(name, verbs[i].name)) {
			ctl->verb = verbs[i].name;
			return verbs[i].run(ctl, argc, argv);
		}
	}
	return ctl__fail(ctl, CTL_USAGE, "there is no verb '%s'; grainctl --help lists them", name);
}

/*
 * A state directory of one's own has a graind of its own: the system's would
 * put the jobs elsewhere.
 */
static void choose_places(struct ctl *ctl)
{
	static char socket[4096];

	if (!ctl->socket)
		ctl->socket = getenv(ENV_SOCKET);
	if (!ctl->state_dir)
		ctl->state_dir = getenv(ENV_STATE_DIR);
	if (!ctl->socket || !*ctl->socket) {
		ctl->socket = DEFAULT_SOCKET;
		if (ctl->state_dir && *ctl->state_dir) {
			snprintf(socket, sizeof(socket), "%s/graind.sock", ctl->state_dir);
			ctl->socket = socket;
		}
	}
	if (!ctl->state_dir || !*ctl->state_dir)
		ctl->state_dir = DEFAULT_STATE_DIR;
}

int main(int argc, char **argv)
{
	struct ctl ctl = {0};
	struct arguments arguments = {.ctl = &ctl};
	int status;

	/* Messages start with it, however the program was called. */
	if (argc > 0)
		argv[0] = program;
	parsed = &ctl;
	ctl.colour = want_colour("auto");
	argp_err_exit_status = CTL_USAGE;
	argp_program_version_hook = print_version;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);
	/* --version is grainctl's own option, not one of every verb. */
	argp_program_version_hook = NULL;
	choose_places(&ctl);
	ctl.store_error = job_store__open(ctl.state_dir, false, &ctl.store, NULL);
	status = run_verb(&ctl, argc - arguments.first, argv + arguments.first);
	job_store__close(ctl.store);
	if ((fflush(stdout) || ferror(stdout)) && status == CTL_DONE)
		return ctl__fail(&ctl, CTL_FAILED, "cannot write the output: %s", strerror(errno));
	return status;
}
