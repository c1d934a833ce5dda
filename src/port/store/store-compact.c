/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "buf.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "store-body.h"
#include "store-compact.h"
#include "store-db.h"
#include "store-header.h"
#include "store-pool.h"

/* Numbers of events in one transaction. */
#define STEP 5000

#define OLD                                            \
	" e.seq > $1 AND e.seq <= $2 AND e.ts_ms < $3" \
	" AND e.type <> '" STORE_MILESTONE "'"         \
	" AND NOT EXISTS (SELECT g.id FROM goals AS g" \
	" WHERE g.id = e.goal_id"                      \
	" AND (g.status = 'active' OR g.status = 'paused'))"

enum {
	SQL_COUNT,
	SQL_GROUP,
	SQL_DELETE,
	SQL_DELETE_NO_GOAL,
	SQL_ADD,
	SQL_NUMBER
};

/* A goal is left alone if it has but one event here. */
static const char *const sql[SQL_NUMBER] = {
	[SQL_COUNT] = "SELECT e.goal_id, count(*), min(e.ts_ms),"
		      " max(e.ts_ms), max(e.seq), max(e.latest_ms)"
		      " FROM events AS e WHERE" OLD
		      " GROUP BY e.goal_id HAVING count(*) > 1",
	[SQL_GROUP] = "SELECT e.goal_id, e.type, count(*)"
		      " FROM events AS e WHERE" OLD
		      " GROUP BY e.goal_id, e.type ORDER BY e.type",
	[SQL_DELETE] =
	    "DELETE FROM events AS e WHERE" OLD " AND e.goal_id = $4",
	[SQL_DELETE_NO_GOAL] =
	    "DELETE FROM events AS e WHERE" OLD " AND e.goal_id IS NULL",
	[SQL_ADD] = "INSERT INTO events (seq, ts_ms, latest_ms, type, goal_id,"
		    " data) VALUES ($1, $2, $3, '" STORE_MILESTONE "', $4, $5)",
};

#define ENDED(table)                                    \
	"DELETE FROM " table " AS r WHERE r.ts_ms < $1" \
	" AND r.status <> 'open'"                       \
	" AND NOT EXISTS (SELECT g.id FROM goals AS g"  \
	" WHERE g.id = r.goal_id"                       \
	" AND (g.status = 'active' OR g.status = 'paused'))"
static const char *const ended[] = { ENDED("mail"), ENDED("requests"),
	ENDED("reservations") };

struct group {
	char *goal_id; /* NULL = of no goal */
	int64_t count, from_ms, to_ms, seq, latest_ms;
	struct json_object *types;
};

struct compact {
	struct store_db *db;
	struct sqlite3_stmt *statements[SQL_NUMBER];
	int64_t before_ms;
	struct group *groups; /* of this step */
	size_t count;
	struct store_compacted done;
};

static struct sqlite3_stmt *
statement(struct compact *c, unsigned n, int64_t low)
{
	sqlite3_reset(c->statements[n]);
	sqlite3_clear_bindings(c->statements[n]);
	store_db_bind_int(c->statements[n], 1, low);
	store_db_bind_int(c->statements[n], 2, low + STEP);
	store_db_bind_int(c->statements[n], 3, c->before_ms);
	return c->statements[n];
}

static void
forget_groups(struct compact *c)
{
	for (size_t i = 0; i < c->count; i++) {
		free(c->groups[i].goal_id);
		json_object_put(c->groups[i].types);
	}
	free(c->groups);
	c->groups = NULL;
	c->count = 0;
}

static const char *
text_of(struct sqlite3_stmt *row, int n)
{
	return (const char *)sqlite3_column_text(row, n);
}

static struct group *
find_group(struct compact *c, const char *goal_id)
{
	for (size_t i = 0; i < c->count; i++) {
		const char *own = c->groups[i].goal_id;

		if (own == NULL || goal_id == NULL ? own == goal_id :
						     strcmp(own, goal_id) == 0)
			return &c->groups[i];
	}
	return NULL;
}

static int
find_groups(struct compact *c, int64_t low, struct err *err)
{
	struct sqlite3_stmt *rows = statement(c, SQL_COUNT, low);
	struct group *group;
	int r;

	while ((r = store_db_step(c->db, rows, err)) == 1) {
		const char *goal_id = text_of(rows, 0);

		c->groups =
		    xreallocarray(c->groups, c->count + 1, sizeof *c->groups);
		group = &c->groups[c->count++];
		group->goal_id = goal_id != NULL ? xstrdup(goal_id) : NULL;
		group->count = sqlite3_column_int64(rows, 1);
		group->from_ms = sqlite3_column_int64(rows, 2);
		group->to_ms = sqlite3_column_int64(rows, 3);
		group->seq = sqlite3_column_int64(rows, 4);
		group->latest_ms = sqlite3_column_int64(rows, 5);
		group->types = json_object_new_object();
	}
	sqlite3_reset(rows);
	rows = statement(c, SQL_GROUP, low);
	while (r == 0 && (r = store_db_step(c->db, rows, err)) == 1) {
		group = find_group(c, text_of(rows, 0));
		if (group != NULL)
			json_set_int(group->types, text_of(rows, 1),
			    sqlite3_column_int64(rows, 2));
		r = 0;
	}
	sqlite3_reset(rows);
	return r;
}

static int
replace_group(
    struct compact *c, struct group *group, int64_t low, struct err *err)
{
	cleanup_json struct json_object *data = json_object_new_object();
	cleanup_buf struct buf text = BUF_INIT;
	struct sqlite3_stmt *s = statement(
	    c, group->goal_id != NULL ? SQL_DELETE : SQL_DELETE_NO_GOAL, low);
	int r;

	store_db_bind_text(s, 4, group->goal_id);
	r = store_db_run(c->db, s, err);
	if (r < 0)
		return r;
	json_set_int(data, "events", group->count);
	json_set_int(data, "from", group->from_ms);
	json_set_int(data, "to", group->to_ms);
	json_set(data, "types", json_object_get(group->types));
	json_print(data, false, &text);
	s = c->statements[SQL_ADD];
	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	store_db_bind_int(s, 1, group->seq);
	store_db_bind_int(s, 2, group->to_ms);
	store_db_bind_int(s, 3, group->latest_ms);
	store_db_bind_text(s, 4, group->goal_id);
	store_db_bind_text(s, 5, text.data);
	r = store_db_run(c->db, s, err);
	if (r == 0) {
		c->done.removed += (size_t)group->count;
		c->done.milestones++;
	}
	return r;
}

static int
compact_step(struct compact *c, int64_t low, struct err *err)
{
	struct store_compacted before = c->done;
	int r = store_db_begin(c->db, err);

	if (r == 0)
		r = find_groups(c, low, err);
	for (size_t i = 0; r == 0 && i < c->count; i++)
		r = replace_group(c, &c->groups[i], low, err);
	if (r == 0)
		r = store_db_commit(c->db, err);
	if (r < 0) {
		store_db_rollback(c->db);
		c->done = before;
	}
	forget_groups(c);
	return r;
}

static int
remove_ended(struct compact *c, const char *text, struct err *err)
{
	struct sqlite3_stmt *s = NULL;
	int r = store_db_prepare(c->db, text, &s, err);

	if (r < 0)
		return r;
	store_db_bind_int(s, 1, c->before_ms);
	r = store_db_run(c->db, s, err);
	if (r == 0)
		c->done.records += (size_t)sqlite3_changes(c->db->sqlite);
	sqlite3_finalize(s);
	return r;
}

int
store_compact(const char *path, int64_t before_ms, struct store_compacted *ret,
    struct err *err)
{
	struct compact c = { .before_ms = before_ms };
	int64_t last;
	int r = store_header_check(path, err);

	if (r == -ENOENT)
		return err_set(err, r, "there is no %s", path);
	if (r == 0)
		r = store_db_open(path, &c.db, err);
	for (unsigned i = 0; r == 0 && i < SQL_NUMBER; i++)
		r = store_db_prepare(c.db, sql[i], &c.statements[i], err);
	last = r == 0 ? c.db->last_seq : 0;
	for (int64_t low = 0; r == 0 && low < last; low += STEP)
		r = compact_step(&c, low, err);
	for (size_t i = 0; r == 0 && i < nitems(ended); i++)
		r = remove_ended(&c, ended[i], err);
	for (unsigned i = 0; i < SQL_NUMBER; i++)
		sqlite3_finalize(c.statements[i]);
	store_db_close(c.db);
	if (r == 0)
		*ret = c.done;
	return r;
}
