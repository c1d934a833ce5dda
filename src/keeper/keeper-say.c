/* SPDX-License-Identifier: ISC */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "keeper-say.h"

void
keeper_say(const char *fmt, ...)
{
	static const char head[] = "keeper: ";
	char line[1024];
	size_t used = sizeof head - 1, room = sizeof line - sizeof head;
	va_list ap;
	int n;

	memcpy(line, head, sizeof head);
	va_start(ap, fmt);
	n = vsnprintf(line + used, room, fmt, ap);
	va_end(ap);
	if (n > 0)
		used += (size_t)n < room ? (size_t)n : room - 1;
	line[used++] = '\n';
	if (write(STDERR_FILENO, line, used) == -1)
		return; /* nobody reads it */
}
