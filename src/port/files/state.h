/* SPDX-License-Identifier: ISC */

/* The state: the workers, tasks and counters of this host. The book has it on
 * the disk (port/book/state-book.h). */
#ifndef STATE_H
#define STATE_H

#include "account.h"
#include "id.h"
#include "landing-record.h"
#include "quota.h"
#include "task.h"

struct err;
struct json_object;
struct worker;
struct workspace;

#define STATE_SIZE_MAX (64 * 1024 * 1024)

struct state {
	char root_id[ID_UUID_SIZE]; /* random, made with the first state */
	struct worker **workers; /* owned, sorted by name */
	size_t count;
	uint64_t receipts; /* prompts numbered so far */
	char *last_reviewed; /* worker, or NULL */
	bool daemon_running; /* if a new daemon finds it set, the last one
			      * died */
	/* Auto mode. Times in seconds, 0 = never. */
	struct task **tasks; /* owned; without an outcome yet, oldest first */
	size_t task_count;
	uint64_t task_ids; /* tasks numbered so far */
	uint64_t goal_ids; /* goals, the same */
	bool auto_mode; /* a daemon of auto mode runs, or ran last */
	char **auto_workers; /* names; NULL = none */
	uint64_t run_ids; /* runs of auto mode numbered so far */
	char *run_id; /* "r17": of this run, or the last; NULL = none yet */
	char *run_key; /* by which the next daemon knows that it goes on */
	char *agent_version; /* of Claude Code, as a session said; NULL = not
			      * known */
	char *agent_version_run; /* the run in which it was told, or NULL */
	int64_t run_ms; /* when it began, in milliseconds */
	bool source_waits; /* the source had tasks while a worker was idle */
	int64_t last_task_completion_unix, last_task_assignment_unix;
	int64_t source_repo_dirty_retry_after_unix,
	    source_repo_dirty_backoff_secs;
	int source_repo_dirty_retry_count;
	char *source_repo_dirty_reason;
	struct landing_record landings;
	struct budget_day today;
	struct daybook days;
	int64_t repairs_ms; /* wall clock, of the last repair in there */
	struct account **accounts; /* owned; of conversations, oldest first */
	size_t account_count;
	uint64_t outcomes[OUTCOME_COUNT]; /* tasks that ended so, ever */
	uint64_t elsewhere; /* of those that landed, by other hosts */
	uint64_t errors; /* hard failures, ever */
	struct ask **asks; /* owned; the open ones, oldest first */
	size_t ask_count;
	int64_t ask_ids; /* asks numbered so far */
	char *paused; /* why no worker gets a task, or NULL */
	const char *host; /* in the fleet, a part of the ids of new tasks; NULL
			   * = there is no fleet. Borrowed, not saved */
	char *forge; /* whom the token was used for, "API OWNER/NAME"; NULL =
		      * nobody yet */
	char *held; /* why no task begins for now (quota.h), or NULL */
	int64_t held_until_ms; /* 0 = not known */
	struct window windows[WINDOW_COUNT]; /* of the account */
	int64_t outage_since_unix; /* the service is unavailable */
	struct json_object *goals; /* plan-progress.h, owned; NULL = there are
				    * none, or they are off */
	struct json_object *counters; /* metrics.h, owned; NULL = none */
	struct json_object *rest; /* members this version does not know */
};

/* Make an empty state with a new root id; free everything in it. */
void state_init(struct state *state);
void state_release(struct state *state);

struct worker *state_find(const struct state *state, const char *name);
/* Takes ownership. A second worker of the same name is a fatal error. */
void state_add(struct state *state, struct worker *worker);
/* Give each worker that has no number of its own the lowest that is free
 * (place.h). False: all had one. */
bool state_give_indexes(struct state *state);
void state_remove(struct state *state, const char *name);

/* Tasks: make the next id ("t18", or "t18-HOST"), find one by id or by source
 * and key (NULL = none; the id may be NULL, too), add one (takes ownership),
 * remove and free one. */
char *state_task_id(struct state *state);
struct task *state_task(const struct state *state, const char *id);
struct task *state_task_by_key(
    const struct state *state, const char *source, const char *key);
/* By whatever names it (task_named()). NULL with err set: none does (-ENOENT),
 * or more than one as well as the other (-EINVAL), which are listed. */
struct task *
state_task_named(const struct state *state, const char *word, struct err *err);
void state_add_task(struct state *state, struct task *task);
void state_remove_task(struct state *state, const char *id);
/* Asks: add one (takes ownership); find an open one by its key, or by what a
 * person types (ask_named()), NULL = none; take one out, which is the caller's
 * then. */
void state_add_ask(struct state *state, struct ask *ask);
struct ask *state_ask(const struct state *state, const char *key);
struct ask *state_ask_named(const struct state *state, const char *typed);
void state_take_ask(struct state *state, const struct ask *ask);
/* Is there a task that waits, here or in the source? */
bool state_has_queue(const struct state *state);

/* Is this the state of this root, and complete? root_id: from
 * root_id_read(), NULL = there is none. -ESTALE: it has another id;
 * -ENODATA: it lists auto workers and has none of them. *ret_missing (may be
 * NULL): the number of listed workers that it does not have. */
int state_check(const struct state *state, const char *root_id,
    int *ret_missing, struct err *err);

/* As one document, and back: -EINVAL, or -E2BIG above STATE_SIZE_MAX; err names
 * the member. Members may be missing, but may not have a wrong type; the key of
 * a worker must be its name. */
struct json_object *state_to_json(const struct state *state);
int state_from_json(struct json_object *json, int64_t now_ms,
    struct state *ret_state, struct err *err);
int state_parse(const char *bytes, size_t len, int64_t now_ms,
    struct state *ret_state, struct err *err);

/* The members of that document but for workers, tasks, days, accounts and the
 * items of landings, which are rows of their own. */
struct json_object *state_members_to_json(const struct state *state);

/* What auto mode keeps in the state: its members in the document, the list of
 * its workers, and the accounts of conversations. */

/* Replace the list of auto workers: auto-1 .. auto-<count>. */
void state_auto_set_workers(struct state *state, int count);

/* The account of a conversation, NULL = none; add one (takes ownership), remove
 * and free one. */
struct account *state_auto_account(
    const struct state *state, const char *transcript, int64_t from_ms);
void state_auto_add_account(struct state *state, struct account *account);
void state_auto_remove_account(struct state *state, struct account *account);

/* Is the book gone from a root where there was one? See root_id_is_lost(). */
bool state_is_lost(
    const struct workspace *workspace, const char *worktrees, struct err *err);

#endif
