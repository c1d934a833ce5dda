/* SPDX-License-Identifier: ISC */

/*
 * A pull request: the way of a task's work onto a branch that others guard. Its
 * branch and its texts, what the forge says about it (state, checks, remarks of
 * people), the row of the book that it is, and what is to be done next. Pure:
 * port/forge makes the requests (forge.h has them), autod/forge acts.
 *
 * Everything is safe to do twice: a pull request is looked for by its branch
 * before it is made, and what we write carries a marker.
 */
#ifndef PULL_H
#define PULL_H

#include "pull-look.h"

#define PULL_BRANCH_MAX  64 /* bytes, with "llmc/" */
#define PULL_SUMMARY_MAX 6000 /* what was done, in the text */
#define PULL_ROUNDS_MAX  3 /* turns in a row, then a person is asked */

#define PULL_POLL_MS (60 * 1000)
/* Checks may come late: none at all for so long means that there are none. */
#define PULL_NONE_MS (2 * 60 * 1000)
/* A check that failed is told when all have ended, or after so long. */
#define PULL_RED_MS (10 * 60 * 1000)
/* So long must all be green, or a conflict be there, before it counts: jobs
 * begin one after the other, and a forge needs a while to try a merge. */
#define PULL_SETTLE_MS (45 * 1000)
/* Between two tries of a merge that the forge refuses. */
#define PULL_MERGE_MS  (10 * 60 * 1000)
#define PULL_MERGE_MAX 3 /* ... after which a person is asked */
/* Nothing has changed for an hour: a look every five minutes is enough. */
#define PULL_QUIET_MS ((int64_t)60 * 60 * 1000)
#define PULL_SLOW_MS  (5 * 60 * 1000)

/* --- the row ------------------------------------------------------ */

/* Why its worker is to have one more turn. */
enum pull_turn {
	PULL_TURN_NONE,
	PULL_TURN_CHECKS, /* a check is red */
	PULL_TURN_REMARKS, /* people have said something */
	PULL_TURN_CONFLICT, /* it does not merge into its base */
	PULL_TURN_COUNT
};

/* Why a person is asked. */
enum pull_why {
	PULL_WHY_NONE,
	PULL_WHY_ROUNDS, /* its worker had its turns */
	PULL_WHY_STUCK, /* a check was cancelled, or waits for a person */
	PULL_WHY_NO_CHECKS, /* merge when green, and there is nothing green */
	PULL_WHY_REFUSED, /* the forge refuses to merge it */
	PULL_WHY_OTHERS, /* somebody else has pushed to its branch */
	PULL_WHY_COUNT
};

/* A row of the book, by its task. Strings are owned, NULL = not set. */
struct pull_row {
	char *task; /* "t17" */
	char *branch; /* "llmc/t17-short-title" */
	char *base; /* "main" */
	char *title; /* of the task */
	char *key; /* random, the same for all of a repository: in the marker */
	/* The commit that is to be at the branch, and that origin has. Set
	 * head before the push; `pushed` after it. A push expects `pushed`
	 * there, NULL = nothing. */
	char *head, *pushed;
	int64_t pushed_ms; /* wall clock */
	char *text; /* the description of `head`, as pull_body() has made it */
	char *described; /* the head for which the forge has it */
	int64_t number; /* 0 = not known */
	char *node, *url;
	enum pull_state state;
	bool draft; /* it is one there */
	bool labelled;
	char *commit; /* PULL_MERGED */
	bool withdrawn; /* its task was given up here: close it */
	bool ended; /* its task has its outcome */
	/* What the forge has said about `checked`, and since when. */
	char *checked;
	enum pull_verdict verdict;
	int64_t verdict_ms, conflict_ms; /* wall clock; 0 = not */
	/* Remarks up to these ids were sent, or are not to be. */
	int64_t seen_talk, seen_review, seen_line;
	/* The turn that its worker is to have, or has. */
	enum pull_turn turn;
	char *turn_text; /* the prompt */
	bool turn_sent; /* it is with the worker: waits for pull_row_worked() */
	int64_t red_rounds, remark_rounds; /* turns so far */
	char *said; /* what its worker has said about remarks; for a comment */
	int64_t replies, replied; /* comments that are due, and made */
	enum pull_why asked; /* what a person was asked about */
	bool others; /* somebody else has pushed to the branch: it is theirs;
		      * PULL_MERGED: `head` is not what was merged */
	bool objected; /* somebody who may write wants changes */
	bool readied; /* it is no draft any more, or was not: not again */
	bool queued; /* the forge merges it when its turn has come */
	int64_t merge_ms; /* not tried again before that, wall clock */
	int64_t merge_tries; /* that the forge has refused */
	char *merge_words; /* why it was not merged */
	/* Not saved: */
	int64_t poll_ms; /* the next look, wall clock; 0 = now */
	bool absent; /* it was looked for, and is not there: make it */
};

extern const struct schema pull_row_schema;

/* What the settings say, and how many there are. */
struct pull_rules {
	bool draft; /* make it as a draft, ready when its checks are green */
	bool merge; /* merge it when they are green; else a person does */
	bool labels; /* there are some to be set */
};

enum pull_duty {
	PULL_WAIT, /* until pull_row_wait_ms() */
	PULL_PUSH, /* row->head to row->branch, which has row->pushed */
	PULL_FIND, /* FORGE_ASK_PULLS, pull_find() */
	PULL_MAKE, /* FORGE_MAKE_PULL, pull_row_made() */
	PULL_LABEL, /* FORGE_ADD_LABEL, then labelled */
	PULL_DESCRIBE, /* FORGE_EDIT_PULL, then described = head */
	PULL_REPLY, /* find or add the comment with pull_reply_marker(), then
		     * replied = replies */
	PULL_LOOK, /* pull_look_*(), then pull_row_looked() */
	PULL_SEND_TURN, /* pull_row_sent(), then turn_text to its worker */
	PULL_ASK_PERSON, /* with pull_row_question(); asked = pull_row_why() */
	PULL_UNASK, /* the question has gone; asked = PULL_WHY_NONE */
	PULL_READY, /* FORGE_READY_PULL, then pull_row_readied() */
	PULL_MERGE, /* FORGE_MERGE_PULL, then pull_row_merging() */
	PULL_LANDED, /* the task has landed, as row->commit; then ended */
	PULL_DECLINED, /* a person has closed it: the task ends, its work is
			* kept; then ended */
	PULL_CLOSE, /* FORGE_CLOSE, then state = PULL_CLOSED */
	PULL_DELETE_BRANCH, /* that has row->pushed; then pushed = NULL */
	PULL_FORGET, /* nothing is left to be done: delete the row */
	PULL_DUTY_COUNT
};

enum pull_why
pull_row_why(const struct pull_row *row, const struct pull_rules *rules);

/* now_ms: wall clock, here and below. */
enum pull_duty pull_row_duty(
    const struct pull_row *row, const struct pull_rules *rules, int64_t now_ms);
/* PULL_WAIT: so many milliseconds later it is due again; INT64_MAX = not before
 * something happens here. */
int64_t pull_row_wait_ms(const struct pull_row *row, int64_t now_ms);

/* A new one; the caller owns it. head: the commit; text: of pull_body(). */
struct pull_row *pull_row_new(const char *task, const char *title,
    const char *base, const char *key, const char *head, const char *text);
/* The answer to FORGE_ASK_PULLS: ours, an open one rather than another. 0 = it
 * is there; -ENOENT: there is none; -EEXIST: there is an open one of somebody
 * else, with this branch. */
int pull_find(struct json_object *json, const struct pull_row *row,
    const char *login, struct pull *ret_pull, struct err *err);
/* It was found, or made: what the forge says of it. */
void pull_row_made(struct pull_row *row, const struct pull *pull);
/* The turn is with its worker from now on. */
void pull_row_sent(struct pull_row *row);
/* Its worker has ended that turn. head, text: of what is to be there now, which
 * may be what was there; said: its last words, NULL = none. */
void pull_row_worked(
    struct pull_row *row, const char *head, const char *text, const char *said);
/* The forge has made it ready, or refuses to. */
void pull_row_readied(struct pull_row *row, bool done);
/* A person wants it to go on: rounds begin anew. */
void pull_row_answered(struct pull_row *row);
/* The answer to FORGE_MERGE_PULL (or, with `queue`, FORGE_QUEUE_PULL); status 0
 * = there was none. The next look says whether it was merged. True: send
 * FORGE_QUEUE_PULL now, since the forge may merge by a queue. */
bool pull_row_merging(struct pull_row *row, bool queue, int status,
    struct json_object *json, enum forge_dialect dialect, const char *words,
    int64_t now_ms);

/* What follows from a look that is done: its state, the verdict, and perhaps a
 * turn. nonce: random, for the prompt. */
void pull_row_looked(struct pull_row *row, const struct pull_look *look,
    const char *repo, const char *nonce, int64_t now_ms);

/* --- texts -------------------------------------------------------- */

/* "llmc/t17-short-title": always the same for the same task. The caller frees
 * it. */
char *pull_branch(const char *task, const char *title);

/* What a pull request says about the work; everybody can read it. */
struct pull_facts {
	const char *summary; /* what its worker says was done; NULL = nothing */
	const char *check; /* the command that has passed; NULL = none */
	int64_t issue; /* that it is for; 0 = none */
	double cost_usd; /* below 0 = not known */
	/* Not to be seen: the root, the home directory, the name of the host;
	 * NULL terminated, may be NULL. */
	const char *const *hidden;
};

/* What row->text is to be; the marker is added when it is sent. */
void pull_body(const struct pull_facts *facts, struct buf *out);
/* Title and text as they are sent. draft: a Gitea says so in the title. */
void pull_row_title(const struct pull_row *row, enum forge_dialect dialect,
    bool draft, struct buf *out);
void pull_row_text(const struct pull_row *row, struct buf *out);
/* The title of the commit that a merge makes; its message is the trailers of
 * the task. */
void pull_row_commit_title(const struct pull_row *row, struct buf *out);
/* The first line of the comment that is due, and the whole. */
void pull_reply_marker(const struct pull_row *row, struct buf *out);
void pull_reply(
    const struct pull_row *row, const char *const *hidden, struct buf *out);
/* How it is, for people: "pull request #12 is open: its checks are running". */
void pull_row_words(const struct pull_row *row, struct buf *out);
/* PULL_ASK_PERSON: words for a person. */
void pull_row_question(
    const struct pull_row *row, enum pull_why why, struct buf *out);

#endif
