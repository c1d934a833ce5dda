/* SPDX-License-Identifier: ISC */

/* What the units of this folder share. Each calls only those before it, except
 * by the callbacks that it is given. */
#ifndef FORGE_PRIVATE_H
#define FORGE_PRIVATE_H

#include "core.h"
#include "event.h"
#include "forge-http.h"
#include "git-upstream.h"
#include "issue-row.h"
#include "pull.h"

struct auto_mode;
struct event;
struct forge_floor;
struct loop_call;
struct loop_timer;
struct pull_held;
struct server_call;

#define FORGE_SOURCE "issue" /* task->source */

/* The issue that is looked at. */
enum candidate_step {
	CANDIDATE_NONE,
	CANDIDATE_NAMED, /* by a person: what does it say? */
	CANDIDATE_NEEDS, /* is what it needs closed? */
	CANDIDATE_EVENTS, /* who has set the label? */
	CANDIDATE_LABELLER, /* may that one write? */
	CANDIDATE_AUTHOR, /* may its author write? */
	CANDIDATE_CLAIM,
	CANDIDATE_READ, /* is it still what it was, now that it is ours? */
	CANDIDATE_DROP, /* it is not: give the claim up */
};

struct candidate {
	enum candidate_step step;
	struct forge_issue issue;
	char *labeller; /* NULL = not known */
	size_t need; /* of those that are looked at */
	int page; /* of events */
	char claim[GIT_ID_SIZE]; /* that origin has for us; "" = none */
	bool hand; /* a person has named it */
	struct server_call *call; /* of that person; NULL = none */
};

/* What we know about somebody's right to write. */
struct trust {
	char *login;
	bool writes;
	int64_t at_ms; /* monotonic */
};

/* An issue that is not taken because of who wants it. */
struct left {
	int64_t number;
	char updated[FORGE_STAMP_MAX + 1]; /* when the forge says it changed */
	int64_t at_ms; /* monotonic */
};

/* The claim of somebody else. */
struct rival {
	int64_t number;
	char claim[GIT_ID_SIZE];
	int64_t since_ms; /* we have seen this one, monotonic */
};

struct forge_label {
	int64_t id; /* 0 = not known, -1 = there is none */
	int page; /* of labels, the last that was looked through */
};

/* A pull request, or what is to be one. */
struct pull_held {
	struct pull_row *row;
	struct pull_look look;
	bool looks; /* it is under way */
	int64_t rest_ms; /* nothing before that, monotonic */
	char *trouble; /* why not, for people; NULL = all is well */
	int page; /* of comments */
	bool no_reply; /* the comment that is due is not there */
	size_t label; /* of forge.labels, the next */
	struct forge_label label_at; /* that one */
};

/* claim: what origin has for us then, "" = nothing. */
typedef void claim_fn(struct forge_floor *floor, enum push_answer result,
    const char *claim, const char *words);

struct forge_floor {
	struct core *core;
	struct auto_mode *mode;
	struct core_floor floor;
	bool takes; /* issues */
	enum forge_dialect dialect; /* FORGE_NONE = not known yet */
	struct forge_place place; /* api NULL = not known yet */
	struct forge_http *http;
	struct git *git; /* its own: nothing else waits for the network */
	char *owner; /* who we are in a claim */
	char *login; /* who we are there; NULL = not known yet */
	struct loop_call *look;
	struct loop_timer *timer; /* for the next look */
	bool busy; /* something is under way */
	bool away; /* and people know */
	bool refused; /* ... until they change something */
	int64_t away_ms; /* since then, monotonic */
	bool listed; /* the list was read */
	bool awaited; /* a run does not end before we are done */
	int git_tries; /* in a row, that found nobody */
	int64_t rest_ms; /* nothing before that, monotonic */
	int64_t git_rest_ms; /* the same for origin */
	int64_t poll_ms; /* the next list, monotonic */
	char *tag; /* of the list; NULL = none */
	struct forge_issues list;
	bool whole; /* it was one page: what is not there is not offered */
	int page; /* that is asked for next, if it is not the first; else 0 */
	struct forge_issues coming; /* the pages before that */
	size_t next; /* of the list, to be looked at */
	char **left; /* what was told of issues that are not taken: strv */
	struct left *lefts;
	size_t left_count;
	struct forge_row **rows;
	size_t row_count;
	struct forge_row *row; /* that something is done for */
	enum forge_step row_step; /* its step when that began */
	struct pull_held **pulls;
	size_t pull_count;
	struct pull_held *pull; /* that something is done for */
	char *pushing; /* the commit that is on its way to its branch */
	char *unusable; /* why there can be no pull request; NULL = there can */
	char *full; /* the same for one more */
	char *late; /* why the work of an issue must not land */
	struct forge_label label; /* FORGE_FAILED */
	struct candidate candidate;
	struct trust *trusts;
	size_t trust_count;
	struct rival *rivals;
	size_t rival_count;
	struct {
		int64_t number, epoch;
		char expected[GIT_ID_SIZE], commit[GIT_ID_SIZE];
		claim_fn *fn;
	} claim;
	char tree[GIT_ID_SIZE]; /* the empty one; "" = not made yet */
};

/* --- forge-ask.c ---------------------------------------------------------- */

/* Ask; fn gets the floor. Something is under way until forge_done(). known: the
 * tag of the last answer, NULL = none. */
void forge_send(struct forge_floor *floor, const struct forge_request *request,
    const char *known, forge_fn *fn);
/* It is over: the next thing, once what was written is saved. */
void forge_done(struct forge_floor *floor);
/* Did an answer come? If not, or if it is to be asked again, everything rests
 * for a while, and this is false. */
bool
forge_answered(struct forge_floor *floor, const struct forge_answer *answer);
/* It will not, whenever it is asked. */
bool forge_refused(const struct forge_answer *answer);
/* Done or refused: nothing waits for it. */
bool
forge_settled(struct forge_floor *floor, const struct forge_answer *answer);

/* Set a label of an issue or a pull request: a Gitea wants the id of one that
 * it has, which is looked for, and made. The callbacks are of the three
 * requests in that order: it was set; a page of labels, for
 * forge_label_listed(); the label was made. */
void forge_label_send(struct forge_floor *floor, struct forge_request *request,
    const struct forge_label *label, const char *name, forge_fn *on_set,
    forge_fn *on_listed, forge_fn *on_made);
void forge_label_listed(
    struct forge_label *label, const char *name, struct json_object *json);
/* The ask that it cannot be used, or leads elsewhere. */
#define FORGE_ASK "forge/place"
/* It is away, or refuses: told once, until it answers again. */
void
forge_away(struct forge_floor *floor, enum event_kind kind, const char *words);
/* Origin does not answer. */
void forge_rest(struct forge_floor *floor, const char *words);

/* --- forge-claim.c -------------------------------------------------------- */

/* Claim it, if origin has what is expected ("" = nobody's claim). One at a
 * time, while something is under way. */
void claim_take(struct forge_floor *floor, int64_t number, int64_t epoch,
    const char *expected, claim_fn *fn);
/* Give it up; also if it is not ours any more. */
void claim_drop(
    struct forge_floor *floor, int64_t number, const char *claim, claim_fn *fn);
/* What is expected of origin: the claim of somebody who has not renewed it for
 * a long time, else "". NULL = somebody has it. */
const char *claim_expects(const struct forge_floor *floor, int64_t number);
/* Somebody has it: see who, and since when. */
void claim_watch(struct forge_floor *floor, int64_t number, claim_fn *fn);

/* --- forge-pull.c --------------------------------------------------------- */

/* The rows, and what the floors below ask. */
void pulls_load(struct forge_floor *floor);
void pulls_free(struct forge_floor *floor);
bool pulls_expect(const struct forge_floor *floor);
void pulls_event(struct forge_floor *floor, const struct event *event);
/* Is the work of this task a pull request? */
bool pulls_has(const struct forge_floor *floor, const char *task);
struct task *
pull_task(const struct forge_floor *floor, const struct pull_row *row);
struct pull_rules
pull_rules_of(const struct forge_floor *floor, const struct pull_row *row);
void pull_forget(struct forge_floor *floor, struct pull_held *held);
/* Something was done for it: what has changed is saved and told. */
void pull_done(struct forge_floor *floor, struct pull_held *held);
/* It cannot be done: tried again later. */
void pull_trouble(struct pull_held *held, const char *what, const char *words);
/* What nobody need read, NULL terminated; host is for one of them. */
void pull_hidden(const struct forge_floor *floor, char host[HOST_NAME_MAX + 1],
    const char *ret_hidden[4]);

/* --- forge-row.c ---------------------------------------------------------- */

void rows_load(struct forge_floor *floor);
void rows_free(struct forge_floor *floor);
struct forge_row *rows_find(const struct forge_floor *floor, int64_t number);
/* Record it; the floor owns it then. */
void rows_add(struct forge_floor *floor, struct forge_row *row);
void rows_remove(struct forge_floor *floor, struct forge_row *row);
/* Do what is due for one of them; while the forge rests, only what origin is
 * asked for. False: nothing is. */
bool rows_act(struct forge_floor *floor, bool resting);
/* Is anything left to be told, apart from work that is not at origin? */
bool rows_expect(const struct forge_floor *floor);
/* Until something is due; INT64_MAX = never. resting: as for rows_act(). */
int64_t rows_wait_ms(const struct forge_floor *floor, bool resting);
/* The issue of this task, if its claim is so old that somebody else may have
 * it; NULL = that is not so. */
const struct forge_row *
rows_unowned(const struct forge_floor *floor, const char *task);
/* A task has ended. */
void rows_ended(struct forge_floor *floor, const char *task, const char *commit,
    bool good, const char *words);
/* The list was read: tell a person of those that are not what they were. */
void rows_compare(struct forge_floor *floor);
/* Drop the tasks of those that somebody else has by now, and hold the tasks of
 * those that have changed, as soon as that is possible. */
void rows_stop(struct forge_floor *floor);

/* --- forge-take.c --------------------------------------------------------- */

/* May this one write? 1, 0; -1 = it is to be asked; and what was answered. */
int trust_of(const struct forge_floor *floor, const char *login);
void trust_note(struct forge_floor *floor, const char *login, bool writes);
/* Go on with the one that is looked at, or with the next of the list. False:
 * there is nothing to do. */
bool candidate_act(struct forge_floor *floor);
void candidate_release(struct forge_floor *floor);
void candidate_register(struct forge_floor *floor);

/* --- forge-pull-duty.c ---------------------------------------------------- */

/* Do what is due for one of them. False: nothing is. */
bool pulls_act(struct forge_floor *floor);

#endif
