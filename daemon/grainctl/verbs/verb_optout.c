/* SPDX-License-Identifier: BSD-2-Clause */
/* grainctl optout: decides whether graind may record the caller's processes. */
#include "daemon/grainctl/client/server.h"
#include "daemon/grainctl/terminal/text.h"
#include "daemon/grainctl/verbs/verbs.h"

#include <pwd.h>
#include <string.h>

enum wish { ASK, OUT, IN };

struct optout_options {
	enum wish wish;
	bool json;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct optout_options *options = state->input;

	switch (key) {
	case 'j':
		options->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num > 0)
			argp_error(state, "'%s' is too much", arg);
		if (!strcmp(arg, "on"))
			options->wish = OUT;
		else if (!strcmp(arg, "off"))
			options->wish = IN;
		else if (strcmp(arg, "status"))
			argp_error(state, "on, off or status, not '%s'", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void name_user(json_int_t uid, char out[64])
{
	const struct passwd *entry = getpwuid((uid_t)uid);
	char name[64];

	snprintf(name, sizeof(name), "%lld", (long long)uid);
	text__clean(out, 64, entry ? entry->pw_name : name);
}

static void print(const json_t *answer, enum wish wish)
{
	bool out = json_is_true(json_object_get(answer, "opted_out"));
	json_int_t ended = json_integer_value(json_object_get(answer, "stopped"));
	char user[64];

	name_user(json_integer_value(json_object_get(answer, "uid")), user);
	if (out)
		printf("graind records no process of %s, whoever asks for it; grainctl optout off undoes "
		       "that\n",
		       user);
	else
		printf("graind records processes of %s as the administrator's settings say; grainctl optout "
		       "on ends that\n",
		       user);
	if (wish == OUT && ended > 0)
		printf("%lld %s now; what was recorded until now is kept (grainctl jobs --all, grainctl "
		       "delete JOB)\n",
		       (long long)ended, ended == 1 ? "recording ends" : "recordings end");
}

int verb__optout(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp_option option_list[] = {{"json", 'j', NULL, 0, "As graind says it", 0}, {0}};
	static const struct argp argp = {
		option_list,
		parse_option,
		"[on|off|status]",
		"on: graind records none of your processes from now on, whoever asks for it, the "
		"administrator and you included, and ends what it records of them. It lasts until off, "
		"over restarts of graind, too. Nobody can decide it for others. Without an "
		"argument, or with status, says what holds.\v"
		"Examples:\n"
		"  grainctl optout on\n"
		"  grainctl optout\n"
		"  grainctl optout off\n"
		"A single process is kept out of sessions of all processes by GRAIND_OFF=1 in its "
		"environment.",
		NULL,
		NULL,
		NULL};
	struct optout_options options = {.wish = ASK};
	json_t *answer = NULL, *body = NULL;
	enum ctl_exit result;
	char why[512];

	ctl__parse(ctl, &argp, argc, argv, &options);
	if (options.wish != ASK)
		body = json_pack("{s:b}", "on", options.wish == OUT);
	result = server__call(ctl->socket, body ? "POST" : "GET", "/v1/optout", body, &answer, why);
	json_decref(body);
	if (result != CTL_DONE)
		return ctl__fail(ctl, result, "%s", why);
	if (options.json) {
		json_dumpf(answer, stdout, JSON_COMPACT);
		putchar('\n');
	} else {
		print(answer, options.wish);
	}
	json_decref(answer);
	return CTL_DONE;
}
