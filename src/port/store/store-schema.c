/* SPDX-License-Identifier: ISC */

#include "mem.h"
#include "store-schema.h"

/* latest_ms is the highest ts_ms of this event and all before it: it never
 * falls, even if the clock does, so a time can be searched for by seq. */
#define VERSION_1                                                           \
	"CREATE TABLE goals ("                                              \
	" id TEXT NOT NULL PRIMARY KEY,"                                    \
	" status TEXT NOT NULL,"                                            \
	" body TEXT NOT NULL) STRICT;"                                      \
	"CREATE INDEX goals_status ON goals (status, id);"                  \
	"CREATE TABLE nodes ("                                              \
	" goal_id TEXT NOT NULL,"                                           \
	" id TEXT NOT NULL,"                                                \
	" parent_id TEXT,"                                                  \
	" status TEXT NOT NULL,"                                            \
	" body TEXT NOT NULL,"                                              \
	" PRIMARY KEY (goal_id, id)) STRICT;"                               \
	"CREATE INDEX nodes_id ON nodes (id);"                              \
	"CREATE TABLE assignments ("                                        \
	" id TEXT NOT NULL PRIMARY KEY,"                                    \
	" goal_id TEXT NOT NULL,"                                           \
	" node_id TEXT NOT NULL,"                                           \
	" status TEXT NOT NULL,"                                            \
	" agent_id TEXT,"                                                   \
	" body TEXT NOT NULL) STRICT;"                                      \
	"CREATE INDEX assignments_goal ON assignments (goal_id, id);"       \
	"CREATE UNIQUE INDEX assignments_live ON assignments"               \
	" (goal_id, node_id) WHERE status <> 'done'"                        \
	" AND status <> 'cancelled';"                                       \
	"CREATE TABLE dispatches ("                                         \
	" id TEXT NOT NULL PRIMARY KEY,"                                    \
	" goal_id TEXT NOT NULL,"                                           \
	" assignment_id TEXT NOT NULL,"                                     \
	" ts_ms INTEGER NOT NULL,"                                          \
	" body TEXT NOT NULL) STRICT;"                                      \
	"CREATE INDEX dispatches_goal ON dispatches (goal_id, id);"         \
	"CREATE INDEX dispatches_assignment ON dispatches (assignment_id);" \
	"CREATE TABLE crystals ("                                           \
	" id TEXT NOT NULL PRIMARY KEY,"                                    \
	" goal_id TEXT NOT NULL,"                                           \
	" node_id TEXT,"                                                    \
	" body TEXT NOT NULL) STRICT;"                                      \
	"CREATE INDEX crystals_goal ON crystals (goal_id, id);"             \
	"CREATE TABLE events ("                                             \
	" seq INTEGER NOT NULL PRIMARY KEY,"                                \
	" ts_ms INTEGER NOT NULL,"                                          \
	" latest_ms INTEGER NOT NULL,"                                      \
	" type TEXT NOT NULL,"                                              \
	" goal_id TEXT, assignment_id TEXT, node_id TEXT,"                  \
	" worker TEXT, task TEXT, data TEXT, dedupe_key TEXT) STRICT;"      \
	"CREATE INDEX events_type ON events (type, seq);"                   \
	"CREATE INDEX events_goal ON events (goal_id, seq)"                 \
	" WHERE goal_id IS NOT NULL;"                                       \
	"CREATE INDEX events_assignment ON events (assignment_id, seq)"     \
	" WHERE assignment_id IS NOT NULL;"                                 \
	"CREATE INDEX events_node ON events (node_id, seq)"                 \
	" WHERE node_id IS NOT NULL;"                                       \
	"CREATE INDEX events_worker ON events (worker, seq)"                \
	" WHERE worker IS NOT NULL;"                                        \
	"CREATE INDEX events_task ON events (task, seq)"                    \
	" WHERE task IS NOT NULL;"                                          \
	"CREATE UNIQUE INDEX events_key ON events (dedupe_key)"             \
	" WHERE dedupe_key IS NOT NULL;"

/* What agents tell, ask and reserve. actor_id is whose it is. */
#define TEAM_TABLE(table)                                                   \
	"CREATE TABLE " table " ("                                          \
	" id TEXT NOT NULL PRIMARY KEY,"                                    \
	" goal_id TEXT NOT NULL,"                                           \
	" status TEXT NOT NULL,"                                            \
	" actor_id TEXT,"                                                   \
	" ts_ms INTEGER NOT NULL,"                                          \
	" body TEXT NOT NULL) STRICT;"                                      \
	"CREATE INDEX " table "_goal ON " table " (goal_id, id);"           \
	"CREATE INDEX " table "_status ON " table " (status, goal_id, id);" \
	"CREATE INDEX " table "_time ON " table " (ts_ms, id);"             \
	"CREATE INDEX " table "_actor ON " table " (actor_id, ts_ms, id)"   \
	" WHERE actor_id IS NOT NULL;"

#define VERSION_2          \
	TEAM_TABLE("mail") \
	TEAM_TABLE("requests") TEAM_TABLE("reservations")

const char *const store_migrations[] = { VERSION_1, VERSION_2 };
const size_t store_version = nitems(store_migrations);

#define AT(kind, verb) [STORE_SQL_RECORD + (kind)*STORE_VERB_COUNT + (verb)]

#define SELECT(table, goal) "SELECT " goal ", r.id, r.body FROM " table " AS r"
#define ORDER(goal)         " ORDER BY " goal ", r.id"
#define IS_OPEN             "(g.status = 'active' OR g.status = 'paused')"

/* What all kinds but goals have in common. */
#define COMMON(kind, table)                                                             \
	AT(kind,                                                                        \
	    STORE_DELETE) =                                                             \
	    "DELETE FROM " table " AS r WHERE r.goal_id = $1 AND "                      \
	    "r.id = $2",                                                                \
	    AT(kind, STORE_ALL) =                                                       \
		SELECT(table, "r.goal_id") ORDER("r.goal_id"),                          \
	    AT(kind, STORE_BY_GOAL) = SELECT(table,                                     \
		"r.goal_id") " WHERE r.goal_id = $1" ORDER("r.goal_id"),                \
	    AT(kind, STORE_BY_ID) = SELECT(                                             \
		table, "r.goal_id") " WHERE r.id = $1" ORDER("r.goal_id"),              \
	    AT(kind, STORE_BY_BOTH) =                                                   \
		SELECT(table, "r.goal_id") " WHERE r.goal_id = $1 AND r.id = $2" ORDER( \
		    "r.goal_id"),                                                       \
	    AT(kind, STORE_LIKE) = SELECT(                                              \
		table, "r.goal_id") " WHERE r.body LIKE $1" ORDER("r.goal_id")
#define RECORD(kind, table)                                                \
	COMMON(kind, table),                                               \
	    AT(kind, STORE_OPEN) = SELECT(                                 \
		table, "r.goal_id") " JOIN goals AS g ON g.id = r.goal_id" \
				    " WHERE " IS_OPEN ORDER("r.goal_id")

#define NEWEST " ORDER BY r.ts_ms DESC, r.id DESC LIMIT $2"
#define TEAM(kind, table)                                                   \
	AT(kind,                                                            \
	    STORE_PUT) =                                                    \
	    "INSERT INTO " table " (id, body, goal_id, status, actor_id,"   \
	    " ts_ms) VALUES ($1, $2, $3, $4, $5, $6)"                       \
	    " ON CONFLICT (id) DO UPDATE SET body = excluded.body,"         \
	    " goal_id = excluded.goal_id, status = excluded.status,"        \
	    " actor_id = excluded.actor_id, ts_ms = excluded.ts_ms",        \
	    COMMON(kind, table),                                            \
	    AT(kind, STORE_OPEN) = SELECT(table,                            \
		"r.goal_id") " WHERE r.status = 'open'" ORDER("r.goal_id"), \
	    [STORE_SQL_IDS + (kind)-STORE_MAIL] =                           \
		"SELECT r.goal_id, r.id, NULL FROM " table " AS r" NEWEST,  \
	    [STORE_SQL_NEWEST + (kind)-STORE_MAIL] =                        \
		SELECT(table, "r.goal_id") NEWEST,                          \
	    [STORE_SQL_NEWEST_OF + (kind)-STORE_MAIL] =                     \
		SELECT(table, "r.goal_id") " WHERE r.actor_id = $1" NEWEST

#define EVENTS(lead, where, newest, order)                               \
	[STORE_SQL_EVENTS + (lead)*2 + (newest)] =                       \
	    "SELECT e.seq, e.ts_ms, e.type, e.goal_id, e.assignment_id," \
	    " e.node_id, e.worker, e.task, e.data, e.dedupe_key"         \
	    " FROM events AS e WHERE e.seq > $1 AND e.seq < $2" where    \
	    " ORDER BY e.seq " order
#define BOTH_WAYS(lead, where) \
	EVENTS(lead, where, 0, "ASC"), EVENTS(lead, where, 1, "DESC")

const char *const store_sql[STORE_SQL_COUNT] = {
	AT(STORE_GOAL, STORE_PUT) =
	    "INSERT INTO goals (id, body, status) VALUES ($1, $2, $3)"
	    " ON CONFLICT (id) DO UPDATE SET body = excluded.body,"
	    " status = excluded.status",
	AT(STORE_GOAL, STORE_DELETE) =
	    "DELETE FROM goals AS r WHERE r.id = $1 AND r.id = $2",
	AT(STORE_GOAL, STORE_ALL) = SELECT("goals", "r.id") ORDER("r.id"),
	AT(STORE_GOAL, STORE_BY_GOAL) =
	    SELECT("goals", "r.id") " WHERE r.id = $1",
	AT(STORE_GOAL, STORE_BY_ID) =
	    SELECT("goals", "r.id") " WHERE r.id = $1",
	AT(STORE_GOAL, STORE_BY_BOTH) =
	    SELECT("goals", "r.id") " WHERE r.id = $1 AND r.id = $2",
	AT(STORE_GOAL, STORE_LIKE) =
	    SELECT("goals", "r.id") " WHERE r.body LIKE $1" ORDER("r.id"),
	AT(STORE_GOAL, STORE_OPEN) =
	    "SELECT g.id, g.id, g.body"
	    " FROM goals AS g WHERE " IS_OPEN " ORDER BY g.id",

	AT(STORE_NODE, STORE_PUT) =
	    "INSERT INTO nodes (id, body, goal_id, status, parent_id)"
	    " VALUES ($1, $2, $3, $4, $5)"
	    " ON CONFLICT (goal_id, id) DO UPDATE SET body = excluded.body,"
	    " status = excluded.status, parent_id = excluded.parent_id",
	RECORD(STORE_NODE, "nodes"),

	AT(STORE_ASSIGNMENT, STORE_PUT) =
	    "INSERT INTO assignments"
	    " (id, body, goal_id, status, node_id, agent_id)"
	    " VALUES ($1, $2, $3, $4, $5, $6)"
	    " ON CONFLICT (id) DO UPDATE SET body = excluded.body,"
	    " goal_id = excluded.goal_id, status = excluded.status,"
	    " node_id = excluded.node_id, agent_id = excluded.agent_id",
	RECORD(STORE_ASSIGNMENT, "assignments"),

	AT(STORE_DISPATCH, STORE_PUT) =
	    "INSERT INTO dispatches"
	    " (id, body, goal_id, assignment_id, ts_ms)"
	    " VALUES ($1, $2, $3, $4, $5)"
	    " ON CONFLICT (id) DO UPDATE SET body = excluded.body,"
	    " goal_id = excluded.goal_id,"
	    " assignment_id = excluded.assignment_id,"
	    " ts_ms = excluded.ts_ms",
	RECORD(STORE_DISPATCH, "dispatches"),

	AT(STORE_CRYSTAL, STORE_PUT) =
	    "INSERT INTO crystals (id, body, goal_id, node_id)"
	    " VALUES ($1, $2, $3, $4)"
	    " ON CONFLICT (id) DO UPDATE SET body = excluded.body,"
	    " goal_id = excluded.goal_id, node_id = excluded.node_id",
	RECORD(STORE_CRYSTAL, "crystals"),

	TEAM(STORE_MAIL, "mail"),
	TEAM(STORE_REQUEST, "requests"),
	TEAM(STORE_RESERVATION, "reservations"),

	BOTH_WAYS(STORE_LEAD_ASSIGNMENT, " AND e.assignment_id = $3"),
	BOTH_WAYS(STORE_LEAD_TASK, " AND e.task = $3"),
	BOTH_WAYS(STORE_LEAD_NODE, " AND e.node_id = $3"),
	BOTH_WAYS(STORE_LEAD_WORKER, " AND e.worker = $3"),
	BOTH_WAYS(STORE_LEAD_GOAL, " AND e.goal_id = $3"),
	BOTH_WAYS(STORE_LEAD_TYPE, " AND e.type = $3"),
	BOTH_WAYS(STORE_LEAD_NONE, ""),

	[STORE_SQL_APPEND] =
	    "INSERT INTO events (seq, ts_ms, latest_ms, type, goal_id,"
	    " assignment_id, node_id, worker, task, data, dedupe_key)"
	    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"
	    " ON CONFLICT (dedupe_key) WHERE dedupe_key IS NOT NULL"
	    " DO NOTHING",
	[STORE_SQL_LAST] = "SELECT e.seq, e.latest_ms FROM events AS e"
			   " ORDER BY e.seq DESC LIMIT 1",
	[STORE_SQL_FROM] = "SELECT e.seq, e.latest_ms FROM events AS e"
			   " WHERE e.seq >= $1 ORDER BY e.seq LIMIT 1",
	[STORE_SQL_SAVEPOINT] = "SAVEPOINT request",
	[STORE_SQL_UNDO] = "ROLLBACK TO SAVEPOINT request",
	[STORE_SQL_RELEASE] = "RELEASE SAVEPOINT request",
};
