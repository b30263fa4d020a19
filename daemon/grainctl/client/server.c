/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/client/server.h"
#include "daemon/grainctl/client/http_client.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* graind sends nothing while it attaches or while it closes a long trace. */
#define SILENCE_SECS 180
#define WHY_SIZE 512
#define GRAIND_USER "graind"

static const char *named;

void server__name(const char *socket)
{
	named = socket;
}

static bool is_service(uid_t uid)
{
	const struct passwd *graind = uid ? getpwnam(GRAIND_USER) : NULL;

	return uid == 0 || (graind && graind->pw_uid == uid);
}

bool server__is_graind(uid_t uid)
{
	uid_t server;

	return is_service(uid) || (named && http__probe(named, &server) == 0 && server == uid);
}

bool server__may_tell_where(const char *socket)
{
	uid_t server;

	return http__probe(socket, &server) == 0 && (server == geteuid() || is_service(server));
}

static bool may_serve(uid_t uid)
{
	return uid == geteuid() || server__is_graind(uid);
}

static bool (*who_may_serve(const char *socket))(uid_t)
{
	return named && !strcmp(socket, named) ? NULL : may_serve;
}

int server__reachable(const char *socket)
{
	uid_t server;
	int error = http__probe(socket, &server);

	return error || !who_may_serve(socket) || may_serve(server) ? error : -EKEYREJECTED;
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

/* See server__call(). *status: the HTTP status, 0 without an answer. */
static enum ctl_exit exchange(struct http_request request, const json_t *body, json_t **out, long *status,
			      char *why)
{
	struct http_reply reply = {0};
	struct http_error error;
	enum ctl_exit result = CTL_FAILED;
	char *text = NULL;
	int sent;

	*status = 0;
	request.serves = who_may_serve(request.socket);
	request.silence_secs = SILENCE_SECS;
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
		return no_answer(sent, request.socket, &error, why);
	*status = reply.status;
	if (reply.status < 200 || reply.status > 299) {
		result = refused(&reply, why);
	} else {
		json_t *answer = reply.size ? json_loadb(reply.body, reply.size, 0, NULL) : NULL;

		if (reply.size && !json_is_object(answer)) {
			snprintf(why, WHY_SIZE, "graind at %.200s does not speak version 1 of its API",
				 request.socket);
			json_decref(answer);
		} else {
			*out = answer;
			result = CTL_DONE;
		}
	}
	http_reply__free(&reply);
	return result;
}

enum ctl_exit server__call(const char *socket, const char *method, const char *path, const json_t *body,
			   json_t **out, char why[512])
{
	const struct http_request request = {.socket = socket, .method = method, .path = path};
	long ignored;

	return exchange(request, body, out, &ignored, why);
}

enum ctl_exit server__ask_for(const char *socket, const char *path, const json_t *body, json_t **out,
			      char why[512])
{
	const struct http_request request = {.socket = socket, .method = "POST", .path = path};
	long status;
	enum ctl_exit result = exchange(request, body, out, &status, why);

	return result == CTL_FAILED && status == 400 ? CTL_USAGE : result;
}

enum ctl_exit server__download(const char *socket, const char *path, FILE *file, char why[512])
{
	struct http_request request = {.socket = socket,
				       .serves = who_may_serve(socket),
				       .method = "GET",
				       .path = path,
				       .file = file};
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
				       .serves = who_may_serve(socket),
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
