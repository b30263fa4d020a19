/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/server.h"
#include "daemon/grainctl/http_client.h"

#include <errno.h>
#include <stdlib.h>

/* Attaching, and closing a long trace, take graind a while without a byte sent. */
#define SILENCE_SECS 180
#define WHY_SIZE 512

int server__reachable(const char *socket)
{
	return http__probe(socket);
}

static enum ctl_exit no_answer(int result, const char *socket, const struct http_error *error, char *why)
{
	switch (result) {
	case -ENOENT:
	case -ECONNREFUSED:
		snprintf(why, WHY_SIZE, "no graind listens at %.200s; start it: systemctl start graind",
			 socket);
		return CTL_FAILED;
	case -EACCES:
	case -EPERM:
		snprintf(why, WHY_SIZE, "you may not use the graind at %.200s; ask who runs it", socket);
		return CTL_DENIED;
	case -ENAMETOOLONG:
		snprintf(why, WHY_SIZE, "the socket's path is longer than 107 bytes: %.200s", socket);
		return CTL_USAGE;
	default:
		snprintf(why, WHY_SIZE, "%s", error->text);
		return CTL_FAILED;
	}
}

static enum ctl_exit refused(const struct http_reply *reply, char *why)
{
	json_t *answer = json_loadb(reply->body, reply->size, 0, NULL);
	const char *text = json_string_value(json_object_get(answer, "error"));

	if (text && *text)
		snprintf(why, WHY_SIZE, "%.500s", text);
	else
		snprintf(why, WHY_SIZE, "graind answered with HTTP status %ld", reply->status);
	json_decref(answer);
	return reply->status == 401 || reply->status == 403 ? CTL_DENIED : CTL_FAILED;
}

enum ctl_exit server__call(const char *socket, const char *method, const char *path, const json_t *body,
			   json_t **out, long *status, char why[512])
{
	struct http_request request = {.socket = socket,
				       .method = method,
				       .path = path,
				       .silence_secs = SILENCE_SECS};
	struct http_reply reply = {0};
	struct http_error error;
	enum ctl_exit result = CTL_FAILED;
	char *text = NULL;
	int sent;

	if (status)
		*status = 0;
	if (body) {
		text = json_dumps(body, JSON_COMPACT);
		if (!text) {
			snprintf(why, WHY_SIZE, "out of memory");
			return CTL_FAILED;
		}
		request.body = text;
	}
	sent = http__request(&request, &reply, &error);
	free(text);
	if (sent)
		return no_answer(sent, socket, &error, why);
	if (status)
		*status = reply.status;
	if (reply.status < 200 || reply.status > 299) {
		result = refused(&reply, why);
	} else {
		json_t *answer = reply.size ? json_loadb(reply.body, reply.size, 0, NULL) : NULL;

		if (reply.size && !json_is_object(answer)) {
			snprintf(why, WHY_SIZE, "graind at %.200s does not speak version 1 of its API",
				 socket);
			json_decref(answer);
		} else {
			*out = answer;
			result = CTL_DONE;
		}
	}
	http_reply__free(&reply);
	return result;
}

enum ctl_exit server__download(const char *socket, const char *path, FILE *file, char why[512])
{
	struct http_request request = {.socket = socket, .method = "GET", .path = path, .file = file};
	struct http_reply reply = {0};
	struct http_error error;
	enum ctl_exit result = CTL_DONE;
	int sent = http__request(&request, &reply, &error);

	if (sent)
		return no_answer(sent, socket, &error, why);
	if (reply.status != 200)
		result = refused(&reply, why);
	http_reply__free(&reply);
	return result;
}

enum ctl_exit server__text(const char *socket, const char *path, long silence_secs, char **out, char why[512])
{
	struct http_request request = {.socket = socket,
				       .method = "GET",
				       .path = path,
				       .silence_secs = silence_secs};
	struct http_reply reply = {0};
	struct http_error error;
	enum ctl_exit result = CTL_DONE;
	int sent = http__request(&request, &reply, &error);

	if (sent)
		return no_answer(sent, socket, &error, why);
	if (reply.status == 200) {
		*out = reply.body;
		reply.body = NULL;
	} else {
		result = refused(&reply, why);
	}
	http_reply__free(&reply);
	return result;
}
