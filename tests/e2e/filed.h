/* SPDX-License-Identifier: ISC */

/* What has ended, as it was committed in a root: for tests that look behind
 * what commands show. */
#ifndef FILED_H
#define FILED_H

#include "unit.h"

struct json_object;

/* The records of tasks, the newest first. The caller puts them. */
struct json_object *filed_tasks(const char *root);
/* The record that was written last. It must exist; the caller puts it. */
struct json_object *filed_last(const char *root);

/* A test has written files of the version before (tasks.jsonl): take them over
 * if there is a book. No daemon runs. */
void filed_take(const char *root);

#endif
