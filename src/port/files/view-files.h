/* SPDX-License-Identifier: ISC */

/* The sections of the view that files give: repairs, what people were told, and
 * the overseer. Each file is read again only when it
 * has changed. */
#ifndef VIEW_FILES_H
#define VIEW_FILES_H

struct view_files;
struct json_object;
struct workspace;

#define VIEW_PEOPLE_MAX  50 /* rows */
#define VIEW_REPAIRS_MAX 20

/* What is read, below .llmc: the names end with a NULL. */
extern const char *const view_files_names[];

/* Nothing is read before it is asked for. */
struct view_files *view_files_new(const struct workspace *workspace);
void view_files_free(struct view_files *files);

/* Fill "repairs" and members of "head". */
void view_files_fill(struct view_files *files, struct json_object *view);

/* The last events of logs/auto.log, oldest first, numbered from 1: an array
 * that the caller owns. */
struct json_object *view_files_events(const struct workspace *workspace);

#endif
