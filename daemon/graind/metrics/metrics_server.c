// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/metrics/metrics_server.h"
#include "daemon/graind/metrics/metrics.h"
#include "daemon/graind/metrics/metrics_guests.h"
#include "daemon/graind/base/thread_names.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Connections that must leave stay for a moment. */
#define MAX_CONNECTIONS (2 * GUESTS_MOST)
#define IDLE_SECONDS 15
#define CONNECTION_MEMORY (16u << 10)
#define BACKLOG 128
#define LOOPBACK "127.0.0.1"

static atomic_bool serves;

struct metrics_server {
	struct MHD_Daemon *daemon;
	struct jobs *jobs;
	int fd;
	const char *const *names; /* further host names that requests may use, ended by NULL */
	struct guests guests;	  /* belongs to the library's thread */
};

/* Splits at the last colon. False: there is no port. */
static bool split(const char *where, char host[256], const char **port)
{
	const char *colon = strrchr(where, ':'), *start = where, *end = colon;

	if (!colon) {
		strcpy(host, LOOPBACK);
		*port = where;
		return *where != 0;
	}
	if (*start == '[' && end > start && end[-1] == ']') {
		start++;
		end--;
	}
	if (end == start || end - start > 255 || !colon[1])
		return false;
	memcpy(host, start, (size_t)(end - start));
	host[end - start] = 0;
	*port = colon + 1;
	return true;
}

int metrics_server__listen(const char *where, int *out, char why[512])
{
	const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
				       .ai_socktype = SOCK_STREAM};
	struct addrinfo *found;
	char host[256];
	const char *port;
	int error, fd, yes = 1;

	error = split(where, host, &port) && atol(port) <= UINT16_MAX
			? getaddrinfo(host, port, &hints, &found)
			: EAI_NONAME;
	if (error) {
		snprintf(why, 512,
			 "metrics: '%.300s' is no ADDRESS:PORT with numbers, as in " LOOPBACK ":9464", where);
		return -EINVAL;
	}
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (fd < 0 || bind(fd, found->ai_addr, found->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0) {
		error = -errno;
		snprintf(why, 512, "metrics: cannot listen at %.300s: %s", where, strerror(errno));
		if (fd >= 0)
			close(fd);
	} else {
		*out = fd;
	}
	freeaddrinfo(found);
	return error;
}

static void on_connection(void *context, struct MHD_Connection *connection, void **socket_context,
			  enum MHD_ConnectionNotificationCode what)
{
	struct metrics_server *server = context;
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	int fd = info ? info->connect_fd : -1, goes;

	(void)socket_context;
	if (fd < 0)
		return;
	if (what != MHD_CONNECTION_NOTIFY_STARTED) {
		guests__leave(&server->guests, fd);
		return;
	}
	info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	goes = guests__enter(&server->guests, fd, info ? info->client_addr : NULL);
	if (goes >= 0)
		shutdown(goes, SHUT_RDWR);
}

static bool may_ask(const struct metrics_server *server, struct MHD_Connection *connection)
{
	char own[256] = "";

	if (gethostname(own, sizeof(own) - 1) != 0)
		own[0] = 0;
	return guests__may_ask_for(MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
							       MHD_HTTP_HEADER_HOST),
				   own, server->names);
}

/* Returns the text that is sent instead of the metrics. NULL: the metrics are sent. */
static const char *refuse(const struct metrics_server *server, struct MHD_Connection *connection,
			  const char *url, const char *method, unsigned int *status)
{
	if (!may_ask(server, connection)) {
		*status = MHD_HTTP_MISDIRECTED_REQUEST;
		return "graind does not go by the name in Host; ask for its address or its host name, or "
		       "start it "
		       "with --metrics-host NAME\n";
	}
	*status = strcmp(url, "/metrics") != 0		     ? MHD_HTTP_NOT_FOUND
		  : strcmp(method, MHD_HTTP_METHOD_GET) != 0 ? MHD_HTTP_METHOD_NOT_ALLOWED
							     : MHD_HTTP_OK;
	return *status == MHD_HTTP_OK ? NULL : "graind has nothing but GET /metrics here\n";
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *data, size_t *size,
				  void **request_context)
{
	static char known;
	struct metrics_server *server = context;
	struct MHD_Response *response;
	enum MHD_Result result;
	unsigned int status;
	const char *refusal;
	char *text;

	(void)version, (void)data;
	if (!*request_context) {
		*request_context = &known;
		return MHD_YES;
	}
	/* The body of a request is ignored. */
	if (*size) {
		*size = 0;
		return MHD_YES;
	}
	refusal = refuse(server, connection, url, method, &status);
	text = refusal ? strdup(refusal) : metrics__text(server->jobs, 0);
	if (!text) {
		text = strdup("graind is out of memory\n");
		status = MHD_HTTP_SERVICE_UNAVAILABLE;
	}
	response = text ? MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE) : NULL;
	if (!response) {
		free(text);
		return MHD_NO;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
				status == MHD_HTTP_OK ? METRICS_TYPE : "text/plain");
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

int metrics_server__start(int fd, const char *const *names, struct jobs *jobs, struct metrics_server **out)
{
	struct metrics_server *server = calloc(1, sizeof(*server));

	if (server) {
		server->jobs = jobs;
		server->fd = fd;
		server->names = names;
		guests__init(&server->guests);
		server->daemon =
			MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC, 0,
					 NULL, NULL, on_request, server, MHD_OPTION_LISTEN_SOCKET, fd,
					 MHD_OPTION_CONNECTION_LIMIT, (unsigned int)MAX_CONNECTIONS,
					 MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)IDLE_SECONDS,
					 MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
					 MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_END);
	}
	if (!server || !server->daemon) {
		free(server);
		close(fd);
		return -ENOMEM;
	}
	thread_names__replace("MHD-", "graind-metrics");
	*out = server;
	atomic_store(&serves, true);
	return 0;
}

bool metrics_server__serves(void)
{
	return atomic_load(&serves);
}

void metrics_server__stop(struct metrics_server *server)
{
	if (!server)
		return;
	atomic_store(&serves, false);
	MHD_stop_daemon(server->daemon);
	close(server->fd);
	free(server);
}
