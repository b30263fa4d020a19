/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages for graind's operator, of one line each. They go to stderr, or to syslog when graind is in the
 * background.
 */
#ifndef GRAIND_LOG_H
#define GRAIND_LOG_H

#include <syslog.h>

/* priority: LOG_ERR, LOG_WARNING, LOG_INFO */
void log__line(int priority, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* From now on messages go to syslog. */
void log__use_syslog(void);

#endif
