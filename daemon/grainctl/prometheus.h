/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions to a Prometheus by its HTTP API. Its answers are not trusted. */
#ifndef GRAINCTL_PROMETHEUS_H
#define GRAINCTL_PROMETHEUS_H

#include "daemon/grainctl/ctl.h"

#include <jansson.h>

struct prometheus_sample {
	const json_t *labels; /* an object of strings; belongs to the answer */
	double value;
};

/* `url` as people may see it: without a user's name and password. */
void prometheus__shown(const char *url, char *out, size_t size);

/*
 * Asks for the present value of `expression`, whose answer is a vector. *out is
 * its array for prometheus__sample, to json_decref. Otherwise one line in `why`.
 */
enum ctl_exit prometheus__query(const char *url, const char *expression, json_t **out, char why[512]);
/* The i-th of an answer; false when it is none. */
bool prometheus__sample(const json_t *answer, size_t i, struct prometheus_sample *out);
/* A label, "" when it is not there. */
const char *prometheus__label(const struct prometheus_sample *sample, const char *name);

#endif
