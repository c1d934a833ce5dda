/* SPDX-License-Identifier: ISC */

/*
 * A task: what is to be done, how far it has come, what was tried, how it
 * ended. Pure. All strings are owned, NULL = not set; times are wall clock
 * milliseconds, 0 = never.
 */
#ifndef TASK_H
#define TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct json_object;

enum task_step {
	TASK_OFFERED, /* written down, not yet taken from its source */
	TASK_WAITING, /* ours; no worker has it */
	TASK_ASSIGNED, /* a worker has it */
	TASK_LANDED, /* on the default branch; post_accept_command is due */
	TASK_SETTLING, /* has its outcome; the source is to be told */
	TASK_STEP_COUNT
};

enum task_outcome {
	OUTCOME_NONE,
	OUTCOME_LANDED,
	OUTCOME_NO_CHANGES, /* done, and there was nothing to change */
	OUTCOME_FAILED, /* of an attempt; of a task that is not tried again */
	OUTCOME_ABORTED, /* a person took it away */
	OUTCOME_DEAD_LETTER, /* every attempt failed */
	OUTCOME_COUNT
};

const char *task_step_name(enum task_step step); /* "waiting" */

/* For readers of records (word.h), ended by NULL. */
extern const char *const task_step_words[TASK_STEP_COUNT + 1];

/* May a task go from one to the other? False for what is no step. */
bool task_may(enum task_step from, enum task_step to);

const char *task_outcome_name(enum task_outcome outcome); /* "dead-letter" */
bool task_outcome_parse(const char *name, enum task_outcome *ret_outcome);

#define TASK_HISTORY_MAX                                    \
	40 /* entries; of more, the first and the last stay \
	    */
#define TASK_TITLE_MAX 100 /* bytes, cut at a character */

struct task {
	char *id; /* "t17" */
	char *source; /* "command", "files", "folder", "fix" */
	char *key; /* the source's own name for it */
	char *title; /* first line, for people */
	char *text; /* what the worker is told */
	char *label; /* tasks of one label are not done side by side if that
		      * can be helped */
	int priority; /* 0 first .. 4; 3 unless told */
	enum task_step step;
	enum task_outcome outcome;
	char *worker; /* who has it, or had it last */
	int attempts; /* begun */
	int turns; /* ended in this attempt */
	int turns_before; /* ended in the attempts before it */
	int nudges; /* times told to go on without asking, in this attempt */
	int fixes; /* for "fix": how many fixes led to this one */
	int64_t created_ms, assigned_ms, finished_ms;
	int64_t tokens, tokens_allowed; /* used in all attempts; granted by
					 * llmc resume beyond the budget */
	int64_t cost, cost_allowed; /* millionths of a dollar */
	int64_t time_allowed_ms;
	int turns_allowed;
	char *commit; /* that it landed as */
	char *reason; /* why the last attempt, or all of it, failed */
	char *last_words; /* of the agent, cut at 4 KiB */
	struct json_object *history; /* array of {at_unix, what, detail} */
};

/* Offered; title from the text (its first line that says something, Markdown
 * marks left out) unless title is given; the id where neither says anything.
 * source, key, title and text may be NULL. */
struct task *task_new(const char *id, const char *source, const char *key,
    const char *title, const char *text, int64_t now_ms);
void task_free(struct task *task);

/* Add to the history; detail may be NULL and is cut at 1 KiB. */
void task_note(
    struct task *task, const char *what, const char *detail, int64_t now_ms);

/*
 * How far it has come. Each of these is one move of the table; where that
 * forbids it, nothing changes and -EINVAL (or false) is returned.
 */

/* The move alone, with the times that belong to it. */
int task_move(
    struct task *task, enum task_step to, int64_t now_ms, struct err *err);

/* Its source has given it to us: it waits. */
int task_take(struct task *task, int64_t now_ms);

/* A worker gets it: assigned, one attempt more, its counters anew. */
int task_assign(struct task *task, const char *worker, int64_t now_ms);

/* The attempt failed. True when it shall be tried again (then it waits);
 * else it is settling: dead-letter, or failed where max_attempts is 1. */
bool task_attempt_failed(
    struct task *task, const char *reason, int max_attempts, int64_t now_ms);

/* A worker lost it through no fault of the task (reset by a person, worker
 * removed): it waits again and the attempt does not count. */
int task_give_back(struct task *task, const char *why, int64_t now_ms);

/* Its work is on the default branch as this commit, or was there already
 * (NULL). */
int task_landed(struct task *task, const char *commit, int64_t now_ms);

/* It has its outcome; settling. */
int task_settle(struct task *task, enum task_outcome outcome,
    const char *reason, int64_t now_ms);

/* What the worker is told: the text, and when it was tried before, how that
 * ended. Appended. */
void task_text(const struct task *task, struct buf *out);

/* The next of those that wait, or NULL: a label that is in use by an assigned
 * one counts against it, then priority, then age. */
struct task *task_next_waiting(struct task *const *tasks, size_t count);

/* A task for what a failed post_accept_command said; output is cut. */
struct task *task_for_fix(const char *id, const struct task *broken,
    const char *command, const char *output, int64_t now_ms);

/* Record of state.json and of tasks.jsonl; it shares `history`. As
 * worker_from_json(): the id must be there, others may be missing, a wrong type
 * or word is -EINVAL. A priority out of range is brought into it; one that is
 * assigned to nobody, or settling without an outcome, waits. */
struct json_object *task_to_json(const struct task *task);
int task_from_json(struct json_object *json, const char *at,
    struct task **ret_task, struct err *err);

#endif
