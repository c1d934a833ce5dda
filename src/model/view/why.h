/* SPDX-License-Identifier: ISC */

/*
 * Why did it do that? Events as a chain of sentences, and the answers to the
 * four questions that a person has about an assignment: is it stalled, and why;
 * what was sent last, and did it arrive; what does it wait for; and what shows
 * that it makes progress? Pure.
 */
#ifndef WHY_H
#define WHY_H

struct buf;
struct json_object;
struct plan;
struct plan_crystal;
struct plan_node;
struct schema;

/* One event of the log; strings and data may be NULL, except type. */
struct why_event {
	int64_t ts_ms;
	const char *type; /* "assignment.stalled" */
	const char *goal_id, *assignment_id, *node_id, *worker, *task;
	struct json_object *data;
};

/* Append one event as a sentence, without its time and its end. */
void why_sentence(const struct why_event *event, struct buf *out);

/* Append a line for each event, oldest first: "4m ago: stalled: no sign of life
 * for 15m". Events that say the same in a row become one line. */
void why_chain(const struct why_event *events, size_t count, int64_t now_ms,
    struct buf *out);

/* What is true now of a task (NULL = of none) whose assignment has this status
 * (NULL = there is none): "done: landed as 1234567", its outcome, or the
 * status. NULL = the events do not say it. Owned by the caller. */
char *why_now(const char *task, const char *status,
    const struct why_event *events, size_t count);
/* The same of a node of a plan: "blocked: no key", "todo: waits for T1.1 (in
 * progress)". is_auto: are there workers that take nodes? */
char *why_node_now(
    const struct plan *plan, const struct plan_node *node, bool is_auto);

/* Owned by the caller. */
struct why_answers {
	char *stalled;
	char *dispatch;
	char *backoff;
	char *progress;
};

/* Events are oldest first, and may be fewer than there are; crystal is the
 * newest of the node, NULL = none. */
void why_answer(const struct plan_node *node,
    const struct plan_crystal *crystal, const struct why_event *events,
    size_t count, int64_t now_ms, struct why_answers *ret_answers);
void why_answers_release(struct why_answers *answers);

/* --- how the work on a task went ---------------------------------------- */

/*
 * How the work on a task went, for people: what was asked, said, done and what
 * failed, by the conversation of its agent, and what llmc did with it, by its
 * history and its events. Pure.
 */

/* "asked", "said", "did", "failed", "event"; NULL terminated. */
extern const char *const replay_kinds[];
extern const struct schema replay_entry_schema; /* {at, kind, text} */

#define REPLAY_ENTRIES_MAX 20000 /* further ones are left out */
#define REPLAY_PAGE        500 /* entries of one answer */

/* Add what a line of a conversation says, in the form of Claude Code
 * (transcript_translate()); any JSON. */
void replay_add_line(struct json_object *list, struct json_object *line);
/* A record of overseer.events, and an entry of a task's history. */
void replay_add_event(struct json_object *list, struct json_object *record);
void replay_add_note(struct json_object *list, struct json_object *note);

/* By time; what has none stays behind what was before it. */
void replay_sort(struct json_object *list);

#endif
