/* SPDX-License-Identifier: ISC */

/* Whether a store is sound: its pages, its records, and how they belong
 * together. Blocks; for child processes. */
#ifndef STORE_CHECK_H
#define STORE_CHECK_H

struct err;
struct json_object;

#define STORE_PROBLEMS_MAX 100

/* {"ok", "records", "events", "problems": [sentence, ...]}, owned by the
 * caller. The first STORE_PROBLEMS_MAX problems are listed. A store that cannot
 * be opened has one problem too; other errors are negative errno. */
int
store_check(const char *path, struct json_object **ret_report, struct err *err);

#endif
