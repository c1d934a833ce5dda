/* SPDX-License-Identifier: ISC */

/* What the units of this folder share. */
#ifndef HOSTS_PRIVATE_H
#define HOSTS_PRIVATE_H

#include "auto.h"
#include "core.h"
#include "event.h"
#include "hosts-rules.h"
#include "id.h"
#include "shared.h"

struct event;
struct git;
struct hosts_keep;
struct hosts_post;
struct hosts_land;
struct hosts_seen;
struct landing_item;
struct landings;
struct loop_call;
struct loop_timer;
struct task;

/* Who this host is, in its own book. */
struct hosts_self {
	char *host;
	char *boot; /* that the database knows; NULL = none yet */
	char *next; /* that it is about to be told; NULL = none */
	char *identity; /* of the server that it was compared with last */
};

/* What the others know of what this one has spent. */
struct hosts_told {
	int64_t day, tokens, cost;
	int64_t used[WINDOW_COUNT]; /* of the account's windows */
	int64_t limited_ms; /* until when an account is limited; 0 = not */
};

/* What other hosts have said of an account. */
struct hosts_heard {
	char *account;
	int64_t until_ms; /* it is limited */
};

struct hosts_floor {
	struct core *core;
	struct auto_mode *mode;
	struct core_floor floor;
	struct shared *shared;
	struct hosts_self self;
	char *host; /* our name */
	char boot[ID_UUID_SIZE]; /* of this daemon; "" = not told yet */
	struct loop_call *look;
	struct loop_timer *timer;
	bool begun;
	bool loaded; /* shares */
	bool up; /* the database knows this boot */
	bool unsure; /* what we hold is asked before anything else */
	bool busy; /* something is under way: see hosts_ask() */
	bool drains;
	bool counted; /* tasks of all hosts, below */
	bool poll, claim, letters; /* now */
	bool doubt; /* the server may have lost commits: nothing is claimed,
		     * submitted or landed */
	bool seen; /* and it is we who have seen that */
	bool compares; /* what we know is compared with it now ... */
	bool repairs; /* ... something of that was restored ... */
	bool restored; /* ... and is compared again */
	char **compared; /* shares that it is asked about */
	bool any; /* claim a task whatever its label */
	char *words; /* why it is not there; NULL = it is */
	bool away; /* and people know */
	int tries; /* in a row that were not answered */
	int64_t rest_ms; /* nothing before that; by clock_boot_ms(), as all */
	int64_t asked_ms; /* the beat that was answered last was sent */
	int64_t sent_ms; /* the one that is under way */
	int64_t poll_ms, steal_ms; /* the last ones */
	int64_t whole_ms; /* the last poll that was no glance */
	size_t turn; /* what is looked at next, see act() */
	int64_t since_ms; /* of the changes that were read; the book's clock, as
			   * the next four */
	int64_t follow_ms; /* of the oldest task that is called landed, and
			    * was not seen on the branch yet, or is a child
			    * whose parent is told once the branch here has
			    * it; 0 = none */
	int64_t book_ms; /* its time at the last beat */
	int64_t polled_ms; /* the same, before the last poll */
	int64_t read_to; /* changes before that are in our own book */
	int64_t prune_ms; /* of the last look for what is old; 0 = none */
	size_t room; /* workers without a task */
	int64_t open; /* tasks of all hosts that have not ended */
	int64_t nobody_ms; /* of the last look for tasks that no host can take
			    */
	char **can; /* our words */
	struct hosts_told told, telling;
	int64_t money_ms; /* of the last look at it */
	bool quota; /* look at it now */
	struct hosts_heard *heard; /* that accounts are limited */
	size_t heard_count;
	struct hosts_keep *keep; /* hosts-keep.c */
	struct hosts_post *post; /* hosts-letter.c */
	struct hosts_land *land; /* hosts-land.c */
	struct hosts_seen *seen_branch; /* hosts-seen.c */
	struct share **shares;
	size_t share_count;
	struct share *share; /* that something is told of */
	enum share_step share_step; /* its step when that began */
	size_t claim_at; /* the answer that says whether it is claimed; 0 = none
			  */
	bool withholds; /* it is told that this one is held back */
	char **adopt; /* claims that we have and do not know of */
	char **held; /* tasks that a person is to be asked about */
	char **denied; /* "TASK FENCE": called landed, and are not */
};

/* --- hosts-ask.c -------------------------------------------------- */

/* Who this host is. A boot that the database may know already, of a daemon that
 * was killed before it had written so, is told again. */
int hosts_self_load(struct hosts_floor *floor, struct err *err);
void hosts_self_release(struct hosts_floor *floor);
/* Another boot, on disk before it is told; and: it was told. */
void hosts_renew_boot(struct hosts_floor *floor);
void hosts_boot_told(struct hosts_floor *floor);
/* It was compared with the server of this connection. */
void hosts_know_server(struct hosts_floor *floor);
/* Ask; nothing else is asked by the floor until hosts_done(). */
void hosts_ask(struct hosts_floor *floor, const struct shared_call *calls,
    size_t count, shared_fn *fn);
/* Was it answered? If not, what we hold is asked before anything else. */
bool
hosts_answered(struct hosts_floor *floor, const struct shared_answer *answer);
/* The next thing, once what was written is saved. */
void hosts_done(struct hosts_floor *floor);
/* Why it is not there. Told once, until it answers again. */
void hosts_tell_away(
    struct hosts_floor *floor, enum event_kind kind, const char *words);
/* Look what is next. */
void hosts_look(struct hosts_floor *floor);
/* Is what we hold ours for certain? Nothing is submitted otherwise. */
bool hosts_sure(const struct hosts_floor *floor);

/* --- hosts-rows.c ------------------------------------------------- */

/* A task that is shared, by its id here or in the shared book; NULL = none. */
struct share *share_of_task(const struct hosts_floor *floor, const char *task);
struct share *share_of_id(const struct hosts_floor *floor, const char *id);
void share_save(struct hosts_floor *floor, struct share *share);
void share_remove(struct hosts_floor *floor, struct share *share);
/* Has a source of this host given it? */
bool share_is_own(const struct hosts_floor *floor, const struct share *share);
/* The task here; NULL = none. */
struct task *
share_task(const struct hosts_floor *floor, const struct share *share);
/* Add a task of another host, or one of ours that our own book has lost. NULL:
 * it cannot be read. */
struct task *share_add_task(struct hosts_floor *floor, const char *id,
    const char *owner, const char *body);
struct share *share_add(struct hosts_floor *floor, const char *id,
    const char *task, const char *owner, enum share_step step);
int shares_load(struct hosts_floor *floor, struct err *err);
void shares_free(struct hosts_floor *floor);

/* --- hosts-share.c ------------------------------------------------ */

/* Tasks that are new, or dropped, or have another priority. */
void shares_compare(struct hosts_floor *floor);
/* Tell the database of one of them. False: there is nothing to tell. */
bool shares_act(struct hosts_floor *floor);
/* Stop what is not ours any more, as soon as that is possible. False: nothing
 * is left to stop. */
bool shares_stop(struct hosts_floor *floor);
/* A task has ended. */
void shares_ended(struct hosts_floor *floor, const struct event *event);
/* Row n is a claim that we have; says what has become of a task; (all rows of
 * SHARED_HOLD) is what we hold. */
void share_begin(
    struct hosts_floor *floor, const struct shared_rows *rows, size_t n);
void
share_news(struct hosts_floor *floor, const struct shared_rows *rows, size_t n);
void shares_held(struct hosts_floor *floor, const struct shared_rows *rows);
/* Is there one that goes on without a person? Paused goals do not. */
bool shares_wait(const struct hosts_floor *floor);
/* Adopt a claim that we have and did not know of. False: there is none. */
bool shares_adopt(struct hosts_floor *floor);

/* --- hosts-place.c ----------------------------------------------- */

/* Park one that hosts were lost with too often. False: there is none. */
bool asks_held(struct hosts_floor *floor);
/* Ask a person about those that no host can take. False: not due. */
bool asks_nobody(struct hosts_floor *floor);
/* Find what this host has. */
void hosts_find_words(struct hosts_floor *floor);

/* --- hosts-place.c, families ------------------------------------- */

/* Does the task, which an agent here has asked for, begin here at once? */
bool family_at_home(const struct hosts_floor *floor, const struct task *t);
/* Until this one, which was for all hosts, is to begin here; INT64_MAX: it is
 * not. */
int64_t kin_due_ms(const struct hosts_floor *floor, const struct share *share);
/* Take over whom an earlier attempt on a host that was lost has asked for, and
 * read what became of the others. False: nobody need be. */
bool family_read(struct hosts_floor *floor);
/* Another host has this task (NULL: any) by now: are those that it has asked
 * for here still ours? They are read. */
void kin_check(struct hosts_floor *floor, const char *parent);

/* --- hosts-trust.c ------------------------------------------------ */

#define TRUST_WORDS                                                     \
	"its server is another one than before, or an older copy, and " \
	"may have lost what was written last: nothing is claimed or "   \
	"landed until it was compared with the branch, which waits up " \
	"to 5 minutes for hosts that have not come back"

/* The database says whether it may have lost commits. */
void trust_heard(struct hosts_floor *floor, bool doubt);
/* This host has seen that it has: it knows a later state of a task. */
void trust_lost(struct hosts_floor *floor);
/* All that we know is compared with it. */
void trust_compare_all(struct hosts_floor *floor);
/* Connected: is it the server that we know? */
void trust_connected(struct hosts_floor *floor);
/* Compare what we know with it. False: that is not due. */
bool trust_compare(struct hosts_floor *floor);
/* The lander compares it with the branch, and ends the doubt. */
void trust_land(struct hosts_land *land);

/* --- hosts-seen.c ------------------------------------------------- */

enum seen_answer {
	SEEN_WAITS, /* hosts_look() follows */
	SEEN_THERE,
	SEEN_NOT
};
/* Is the commit on the branch at origin, with the trailer of that task? */
enum seen_answer
hosts_seen(struct hosts_floor *floor, const char *task, const char *commit);
bool hosts_seen_waits(const struct hosts_floor *floor);
/* The task, of this host, has not landed, whatever a lander has said. */
void hosts_deny(struct hosts_floor *floor, const char *task, int64_t fence,
    const char *commit);
/* Say so. False: there is none. */
bool hosts_deny_act(struct hosts_floor *floor);
struct hosts_seen *hosts_seen_new(struct hosts_floor *floor);
void hosts_seen_free(struct hosts_seen *seen); /* NULL is ignored */

/* --- hosts-letter.c ----------------------------------------------- */

int letters_load(struct hosts_floor *floor, struct err *err);
/* There may be some, or answers. */
void letters_hint(struct hosts_floor *floor);
/* Tell what came of a letter, post, read or take one. False: nothing is due. */
bool letters_act(struct hosts_floor *floor);
/* As in struct auto_hosts. */
void letters_mail(
    void *floor, const char *id, const char *host, struct json_object *params);
void letters_recall(void *floor, const char *id);
void letters_new(struct hosts_floor *floor);
void letters_stop(struct hosts_floor *floor);

/* --- hosts-keep.c, what was spent -------------------------------- */

/* Tell what was spent, and read what the others have. False: not due. */
bool money_act(struct hosts_floor *floor);
void money_free(struct hosts_floor *floor);

/* --- hosts-keep.c ------------------------------------------------- */

/* floor NULL: this host works alone. */
void keep_register(struct core *core, struct hosts_floor *floor);
int keep_load(struct hosts_floor *floor, struct err *err);
void keep_stop(struct hosts_floor *floor);
void keep_free(struct hosts_floor *floor);
/* Is it one that the others should know of? */
void keep_event(struct hosts_floor *floor, const struct event *event);
/* Tell the shared book of some of them. False: nothing is due, and how long it
 * is until then. */
bool keep_send(struct hosts_floor *floor);
int64_t keep_wait_ms(const struct hosts_floor *floor, int64_t now_ms);
/* Remove what is old from the shared book. False: not due. */
bool keep_prune(struct hosts_floor *floor);

/* --- hosts-lease.c, hosts-submit.c, hosts-land.c ------------------ */

#define LAND_REMOTE "origin"
#define LAND_REFS   "refs/llmc/queue/"
#define LAND_PUSH_MS                                            \
	((int64_t)5 * 60 * 1000) /* deadline of a push or fetch \
				  */
/* How the words of an ejected row begin if its work conflicts. */
#define LAND_CONFLICT "It conflicts with what has landed"

struct hosts_land {
	struct hosts_floor *floor;
	struct core *core;
	struct landings *landings;
	struct git *git; /* its own: no other command waits for origin */
	struct loop_call *look;
	struct loop_timer *timer;
	bool busy; /* with a git, or an ask */
	bool leaves; /* the daemon stops, and the lease is given up */
	bool ready; /* look for submitted work now */
	bool wants; /* there is some: ask for the lease */
	int tries; /* in a row that failed */
	int64_t rest_ms; /* nothing before that; clock_boot_ms(), as all */
	struct landing_item *item; /* being pushed or fetched; if fetched, it is
				    * not in the queue yet */
	char *item_id; /* of one in the queue that something is told of */
	char *head_ref; /* where that is at origin */
	bool again; /* pushed a second time, over earlier work of the attempt */
	/* The lander's lease. */
	int64_t fence; /* 0 = it is not ours */
	int64_t asked_ms; /* when it was asked for; sent_ms: is */
	int64_t sent_ms, poll_ms;
	int64_t sweep_ms; /* last look for old refs; 0 = none */
	bool sweeps; /* something has landed since */
	int64_t other_ms; /* when another host had it; 0 = not known */
	char **old; /* refs of tasks that have ended, "REF ID" */
	char **listed; /* all of them, while it is asked which have ended */
	/* A server that has lost commits: the branch up to here was known, and
	 * what it has beyond that, "TASK COMMIT"; doubted since then. */
	char *tip, *since;
	char **found;
	size_t found_count; /* that the server did not know */
};

/* Look what is next. */
void hosts_land_look(struct hosts_floor *floor);
/* What was under way has ended; has failed, and is tried again. */
void land_done(struct hosts_land *land);
void land_failed(struct hosts_land *land, const char *words);
void land_arm(struct hosts_land *land, int64_t ms);
void land_ask(struct hosts_land *land, const struct shared_call *calls,
    size_t count, shared_fn *fn);
bool land_answered(struct hosts_land *land, const struct shared_answer *answer);
/* The item that something was told of, if it is still there. */
struct landing_item *land_told_item(struct hosts_land *land);

/* Is it this host that lands? */
bool hosts_land_has_lease(const struct hosts_floor *floor);
/* Nothing of the others' is built here without the lease. What the branch may
 * be moving with stays, until origin has said how that ended. */
void land_lose_lease(struct hosts_land *land);
/* The daemon stops: the lander's lease is given up. True: that is under way,
 * and a moment later it is not any more. */
bool hosts_land_stop(struct hosts_floor *floor);
bool hosts_land_leaves(const struct hosts_floor *floor);

/* The runner. Push and submit what waits for that, and fetch what it goes on
 * from: false = nothing. Tell the landing floor how it ended, once the branch
 * has followed. */
bool land_submit(struct hosts_land *land);
bool land_fetch(struct hosts_land *land);
void land_settle(struct hosts_land *land);

struct hosts_land *hosts_land_new(struct hosts_floor *floor);
/* Before the connection is closed. NULL is ignored. */
void hosts_land_free(struct hosts_land *land);
/* Something may have been submitted, or (left) the host that landed has gone.
 */
void hosts_land_hint(struct hosts_floor *floor, bool left);
/* What a row says about work that this host has submitted. False: it has not.
 */
bool hosts_land_news(struct hosts_floor *floor, struct share *share,
    const struct shared_rows *rows, size_t n);
/* The task is not this host's any more: what it has submitted is forgotten. */
void hosts_land_lost(struct hosts_floor *floor, const char *task);

#endif
