/* SPDX-License-Identifier: BSD-2-Clause */
/* Queries a Prometheus server by its HTTP API. Its answers are not trusted. */
#ifndef GRAINCTL_PROMETHEUS_H
#define GRAINCTL_PROMETHEUS_H

#include "daemon/grainctl/terminal/ctl.h"

#include <jansson.h>

struct prometheus_sample {
	const json_t *labels; /* an object of strings; belongs to the answer */
	double value;
};

/* Writes `url` without user name and password, for messages. */
void prometheus__shown(const char *url, char *out, size_t size);

/*
 * Asks for the current value of `expression`, which must be a vector. *out is its array for
 * prometheus__sample(). The caller frees it with json_decref(). If the result is not CTL_DONE, `why` is one
 * line.
 */
enum ctl_exit prometheus__query(const char *url, const char *expression, json_t **out, char why[512]);
/* Reads the i-th sample of an answer; false: it is not valid. */
bool prometheus__sample(const json_t *answer, size_t i, struct prometheus_sample *out);
/* The value of a label; "": there is none. */
const char *prometheus__label(const struct prometheus_sample *sample, const char *name);

#endif
