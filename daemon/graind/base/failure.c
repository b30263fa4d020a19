// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/base/failure.h"

#include <stdarg.h>
#include <stdio.h>

int failure__set(struct failure *failure, int status, const char *format, ...)
{
	va_list args;

	failure->status = status;
	va_start(args, format);
	vsnprintf(failure->text, sizeof(failure->text), format, args);
	va_end(args);
	return -1;
}
