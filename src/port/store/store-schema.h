/* SPDX-License-Identifier: ISC */

/*
 * The tables of the store, and every statement of the daemon.
 *
 * The statements stay within what PostgreSQL understands too: numbered
 * parameters ($1 is a name for SQLite), qualified columns, times as bigint in
 * milliseconds, JSON as text, no LIKE, no arrays, no functions of one engine.
 * Only the definitions of the tables (STRICT) are SQLite's.
 */
#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

#include <stddef.h>

#include "store.h"

#define STORE_APPLICATION_ID 0x6c6c6d63 /* "llmc" */

/* The i-th script leads from version i to version i + 1. Never change one that
 * was released: add another. */
extern const char *const store_migrations[];
extern const size_t store_version; /* how many there are */

/* For each kind of record. */
enum store_verb {
	STORE_PUT, /* id, body, goal (not of goals), columns as in the body */
	STORE_DELETE, /* goal, id */
	STORE_ALL,
	STORE_BY_GOAL, /* goal */
	STORE_BY_ID, /* id */
	STORE_BY_BOTH, /* goal, id */
	STORE_LIKE, /* a pattern of the body */
	STORE_OPEN, /* of goals that are active or paused; or open themselves */
	STORE_VERB_COUNT
};

/* Which index leads to the events of a query. */
enum store_lead {
	STORE_LEAD_ASSIGNMENT,
	STORE_LEAD_TASK,
	STORE_LEAD_NODE,
	STORE_LEAD_WORKER,
	STORE_LEAD_GOAL,
	STORE_LEAD_TYPE,
	STORE_LEAD_NONE,
	STORE_LEAD_COUNT
};

#define STORE_TEAM_COUNT (STORE_KIND_COUNT - STORE_MAIL)

enum store_sql {
	STORE_SQL_RECORD, /* + kind * STORE_VERB_COUNT + verb */
	STORE_SQL_EVENTS = STORE_SQL_RECORD +
	    STORE_KIND_COUNT * STORE_VERB_COUNT, /* + lead * 2 + newest first */
	STORE_SQL_APPEND = STORE_SQL_EVENTS + STORE_LEAD_COUNT * 2,
	STORE_SQL_LAST, /* seq and latest_ms of the newest event */
	STORE_SQL_FROM, /* the same of the first event from $1 on */
	/* For each kind from STORE_MAIL on. */
	STORE_SQL_IDS, /* -, limit */
	STORE_SQL_NEWEST = STORE_SQL_IDS + STORE_TEAM_COUNT, /* -, limit */
	STORE_SQL_NEWEST_OF =
	    STORE_SQL_NEWEST + STORE_TEAM_COUNT, /* actor, limit */
	STORE_SQL_SAVEPOINT = STORE_SQL_NEWEST_OF + STORE_TEAM_COUNT,
	STORE_SQL_UNDO,
	STORE_SQL_RELEASE,
	STORE_SQL_COUNT
};

extern const char *const store_sql[STORE_SQL_COUNT];

#endif
