/* SPDX-License-Identifier: ISC */

/* What people see: a line on standard output, the same in the log and among
 * the last events of llmc status. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "console.h"
#include "json.h"
#include "log.h"
#include "mem.h"
#include "moment.h"
#include "notify.h"
#include "outlet.h"
#include "overseer.h"
#include "text.h"

/* One for the process, like its standard output. */
static struct outlet output = OUTLET_INIT(STDOUT_FILENO);

static void
remember(struct overseer *o, const char *line)
{
	free(o->events[0]);
	memmove(&o->events[0], &o->events[1],
	    (OVERSEER_EVENTS - 1) * sizeof o->events[0]);
	o->events[OVERSEER_EVENTS - 1] = xstrdup(line);
}

static void
print_json(struct json_object *json)
{
	cleanup_json struct json_object *owned = json;
	cleanup_buf struct buf text = BUF_INIT;

	json_print(owned, false, &text);
	buf_addc(&text, '\n');
	outlet_write(&output, text.data, text.len);
}

void
console_print(
    const struct overseer *o, enum console_colour colour, const char *line)
{
	static const struct {
		const char *sgr, *kind;
	} colours[] = {
		[CONSOLE_PLAIN] = { "", "info" },
		[CONSOLE_RED] = { "\033[31m", "bad" },
		[CONSOLE_GREEN] = { "\033[32m", "good" },
		[CONSOLE_YELLOW] = { "\033[33m", "warning" },
	};
	bool coloured = colour != CONSOLE_PLAIN && isatty(STDOUT_FILENO);
	cleanup_buf struct buf time = BUF_INIT, text = BUF_INIT;
	struct json_object *json;

	moment_add(&time, clock_wall_ms());
	if (o->options->json) {
		json = json_object_new_object();
		json_set_string(json, "time", time.data);
		json_set_string(json, "kind", colours[colour].kind);
		json_set_string(json, "message", line);
		print_json(json);
		return;
	}
	buf_addf(&text, "%s %s%s%s\n", time.data,
	    coloured ? colours[colour].sgr : "", line,
	    coloured ? "\033[0m" : "");
	outlet_write(&output, text.data, text.len);
}

void
console_error(const char *text)
{
	struct outlet errors = OUTLET_INIT(STDERR_FILENO);

	outlet_write(&errors, text, strlen(text));
	outlet_finish(&errors);
}

void
console_fail(const struct overseer *o, const char *words)
{
	cleanup_buf struct buf safe = BUF_INIT;
	struct json_object *json, *error;

	if (o->options->json) {
		error = json_object_new_object();
		json_set_string(error, "code", "failed");
		json_set_string(error, "message", words);
		json = json_object_new_object();
		json_set(json, "error", error);
		print_json(json);
		return;
	}
	buf_adds(&safe, "overseer: ");
	text_add_words(&safe, words, strlen(words));
	buf_addc(&safe, '\n');
	console_error(safe.data);
}

void
console_say(
    struct overseer *o, enum console_colour colour, const char *fmt, ...)
{
	cleanup_free char *words = NULL, *line = NULL, *status = NULL;
	cleanup_buf struct buf safe = BUF_INIT, dated = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	words = xvasprintf(fmt, ap);
	va_end(ap);
	text_add_visible(&safe, words, strlen(words), true);
	line = buf_take(&safe);
	console_print(o, colour, line);
	moment_add(&dated, clock_wall_ms());
	buf_addf(&dated, " %s", line);
	remember(o, dated.data);
	log_info("%s", line);
	status = xasprintf("STATUS=%.*s", (int)strcspn(line, "\n"), line);
	notify_service(status);
}

/* --- what waits -------------------------------------------------------- */

/* Is it a file on the disk of the project, which may hang with it? */
static bool
shares_disk(const struct overseer *o)
{
	struct stat out, root;

	return fstat(STDOUT_FILENO, &out) == 0 &&
	    stat(o->workspace.dir, &root) == 0 && out.st_dev == root.st_dev;
}

void
console_hold(struct overseer *o, bool hold)
{
	outlet_hold(&output, hold && shares_disk(o));
	outlet_attach(&output, hold ? o->loop : NULL);
	if (!hold)
		outlet_finish(&output);
}

size_t
console_held(void)
{
	return outlet_held(&output);
}

void
console_write_held(size_t len)
{
	if (len > 0)
		outlet_write_held(&output, len);
}

void
console_drop_held(size_t len)
{
	outlet_drop(&output, len);
}
