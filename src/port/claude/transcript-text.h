/* SPDX-License-Identifier: ISC */

/* A whole conversation for people: every prompt, reply, and tool call with its
 * arguments and its result. */
#ifndef TRANSCRIPT_TEXT_H
#define TRANSCRIPT_TEXT_H

#include <stddef.h>

struct buf;
struct err;

#define TRANSCRIPT_TEXT_MAX ((size_t)16 * 1024 * 1024) /* bytes read */

/* Append it; invalid lines are left out. Control characters are made visible.
 * Reads the file at once: for the end of a session. */
int transcript_text(const char *path, struct buf *out, struct err *err);

#endif
