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
	char root_id[37]; /* random, made with the first state */
	struct worker **workers; /* owned, sorted by name */
	size_t count;
	uint64_t receipts; /* prompts numbered so far */
	char *last_reviewed; /* worker, or NULL */
	bool daemon_running; /* set while one runs; found set = it died */
	struct json_object *rest; /* members this version does not know */
	struct state_mark mark; /* of the file this was loaded from or saved
				 * to; state.c's own */
};

/* An empty state with a new root id, and back to nothing. */
void state_init(struct state *state);
void state_release(struct state *state);

/* No file is an empty state with a new root id. When the file is broken or
 * gone and the backup is not, the backup is taken and *ret_recovered says why
 * (owned by the caller, else NULL). Both broken: -EINVAL. Another negative
 * errno says that the file could not be looked at now: that is no reason to go
 * back in time. Changes nothing on the disk. */
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

/* The document, and back: -EINVAL, or -E2BIG above STATE_SIZE_MAX, with the
 * member in the words. Members may be missing, but not of a wrong type; a
 * worker is filed under its own name. */
struct json_object *state_to_json(const struct state *state);
int state_parse(const char *bytes, size_t len, int64_t now_ms,
    struct state *ret_state, struct err *err);

#endif
