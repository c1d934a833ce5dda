/* SPDX-License-Identifier: ISC */

/* Whether a book is sound: its pages, its records, and how they belong
 * together. */

#include "base.h"
#include "book-care.h"
#include "book-private.h"
#include "mail.h"
#include "plan-goal.h"
#include "plan-node.h"

struct check {
	struct book *book;
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

	if (json_object_array_length(check->problems) >= BOOK_PROBLEMS_MAX)
		return;
	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	json_object_array_add(check->problems, json_object_new_string(text));
}

static const char *
column(struct book_row *row, int n)
{
	const char *text = book_text(row, n);

	return text != NULL ? text : "";
}

/* --- the file ----------------------------------------------------------- */

static bool
add_page(struct book_row *row, void *arg)
{
	if (strcmp(column(row, 0), "ok") != 0)
		problem(arg, "the file: %s", column(row, 0));
	return true;
}

struct rule {
	struct check *check;
	const char *words;
};

static bool
add_rule(struct book_row *row, void *arg)
{
	const struct rule *rule = arg;
	const char *second = strstr(rule->words, "%s") + 2;
	const char *rest = strstr(second, "%s");

	problem(rule->check, "%.*s%s%.*s%s%s", (int)(second - 2 - rule->words),
	    rule->words, column(row, 0), (int)(rest - second), second,
	    column(row, 1), rest + 2);
	return true;
}

/* --- records ------------------------------------------------------------ */

/* As the daemon will read it. */
static int
check_model(enum book_kind kind, struct json_object *body, const char *at,
    struct err *err)
{
	struct plan_goal *goal = NULL;
	struct plan_node *node = NULL;
	struct plan_crystal *crystal = NULL;
	struct mail *mail = NULL;
	int r = 0;

	switch (kind) {
	case BOOK_GOAL:
		goal = schema_make(&plan_goal_schema, body, at, err);
		r = goal == NULL ? -EINVAL : 0;
		plan_goal_free(goal);
		break;
	case BOOK_NODE:
		r = plan_node_from_json(body, at, &node, err);
		plan_node_free(node);
		break;
	case BOOK_ASSIGNMENT:
		node = plan_node_new("", NODE_TASK, "", "", 0);
		r = plan_work_read(body, at, node, err);
		plan_node_free(node);
		break;
	case BOOK_CRYSTAL:
		crystal = schema_make(&plan_crystal_schema, body, at, err);
		r = crystal == NULL ? -EINVAL : 0;
		plan_crystal_free(crystal);
		break;
	case BOOK_MAIL:
		r = mail_from_json(body, at, &mail, err);
		mail_free(mail);
		break;
	case BOOK_REQUEST: /* any object with the columns */
	case BOOK_RESERVATION:
	case BOOK_KIND_COUNT:
		break;
	}
	return r;
}

static bool
check_record(const struct book_record *record, void *arg)
{
	struct check *check = arg;
	cleanup_free char *at =
	    xasprintf("%s %s", book_kind_name(record->kind), record->id);
	struct book_body body;
	struct err err = { 0 };
	int r = book_body_init(&body, record->kind, record->goal_id, record->id,
	    record->body, &err);

	check->records++;
	if (r < 0) {
		problem(check, "%s", err.msg);
		return true;
	}
	if (check_model(record->kind, body.json, at, &err) < 0)
		problem(check, "%s", err.msg);
	else if (strcmp(body.text.data, record->body) != 0)
		problem(check, "%s: not as this llmc would have stored it", at);
	book_body_release(&body);
	return true;
}

/* One snapshot: the daemon may be writing. */
static int
check_all(struct check *check, struct err *err)
{
	int r = book_exec(check->book, "BEGIN", err);

	if (r == 0)
		r = book_query(check->book, "PRAGMA quick_check(50)", NULL, 0,
		    add_page, check, err);
	for (unsigned kind = 0; r == 0 && kind < BOOK_KIND_COUNT; kind++)
		r = book_read_bodies(check->book, (enum book_kind)kind, NULL,
		    NULL, check_record, check, err);
	if (r == 0)
		r = book_get_int(check->book,
		    "SELECT count(*) FROM events AS e NOT INDEXED", NULL, 0,
		    &check->events, err);
	for (size_t i = 0; r == 0 && i < nitems(rules); i++)
		r = book_query(check->book, rules[i].sql, NULL, 0, add_rule,
		    &(struct rule){ check, rules[i].words }, err);
	return r;
}

int
book_check(const char *path, struct json_object **ret_report, struct err *err)
{
	struct check check = { .problems = json_object_new_array() };
	struct json_object *report;
	struct err fault = { 0 };
	int r = book_look(path, &check.book, &fault);

	if (r == -ENOENT) {
		json_object_put(check.problems);
		return err_set(err, r, "%s", fault.msg);
	}
	if (r == 0)
		r = check_all(&check, &fault);
	book_close(check.book);
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
