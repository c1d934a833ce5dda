/* SPDX-License-Identifier: ISC */

/* What waits in the source of tasks and was taken by nobody, for those who
 * look: how many, and the next of them. Read again only when names in their
 * folder have changed, or when asked to; of a command nothing is known. */
#ifndef SOURCE_TODO_H
#define SOURCE_TODO_H

struct json_object;
struct settings;
struct source_todo;
struct workspace;

#define SOURCE_TODO_MAX 200 /* rows */

/* Nothing is read before it is asked for. */
struct source_todo *source_todo_new(void);
void source_todo_free(struct source_todo *todo);

/* Fill the section "todo" (rows {key, title, status, priority, label, problem,
 * rank}, wanted by rank and then by name), and "todo" in the head: how many
 * there are, null = unknown. */
void source_todo_fill(struct source_todo *todo, const struct settings *settings,
    const struct workspace *workspace, struct json_object *view);

/* One of them has changed: read them again. */
void source_todo_again(struct source_todo *todo);

/* The folder that they are in; the caller frees it. NULL = there is none. */
char *source_todo_folder(
    const struct settings *settings, const struct workspace *workspace);

#endif
