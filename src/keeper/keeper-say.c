/* SPDX-License-Identifier: ISC */

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "keeper-say.h"

void
keeper_say(const char *fmt, ...)
{
	char line[1024];
	size_t used = sizeof line;
	va_list ap;
	int n, head = snprintf(line, sizeof line, "keeper: ");

	va_start(ap, fmt);
	n = vsnprintf(line + head, sizeof line - (size_t)head, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)(head + n) < sizeof line)
		used = (size_t)(head + n) + 1;
	line[used - 1] = '\n';
	if (write(STDERR_FILENO, line, used) == -1)
		return; /* nobody reads it */
}
