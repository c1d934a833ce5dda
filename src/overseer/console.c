/* SPDX-License-Identifier: ISC */

/* What people see: a line on standard output, the same in the log and among
 * the last events of llmc status. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "console.h"
#include "log.h"
#include "mem.h"
#include "moment.h"
#include "notify.h"
#include "overseer.h"
#include "text.h"

static void
remember(struct overseer *o, const char *line)
{
	free(o->events[0]);
	memmove(&o->events[0], &o->events[1],
	    (OVERSEER_EVENTS - 1) * sizeof o->events[0]);
	o->events[OVERSEER_EVENTS - 1] = xstrdup(line);
}

void
console_say(
    struct overseer *o, enum console_colour colour, const char *fmt, ...)
{
	static const char *const sgr[] = { "", "\033[31m", "\033[32m",
		"\033[33m" };
	bool colours = isatty(STDOUT_FILENO);
	cleanup_free char *words = NULL, *line = NULL, *status = NULL;
	cleanup_buf struct buf safe = BUF_INIT, dated = BUF_INIT;
	size_t at;
	va_list ap;

	va_start(ap, fmt);
	words = xvasprintf(fmt, ap);
	va_end(ap);
	text_add_visible(&safe, words, strlen(words), true);
	line = buf_take(&safe);
	moment_add(&dated, clock_wall_ms());
	buf_addc(&dated, ' ');
	at = dated.len;
	buf_adds(&dated, line);
	printf("%.*s%s%s%s\n", (int)at, dated.data, colours ? sgr[colour] : "",
	    line, colours && colour != CONSOLE_PLAIN ? "\033[0m" : "");
	fflush(stdout);
	remember(o, dated.data);
	log_info("%s", line);
	status = xasprintf("STATUS=%.*s", (int)strcspn(line, "\n"), line);
	notify_service(status);
}
