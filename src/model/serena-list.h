/* SPDX-License-Identifier: ISC */

/*
 * Two edits of Serena's YAML files, text in and text out, keeping every other
 * byte: comments, indentation, line endings. Text that is not understood with
 * certainty is refused.
 */
#ifndef SERENA_LIST_H
#define SERENA_LIST_H

#include <stddef.h>

struct buf;
struct err;

/* Append a path to the top-level list `projects`, which is created if it is
 * missing. Returns 1 with the new text appended to out; 0 if the list already
 * has the path; -EINVAL for text or a list in another form (the message begins
 * with the line) and for a path that YAML cannot express. */
int serena_list_add(const char *text, size_t len, const char *path,
    struct buf *out, struct err *err);

/* The same for `project_name`; text in another form is replaced entirely. */
int serena_name_set(
    const char *text, size_t len, const char *name, struct buf *out);

#endif
