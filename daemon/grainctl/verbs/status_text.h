/* SPDX-License-Identifier: BSD-2-Clause */
/* The settings of graind, as grainctl status shows them. */
#ifndef GRAINCTL_STATUS_TEXT_H
#define GRAINCTL_STATUS_TEXT_H

#include <jansson.h>

/*
 * Prints the settings on stdout. Prints nothing for NULL, the answer of an older graind. The content is not
 * trusted.
 */
void status_text__print_policy(const json_t *policy);
/*
 * Prints who has opted out (`optouts`, for administrators), or else whether the caller has opted out
 * (`opted_out`).
 */
void status_text__print_optouts(const json_t *status);

#endif
