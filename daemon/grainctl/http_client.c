/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/http_client.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct transfer {
	CURL *curl;
	FILE *file;
	char *body;
	size_t size, capacity;
	uint64_t streamed;
	int error; /* of our own making, negative errno */
};

static size_t keep(struct transfer *transfer, const char *data, size_t bytes)
{
	if (bytes >= HTTP_MAX_BODY - transfer->size) {
		transfer->error = -EMSGSIZE;
		return 0;
	}
	if (transfer->size + bytes + 1 > transfer->capacity) {
		size_t capacity = (transfer->size + bytes + 1) * 2;
		char *grown = realloc(transfer->body, capacity);

		if (!grown) {
			transfer->error = -ENOMEM;
			return 0;
		}
		transfer->body = grown;
		transfer->capacity = capacity;
	}
	memcpy(transfer->body + transfer->size, data, bytes);
	transfer->size += bytes;
	transfer->body[transfer->size] = 0;
	return bytes;
}

static size_t on_body(char *data, size_t size, size_t count, void *ctx)
{
	struct transfer *transfer = ctx;
	size_t bytes = size * count;
	long status = 0;

	curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &status);
	if (!transfer->file || status != 200)
		return keep(transfer, data, bytes);
	if (bytes > HTTP_MAX_FILE - transfer->streamed) {
		transfer->error = -EFBIG;
		return 0;
	}
	errno = 0;
	if (fwrite(data, 1, bytes, transfer->file) != bytes) {
		transfer->error = errno ? -errno : -EIO;
		return 0;
	}
	transfer->streamed += bytes;
	return bytes;
}

int http__probe(const char *socket_path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd, error = 0;

	if (strlen(socket_path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, socket_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* EAGAIN: its queue is full, so somebody listens. */
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 && errno != EAGAIN)
		error = -errno;
	close(fd);
	return error;
}

static int perform(const struct http_request *request, struct transfer *transfer, struct curl_slist *headers,
		   struct http_error *error)
{
	CURL *curl = transfer->curl;
	char url[512], detail[CURL_ERROR_SIZE] = "";
	CURLcode code;

	if (request->url) {
		curl_easy_setopt(curl, CURLOPT_URL, request->url);
		curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	} else {
		snprintf(url, sizeof(url), "http://graind%s", request->path);
		curl_easy_setopt(curl, CURLOPT_URL, url);
		curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, request->socket);
		curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http");
		curl_easy_setopt(curl, CURLOPT_PROXY, "");
	}
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
	if (request->body) {
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
		curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	}
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 10L);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, request->silence_secs ? request->silence_secs : 60L);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail);
	code = curl_easy_perform(curl);
	if (code == CURLE_OK)
		return 0;
	if (transfer->error == -EMSGSIZE || transfer->error == -EFBIG) {
		snprintf(error->text, sizeof(error->text), "the answer is too long");
		return transfer->error;
	}
	if (transfer->error) {
		snprintf(error->text, sizeof(error->text), "cannot keep the answer: %s",
			 strerror(-transfer->error));
		return transfer->error;
	}
	if (request->url)
		snprintf(error->text, sizeof(error->text), "%.240s",
			 detail[0] ? detail : curl_easy_strerror(code));
	else
		snprintf(error->text, sizeof(error->text), "graind at %.120s: %.100s", request->socket,
			 detail[0] ? detail : curl_easy_strerror(code));
	return code == CURLE_OPERATION_TIMEDOUT ? -ETIMEDOUT : -EPROTO;
}

int http__request(const struct http_request *request, struct http_reply *reply, struct http_error *error)
{
	struct transfer transfer = {.file = request->file};
	struct curl_slist *headers = NULL;
	int result = request->url ? 0 : http__probe(request->socket);

	if (result) {
		snprintf(error->text, sizeof(error->text), "graind at %.150s: %s", request->socket,
			 strerror(-result));
		return result;
	}
	result = -ENOMEM;
	snprintf(error->text, sizeof(error->text), "out of memory");
	transfer.curl = curl_easy_init();
	headers = curl_slist_append(NULL, "Content-Type: application/json");
	transfer.body = calloc(1, 1);
	transfer.capacity = 1;
	if (!transfer.curl || !headers || !transfer.body)
		goto out;
	result = perform(request, &transfer, headers, error);
	if (result)
		goto out;
	curl_easy_getinfo(transfer.curl, CURLINFO_RESPONSE_CODE, &reply->status);
	reply->body = transfer.body;
	reply->size = transfer.size;
	transfer.body = NULL;
out:
	free(transfer.body);
	curl_slist_free_all(headers);
	curl_easy_cleanup(transfer.curl);
	return result;
}

char *http__escape(const char *text)
{
	char *escaped = curl_easy_escape(NULL, text, 0), *copy = escaped ? strdup(escaped) : NULL;

	curl_free(escaped);
	return copy;
}

void http_reply__free(struct http_reply *reply)
{
	free(reply->body);
	*reply = (struct http_reply){0};
}
