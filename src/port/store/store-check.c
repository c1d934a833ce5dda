/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <sqlite3.h>

#include "errtext.h"
#include "json.h"
#include "mail.h"
#include "mem.h"
#include "plan-assignment.h"
#include "plan-crystal.h"
#include "plan-goal.h"
#include "plan-node.h"
#include "store-body.h"
#include "store-check.h"
#include "store-db.h"
#include "store-header.h"
#include "store-pool.h"

struct check {
	struct store_db *db;
	struct json_object *problems;
	int64_t records, events;
};

/* What must not be there: a statement that finds it, and the sentence for the
 * columns that it gives. */
static const struct {
	const char *sql;
	const char *words; /* with the first and the second column */
} rules[] = {
	{ "SELECT n.id, n.goal_id FROM nodes AS n"
	  " LEFT JOIN goals AS g ON g.id = n.goal_id WHERE g.id IS NULL",
	    "node %s: there is no goal %s" },
	{ "SELECT n.id, n.parent_id FROM nodes AS n"
	  " LEFT JOIN nodes AS p"
	  " ON p.goal_id = n.goal_id AND p.id = n.parent_id"
	  " WHERE n.parent_id IS NOT NULL AND p.id IS NULL",
	    "node %s: its goal has no node %s, its parent" },
	{ "SELECT a.id, a.goal_id FROM assignments AS a"
	  " LEFT JOIN goals AS g ON g.id = a.goal_id WHERE g.id IS NULL",
	    "assignment %s: there is no goal %s" },
	{ "SELECT a.id, a.node_id FROM assignments AS a"
	  " LEFT JOIN nodes AS n ON n.goal_id = a.goal_id"
	  " AND n.id = a.node_id WHERE n.id IS NULL",
	    "assignment %s: its goal has no node %s" },
	{ "SELECT a.node_id, a.goal_id FROM assignments AS a"
	  " WHERE a.status <> 'done' AND a.status <> 'cancelled'"
	  " GROUP BY a.goal_id, a.node_id HAVING count(*) > 1",
	    "node %s of goal %s has more than one live assignment" },
	{ "SELECT d.id, d.assignment_id FROM dispatches AS d"
	  " LEFT JOIN assignments AS a ON a.id = d.assignment_id"
	  " WHERE a.id IS NULL",
	    "dispatch %s: there is no assignment %s" },
	{ "SELECT d.id, d.assignment_id FROM dispatches AS d"
	  " JOIN assignments AS a ON a.id = d.assignment_id"
	  " WHERE a.goal_id <> d.goal_id",
	    "dispatch %s: assignment %s belongs to another goal" },
	{ "SELECT c.id, c.goal_id FROM crystals AS c"
	  " LEFT JOIN goals AS g ON g.id = c.goal_id WHERE g.id IS NULL",
	    "crystallization %s: there is no goal %s" },
	{ "SELECT c.id, c.node_id FROM crystals AS c"
	  " LEFT JOIN nodes AS n ON n.goal_id = c.goal_id"
	  " AND n.id = c.node_id"
	  " WHERE c.node_id IS NOT NULL AND n.id IS NULL",
	    "crystallization %s: its goal has no node %s" },
};

static void __attribute__((format(printf, 2, 3)))
problem(struct check *check, const char *fmt, ...)
{
	cleanup_free char *text = NULL;
	va_list ap;

	if (json_object_array_length(check->problems) >= STORE_PROBLEMS_MAX)
		return;
	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	json_object_array_add(check->problems, json_object_new_string(text));
}

static const char *
column(struct sqlite3_stmt *row, int n)
{
	const char *text = (const char *)sqlite3_column_text(row, n);

	return text != NULL ? text : "";
}

/* --- the file ----------------------------------------------------------- */

static int
check_pages(struct check *check, struct err *err)
{
	struct sqlite3_stmt *statement = NULL;
	int r = store_db_prepare(
	    check->db, "PRAGMA quick_check(50)", &statement, err);

	while (r >= 0 && (r = store_db_step(check->db, statement, err)) == 1) {
		if (strcmp(column(statement, 0), "ok") != 0)
			problem(check, "the file: %s", column(statement, 0));
	}
	sqlite3_finalize(statement);
	return r;
}

static void
add_rule(struct check *check, const char *words, struct sqlite3_stmt *row)
{
	const char *second = strstr(words, "%s") + 2;
	const char *rest = strstr(second, "%s");

	problem(check, "%.*s%s%.*s%s%s", (int)(second - 2 - words), words,
	    column(row, 0), (int)(rest - second), second, column(row, 1),
	    rest + 2);
}

static int
check_rules(struct check *check, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < nitems(rules); i++) {
		struct sqlite3_stmt *statement = NULL;

		r = store_db_prepare(check->db, rules[i].sql, &statement, err);
		while (r >= 0 &&
		    (r = store_db_step(check->db, statement, err)) == 1)
			add_rule(check, rules[i].words, statement);
		sqlite3_finalize(statement);
	}
	return r;
}

/* --- records ------------------------------------------------------------ */

/* As the daemon will read it. */
static int
check_model(enum store_kind kind, struct json_object *body, const char *at,
    struct err *err)
{
	struct plan_goal *goal = NULL;
	struct plan_node *node = NULL;
	struct plan_assignment *assignment = NULL;
	struct plan_crystal *crystal = NULL;
	struct mail *mail = NULL;
	struct plan_dispatch dispatch;
	int r = 0;

	switch (kind) {
	case STORE_GOAL:
		r = plan_goal_from_json(body, at, &goal, err);
		plan_goal_free(goal);
		break;
	case STORE_NODE:
		r = plan_node_from_json(body, at, &node, err);
		plan_node_free(node);
		break;
	case STORE_ASSIGNMENT:
		r = plan_assignment_from_json(body, at, &assignment, err);
		plan_assignment_free(assignment);
		break;
	case STORE_CRYSTAL:
		r = plan_crystal_from_json(body, at, &crystal, err);
		plan_crystal_free(crystal);
		break;
	case STORE_DISPATCH:
		r = plan_dispatch_from_json(body, at, &dispatch, err);
		if (r == 0)
			plan_dispatch_release(&dispatch);
		break;
	case STORE_MAIL:
		r = mail_from_json(body, at, &mail, err);
		mail_free(mail);
		break;
	case STORE_REQUEST: /* any object with the columns */
	case STORE_RESERVATION:
	case STORE_KIND_COUNT:
		break;
	}
	return r;
}

static void
check_record(
    struct check *check, enum store_kind kind, struct sqlite3_stmt *row)
{
	struct store_change change = { kind, column(row, 0), column(row, 1),
		column(row, 2) };
	cleanup_free char *at =
	    xasprintf("%s %s", store_kind_name(kind), change.id);
	cleanup_json struct json_object *body = NULL;
	struct store_pool pool = STORE_POOL_INIT;
	struct store_columns columns;
	struct err err = { 0 };
	int r = store_body_change(&change, &pool, &columns, &err);

	check->records++;
	if (r == 0)
		r = json_parse(change.body, strlen(change.body), STORE_GOAL_MAX,
		    &body, &err);
	if (r == 0)
		r = check_model(kind, body, at, &err);
	if (r < 0)
		problem(check, "%s", err.msg);
	else if (strcmp(change.body, column(row, 2)) != 0)
		problem(check, "%s: not as this llmc would have stored it", at);
	store_pool_release(&pool);
}

static int
check_records(struct check *check, struct err *err)
{
	int r = 0;

	for (unsigned kind = 0; r == 0 && kind < STORE_KIND_COUNT; kind++) {
		struct sqlite3_stmt *all = store_db_statement(check->db,
		    STORE_SQL_RECORD + kind * STORE_VERB_COUNT + STORE_ALL);

		while ((r = store_db_step(check->db, all, err)) == 1)
			check_record(check, (enum store_kind)kind, all);
		sqlite3_reset(all);
	}
	return r;
}

static int
count_events(struct check *check, struct err *err)
{
	struct sqlite3_stmt *count = NULL;
	int r = store_db_prepare(check->db,
	    "SELECT count(*) FROM events AS e NOT INDEXED", &count, err);

	if (r == 0)
		r = store_db_step(check->db, count, err);
	if (r == 1)
		check->events = sqlite3_column_int64(count, 0);
	sqlite3_finalize(count);
	return r < 0 ? r : 0;
}

/* --- all ---------------------------------------------------------------- */

static int
check_all(struct check *check, struct err *err)
{
	int r = store_db_exec(check->db, "BEGIN", err);

	if (r == 0)
		r = check_pages(check, err);
	if (r == 0)
		r = check_records(check, err);
	if (r == 0)
		r = count_events(check, err);
	if (r == 0)
		r = check_rules(check, err);
	store_db_rollback(check->db);
	return r;
}

int
store_check(const char *path, struct json_object **ret_report, struct err *err)
{
	struct check check = { .problems = json_object_new_array() };
	struct json_object *report;
	struct err fault = { 0 };
	int r = store_header_check(path, &fault);

	if (r == -ENOENT) {
		json_object_put(check.problems);
		return err_set(err, r, "there is no %s", path);
	}
	if (r == 0)
		r = store_db_open(path, &check.db, &fault);
	if (r == 0)
		r = check_all(&check, &fault);
	store_db_close(check.db);
	if (r < 0)
		problem(&check, "%s", fault.msg);
	report = json_object_new_object();
	json_set_bool(
	    report, "ok", json_object_array_length(check.problems) == 0);
	json_set_int(report, "records", check.records);
	json_set_int(report, "events", check.events);
	json_set(report, "problems", check.problems);
	*ret_report = report;
	return 0;
}
