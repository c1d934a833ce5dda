/* SPDX-License-Identifier: ISC */

/*
 * The store of goals, plans and their history: .llmc/store.db, an SQLite file
 * that only autod opens. Nobody above this folder knows SQL: there are records
 * (JSON objects with an id) and events (an append-only log).
 *
 * A thread of its own owns the database. Every call here returns at once; the
 * answers come from the loop, in the order of the calls. Requests of one pass
 * go to the thread together at its end and share one transaction with whatever
 * else waits, so that many small commits cost one fsync. A commit is answered
 * when it is on the disk, and is there completely or not at all; the failure
 * of one has no effect on the others.
 *
 * What reaches the file is checked, bounded and masked in one place
 * (store-body.h): callers need not mask anything, and get back what was stored.
 */
#ifndef STORE_H
#define STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "errtext.h"

struct loop;
struct store;
struct store_watch;

enum store_kind {
	STORE_GOAL,
	STORE_NODE,
	STORE_ASSIGNMENT,
	STORE_DISPATCH,
	STORE_CRYSTAL,
	STORE_MAIL,
	STORE_REQUEST,
	STORE_RESERVATION,
	STORE_KIND_COUNT
};

const char *store_kind_name(enum store_kind kind); /* "goal" */

/*
 * One record, written or read. body is a JSON object with the keys of the
 * seed's "Persistence" section. Some are also columns of the database; they
 * must be there as non-empty strings, and the id in the body, if there is one,
 * must be the id of the record:
 *
 *   kind        id in the body           columns
 *   goal        goalId                   status
 *   node        goalId (of its goal)     status, parentId (may be missing)
 *   assignment  assignmentId, goalId     status, workNodeId, agentId (may be
 *                                        missing)
 *   dispatch    dispatchId, goalId       assignmentId, ts (an integer; may be
 *                                        missing)
 *   crystal     crystallizationId,       workNodeId (may be missing)
 *               goalId
 *   mail, request, reservation
 *               id, goalId               status, actor and ts (an integer; both
 *                                        may be missing)
 *
 * A goalId that is missing in all from assignments on is added. The last three
 * kinds need no goal of that name; those with the status "open" are open,
 * whatever their goal is.
 * The key "nodes" of a goal is reserved: an export puts the goal's nodes there.
 */
struct store_change {
	enum store_kind kind;
	const char *goal_id; /* of a goal: NULL, or its id again */
	const char *id;
	const char *body; /* NULL = delete the record */
};

/* Something that happened; strings may be NULL except type. */
struct store_event {
	int64_t seq; /* given by the store, rising; ignored in a commit */
	int64_t ts_ms;
	const char *type; /* "assignment.dispatched" */
	const char *goal_id, *assignment_id, *node_id, *worker, *task;
	const char *data; /* a JSON object */
	/* An event with a key that is in the store already is not added again:
	 * what catches up after a crash doubles nothing. "D_1/sent". */
	const char *key;
};

/* Bounds in bytes. A record over them is refused with -E2BIG and words that
 * name the key; a string in the data of an event is cut instead, for an event
 * must not be lost. */
#define STORE_ID_MAX          128
#define STORE_INSTRUCTION_MAX ((size_t)16 * 1024) /* lastInstructionText */
#define STORE_SUMMARY_MAX     ((size_t)8 * 1024) /* summary of a crystal */
#define STORE_GOAL_MAX        ((size_t)8 * 1024 * 1024)
#define STORE_BODY_MAX        ((size_t)2 * 1024 * 1024) /* of other records */
#define STORE_DATA_MAX        ((size_t)16 * 1024) /* data of an event */
#define STORE_DATA_STRING_MAX ((size_t)2 * 1024) /* one string in it */
#define STORE_QUERY_MAX       10000 /* events that one query gives */
#define STORE_KNOWN_MAX       10000 /* ids that store_load() gives */

/* err NULL = done. */
typedef void store_done_fn(const struct err *err, void *arg);

/*
 * Open, or create, the file at path; opened (may be NULL) is called from the
 * loop. Only header and version are checked, whatever the size. Codes:
 *
 *   -EUCLEAN          damaged: move it aside (store-aside.h), and go on without
 *   -EPROTONOSUPPORT  written by a newer llmc: leave it as it is
 *   -EINVAL           not a store of llmc: leave it as it is
 *   others            cannot be opened now
 *
 * Every later call fails with the same error, from the loop. The same codes may
 * come from later calls too; -ENOSPC, -EIO and -EAGAIN leave everything as it
 * was, and what was committed before stays.
 */
struct store *store_new(
    struct loop *loop, const char *path, store_done_fn *opened, void *arg);

/* Finishes what was asked for before, closes the file and ends the thread; this
 * waits, for an fsync at least. There are no callbacks any more: who needs the
 * answers calls store_close() first. */
void store_free(struct store *store);

/* The last request: done is called when all before it have been answered and
 * the file is closed. Later requests fail with -ESHUTDOWN. */
void store_close(struct store *store, store_done_fn *done, void *arg);

/* Apply the changes in their order, and append the events: one transaction.
 * Everything is copied. done may be NULL. -EEXIST: a second live assignment
 * for a node (status other than done and cancelled); end the old one first. */
void store_commit(struct store *store, const struct store_change *changes,
    size_t change_count, const struct store_event *events, size_t event_count,
    store_done_fn *done, void *arg);

/* A part of an answer, valid until the callback returns. Long answers come in
 * several parts, each small enough for a pass of the loop; the last one has
 * last set, and err if the reading failed there. */
struct store_part {
	const struct store_change *records;
	size_t record_count;
	const struct store_event *events;
	size_t event_count;
	bool last;
	const struct err *err;
};
typedef void store_part_fn(const struct store_part *part, void *arg);

/* All records of goals that are active or paused: kind by kind in the order of
 * enum store_kind, by goal and id in each. Of mail, requests and reservations
 * those that are open, and after them the ids of the newest STORE_KNOWN_MAX,
 * open or not, the newest first, with body NULL. */
void store_load(struct store *store, store_part_fn *fn, void *arg);

/* Records of one kind, by goal and id; NULL = any. */
void store_read(struct store *store, enum store_kind kind, const char *goal_id,
    const char *id, store_part_fn *fn, void *arg);

/* Records of one kind that have this text anywhere in their body, by goal and
 * id; all of them are looked at. Letters, digits and "-" only. */
void store_find(struct store *store, enum store_kind kind, const char *text,
    store_part_fn *fn, void *arg);

/* Mail, requests or reservations, the newest first, of an actor (NULL = of
 * all). limit 0 = STORE_QUERY_MAX. */
void store_read_newest(struct store *store, enum store_kind kind,
    const char *actor, size_t limit, store_part_fn *fn, void *arg);

/* Which events: all that is given must match. Oldest first, or newest first. */
struct store_filter {
	const char *goal_id, *assignment_id, *node_id, *worker, *task, *type;
	int64_t since_ms; /* ts_ms at least; 0 = any */
	int64_t after_seq; /* seq above; 0 = any */
	int64_t before_seq; /* seq below; 0 = any */
	size_t limit; /* 0 = STORE_QUERY_MAX */
	bool newest_first;
};
void store_query_events(struct store *store, const struct store_filter *filter,
    store_part_fn *fn, void *arg);

/* Called with every event that was committed, after the answer to its commit.
 * Free it before the store. */
typedef void store_watch_fn(const struct store_event *event, void *arg);
struct store_watch *
store_watch_new(struct store *store, store_watch_fn *fn, void *arg);
void store_watch_free(struct store_watch *watch);

#endif
