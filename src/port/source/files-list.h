/* SPDX-License-Identifier: ISC */

/*
 * A folder of Claude Code's task files, private to source-files.c: a file is
 * read again only if it has changed.
 */
#ifndef FILES_LIST_H
#define FILES_LIST_H

#include <sys/stat.h>

struct buf;
struct err;
struct taskfile;

struct files_entry {
	char *id; /* the file's name without .json */
	struct taskfile *task; /* a placeholder if there is a problem */
	char *problem; /* what is wrong with the file; NULL = nothing */
	int64_t problem_ms; /* since when, on the monotonic clock */
	struct stat st; /* of the file when it was read */
	bool recent; /* changed so recently that its time cannot show another
		      * change */
};

struct files_list {
	struct files_entry **at; /* sorted by id, as text */
	size_t count;
};

/* Bring the list up to date. A missing folder counts as empty. On failure the
 * list stays as it was. */
int
files_list_refresh(struct files_list *list, const char *where, struct err *err);
void files_list_release(struct files_list *list);
#define cleanup_files_list __attribute__((cleanup(files_list_release)))

/* Its tasks, in its order; the array is the caller's. */
struct taskfile **files_list_tasks(const struct files_list *list);

/* Can a task that waits never be begun, since what it waits for never ends? If
 * so, append the reason. */
bool files_list_waits_for_ever(const struct taskfile *task,
    struct taskfile *const *all, size_t count, struct buf *words);

/* One file, read anew. -ENOENT; -EINVAL when it is broken, and when its id is
 * not its name. */
int files_list_load(const char *where, const char *id,
    struct taskfile **ret_task, struct err *err);

#endif
