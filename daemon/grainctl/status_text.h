/* SPDX-License-Identifier: BSD-2-Clause */
/* The settings of graind, as grainctl status shows them. */
#ifndef GRAINCTL_STATUS_TEXT_H
#define GRAINCTL_STATUS_TEXT_H

#include <jansson.h>

/* Prints them on stdout; NULL, an older graind's answer, prints nothing. What is in it is not trusted. */
void status__print_policy(const json_t *policy);

#endif
