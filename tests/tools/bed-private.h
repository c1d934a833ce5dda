/* SPDX-License-Identifier: ISC */

/* Shared by bed.c (driving) and bed-make.c (setting up). */
#ifndef BED_PRIVATE_H
#define BED_PRIVATE_H

#include "unit.h"
#include "id.h"

struct buf;
struct json_object;

#define BED_FILE_MAX (64 * 1024 * 1024)

struct bed {
	char *dir, *home, *repo, *record, *settings;
	const char *agent;
	char **env; /* edits for every child */
	size_t env_count;
	char session[ID_UUID_SIZE];
	struct procref pane;
	bool started;
	struct json_object *events;
	size_t cursor;
	char *ended; /* status+signal of the pane */
	char *path; /* the last result of bed_path() */
};

/* Standard output of a child, without the last newline; NULL on failure. The
 * caller frees it. */
char *bed_run(struct bed *bed, const char *const *argv, const char *shell,
    const struct buf *input);

/* Poll until it is true; otherwise the test fails. */
typedef bool bed_check_fn(struct bed *bed, const void *arg);
void bed_until(
    struct bed *bed, bed_check_fn *check, const void *arg, const char *what);
bool bed_is_gone(struct bed *bed, const void *arg);

#endif
