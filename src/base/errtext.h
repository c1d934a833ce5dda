/* SPDX-License-Identifier: ISC */

/*
 * What went wrong, for a person: a negative errno for the program and one
 * sentence for the reader. Filled where the words are known (a parser knows the
 * line, a command knows what to type next) and printed only at the edge.
 *
 * Every function that takes a struct err accepts NULL for "no words wanted".
 */
#ifndef ERRTEXT_H
#define ERRTEXT_H

struct err {
	int code; /* negative errno, 0 = no error */
	char msg[512];
};

/* Set code and text; returns code, so that a caller can return err_set(...).
 * A text that does not fit is cut on a character boundary. */
int err_set(struct err *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The same, with ": " and the system's words for -code behind it. */
int err_errno(struct err *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Put "prefix: " in front of the text that is there. */
int err_prefix(struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
