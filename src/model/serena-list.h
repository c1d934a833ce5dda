/* SPDX-License-Identifier: ISC */

/*
 * Two edits of Serena's YAML files, text in and text out, every other byte kept
 * as it was: comments, indentation, line ends. What cannot be understood for
 * certain is refused, not guessed.
 */
#ifndef SERENA_LIST_H
#define SERENA_LIST_H

#include <stddef.h>

struct buf;
struct err;

/* A path put at the end of the top-level list `projects`, which is made where
 * it is missing. 1 with the new text appended to out; 0 when the path is in the
 * list already; -EINVAL for a text or a list of another kind (the words begin
 * with the line) and for a path that YAML cannot hold. */
int serena_list_add(const char *text, size_t len, const char *path,
    struct buf *out, struct err *err);

/* The same for `project_name`; a text of another kind is replaced whole. */
int serena_name_set(
    const char *text, size_t len, const char *name, struct buf *out);

#endif
