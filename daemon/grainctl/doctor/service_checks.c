// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/grainctl/doctor/service_checks.h"
#include "daemon/grainctl/client/server.h"

#include <string.h>
#include <unistd.h>

#define METRICS_ENABLED "/etc/systemd/system/sockets.target.wants/graind-metrics.socket"

json_t *service_checks__ask(const struct ctl *ctl, struct check *check)
{
	char why[512], detail[320];
	json_t *answer = NULL;

	if (server__call(ctl->socket, "GET", "/v1/status?all=1", NULL, &answer, why) == CTL_DONE) {
		const char *version = json_string_value(json_object_get(answer, "version"));

		snprintf(detail, sizeof(detail), "version %.40s answers at %.200s", version ? version : "?",
			 ctl->socket);
		check__set(check, "graind", CHECK_YES, detail, "");
	} else {
		char *advice = strstr(why, "; ");

		if (advice)
			*advice = 0;
		check__set(check, "graind", CHECK_LIMITED, why,
			   geteuid() == 0 ? "without it run and attach start a private one"
					  : "without it only root can profile; an administrator starts it");
		repair_command__start_graind(check->command);
	}
	return answer;
}

bool service_checks__has(const json_t *status, const char *capability)
{
	const json_t *name;
	size_t i;

	json_array_foreach(json_object_get(status, "capabilities"), i, name)
	{
		if (json_is_string(name) && !strcmp(json_string_value(name), capability))
			return true;
	}
	return false;
}

bool service_checks__uses_perf(const json_t *status)
{
	const char *method = json_string_value(json_object_get(status, "method"));

	return method && !strcmp(method, "perf");
}

/* graind does not start without the capabilities that it needs, so a running graind has them. */
void service_checks__capabilities(struct check *check, const json_t *status)
{
	char detail[300] = "graind has";
	const json_t *name;
	size_t i;

	json_array_foreach(json_object_get(status, "capabilities"), i, name)
	{
		size_t used = strlen(detail);

		snprintf(detail + used, sizeof(detail) - used, "%s %s", i ? "," : "",
			 json_string_value(name) ? json_string_value(name) : "?");
	}
	check__set(check, "capabilities", CHECK_YES, detail, "");
}

static void check_settings(struct check *check, const json_t *status)
{
	const json_t *policy = json_object_get(status, "policy");
	const char *error = json_string_value(json_object_get(policy, "error"));
	const char *file = json_string_value(json_object_get(policy, "file"));
	char detail[320];

	if (error && *error) {
		check__set(check, "settings", CHECK_NO, error,
			   "graind goes on with those that it had read before; mend the file, then");
		repair_command__reload(check->command,
				       (long)json_integer_value(json_object_get(status, "pid")));
		return;
	}
	snprintf(detail, sizeof(detail), "%.200s %s", file ? file : "",
		 json_is_true(json_object_get(policy, "there")) ? "is in force" : "is not there: no limits");
	check__set(check, "settings", CHECK_YES, detail, "");
}

static void check_report_directory(struct check *check, const json_t *status)
{
	const json_t *directory = json_object_get(json_object_get(status, "policy"), "report_directory");
	const char *error = json_string_value(json_object_get(status, "report_directory_error"));

	if (error && *error) {
		check__set(check, "report directory", CHECK_NO, error,
			   "summaries do not get there: the unit takes [Service] ReadWritePaths= of it, or "
			   "ProtectHome=no if it is below /home");
		check__set_command(check, "sudo systemctl edit graind && sudo systemctl restart graind");
	} else {
		check__set(check, "report directory", CHECK_YES, json_string_value(directory), "");
	}
}

static void check_metrics(struct check *check, const json_t *status)
{
	if (json_is_true(json_object_get(status, "metrics"))) {
		check__set(check, "metrics", CHECK_YES, "graind serves them on TCP, for Prometheus", "");
		return;
	}
	check__set(check, "metrics", CHECK_LIMITED, "not on TCP, at the socket only",
		   access(METRICS_ENABLED, F_OK) == 0
			   ? "graind-metrics.socket is enabled, but graind had started before: restart it"
			   : "only Prometheus needs them there; whoever can connect sees all users' jobs");
	repair_command__metrics(check->command);
}

static void check_opted_out(struct check *check)
{
	check__set(check, "opted out", CHECK_LIMITED, "nobody records processes of yours, you included",
		   "as you have asked for; this undoes it");
	check__set_command(check, "grainctl optout off");
}

size_t service_checks__run(const json_t *status, struct check *out)
{
	size_t count = 0;

	check_settings(&out[count++], status);
	if (json_is_string(json_object_get(json_object_get(status, "policy"), "report_directory")))
		check_report_directory(&out[count++], status);
	check_metrics(&out[count++], status);
	if (json_is_true(json_object_get(status, "opted_out")))
		check_opted_out(&out[count++]);
	return count;
}
