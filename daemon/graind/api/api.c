// SPDX-License-Identifier: BSD-2-Clause
/*
 * HTTP by libmicrohttpd. Each connection has its own thread, so that requests may wait for jobs.
 * connections.c limits the connections.
 */
#include "daemon/graind/api/api.h"
#include "daemon/graind/base/clock.h"
#include "daemon/graind/base/thread_names.h"
#include "daemon/graind/api/connections.h"
#include "daemon/graind/limits/rate.h"
#include "daemon/graind/api/reports.h"
#include "daemon/graind/api/routes.h"
#include "daemon/graind/base/urgency.h"

#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_BODY (64u << 10)
#define MAX_BODY_READ (1u << 20)
#define IDLE_SECONDS 15
/*
 * A browser that shows a report may run the scripts and use the styles in it, but may not contact any
 * server.
 */
#define REPORT_POLICY                                                                                        \
	"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "   \
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts allow-popups "   \
	"allow-downloads"
#define CONNECTION_MEMORY (32u << 10)
/* This is address space; unused parts take no memory. Name services and parsers need some stack. */
#define THREAD_STACK (1u << 20)
#define LIST_BLOCK (32u << 10)

struct api {
	struct MHD_Daemon *daemon;
	struct connections *connections;
	struct jobs *jobs;
};

/* The part of a request that has arrived. */
struct body {
	char *data;
	size_t size;
	bool too_large;
	struct report *report; /* takes memory until it has been sent */
};

static struct connection *visit_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static void on_connection(void *context, struct MHD_Connection *connection, void **socket_context,
			  enum MHD_ConnectionNotificationCode what)
{
	struct api *api = context;
	const union MHD_ConnectionInfo *info;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
		*socket_context = info ? connections__enter(api->connections, info->connect_fd) : NULL;
	} else if (*socket_context) {
		connections__leave(api->connections, *socket_context);
	}
}

static ssize_t read_list(void *list, uint64_t position, char *bytes, size_t room)
{
	ssize_t got = job_list__read(list, bytes, room);

	(void)position;
	return got < 0 ? MHD_CONTENT_READER_END_WITH_ERROR : got > 0 ? got : MHD_CONTENT_READER_END_OF_STREAM;
}

static void close_list(void *list)
{
	job_list__close(list);
}

/* *bytes is the size of the answer. */
static enum MHD_Result send_answer(struct MHD_Connection *connection, struct answer *answer, uint64_t *bytes)
{
	struct MHD_Response *response = NULL;
	enum MHD_Result result;
	struct stat st;
	char *text;

	if (answer->list) {
		*bytes = job_list__bytes(answer->list);
		response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, LIST_BLOCK, read_list,
							     answer->list, close_list);
		if (!response)
			job_list__close(answer->list);
	} else if (answer->fd >= 0) {
		*bytes = fstat(answer->fd, &st) == 0 ? (uint64_t)st.st_size : 0;
		response = MHD_create_response_from_fd64(*bytes, answer->fd);
		if (!response)
			close(answer->fd);
	} else {
		text = answer->text   ? answer->text
		       : answer->json ? json_dumps(answer->json, JSON_COMPACT | JSON_REAL_PRECISION(9))
				      : strdup("");
		*bytes = text ? strlen(text) : 0;
		if (text)
			response = MHD_create_response_from_buffer(*bytes, text, MHD_RESPMEM_MUST_FREE);
		if (text && !response)
			free(text);
	}
	json_decref(answer->json);
	if (!response)
		return MHD_NO;
	if (answer->status != 204)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
					answer->type ? answer->type : "application/json");
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "Content-Security-Policy",
				answer->page ? REPORT_POLICY : "default-src 'none'");
	result = MHD_queue_response(connection, (unsigned int)answer->status, response);
	MHD_destroy_response(response);
	return result;
}

static void collect(struct body *body, const char *data, size_t size)
{
	char *grown;

	if (body->too_large || size > MAX_BODY - body->size) {
		body->too_large = true;
		return;
	}
	grown = realloc(body->data, body->size + size);
	if (!grown) {
		body->too_large = true;
		return;
	}
	memcpy(grown + body->size, data, size);
	body->data = grown;
	body->size += size;
}

/*
 * Announced bodies that are far too large are refused before they are sent: clients with such a body ask
 * first (100-continue). If a client sends the body at once, it is read to its end. Otherwise the connection
 * would end before the answer arrives.
 */
static bool announces_too_much(struct MHD_Connection *connection)
{
	const char *length =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);

	return length && strtoull(length, NULL, 10) > MAX_BODY_READ;
}

/* Whether the client may have an answer now. If not, *answer says why. */
static bool admit(struct api *api, struct connection *served, const struct request *request,
		  struct answer *answer)
{
	const struct peer *peer = connections__peer(served);

	if (!peer->admin && !rate__allows(RATE_OF_REQUESTS, peer->account, clock__now_ns()))
		answer__fail(answer, 429, "too many requests; ask less often");
	else if (!connections__begin(api->connections, served, routes__takes_time(request)))
		answer__fail(
			answer, 429,
			"too many requests of yours are waiting already; ask again when one is answered");
	else
		return true;
	return false;
}

static pthread_once_t names_once = PTHREAD_ONCE_INIT;

/* The library's thread names itself when it begins, so it gets its name when it serves for the first time. */
static void name_listener(void)
{
	thread_names__replace("MHD-listen", "graind-http");
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *data, size_t *size,
				  void **request_context)
{
	struct connection *served = visit_of(connection);
	struct api *api = context;
	struct body *body = *request_context;
	struct answer answer = {.fd = -1};
	struct request request = {.method = method, .path = url};
	const struct peer *peer;
	enum MHD_Result result;
	uint64_t bytes = 0;

	(void)version;
	if (!served)
		return MHD_NO;
	if (!body) {
		pthread_once(&names_once, name_listener);
		pthread_setname_np(pthread_self(), "graind-request");
		*request_context = body = calloc(1, sizeof(*body));
		if (!body)
			return MHD_NO;
		/* A client that asks rarely goes before the threads of clients that ask all the time. */
		if (rate__is_seldom(RATE_OF_REQUESTS, connections__peer(served)->account, clock__now_ns()))
			urgency__prefer();
		if (!announces_too_much(connection))
			return MHD_YES;
		answer__fail(&answer, 413, "the request's body is larger than 64 KiB");
		return send_answer(connection, &answer, &bytes);
	}
	if (*size) {
		collect(body, data, *size);
		*size = 0;
		return MHD_YES;
	}
	peer = connections__peer(served);
	request.peer = peer->admin ? 0 : peer->uid;
	request.uid = peer->uid;
	request.body = body->data ? body->data : "";
	request.body_size = body->size;
	request.all = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "all");
	request.format = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "format");
	request.view = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "view");
	if (!admit(api, served, &request, &answer))
		;
	else if (body->too_large)
		answer__fail(&answer, 413, "the request's body is larger than 64 KiB");
	else
		routes__serve(api->jobs, &request, &answer);
	body->report = answer.report;
	result = send_answer(connection, &answer, &bytes);
	connections__send(api->connections, served, bytes);
	return result;
}

static void on_completed(void *context, struct MHD_Connection *connection, void **request_context,
			 enum MHD_RequestTerminationCode how)
{
	struct body *body = *request_context;
	struct connection *served = visit_of(connection);
	struct api *api = context;

	(void)how;
	if (served)
		connections__done(api->connections, served);
	if (body) {
		reports__sent(body->report);
		free(body->data);
	}
	free(body);
	*request_context = NULL;
}

/* Gives the descriptor to the library, which closes it also on failure. */
static void hand(void *context, int fd)
{
	const struct sockaddr address = {.sa_family = AF_UNIX};
	struct api *api = context;

	MHD_add_connection(api->daemon, fd, &address, sizeof(address));
}

int api__start(int listen_fd, struct jobs *jobs, struct api **out)
{
	struct api *api = calloc(1, sizeof(*api));
	int error;

	if (!api)
		return -ENOMEM;
	api->jobs = jobs;
	api->daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION |
					       MHD_USE_POLL | MHD_USE_ITC | MHD_USE_NO_LISTEN_SOCKET,
				       0, NULL, NULL, on_request, api, MHD_OPTION_CONNECTION_LIMIT,
				       (unsigned int)(CONNECTIONS_MOST + CONNECTIONS_ENDING),
				       MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)IDLE_SECONDS,
				       MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
				       MHD_OPTION_THREAD_STACK_SIZE, (size_t)THREAD_STACK,
				       MHD_OPTION_NOTIFY_CONNECTION, on_connection, api,
				       MHD_OPTION_NOTIFY_COMPLETED, on_completed, api, MHD_OPTION_END);
	error = api->daemon ? connections__open(listen_fd, hand, api, &api->connections)
		: errno	    ? -errno
			    : -EIO;
	if (error) {
		if (api->daemon)
			MHD_stop_daemon(api->daemon);
		free(api);
		return error;
	}
	*out = api;
	return 0;
}

void api__quiesce(struct api *api)
{
	connections__shut(api->connections);
}

void api__stop(struct api *api)
{
	if (!api)
		return;
	connections__shut(api->connections);
	MHD_stop_daemon(api->daemon);
	connections__free(api->connections);
	free(api);
}
