// SPDX-License-Identifier: BSD-2-Clause
/* HTTP by libmicrohttpd: one thread a connection, so that requests may wait for jobs. */
#include "daemon/graind/api.h"
#include "daemon/graind/rate.h"
#include "daemon/graind/routes.h"

#include <errno.h>
#include <grp.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_BODY (64u << 10)
#define MAX_BODY_READ (1u << 20)
#define MAX_CONNECTIONS 512
#define MAX_CONNECTIONS_OF_A_USER 50
#define IDLE_SECONDS 15
/* Until a request is there as a whole. */
#define REQUEST_NS (UINT64_C(30) * 1000000000)
/* A browser that is shown a report may run and colour what is in it, and ask nobody for anything. */
#define REPORT_POLICY                                                                                        \
	"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "   \
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts allow-popups "   \
	"allow-downloads"
#define CONNECTION_MEMORY (32u << 10)
#define ADMIN_GROUP "graind"
#define NO_GROUP ((gid_t)-1)
#define MOST_GROUPS 4096

/* One open connection; in a list so that a user's can be counted. */
struct peer {
	uid_t uid;
	bool known;
	bool admin; /* root, or a member of the admin group: sees and controls every job */
	int fd;
	/* Under the lock. */
	uint64_t since_ns; /* when it could send its request; 0: that is being answered */
	struct peer *next;
};

struct api {
	struct MHD_Daemon *daemon;
	struct jobs *jobs;
	gid_t admins; /* NO_GROUP: this machine has none */
	pthread_mutex_t lock;
	struct peer *peers;
};

struct body {
	char *data;
	size_t size;
	bool too_large;
};

static int socket_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

static gid_t find_admins(void)
{
	struct group group, *found = NULL;
	char names[4096];

	/* One with more members than fit is none that was made for this. */
	return getgrnam_r(ADMIN_GROUP, &group, names, sizeof(names), &found) == 0 && found ? found->gr_gid
											   : NO_GROUP;
}

/* The groups of whoever connected, when it did, told by the kernel. */
static bool is_admin(const struct api *api, int fd, const struct ucred *credentials)
{
	gid_t groups[MOST_GROUPS];
	socklen_t size = sizeof(groups);

	if (credentials->uid == 0 || (api->admins != NO_GROUP && credentials->gid == api->admins))
		return true;
	if (api->admins == NO_GROUP || getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) != 0)
		return false;
	for (size_t i = 0; i < size / sizeof(*groups); i++)
		if (groups[i] == api->admins)
			return true;
	return false;
}

/* Whoever sends a byte now and then keeps others out; looked for when somebody comes. */
static void drop_slow(struct api *api, uint64_t now)
{
	for (const struct peer *peer = api->peers; peer; peer = peer->next)
		if (peer->since_ns && now - peer->since_ns > REQUEST_NS)
			shutdown(peer->fd, SHUT_RDWR);
}

static void set_since(struct api *api, struct peer *peer, uint64_t since_ns)
{
	pthread_mutex_lock(&api->lock);
	peer->since_ns = since_ns;
	pthread_mutex_unlock(&api->lock);
}

static struct peer *peer_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static void add_peer(struct api *api, struct MHD_Connection *connection, void **context)
{
	struct peer *peer = calloc(1, sizeof(*peer));
	int fd = socket_of(connection);
	struct ucred credentials;
	socklen_t size = sizeof(credentials);
	size_t others = 0;

	*context = peer;
	if (!peer)
		return;
	if (fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 &&
	    size == sizeof(credentials)) {
		peer->uid = credentials.uid;
		peer->known = true;
		peer->admin = is_admin(api, fd, &credentials);
	}
	peer->fd = fd;
	peer->since_ns = rate__now_ns();
	pthread_mutex_lock(&api->lock);
	drop_slow(api, peer->since_ns);
	for (const struct peer *other = api->peers; other; other = other->next)
		others += other->uid == peer->uid;
	peer->next = api->peers;
	api->peers = peer;
	pthread_mutex_unlock(&api->lock);
	/* Nobody may take all the connections. */
	if (!peer->known || (!peer->admin && others >= MAX_CONNECTIONS_OF_A_USER))
		shutdown(fd, SHUT_RDWR);
}

static void remove_peer(struct api *api, struct peer *peer)
{
	pthread_mutex_lock(&api->lock);
	for (struct peer **at = &api->peers; *at; at = &(*at)->next) {
		if (*at == peer) {
			*at = peer->next;
			break;
		}
	}
	pthread_mutex_unlock(&api->lock);
	free(peer);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **socket_context,
			  enum MHD_ConnectionNotificationCode what)
{
	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		add_peer(context, connection, socket_context);
	else if (*socket_context)
		remove_peer(context, *socket_context);
}

static enum MHD_Result send_answer(struct MHD_Connection *connection, struct answer *answer)
{
	struct MHD_Response *response = NULL;
	enum MHD_Result result;
	struct stat st;
	char *text;

	if (answer->fd >= 0) {
		if (fstat(answer->fd, &st) == 0)
			response = MHD_create_response_from_fd64((uint64_t)st.st_size, answer->fd);
		if (!response)
			close(answer->fd);
	} else {
		text = answer->text   ? answer->text
		       : answer->json ? json_dumps(answer->json, JSON_COMPACT | JSON_REAL_PRECISION(9))
				      : strdup("");
		if (text)
			response = MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE);
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
 * Announced bodies that are far too large are refused before they are sent: clients ask first then
 * (100-continue). One that is sent at once is read to its end, or the connection's end would come before the
 * answer.
 */
static bool announces_too_much(struct MHD_Connection *connection)
{
	const char *length =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);

	return length && strtoull(length, NULL, 10) > MAX_BODY_READ;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *data, size_t *size,
				  void **request_context)
{
	struct peer *peer;
	struct api *api = context;
	struct body *body = *request_context;
	struct answer answer = {.fd = -1};
	struct request request = {.method = method, .path = url};

	(void)version;
	if (!body) {
		*request_context = body = calloc(1, sizeof(*body));
		if (!body)
			return MHD_NO;
		if (!announces_too_much(connection))
			return MHD_YES;
		answer__fail(&answer, 413, "the request's body is larger than 64 KiB");
		return send_answer(connection, &answer);
	}
	if (*size) {
		collect(body, data, *size);
		*size = 0;
		return MHD_YES;
	}
	peer = peer_of(connection);
	if (!peer || !peer->known) {
		answer__fail(&answer, 403, "cannot tell which user is asking");
	} else if (!peer->admin && !rate__allows(peer->uid, rate__now_ns())) {
		answer__fail(&answer, 429, "too many requests; ask less often");
	} else if (body->too_large) {
		answer__fail(&answer, 413, "the request's body is larger than 64 KiB");
	} else {
		set_since(api, peer, 0);
		request.peer = peer->admin ? 0 : peer->uid;
		request.uid = peer->uid;
		request.body = body->data ? body->data : "";
		request.body_size = body->size;
		request.all = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "all");
		request.format = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "format");
		request.view = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "view");
		routes__serve(api->jobs, &request, &answer);
	}
	return send_answer(connection, &answer);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **request_context,
			 enum MHD_RequestTerminationCode how)
{
	struct body *body = *request_context;
	struct peer *peer = peer_of(connection);

	(void)how;
	if (peer)
		set_since(context, peer, rate__now_ns());
	if (body)
		free(body->data);
	free(body);
	*request_context = NULL;
}

int api__start(int listen_fd, struct jobs *jobs, struct api **out)
{
	struct api *api = calloc(1, sizeof(*api));

	if (!api)
		return -ENOMEM;
	api->jobs = jobs;
	api->admins = find_admins();
	pthread_mutex_init(&api->lock, NULL);
	api->daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION |
					       MHD_USE_POLL | MHD_USE_ITC,
				       0, NULL, NULL, on_request, api, MHD_OPTION_LISTEN_SOCKET, listen_fd,
				       MHD_OPTION_CONNECTION_LIMIT, (unsigned int)MAX_CONNECTIONS,
				       MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)IDLE_SECONDS,
				       MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
				       MHD_OPTION_NOTIFY_CONNECTION, on_connection, api,
				       MHD_OPTION_NOTIFY_COMPLETED, on_completed, api, MHD_OPTION_END);
	if (!api->daemon) {
		pthread_mutex_destroy(&api->lock);
		free(api);
		return errno ? -errno : -EIO;
	}
	*out = api;
	return 0;
}

void api__quiesce(struct api *api)
{
	MHD_quiesce_daemon(api->daemon);
}

void api__stop(struct api *api)
{
	if (!api)
		return;
	MHD_stop_daemon(api->daemon);
	pthread_mutex_destroy(&api->lock);
	free(api);
}
