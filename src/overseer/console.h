/* SPDX-License-Identifier: ISC */

/* What people see: a line on standard output, the same in the log and among
 * the last events of llmc status. */
#ifndef CONSOLE_H
#define CONSOLE_H

#include <stdbool.h>
#include <stddef.h>

struct overseer;

enum console_colour {
	CONSOLE_PLAIN,
	CONSOLE_RED,
	CONSOLE_GREEN,
	CONSOLE_YELLOW,
};

/* A line on standard output only; with --json an object on one line. */
void console_print(
    const struct overseer *o, enum console_colour colour, const char *line);
/* What keeps the overseer from starting: on standard error, or with --json as
 * the error that every command of llmc prints. */
void console_fail(const struct overseer *o, const char *words);

/* Text on standard error, which may be a terminal that is stopped. */
void console_error(const char *text);

void console_say(struct overseer *o, enum console_colour colour,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Supervision has begun: a stopped terminal must not stop it, nor a disk that
 * hangs. What goes to a file on the same disk waits for another process
 * (writer.h), as in outlet.h. false: it ends. */
void console_hold(struct overseer *o, bool hold);
size_t console_held(void);
void console_write_held(size_t len);
void console_drop_held(size_t len);

#endif
