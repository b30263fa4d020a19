/* SPDX-License-Identifier: BSD-2-Clause */
/* GETs any http or https URL. The server is not trusted: every answer has a bound. */
#ifndef GRAINCTL_WEB_H
#define GRAINCTL_WEB_H

#include "daemon/grainctl/client/http_client.h"

/*
 * Returns 0 and the reply, with any status, or a negative errno with *error filled. Gives up after
 * `silence_secs` seconds without a byte.
 */
int web__get(const char *url, long silence_secs, struct http_reply *reply, struct http_error *error);

/*
 * Returns `text` with all characters escaped that have a meaning in URLs. The caller frees it. NULL: out of
 * memory.
 */
char *web__escape(const char *text);

#endif
