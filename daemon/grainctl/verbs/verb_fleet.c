/* SPDX-License-Identifier: BSD-2-Clause */
/* grainctl fleet: shows all nodes, as their Prometheus server knows them. */
#include "daemon/grainctl/fleet/fleet.h"
#include "daemon/grainctl/fleet/prometheus.h"
#include "daemon/grainctl/terminal/text.h"
#include "daemon/grainctl/verbs/verbs.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_URL "http://127.0.0.1:9090"
#define ENV_URL "GRAIND_PROMETHEUS"
/* The number of nodes and jobs that a person can read. */
#define MOST 20

struct fleet_options {
	const char *url;
	bool all, json;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct fleet_options *options = state->input;

	switch (key) {
	case 'p':
		if (strncmp(arg, "http://", 7) && strncmp(arg, "https://", 8))
			argp_error(state, "--prometheus is a URL as " DEFAULT_URL ", not '%s'", arg);
		options->url = arg;
		return 0;
	case 'a':
		options->all = true;
		return 0;
	case 'j':
		options->json = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is too much", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int verb__fleet(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp_option option_list[] = {
		{"prometheus", 'p', "URL", 0,
		 "The Prometheus to ask; default: the environment's " ENV_URL ", else " DEFAULT_URL, 0},
		{"all", 'a', NULL, 0, "All nodes and jobs, not only the worst", 0},
		{"json", 'j', NULL, 0, "The same of all nodes and jobs as JSON", 0},
		{0},
	};
	static const struct argp argp = {
		option_list,
		parse_option,
		NULL,
		"Asks the Prometheus that scrapes the nodes: which are up, how many events they "
		"record and lose, what graind costs there; then the jobs, the worst first, "
		"what is wrong with them and since when they are seen.\v"
		"Examples:\n"
		"  grainctl fleet --prometheus http://monitor:9090\n"
		"  grainctl fleet --json",
		NULL,
		NULL,
		NULL};
	struct fleet_options options = {0};
	char why[512], shown[256];
	struct fleet fleet = {0};
	enum ctl_exit exit;
	bool written = true;

	options.url = getenv(ENV_URL);
	if (!options.url || !*options.url)
		options.url = DEFAULT_URL;
	ctl__parse(ctl, &argp, argc, argv, &options);
	prometheus__shown(options.url, shown, sizeof(shown));
	exit = fleet__ask(options.url, &fleet, why);
	if (exit != CTL_DONE)
		return ctl__fail(ctl, exit, "%s", why);
	if (!fleet.node_count) {
		fleet__free(&fleet);
		return ctl__fail(ctl, CTL_FAILED,
				 "the Prometheus at %s scrapes no graind (no series up{job=\"graind\"}); "
				 "/usr/share/graind/prometheus has what its configuration needs",
				 shown);
	}
	if (options.json) {
		json_t *json = fleet__json(&fleet, shown);

		written = json && !json_dumpf(json, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
		putchar('\n');
		json_decref(json);
	} else {
		written = fleet__print(&fleet, shown, options.all ? 0 : MOST, text__columns(), stdout) == 0;
	}
	fleet__free(&fleet);
	return written ? CTL_DONE : ctl__fail(ctl, CTL_FAILED, "cannot write the answer");
}
