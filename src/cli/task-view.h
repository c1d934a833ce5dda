/* SPDX-License-Identifier: ISC */

/* Tasks for people and programs: a table of all, or one with all details. */
#ifndef TASK_VIEW_H
#define TASK_VIEW_H

struct cli;
struct json_object;
struct schema;
struct taskbook;

/* Both fill cli->text and cli->result. */
void task_view_list(struct cli *cli, const struct taskbook *book);
void task_view_show(struct cli *cli, struct json_object *entry);

/* Of the JSON of all forms of llmc task. */
extern const struct schema task_view_shape;

#endif
