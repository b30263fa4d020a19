/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/fleet/web.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_S 10

struct download {
	char *body;
	size_t size, capacity;
	int error; /* an error of this file, not of curl: negative errno */
};

static size_t on_body(char *data, size_t size, size_t count, void *ctx)
{
	struct download *download = ctx;
	size_t bytes = size * count;

	if (bytes >= HTTP_MAX_BODY - download->size) {
		download->error = -EMSGSIZE;
		return 0;
	}
	if (download->size + bytes + 1 > download->capacity) {
		size_t capacity = (download->size + bytes + 1) * 2;
		char *grown = realloc(download->body, capacity);

		if (!grown) {
			download->error = -ENOMEM;
			return 0;
		}
		download->body = grown;
		download->capacity = capacity;
	}
	memcpy(download->body + download->size, data, bytes);
	download->size += bytes;
	download->body[download->size] = 0;
	return bytes;
}

static int perform(CURL *curl, const char *url, long silence_secs, struct download *download,
		   struct http_error *error)
{
	char detail[CURL_ERROR_SIZE] = "";
	CURLcode code;

	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, silence_secs);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, download);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail);
	code = curl_easy_perform(curl);
	if (code == CURLE_OK)
		return 0;
	if (download->error == -EMSGSIZE)
		snprintf(error->text, sizeof(error->text), "the answer is too long");
	else if (download->error)
		snprintf(error->text, sizeof(error->text), "cannot keep the answer: %s",
			 strerror(-download->error));
	else
		snprintf(error->text, sizeof(error->text), "%.240s",
			 detail[0] ? detail : curl_easy_strerror(code));
	if (download->error)
		return download->error;
	return code == CURLE_OPERATION_TIMEDOUT ? -ETIMEDOUT : -EPROTO;
}

int web__get(const char *url, long silence_secs, struct http_reply *reply, struct http_error *error)
{
	struct download download = {.body = calloc(1, 1), .capacity = 1};
	CURL *curl = curl_easy_init();
	int result = -ENOMEM;

	snprintf(error->text, sizeof(error->text), "out of memory");
	if (curl && download.body)
		result = perform(curl, url, silence_secs, &download, error);
	if (!result) {
		curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply->status);
		reply->body = download.body;
		reply->size = download.size;
		download.body = NULL;
	}
	free(download.body);
	curl_easy_cleanup(curl);
	return result;
}

char *web__escape(const char *text)
{
	char *escaped = curl_easy_escape(NULL, text, 0), *copy = escaped ? strdup(escaped) : NULL;

	curl_free(escaped);
	return copy;
}
