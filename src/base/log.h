/* SPDX-License-Identifier: ISC */

/*
 * What a program has to say: records in its log, and text for whoever reads it.
 *
 * Logging: one JSON object per line in the log file, one line of plain text on
 * the terminal.
 *
 *   {"timestamp":"...Z","level":"WARN","pid":1,"component":"autod",
 *    "message":"...", fields...}
 *
 * Each record is one write(2) on an O_APPEND descriptor, without buffering.
 * Errors are never fatal: a full disk loses the record, not the program. WARN
 * and ERROR are an interface (the overseer acts on them), so libraries (base,
 * model, port) log only debug records and return errors; the programs decide
 * what is worth a warning.
 *
 * The log functions keep errno. Those without x append strerror(errno).
 *
 * LLMC_LOG sets the level: "debug", or per component
 * "info,autod=debug,tmux=error". It overrides the level given to log_open().
 */
#ifndef LOG_H
#define LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "buf.h"

struct loop;
struct loop_timer;

enum log_level {
	LOG_LEVEL_DEBUG,
	LOG_LEVEL_INFO,
	LOG_LEVEL_WARN,
	LOG_LEVEL_ERROR,
	LOG_LEVEL_COUNT
};

struct log_options {
	const char *component; /* copied */
	const char *path; /* log file, NULL = none; copied */
	int64_t max_size; /* rotate beyond this many bytes, 0 = never */
	int keep; /* rotated files kept: path.1 .. path.keep */
	int mode; /* of a new file, 0 = 0600 */
	bool terminal; /* plain copy on standard error */
	bool colour; /* that copy in colours */
	enum log_level level; /* lowest that is written */
};

/* Start logging; may be called again to change options. Negative errno if the
 * file cannot be opened: the terminal copy still works, and every later record
 * tries the file again. */
int log_open(const struct log_options *options);
void log_close(void);
/* In a copy of the process, which has none of its descriptors: say nothing. */
void log_mute(void);
bool log_enabled(enum log_level level);
const char *log_level_name(enum log_level level); /* "WARN" */
bool log_level_parse(const char *name, enum log_level *ret_level);

void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warnx(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_errorx(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The copy on a terminal never blocks. On a loop, what could not be
 * written is tried again; NULL = no more. */
void log_attach(struct loop *loop);

/* For a program that must not wait for its disk. While held, records wait in
 * memory, LOG_HELD_MAX bytes at most, and fn is called for each. The program
 * forks, and the child writes what waits (log_write_held returns whether a
 * record was torn); then the parent drops it. Without a function, records are
 * written at once again, what waits first. */
#define LOG_HELD_MAX (256 * 1024)
void log_hold(void (*fn)(void *arg), void *arg);
size_t log_held(void);
bool log_write_held(size_t len);
void log_drop_held(size_t len, bool torn);

/* A record with fields: key, value, key, value, ..., NULL. All are strings. */
void
log_pairs(enum log_level level, const char *message, const char *const *pairs);

/* For fatal_on(): the last record, also on the terminal. Before that, fn is
 * called, which must not allocate; NULL: no more. */
void log_fatal(const char *text);
void log_on_fatal(void (*fn)(void));

/*
 * Text for people on an inherited descriptor, which never blocks: a terminal
 * that is stopped (Ctrl-S) or a pipe without a reader must not stop the writer.
 * What cannot be written waits, up to a bound; then the rest is left out, and a
 * line says so.
 *
 * A terminal or pipe is opened again, since others share its flags. A regular
 * file always takes what is written, but may be on a disk that hangs: a program
 * that must not wait for that either holds the text (outlet_hold), and has
 * another process write it (outlet_write_held, outlet_drop).
 */

struct outlet {
	int fd; /* as given */
	int own; /* the same, opened again; -1 = not */
	dev_t dev; /* of what was opened again */
	ino_t ino;
	struct buf queue;
	bool cut; /* lines were left out at its end */
	bool hold;
	struct loop *loop;
	struct loop_timer *retry;
};

#define OUTLET_MAX (64 * 1024) /* bytes that wait */
#define OUTLET_INIT(number)                                  \
	{                                                    \
		.fd = (number), .own = -1, .queue = BUF_INIT \
	}

/* On a loop, what waits is tried again until it is written. NULL = no more. */
void outlet_attach(struct outlet *outlet, struct loop *loop);
void outlet_write(struct outlet *outlet, const char *text, size_t len);
/* Try again now; true = nothing waits. */
bool outlet_flush(struct outlet *outlet);
/* Before the end: give who reads slowly a moment. */
void outlet_finish(struct outlet *outlet);

void outlet_hold(struct outlet *outlet, bool hold);
/* Text for a regular file that is held. In another process: write that many
 * bytes of it. Here: they have been written. */
size_t outlet_held(const struct outlet *outlet);
int outlet_write_held(struct outlet *outlet, size_t len);
void outlet_drop(struct outlet *outlet, size_t len);

#endif
