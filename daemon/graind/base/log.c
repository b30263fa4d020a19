// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/base/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static bool to_syslog;

void log__use_syslog(void)
{
	openlog("graind", LOG_PID, LOG_DAEMON);
	to_syslog = true;
}

void log__line(int priority, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* Names and command lines of users must not contain line ends or control sequences. */
	for (char *c = text; *c; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	}
	if (to_syslog)
		syslog(priority, "%s", text);
	else if (getenv("JOURNAL_STREAM"))
		fprintf(stderr, "<%d>%s\n", priority, text);
	else
		fprintf(stderr, "graind: %s\n", text);
}
