/* SPDX-License-Identifier: ISC */

/*
 * Everything that the overseer writes to the disk while it supervises: its log,
 * overseer.json, the history, evidence, and output that goes to a file. A
 * forked process writes it, a copy of the overseer at that moment, one at a
 * time: a disk that hangs holds up that process and never the overseer.
 */
#ifndef WRITER_H
#define WRITER_H

struct err;
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

/* From here on log and console are held. */
int writer_open(struct overseer *o, struct err *err);
void writer_close(struct overseer *o);

/* Write what waits, now or when the process before has ended. */
void writer_begin(struct overseer *o);
void writer_finish(struct overseer *o);

/* Does the disk not take it? */
bool writer_is_stuck(const struct overseer *o);

#endif
