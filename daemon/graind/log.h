/* SPDX-License-Identifier: BSD-2-Clause */
/* What graind tells its operator: one line a message, to stderr, or to syslog once it is in the background.
 */
#ifndef GRAIND_LOG_H
#define GRAIND_LOG_H

#include <syslog.h>

/* priority: LOG_ERR, LOG_WARNING, LOG_INFO */
void log__line(int priority, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* From here on messages go to syslog. */
void log__use_syslog(void);

#endif
