/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HTTP/1.1 over a unix socket, one request for each connection. No HTTP library is used: such libraries
 * load thirty others, which takes longer than a short job.
 */
#include "daemon/grainctl/client/http_client.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define CONNECT_S 10
#define SILENCE_S 60
#define SOCKET_PATH sizeof(((struct sockaddr_un *)NULL)->sun_path)
/*
 * Limits of an answer: the length of a line, and the number of lines in its head. Lines at the ends of
 * chunks count, too.
 */
#define MAX_LINE 4096
#define MAX_LINES 1000
#define UNKNOWN UINT64_MAX

struct transfer {
	const struct http_request *request;
	int connection;
	long silence_secs;
	long status;
	unsigned int lines;
	uint64_t length; /* of the body; UNKNOWN: the body ends with the connection, unless it is in chunks */
	bool chunked;
	char *body;
	size_t size, capacity;
	uint64_t streamed;
	char input[16384]; /* received bytes that are not yet used: from `used` to `filled` */
	size_t used, filled;
	const char *fault; /* the reason for -EPROTO: what is wrong with the answer */
};

static int keep(struct transfer *transfer, const char *data, size_t bytes)
{
	if (bytes >= HTTP_MAX_BODY - transfer->size)
		return -EMSGSIZE;
	if (transfer->size + bytes + 1 > transfer->capacity) {
		size_t capacity = (transfer->size + bytes + 1) * 2;
		char *grown = realloc(transfer->body, capacity);

		if (!grown)
			return -ENOMEM;
		transfer->body = grown;
		transfer->capacity = capacity;
	}
	memcpy(transfer->body + transfer->size, data, bytes);
	transfer->size += bytes;
	transfer->body[transfer->size] = 0;
	return 0;
}

static int take_body(struct transfer *transfer, const char *data, size_t bytes)
{
	FILE *file = transfer->request->file;

	if (!file || transfer->status != 200)
		return keep(transfer, data, bytes);
	if (bytes > HTTP_MAX_FILE - transfer->streamed)
		return -EFBIG;
	errno = 0;
	if (fwrite(data, 1, bytes, file) != bytes)
		return errno ? -errno : -EIO;
	transfer->streamed += bytes;
	return 0;
}

static int bad(struct transfer *transfer, const char *fault)
{
	transfer->fault = fault;
	return -EPROTO;
}

/*
 * Connects to the socket. Returns the connection or a negative errno. -EAGAIN: a server listens, but its
 * queue is full.
 */
static int reach(const char *socket_path, int flags)
{
	const struct timeval patience = {.tv_sec = CONNECT_S};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd, error;

	if (strlen(socket_path) >= SOCKET_PATH)
		return -ENAMETOOLONG;
	strcpy(address.sun_path, socket_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	error = -errno;
	close(fd);
	return error;
}

int http__probe(const char *socket_path, uid_t *server)
{
	struct ucred peer = {.uid = (uid_t)-1};
	socklen_t size = sizeof(peer);
	int fd = reach(socket_path, SOCK_NONBLOCK);

	/* The queue is full, so a server listens. */
	if (fd == -EAGAIN && !server)
		return 0;
	if (fd == -EAGAIN)
		fd = reach(socket_path, 0);
	if (fd < 0)
		return fd;
	if (server) {
		getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
		*server = peer.uid;
	}
	close(fd);
	return 0;
}

/* Checks the server's user on the connection that is used for the request, before anything is sent. */
static bool may_serve(const struct http_request *request, int fd)
{
	struct ucred peer = {.uid = (uid_t)-1};
	socklen_t size = sizeof(peer);

	return !request->serves ||
	       (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && request->serves(peer.uid));
}

static int send_all(struct transfer *transfer, const char *data, size_t bytes)
{
	while (bytes) {
		ssize_t sent = send(transfer->connection, data, bytes, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		data += sent;
		bytes -= (size_t)sent;
	}
	return 0;
}

static int send_request(struct transfer *transfer)
{
	const struct http_request *request = transfer->request;
	const char *body = request->body ? request->body : "";
	char *text = NULL;
	int length, error;

	if (request->body)
		length = asprintf(&text,
				  "%s %s HTTP/1.1\r\nHost: graind\r\nAccept: */*\r\nConnection: close\r\n"
				  "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
				  request->method, request->path, strlen(body), body);
	else
		length =
			asprintf(&text,
				 "%s %s HTTP/1.1\r\nHost: graind\r\nAccept: */*\r\nConnection: close\r\n\r\n",
				 request->method, request->path);
	if (length < 0)
		return -ENOMEM;
	error = send_all(transfer, text, (size_t)length);
	free(text);
	/* A server that refuses a connection answers and closes it without reading the request. */
	return error == -EPIPE || error == -ECONNRESET ? 0 : error;
}

/* Returns the number of received bytes, 0 at the end of the connection, or a negative errno. */
static int receive(struct transfer *transfer)
{
	ssize_t got;

	do
		got = recv(transfer->connection, transfer->input, sizeof(transfer->input), 0);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	transfer->used = 0;
	transfer->filled = (size_t)got;
	return (int)got;
}

/* Reads the next line of the answer, without its line end. */
static int read_line(struct transfer *transfer, char line[MAX_LINE])
{
	size_t length = 0;

	if (++transfer->lines > MAX_LINES)
		return bad(transfer, "the head of its answer is too long");
	for (;;) {
		int got = transfer->used < transfer->filled ? 1 : receive(transfer);
		char c;

		if (got <= 0)
			return got ? got : bad(transfer, "the connection ended before the answer did");
		c = transfer->input[transfer->used++];
		if (c == '\n')
			break;
		if (length == MAX_LINE - 1)
			return bad(transfer, "the head of its answer is too long");
		line[length++] = c;
	}
	if (length && line[length - 1] == '\r')
		length--;
	line[length] = 0;
	return 0;
}

/* Reads `bytes` bytes of the body, or everything up to the end of the connection. */
static int read_bytes(struct transfer *transfer, uint64_t bytes)
{
	while (bytes) {
		size_t here = transfer->filled - transfer->used;
		int result;

		if (!here) {
			result = receive(transfer);
			if (result == 0 && bytes != UNKNOWN)
				return bad(transfer, "the connection ended before the answer did");
			if (result <= 0)
				return result;
			continue;
		}
		if (here > bytes)
			here = (size_t)bytes;
		result = take_body(transfer, transfer->input + transfer->used, here);
		if (result)
			return result;
		transfer->used += here;
		if (bytes != UNKNOWN)
			bytes -= here;
	}
	return 0;
}

/* Parses a number. Only spaces may follow it, or text that begins with `ends`. */
static bool parse_number(const char *text, int base, char ends, uint64_t *out)
{
	char *end;

	if (!isxdigit((unsigned char)*text))
		return false;
	errno = 0;
	*out = strtoull(text, &end, base);
	end += strspn(end, " \t");
	return !errno && *out < UNKNOWN && (!*end || *end == ends);
}

static int read_field(struct transfer *transfer, const char *line)
{
	static const char length[] = "Content-Length:", encoding[] = "Transfer-Encoding:";
	uint64_t bytes;

	if (!strncasecmp(line, length, sizeof(length) - 1)) {
		line += sizeof(length) - 1;
		line += strspn(line, " \t");
		if (!parse_number(line, 10, 0, &bytes) ||
		    (transfer->length != UNKNOWN && transfer->length != bytes))
			return bad(transfer, "its answer has no valid length");
		transfer->length = bytes;
	} else if (!strncasecmp(line, encoding, sizeof(encoding) - 1)) {
		line += sizeof(encoding) - 1;
		line += strspn(line, " \t");
		if (strcasecmp(line, "chunked"))
			return bad(transfer, "its answer is in an unknown encoding");
		transfer->chunked = true;
	}
	return 0;
}

/* Reads the lines of the head up to the empty one. */
static int read_fields(struct transfer *transfer)
{
	char line[MAX_LINE];
	int error;

	while (!(error = read_line(transfer, line)) && *line)
		if ((error = read_field(transfer, line)))
			break;
	return error;
}

static int read_head(struct transfer *transfer)
{
	char line[MAX_LINE];
	uint64_t status;
	int error;

	/* An answer with a status from 100 to 199 only announces the real answer. */
	do {
		transfer->length = UNKNOWN;
		transfer->chunked = false;
		error = read_line(transfer, line);
		if (error)
			return error;
		if (strncmp(line, "HTTP/1.", 7) || !isdigit((unsigned char)line[7]) || line[8] != ' ' ||
		    strspn(line + 9, "0123456789") != 3 || (line[12] && line[12] != ' '))
			return bad(transfer, "what answers there does not speak HTTP");
		line[12] = 0;
		if (!parse_number(line + 9, 10, 0, &status) || status < 100)
			return bad(transfer, "what answers there does not speak HTTP");
		transfer->status = (long)status;
		error = read_fields(transfer);
	} while (!error && transfer->status < 200);
	return error;
}

static int read_chunks(struct transfer *transfer)
{
	char line[MAX_LINE];
	uint64_t bytes;
	int error;

	for (;;) {
		/* The number of chunks is not limited. */
		transfer->lines = 0;
		error = read_line(transfer, line);
		if (!error && !parse_number(line, 16, ';', &bytes))
			error = bad(transfer, "its answer is in an unknown encoding");
		if (error)
			return error;
		if (!bytes)
			return read_fields(transfer);
		error = read_bytes(transfer, bytes);
		if (!error)
			error = read_line(transfer, line);
		if (error || *line)
			return error ? error : bad(transfer, "its answer is in an unknown encoding");
	}
}

static int read_answer(struct transfer *transfer)
{
	int error = read_head(transfer);

	if (error || transfer->status == 204 || transfer->status == 304)
		return error;
	return transfer->chunked ? read_chunks(transfer) : read_bytes(transfer, transfer->length);
}

static int exchange(struct transfer *transfer)
{
	const struct http_request *request = transfer->request;
	const struct timeval patience = {.tv_sec = transfer->silence_secs};
	int error;

	transfer->connection = reach(request->socket, 0);
	if (transfer->connection < 0)
		return transfer->connection == -EAGAIN ? -ETIMEDOUT : transfer->connection;
	if (!may_serve(request, transfer->connection))
		return -EKEYREJECTED;
	if (setsockopt(transfer->connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) ||
	    setsockopt(transfer->connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)))
		return -errno;
	error = send_request(transfer);
	return error ? error : read_answer(transfer);
}

static void explain(const struct transfer *transfer, int result, struct http_error *error)
{
	const struct http_request *request = transfer->request;

	if (transfer->connection >= 0 && (result == -EMSGSIZE || result == -EFBIG))
		snprintf(error->text, sizeof(error->text), "the answer is too long");
	else if (result == -EKEYREJECTED)
		snprintf(error->text, sizeof(error->text),
			 "%.150s is served by another user, who is not graind", request->socket);
	else if (transfer->connection >= 0 && result == -ETIMEDOUT)
		snprintf(error->text, sizeof(error->text), "graind at %.120s: nothing came for %ld seconds",
			 request->socket, transfer->silence_secs);
	else if (transfer->status && result != -EPROTO)
		snprintf(error->text, sizeof(error->text), "cannot keep the answer: %s", strerror(-result));
	else
		snprintf(error->text, sizeof(error->text), "graind at %.120s: %.100s", request->socket,
			 transfer->fault ? transfer->fault : strerror(-result));
}

int http__request(const struct http_request *request, struct http_reply *reply, struct http_error *error)
{
	struct transfer *transfer = calloc(1, sizeof(*transfer));
	char *empty = calloc(1, 1);
	int result = -ENOMEM;

	snprintf(error->text, sizeof(error->text), "out of memory");
	if (!transfer || !empty) {
		free(transfer);
		free(empty);
		return result;
	}
	transfer->request = request;
	transfer->silence_secs = request->silence_secs ? request->silence_secs : SILENCE_S;
	transfer->body = empty;
	transfer->capacity = 1;
	result = exchange(transfer);
	if (transfer->connection >= 0)
		close(transfer->connection);
	if (result) {
		explain(transfer, result, error);
		free(transfer->body);
	} else {
		*reply = (struct http_reply){.status = transfer->status,
					     .body = transfer->body,
					     .size = transfer->size};
	}
	free(transfer);
	return result;
}

void http_reply__free(struct http_reply *reply)
{
	free(reply->body);
	*reply = (struct http_reply){0};
}
