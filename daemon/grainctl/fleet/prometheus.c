/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/fleet/prometheus.h"
#include "daemon/grainctl/fleet/web.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SILENCE_SECS 30
#define WHY_SIZE 512

void prometheus__shown(const char *url, char *out, size_t size)
{
	const char *host = strstr(url, "://"), *at;

	if (!host) {
		snprintf(out, size, "%s", url);
		return;
	}
	host += 3;
	at = memrchr(host, '@', strcspn(host, "/?#"));
	snprintf(out, size, "%.*s%s", (int)(host - url), url, at ? at + 1 : host);
}

static enum ctl_exit judge(const struct http_reply *reply, const char *shown, json_t **out, char why[512])
{
	json_t *answer = json_loadb(reply->body, reply->size, 0, NULL);
	const char *status = json_string_value(json_object_get(answer, "status"));
	const char *error = json_string_value(json_object_get(answer, "error"));
	json_t *data = json_object_get(answer, "data"), *result = json_object_get(data, "result");
	const char *type = json_string_value(json_object_get(data, "resultType"));
	enum ctl_exit exit = CTL_FAILED;

	if (reply->status == 401 || reply->status == 403) {
		snprintf(why, WHY_SIZE,
			 "Prometheus at %.150s wants to know who asks (HTTP status %ld); --prometheus "
			 "http://USER:PASSWORD@HOST:PORT",
			 shown, reply->status);
		exit = CTL_DENIED;
	} else if (status && !strcmp(status, "error") && error) {
		snprintf(why, WHY_SIZE, "Prometheus at %.150s: %.300s", shown, error);
	} else if (reply->status != 200) {
		snprintf(why, WHY_SIZE,
			 "what answers at %.150s (HTTP status %ld) is not Prometheus; name it by "
			 "--prometheus URL",
			 shown, reply->status);
	} else if (!status || strcmp(status, "success") || !type || strcmp(type, "vector") ||
		   !json_is_array(result)) {
		snprintf(why, WHY_SIZE,
			 "what answers at %.150s does not speak as Prometheus does; name it by --prometheus "
			 "URL",
			 shown);
	} else {
		*out = json_incref(result);
		exit = CTL_DONE;
	}
	json_decref(answer);
	return exit;
}

enum ctl_exit prometheus__query(const char *url, const char *expression, json_t **out, char why[512])
{
	char *escaped = web__escape(expression), *question = NULL, shown[256];
	struct http_reply reply = {0};
	struct http_error error = {""};
	enum ctl_exit exit = CTL_FAILED;
	size_t length = strlen(url);
	int result;

	prometheus__shown(url, shown, sizeof(shown));
	while (length && url[length - 1] == '/')
		length--;
	if (!escaped || asprintf(&question, "%.*s/api/v1/query?query=%s", (int)length, url, escaped) < 0) {
		snprintf(why, WHY_SIZE, "out of memory");
		free(escaped);
		return CTL_FAILED;
	}
	result = web__get(question, SILENCE_SECS, &reply, &error);
	if (result)
		snprintf(why, WHY_SIZE,
			 "no Prometheus answers at %.150s: %.240s; name it by --prometheus URL", shown,
			 error.text);
	else
		exit = judge(&reply, shown, out, why);
	http_reply__free(&reply);
	free(question);
	free(escaped);
	return exit;
}

bool prometheus__sample(const json_t *answer, size_t i, struct prometheus_sample *out)
{
	const json_t *item = json_array_get(answer, i), *value = json_object_get(item, "value");
	const char *text = json_string_value(json_array_get(value, 1));
	char *end;

	out->labels = json_object_get(item, "metric");
	if (!json_is_object(out->labels) || !text || !*text)
		return false;
	out->value = strtod(text, &end);
	return !*end && !isnan(out->value);
}

const char *prometheus__label(const struct prometheus_sample *sample, const char *name)
{
	const char *value = json_string_value(json_object_get(sample->labels, name));

	return value ? value : "";
}
