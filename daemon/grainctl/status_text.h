/* SPDX-License-Identifier: BSD-2-Clause */
/* The settings of graind, as grainctl status shows them. */
#ifndef GRAINCTL_STATUS_TEXT_H
#define GRAINCTL_STATUS_TEXT_H

#include <jansson.h>

/* Prints them on stdout; NULL, an older graind's answer, prints nothing. What is in it is not trusted. */
void status__print_policy(const json_t *policy);
/* Who has opted out, for administrators (`optouts`), else whether who asks has (`opted_out`). */
void status__print_optouts(const json_t *status);

#endif
