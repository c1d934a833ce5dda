/* SPDX-License-Identifier: ISC */

/* A whole conversation for people: every prompt, reply, tool call with its
 * arguments and what came back. */
#ifndef TRANSCRIPT_TEXT_H
#define TRANSCRIPT_TEXT_H

#include <stddef.h>

struct buf;
struct err;

#define TRANSCRIPT_TEXT_MAX ((size_t)16 * 1024 * 1024) /* of the file read */

/* Append it; lines that make no sense are left out. Control characters are
 * shown, not obeyed. Reads the file in one go: for the end of a session. */
int transcript_text(const char *path, struct buf *out, struct err *err);

#endif
