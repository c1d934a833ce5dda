/* SPDX-License-Identifier: ISC */

/* What people see: a line on standard output, the same in the log and among
 * the last events of llmc status. */
#ifndef CONSOLE_H
#define CONSOLE_H

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

void console_say(struct overseer *o, enum console_colour colour,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
