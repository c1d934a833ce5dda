/* SPDX-License-Identifier: ISC */

/* The rows of the view that are made of one record: a worker, a task,
 * an event. Times are
 * absolute, so that a row changes only with its record; long texts are cut.
 * Pure. Each object belongs to the caller. */
#ifndef VIEW_ROW_H
#define VIEW_ROW_H

struct ask;
struct buf;
struct detection;
struct json_object;
struct spent;
struct task;
struct worker;

#define VIEW_TITLE_MAX  200 /* bytes */
#define VIEW_REASON_MAX 500
#define VIEW_WORDS_MAX  1000
#define VIEW_HISTORY    6 /* entries of a task's history, the last ones */

/* task: that it has in auto mode, NULL = none. */
struct json_object *
view_row_worker(const struct worker *worker, const struct task *task);

/* What oversight found, of a worker's row: {detection, severity, message,
 * intervention, iteration}. intervention: its word. */
struct json_object *view_row_oversight(const struct detection *detection,
    const char *intervention, int64_t iteration);

/* Of a task without an outcome, or with one. */
struct json_object *view_row_task(const struct task *task);
/* The same without history, last words and reports: of one among very many. */
struct json_object *view_row_task_brief(const struct task *task);

/* Of an open ask: {id, kind, level, key, who, title, words, command, worker,
 * task, goal, node, question, options, at_unix}. */
struct json_object *view_row_ask(const struct ask *ask);

/* Of a record of logs/auto.log: {n, at_ms, level, type, worker, task, words};
 * NULL = it is not an event. */
struct json_object *view_row_event(struct json_object *record, int64_t n);

/* A number that changes with whatever the row of a task shows, so that a row
 * can be kept. 0: make it anew each time. */
uint64_t view_row_task_mark(const struct task *task);

/* A text that is cut at max bytes, between characters; NULL is null. */
void view_row_text(
    struct json_object *row, const char *key, const char *text, size_t max);
/* The same on one line (text_add_line()): whatever stands in a list. */
void view_row_line(
    struct json_object *row, const char *key, const char *text, size_t max);
/* A moment in milliseconds as seconds; 0 is null. */
void view_row_moment(struct json_object *row, const char *key, int64_t at_ms);

/* Members cost_micros (null = unknown, which is not nothing) and cost_source.
 */
void view_row_cost(struct json_object *row, const struct spent *spent);

/* What a person should know or do about a worker, appended; nothing if all is
 * well. */
void view_row_remark(const struct worker *worker, struct buf *out);

/* worker_shown_words() of its row. */
const char *view_row_status(struct json_object *row);

#endif
