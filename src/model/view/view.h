/* SPDX-License-Identifier: ISC */

/*
 * The view: one document with everything that is shown of a workspace, and the
 * changes of it. It is an object of sections (view_sections): some are objects
 * ("head"), some are maps of rows by their id ("workers"), and "events" is a
 * list of which the last VIEW_EVENTS_MAX are kept, each with a number "n" that
 * grows. Pure.
 *
 * A change is {"set": {section: {key: row}}, "unset": {section: [key]},
 * "events": [...]}; a section that is an object is set as a whole.
 */
#ifndef VIEW_H
#define VIEW_H

struct ask;
struct buf;
struct detection;
struct json_object;
struct plan;
struct schema;
struct spent;
struct task;
struct worker;

#define VIEW_EVENTS     "events"
#define VIEW_EVENTS_MAX 200
#define VIEW_HOSTS      "hosts" /* left out while it is empty */

struct view_section {
	const char *name;
	bool map; /* of rows by id */
};

extern const struct view_section view_sections[]; /* ends with a NULL name */

/* A document with all sections, empty. The caller owns it. */
struct json_object *view_new(void);

/* A document from elsewhere, perhaps of another version: sections that it lacks
 * are added, and what is none is replaced by an empty one. Takes it. */
struct json_object *view_complete(struct json_object *view);

/* What has changed; NULL = nothing has. The caller owns it; it shares rows with
 * the new document. */
struct json_object *
view_diff(struct json_object *before, struct json_object *after);

/* Make the change; the document shares rows with it then. Sections of a later
 * version are passed over. -EINVAL: it is no such change, and the document may
 * have been changed in part. */
int view_apply(struct json_object *view, struct json_object *change);

/* The same sections (of a view, or of the "set" of a change), without what
 * makes rows of tasks and goals long. The caller owns it; it shares the other
 * rows. */
struct json_object *view_brief(struct json_object *sections);

/* Is the section in this list of names? NULL = all are. The second deletes the
 * others. */
bool view_wants(struct json_object *sections, const char *section);
void view_keep(struct json_object *view, struct json_object *sections);

/* A section, never NULL for a document of view_new(). */
struct json_object *view_of(struct json_object *view, const char *section);
/* Is the member of the row this word? */
bool view_is(struct json_object *row, const char *member, const char *word);
/* Add the rows of another section, or the members of another row; they are
 * shared. */
void view_add_rows(struct json_object *rows, struct json_object *more);
/* Set members of a row (NULL terminated) to those of another one; they are
 * shared, and null where it has none. */
void view_pick(struct json_object *row, struct json_object *from,
    const char *const *members);
/* A row of a section; NULL = none. */
struct json_object *
view_row(struct json_object *view, const char *section, const char *key);

/* --- rows --------------------------------------------------------------- */

/* Each is made of one record: a worker, a task, an event. Times are absolute,
 * so that a row changes only with its record; long texts are cut. The caller
 * owns it. */

#define VIEW_TITLE_MAX  200 /* bytes */
#define VIEW_REASON_MAX 500
#define VIEW_WORDS_MAX  1000
#define VIEW_REMARK_MAX 8000 /* with a question and what to type */
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

#define VIEW_NODES_MAX 300 /* of one goal */

/* {id, title, status, done, total, ready, blocked, percent, nodes, nodes_more}:
 * of the nodes (parents before their children, in the order of the plan) at
 * most VIEW_NODES_MAX, and at most `room`; the others are counted. The caller
 * owns it. */
struct json_object *view_goal_row(const struct plan *plan, size_t room);

/* A number that changes with whatever that row shows. */
uint64_t view_goal_mark(const struct plan *plan, size_t room);

/* --- what needs a person ------------------------------------------------ */

/* In order: the open asks (ask.h), and what can be seen only without a
 * daemon. For status, report, top, page, doctor and the exit status of a run.
 * "Nothing needs you" is said only where it finds nothing. */

/* Fill the section "needs": rows {what, who, words, command, unfinished,
 * level}, the most urgent first by their keys. unfinished: work was not done,
 * or waits. */
void view_needs(struct json_object *view);
/* The rows as a list, the most urgent first; the caller owns it. */
struct json_object *view_needs_list(struct json_object *view);
/* Does every worker wait for a person, and nothing land? */
bool view_all_wait(struct json_object *view);
/* Is one of the rows unfinished? */
bool view_needs_work(struct json_object *view);

/* What starts the daemon again as it ran last; head: that section. Static. */
const char *view_start_command(struct json_object *head);

extern const struct schema view_need_schema;

/* --- the hosts of a fleet ----------------------------------------------- */

/* Each host posts its part of the view; any of them joins the parts, so that
 * its view has the rows of all, each with a "host". The key of a row elsewhere
 * is "HOST:key", which is what people type; a task has one id everywhere. */

/* What is posted of a view: counts, and rows as long as there is room for them
 * in so many bytes. The caller owns it. */
struct json_object *view_host_part(struct json_object *view, size_t max);

struct view_host {
	const char *host, *state, *version, *ssh, *can; /* NULL = not known */
	bool here;
	int64_t slots;
	int64_t seen_ms, lease_ms; /* by our wall clock; 0 = not known */
	struct json_object *part; /* that it posted; NULL = none */
};

/* Add a host and, if it is up, its rows. Before view_needs(). */
void view_hosts_add(struct json_object *view, const struct view_host *host);

/* Leave only what a host without a fleet would show. */
void view_hosts_here(struct json_object *view);

/* The rows as a list, lost ones first; the caller owns it. */
struct json_object *view_hosts_list(struct json_object *view);

extern const struct schema view_host_schema;

#endif
