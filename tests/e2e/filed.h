/* SPDX-License-Identifier: ISC */

/* What has ended, as it was committed in a root: for tests that look behind
 * what commands show, and for those that begin with a history. */
#ifndef FILED_H
#define FILED_H

#include "unit.h"

struct json_object;

/* The records of tasks, the newest first. The caller puts them. */
struct json_object *filed_tasks(const char *root);
/* The record that was written last. It must exist; the caller puts it. */
struct json_object *filed_last(const char *root);

/* Write records into the book of a root without a daemon, one in each line: of
 * tasks, or of the turns on a task. And a run that has ended. */
void filed_put_tasks(const char *root, const char *lines);
void filed_put_turns(const char *root, const char *task, const char *lines);
void filed_put_run(
    const char *root, const char *run, int64_t from_ms, int64_t to_ms);

#endif
