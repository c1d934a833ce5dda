/* SPDX-License-Identifier: ISC */

/*
 * state.json: the workers and counters of this host. Written only by the owner
 * (who holds state.lock), read by anybody at any time. Atomic replace; the last
 * good one is kept as state.json.bak and taken when the other cannot be read.
 */
#ifndef STATE_H
#define STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "budget.h"
#include "id.h"
#include "task.h"

struct err;
struct json_object;
struct worker;
struct workspace;

#define STATE_SIZE_MAX (64 * 1024 * 1024)

/* Which file on the disk is known to be good. ino 0 = none. */
struct state_mark {
	uint64_t dev, ino;
	int64_t size;
	struct timespec written;
};

struct state {
	char root_id[ID_UUID_SIZE]; /* random, made with the first state */
	struct worker **workers; /* owned, sorted by name */
	size_t count;
	uint64_t receipts; /* prompts numbered so far */
	char *last_reviewed; /* worker, or NULL */
	bool daemon_running; /* set while one runs; found set = it died */
	/* Auto mode (state-auto.c). Times in seconds, 0 = never. */
	struct task **tasks; /* owned; without an outcome yet, oldest first */
	size_t task_count;
	uint64_t task_ids; /* tasks numbered so far */
	bool auto_mode; /* a daemon of auto mode runs, or ran last */
	char **auto_workers; /* names; NULL = none */
	bool overseer_active;
	int64_t last_task_completion_unix, last_task_assignment_unix;
	int64_t source_repo_dirty_retry_after_unix,
	    source_repo_dirty_backoff_secs;
	int source_repo_dirty_retry_count;
	struct budget_day today;
	uint64_t outcomes[OUTCOME_COUNT]; /* tasks ended so, ever */
	uint64_t errors; /* hard failures, ever */
	char *paused; /* why nobody gets a task, or NULL */
	int64_t outage_since_unix; /* the service is away */
	struct json_object *rest; /* members this version does not know */
	struct state_mark mark; /* of the file this was loaded from or saved
				 * to; state.c's own */
};

/* An empty state with a new root id, and back to nothing. */
void state_init(struct state *state);
void state_release(struct state *state);

/* No file is an empty state, with the id of the root or a new one. When the
 * file is broken or gone and the backup is not, the backup is taken and
 * *ret_recovered says why (owned by the caller, else NULL). Both broken:
 * -EINVAL. Another negative errno says that the file could not be looked at
 * now: that is no reason to go back in time. Changes nothing on the disk. */
int state_load(const struct workspace *workspace, int64_t now_ms,
    struct state *ret_state, char **ret_recovered, struct err *err);

/* The file that is there becomes the backup, at no moment is there none. One
 * that is broken (edited by hand, say) does not: it is kept as
 * state.json.broken. */
int state_save(
    const struct workspace *workspace, struct state *state, struct err *err);

struct worker *state_find(const struct state *state, const char *name);
/* Takes it over. Two of one name are a broken invariant. */
void state_add(struct state *state, struct worker *worker);
void state_remove(struct state *state, const char *name);

/* Tasks: the next id ("t18"), found by id or by source and key (NULL = none),
 * added (taken over), removed and freed. */
char *state_task_id(struct state *state);
struct task *state_task(const struct state *state, const char *id);
struct task *state_task_by_key(
    const struct state *state, const char *source, const char *key);
void state_add_task(struct state *state, struct task *task);
void state_remove_task(struct state *state, const char *id);

/* Replace the list of auto workers: auto-1 .. auto-<count>. */
void state_set_auto_workers(struct state *state, int count);
/* Take a name off that list: its worker goes, and that is meant. */
void state_unlist_auto_worker(struct state *state, const char *name);

/* What .llmc/root_id says: the id that the first state of this root had. The
 * first save writes it. -ENOENT when there is none, or no id in it. */
int state_root_id(const struct workspace *workspace, char ret_id[ID_UUID_SIZE],
    struct err *err);

/* Is this the state of this root, and whole? root_id: what the file beside it
 * says (NULL = there is none). -ESTALE for another id, -ENODATA when it lists
 * auto workers and has none of them; both with words. *ret_missing (may be
 * NULL): how many of the listed ones are gone. */
int state_check(const struct state *state, const char *root_id,
    int *ret_missing, struct err *err);

/* state-auto.c: members of auto mode in the document. */
void state_auto_to_json(const struct state *state, struct json_object *json);
int state_auto_from_json(
    struct json_object *json, struct state *state, struct err *err);
void state_auto_release(struct state *state);

/* Has the file on the disk been written by somebody else since this was loaded
 * or saved? 1, 0, negative errno. 1 also for a state that was taken from the
 * backup and has not been saved since. */
int state_foreign(const struct workspace *workspace, const struct state *state);

/* The document, and back: -EINVAL, or -E2BIG above STATE_SIZE_MAX, with the
 * member in the words. Members may be missing, but not of a wrong type; a
 * worker is filed under its own name. */
struct json_object *state_to_json(const struct state *state);
int state_parse(const char *bytes, size_t len, int64_t now_ms,
    struct state *ret_state, struct err *err);

#endif
