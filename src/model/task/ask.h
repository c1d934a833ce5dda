/* SPDX-License-Identifier: ISC */

/*
 * An ask: something that only a person can decide, or should know. It is made
 * even if no channel is set up, and stays open until it is answered (llmc
 * answer), dismissed, or settled. Pure.
 */
#ifndef ASK_H
#define ASK_H

#include "notice.h"

struct ask;
struct buf;
struct json_object;
struct schema;
struct task;
struct worker;

/* How one ended. */
enum ask_end {
	ASK_OPEN,
	ASK_ANSWERED,
	ASK_DISMISSED, /* seen, and nothing was to be done */
	ASK_RESOLVED, /* it is settled without an answer */
	ASK_END_COUNT
};

extern const char *const ask_end_words[ASK_END_COUNT + 1];

#define ASK_SEEN "seen" /* by a person, in a terminal */

/* Keys that others look for: no task is given out, because a person or a budget
 * wants that, because several have failed alike, or because the check fails on
 * the branch as it is; what an agent asks, which ends with its request (the id
 * follows). */
#define ASKS_PAUSED  "paused"
#define ASKS_ALIKE   "alike"
#define ASKS_TRIAL   "trial"
#define ASK_OF_AGENT "question/"
#define ASKS_LOGIN   "login" /* it is refused */
#define ASKS_REVIEW  "review/" /* finished work of a task, whose id follows */
#define ASKS_LOST    "lost" /* what has landed is not on the branch any more */

#define ASK_WORDS_MAX ((size_t)16 * 1024)
#define ASK_TITLE_MAX 200

/* Strings are owned, NULL = not given; times are wall clock milliseconds, 0 =
 * never. */
struct ask {
	char *id; /* "a12" */
	int64_t nr; /* 12 */
	enum ask_kind kind;
	enum escalation_level level;
	char *key; /* what it is about; no two open asks have the same */
	char *title; /* a few words */
	char *words; /* why */
	char *command; /* what to type, if an answer is not what helps */
	char *worker, *task, *goal, *node;
	char *question; /* of an agent: its id; ids, if it has several */
	char **options; /* that the answer can be chosen from */
	bool stays; /* only a person ends it, or another try at its task */
	int count; /* how often it has happened, or was said */
	int64_t created_ms, said_ms, ended_ms;
	int64_t told_ms; /* a channel took a message about it, or a person saw
			  * it */
	char *told_by; /* that channel, or ASK_SEEN */
	enum ask_end how;
	char *answer, *by;
	/* Not saved: */
	bool wanted; /* ask_follow() found it so */
	bool changed; /* it is to be saved; one that has ended, for the last
		       * time */
};

/* What one is made of: the same, borrowed. */
struct ask_draft {
	enum ask_kind kind;
	enum escalation_level level;
	const char *key, *title, *words, *command;
	const char *worker, *task, *goal, *node, *question;
	const char *const *options;
	bool stays;
};

extern const struct schema ask_schema;

/* A new one, open; keys and passwords in its texts are masked. The caller frees
 * it. */
struct ask *ask_new(const struct ask_draft *draft, int64_t nr, int64_t now_ms);
void ask_free(struct ask *ask);

/* The same is still so, or happened again: take what is new. False: nothing
 * is. */
bool ask_update(struct ask *ask, const struct ask_draft *draft);

/* It happened again: the same, and it is said again now and then. */
void ask_repeat(struct ask *ask, const struct ask_draft *draft, int64_t now_ms);

/* It asks what the other one does, too: an answer is for both, so that it
 * cannot be chosen from the options of one. */
void ask_join(struct ask *ask, const struct ask *other);

/* It has ended. */
void ask_close(struct ask *ask, enum ask_end how, int64_t now_ms);

/* A person has answered, or (NULL) seen it. One that follows from the state is
 * open as long as that is so: what the answer did ends it. */
void
ask_answer(struct ask *ask, const char *answer, const char *by, int64_t now_ms);

/* A person knows of it now, by this channel. False: they knew before. */
bool ask_told(struct ask *ask, const char *by, int64_t now_ms);

/* What was typed as the answer: one of the options, if it is its number or its
 * words, else as it was typed. NULL: no option has this number. */
const char *
ask_choice(const char *const *options, const char *typed, struct err *err);

/* Words that are --yes or --no: those of the options that an ask has by what it
 * is about, and of people. */
enum ask_decision {
	ASK_SAYS, /* none of them: it is for who asks */
	ASK_SAYS_YES,
	ASK_SAYS_NO
};

enum ask_decision ask_decision(const char *words);

/* What can be chosen where this waits for a person, if nothing else is
 * offered; NULL = nothing. */
const char *const *ask_task_options(const struct task *task);
const char *const *ask_worker_options(const struct worker *worker);

/* What it is about, in a word: the worker that waits, its task, its goal, else
 * its key. Borrowed. */
const char *ask_subject(const struct ask *ask);

/* What to type, appended. */
void ask_command(const struct ask *ask, struct buf *out);

/* Is it time for a reminder? The gaps grow: an hour, four, then a day each. */
bool ask_is_due(const struct ask *ask, int64_t now_ms);

/* How well does a typed name fit it? 0 = not at all. Its id, task,
 * worker or question is best, then its node, see task_named(). */
#define ASK_NAMED_BEST 10
int ask_named(const struct ask *ask, const char *typed);

/* --- asks that follow from the state ------------------------------------- */

/* Which asks follow from the state: a task is parked, the checkout is dirty.
 * Pure. */

/* Work of a task in the landing queue that only a person may let land. */
struct ask_held {
	const char *task, *words;
};

/* What asks follow from; the workers, tasks and open asks are borrowed. */
struct ask_facts {
	int64_t now_ms;
	struct worker *const *workers;
	size_t worker_count;
	struct task *const *tasks;
	size_t task_count;
	const struct ask_held *held;
	size_t held_count;
	struct ask *const *asks;
	size_t ask_count;
	int64_t ids; /* asks numbered so far */
	const char *paused; /* why no task is given out; NULL = they are */
	const char *unpushed; /* why what has landed could not be pushed */
	bool red; /* the landing branch fails its own check */
	const char *overtaken; /* why checks are in vain; NULL = they are not */
	bool unchecked; /* auto mode runs, and nobody has chosen a check */
	const char *behind; /* why the branch is not where origin is, for long;
			     * NULL = it is */
	const char *dirty; /* why the checkout is in the way of what would land;
			    * NULL = it is not */
	int64_t deaf_ms; /* so long the service has refused all; 0 = not */
	int64_t deaf_most_ms; /* a login may be refused so long */
	struct json_object *goals; /* their digest, may be NULL */
};

/* Compare the asks with the state: open ones are updated, settled ones are
 * ended (ask->changed for both), and new ones are returned; the caller frees
 * the list. */
struct ask **ask_follow(const struct ask_facts *facts, size_t *ret_count);

#endif
