/* SPDX-License-Identifier: ISC */

/*
 * What has ended, in the book: a table each, with columns for what is asked
 * for, and the whole record as JSON.
 *
 *   ended_task  a task with its outcome
 *   turn        what oversight saw in a turn on a task, and did about it
 *   run         a daemon's part of a run of auto mode
 *   attempt     how an attempt at a task went, in numbers
 *   span        how a worker spent a stretch of time
 *
 * What is written belongs to the transaction of its pass, as the state does:
 * nothing of it can be there twice, or only half. What cannot be read is as if
 * it was not there.
 */
#ifndef BOOK_HISTORY_H
#define BOOK_HISTORY_H

#include "task.h"

struct book;
struct err;
struct json_object;
struct perf_record;
struct work_span;
struct workspace;

/* Make the tables, once after the book was opened for writing. */
int book_history_open(struct book *book, struct err *err);

struct book_limits {
	int64_t now_ms;
	int64_t keep_ms; /* what ended before that goes */
	int64_t tasks; /* the newest that are kept */
	int64_t bytes; /* beyond which the oldest go, too */
};
#define BOOK_BYTES_MAX ((int64_t)4 * 1024 * 1024 * 1024)

/* Remove a little of what is kept no longer: tasks, with their runs; events as
 * old, or beyond 20 for each of the tasks; goals that have ended with all there
 * is of them, asks, messages, mail, questions and reservations that are not
 * open; spans and attempts after their own times. True: there may be more. */
bool book_history_prune(struct book *book, const struct book_limits *limits);

/* --- tasks ------------------------------------------------------------- */

/* It has ended, or its record is corrected: the last one counts. */
void book_file_task(struct book *book, const struct task *task);

/* The caller frees it; NULL = there is none. By its id; by its name at its
 * source (NULL = any), the newest; by the commit it landed as, the newest. */
struct task *book_find_task(struct book *book, const char *id);
struct task *
book_find_task_key(struct book *book, const char *source, const char *key);
struct task *book_find_task_commit(struct book *book, const char *commit);

/* Which records of tasks are read. */
struct book_tasks {
	const char *name; /* only of this id, or with this name at its source */
	int64_t after; /* only those filed later than this; 0 = any */
	size_t limit; /* the newest; 0 = BOOK_TASKS_MAX */
	bool brief; /* without text, last words and history */
	bool oldest_first;
	bool
	    failed; /* of these only those that brought nothing, oldest first */
};
#define BOOK_TASKS_MAX 10000

/* filed: rises with each record that is written. Borrowed. */
typedef bool book_task_fn(struct json_object *record, int64_t filed, void *arg);
int book_read_tasks(struct book *book, const struct book_tasks *which,
    book_task_fn *fn, void *arg, struct err *err);
/* The same as tasks; fn does not keep them. */
typedef bool book_ended_fn(const struct task *task, int64_t filed, void *arg);
int book_each_task(struct book *book, const struct book_tasks *which,
    book_ended_fn *fn, void *arg, struct err *err);

/* Rows for a report (report.h), by id, of those that ended since from_ms.
 * Of each kind, done or not, the newest `detailed` ones have what a list shows,
 * the others what sums are made of. */
int book_report_tasks(struct book *book, int64_t from_ms, size_t detailed,
    struct json_object *rows, struct err *err);

/* --- turns -------------------------------------------------------------- */

/* Write the record number seq of a task, or replace it. */
void book_put_turn(struct book *book, const char *task, int64_t seq,
    struct json_object *record);
/* All of a task up to this one; INT64_MAX = all. And only one. */
void book_delete_turns(struct book *book, const char *task, int64_t last);
void book_delete_turn(struct book *book, const char *task, int64_t seq);
/* The last `limit` (0 = all) of a task (NULL = of all tasks, one after
 * another), oldest first; false stops. */
typedef bool book_turn_fn(
    const char *task, int64_t seq, struct json_object *record, void *arg);
int book_read_turns(struct book *book, const char *task, size_t limit,
    book_turn_fn *fn, void *arg, struct err *err);
/* Of which tasks are there any? The one with the newest first. */
typedef bool book_name_fn(const char *name, void *arg);
int book_turn_tasks(
    struct book *book, book_name_fn *fn, void *arg, struct err *err);

/* --- asks ---------------------------------------------------------------- */

struct ask;
struct state;

/* Write one, open or ended. */
void book_put_ask(struct book *book, const struct ask *ask);
/* Was there ever an ask with this key, open or not? */
bool book_knows_ask(struct book *book, const char *key);
/* One that has just ended by itself was answered. */
void book_answer_ask(
    struct book *book, const char *id, const char *answer, const char *by);
/* The open ones into the state, and how many there were. A book of an earlier
 * version has none. */
int book_load_asks(struct book *book, struct state *state, struct err *err);
/* The last ones, as a list that the caller owns; NULL with err. */
struct json_object *
book_list_asks(struct book *book, size_t limit, struct err *err);

/* --- messages to people -------------------------------------------------- */

struct message;

void book_put_message(struct book *book, const struct message *message);
/* Those that are not sent everywhere, the oldest first; fn owns them. */
typedef void book_message_fn(struct message *message, void *arg);
int book_load_messages(
    struct book *book, book_message_fn *fn, void *arg, struct err *err);
/* The newest since then first, whatever became of them; false stops. fn does
 * not own them. A book of an earlier version has none. */
typedef bool book_message_look_fn(const struct message *message, void *arg);
int book_look_messages(struct book *book, int64_t since_ms,
    book_message_look_fn *fn, void *arg, struct err *err);
/* NULL = there is none; the caller frees it. */
struct message *book_find_message(struct book *book, const char *id);
/* Is there one of this event? */
bool book_knows_event(struct book *book, const char *event);

/* --- runs --------------------------------------------------------------- */

void book_begin_run(
    struct book *book, const char *run, const char *instance, int64_t at_ms);
void book_end_run(struct book *book, const char *run, const char *instance,
    int64_t at_ms, bool complete);

struct report_run;

/* Find the run that is wanted, or the last one, among the newest. */
int book_find_run(struct book *book, struct report_run *run, struct err *err);

/* --- attempts ------------------------------------------------------------ */

/* -EINVAL: not such a record (attempt.h). */
int book_file_attempt(
    struct book *book, struct json_object *record, struct err *err);
/* What became known of its use after it was recorded. */
struct spent;
void book_charge_attempt(
    struct book *book, const char *id, const struct spent *more);
/* Those that ended at since_ms or later, and are kept; oldest first. */
typedef void book_attempt_fn(struct json_object *record, void *arg);
int book_read_attempts(struct book *book, int64_t since_ms, int64_t now_ms,
    book_attempt_fn *fn, void *arg, struct err *err);

/* --- spans ---------------------------------------------------------------- */

#define BOOK_SPAN_DAYS 31 /* kept */
void book_file_span(struct book *book, const struct work_span *span);
/* Those that ended at since_ms or later, in the order of their ends. */
typedef void book_span_fn(const struct work_span *span, void *arg);
int book_read_spans(struct book *book, int64_t since_ms, book_span_fn *fn,
    void *arg, struct err *err);

/* The daemon lives: for who finds it killed. With each commit. */
void book_note_alive(struct book *book, int64_t at_ms);
/* Its last heartbeat; 0 = there is none. */
int64_t book_beat_ms(const struct workspace *workspace);

struct state;

/* Each span of the state that goes on, until now (alive), or until the daemon
 * was last known to be alive. It begins where the one before has ended. */
void book_open_spans(struct book *book, const struct workspace *workspace,
    const struct state *state, bool alive, int64_t now_ms, book_span_fn *fn,
    void *arg);

/* Issues of a forge that we work on: struct forge_row (forge.h). */
const struct book_table *book_issue_table(void);
/* Pull requests that we have made: struct pull_row (pull.h). */
const struct book_table *book_pull_table(void);

#endif
