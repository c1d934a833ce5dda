/* SPDX-License-Identifier: ISC */

/*
 * An error: a negative errno for the program and one sentence for a person. It
 * is set where the details are known (a parser knows the line, a command knows
 * what to type next) and printed only by the program's outer layer.
 *
 * Every function that takes a struct err accepts NULL if the caller needs no
 * message.
 */
#ifndef ERRTEXT_H
#define ERRTEXT_H

struct err {
	int code; /* negative errno, 0 = no error */
	char msg[512];
};

/* Set code and message. Returns code, so that a caller can return err_set(...).
 * A message that does not fit is truncated between characters. */
int err_set(struct err *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The same, followed by ": " and strerror(-code). */
int err_errno(struct err *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Put "prefix: " in front of the message. */
int err_prefix(struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
