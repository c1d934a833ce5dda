/* SPDX-License-Identifier: ISC */

/* What keeps a book sound and small: what can still be read of a damaged one is
 * made into a new one, row by row, past pages that cannot be read; its pages,
 * its records and how they belong together are checked; what is kept no longer
 * goes.
 */

#include "base.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "book-care.h"
#include "book-history.h"
#include "book-private.h"
#include "mail.h"
#include "attempt.h"
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

#define DAY_MS     (24 * 3600 * (int64_t)1000)
#define PRUNE_STEP 50 /* rows that are removed at a time */
#define EVENTS     20 /* that are kept for each task */

/* Rows of a table that may go. They are always found through an index. */
struct kind {
	const char *any; /* how many of the first $1 there are */
	const char *remove; /* the first $1 */
	struct book_value values[3]; /* $2, ... */
	size_t count;
};

#define KIND(table, and, key, rows, ...)                                     \
	{                                                                    \
		"SELECT count(*) FROM (" rows ") n",                         \
		    "DELETE FROM " table " WHERE " and key " IN (" rows ")", \
		    { __VA_ARGS__ },                                         \
		    sizeof((const struct book_value[]){ __VA_ARGS__ }) /     \
		    sizeof(struct book_value)                                \
	}
#define OLDEST(table, key, where, order)                    \
	"SELECT r." key " FROM " table " AS r WHERE " where \
	" ORDER BY r." order " LIMIT $1"

/* Mail, questions and reservations that are not open. */
#define CLOSED(table, before)                                                 \
	KIND(table, "", "id",                                                 \
	    OLDEST(                                                           \
		table, "id", "r.status <> 'open' AND r.ts_ms < $2", "ts_ms"), \
	    before)
/* What belongs to a row goes before it, so that the book is sound after each
 * step; the goal is the last, as it is found again until then. */
#define OF_GOAL(table, after, goal)                                      \
	KIND(table, "goal_id = $2 AND ", "id",                           \
	    "SELECT r.id FROM " table " AS r WHERE r.goal_id = $2" after \
	    " LIMIT $1",                                                 \
	    goal)
#define NO(table) \
	" AND NOT EXISTS (SELECT o.id FROM " table " AS o WHERE o.goal_id = $2)"
#define NO_CHILD                                             \
	" AND NOT EXISTS (SELECT o.id FROM nodes AS o WHERE" \
	" o.goal_id = $2 AND o.parent_id = r.id)"

/* --- a book that is damaged ---------------------------------------------- */

/* The damaged one stays in its place until the new one is complete. */
static int
replace_damaged(const char *path, int64_t wall_ms, struct book_recovered *got,
    struct err *err)
{
	cleanup_free char *built = xasprintf("%s.build", path);
	cleanup_free char *ready = xasprintf("%s" BOOK_RECOVERED, path);
	int r = book_rebuild(path, built, got, err);

	if (r == 0)
		r = book_files_place(built, ready, err);
	if (r == 0)
		r = book_files_move_damaged(path, wall_ms, &got->damaged, err);
	if (r == 0)
		r = book_files_place(ready, path, err);
	book_files_remove(built);
	return r;
}

/* --- open ---------------------------------------------------------------- */

/* A larger file would take too long at every start. */
#define LOOK_SIZE_MAX ((off_t)32 * 1024 * 1024)
#define LOOK_MS       500

static bool
take_words(struct book_row *row, void *arg)
{
	if (strcmp(book_text(row, 0), "ok") != 0)
		xstrset(arg, book_text(row, 0));
	return false;
}

/* What a page that cannot be read would do later, when it is needed. all: one
 * was found, so take the time. */
static int
look_at_pages(struct book *book, bool all, struct err *err)
{
	int64_t deadline = clock_mono_ms() + LOOK_MS;
	cleanup_free char *words = NULL;
	struct stat st;
	int r;

	if (!all && (stat(book->path, &st) == -1 || st.st_size > LOOK_SIZE_MAX))
		return 0;
	if (!all)
		sqlite3_progress_handler(
		    book->sqlite, 10000, book_is_late, &deadline);
	r = book_query(book,
	    all ? "PRAGMA integrity_check(1)" : "PRAGMA quick_check(1)", NULL,
	    0, take_words, &words, err);
	sqlite3_progress_handler(book->sqlite, 0, NULL, NULL);
	if (words != NULL)
		return err_set(
		    err, -EUCLEAN, "%s is damaged: %s", book->path, words);
	return r == -EUCLEAN ? r : 0;
}

/* What SQLite does not notice: a wrong bit in the first page may hide that
 * there are checksums, and one in the log all that follows. */
static int
look_at_files(const char *path, struct err *err)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	unsigned char page[BOOK_PAGE_SIZE];
	struct book_log log;
	int r;

	if (fd == -1 || pread(fd, page, sizeof page, 0) != sizeof page)
		return 0;
	if (!book_page_is_whole(page, 1) && book_page_repair(page, 1))
		return err_set(err, -EUCLEAN,
		    "%s is damaged: a bit of its first page is wrong", path);
	r = book_log_read(path, &log, err);
	if (r == 0 && log.is_damaged)
		r = err_set(err, -EUCLEAN, "%s is damaged: its log is", path);
	book_log_release(&log);
	return r;
}

int
book_open_or_recover(const char *path, int64_t wall_ms, struct book **ret,
    struct book_recovered *ret_found, struct err *err)
{
	cleanup_free char *mark = xasprintf("%s" BOOK_DAMAGED, path);
	struct book *book = NULL;
	struct err own = { 0 };
	int r = look_at_files(path, &own);

	memset(ret_found, 0, sizeof *ret_found);
	if (r == 0)
		r = book_open(path, &book, &own);
	if (r == 0)
		r = look_at_pages(book, file_exists(mark), &own);
	if (r == -EUCLEAN) {
		book_close(take_ptr(&book));
		strlcpy(ret_found->why, own.msg, sizeof ret_found->why);
		r = replace_damaged(path, wall_ms, ret_found, &own);
		if (r == 0)
			r = book_open(path, &book, &own);
	}
	if (r < 0) {
		book_recovered_release(ret_found);
		return err_set(err, r, "%s", own.msg);
	}
	unlink(mark);
	*ret = book;
	return 0;
}

void
book_recovered_release(struct book_recovered *found)
{
	free(take_ptr(&found->damaged));
}

/* --- size ---------------------------------------------------------------- */

#define FREE_MIN  1000 /* pages that are kept for what comes */
#define FREE_STEP 200 /* pages at a time */

bool
book_shrink(struct book *book)
{
	int64_t pages = 0, unused = 0;

	if (!book_is_clean(book) ||
	    book_get_int(book, "PRAGMA page_count", NULL, 0, &pages, NULL) <
		0 ||
	    book_get_int(
		book, "PRAGMA freelist_count", NULL, 0, &unused, NULL) < 0 ||
	    unused < FREE_MIN + FREE_STEP || unused < pages / 4)
		return false;
	return book_exec(book, "PRAGMA incremental_vacuum(200)", NULL) == 0;
}

/* Whether a book is sound: its pages, its records, and how they belong
 * together. */

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

static void
on_unusable(const char *words, void *arg)
{
	problem(arg, "%s", words);
}

static bool
pass_task(struct json_object *record, int64_t filed, void *arg)
{
	(void)record;
	(void)filed;
	(void)arg;
	return true;
}

static bool
pass_turn(const char *task, int64_t seq, struct json_object *record, void *arg)
{
	(void)task;
	(void)seq;
	(void)record;
	(void)arg;
	return true;
}

static void
pass_span(const struct work_span *span, void *arg)
{
	(void)span;
	(void)arg;
}

/* Rows of history, as their readers take them. A book without these tables has
 * none, and pages that cannot be read are told of already. */
static void
check_history(struct check *check)
{
	const struct book_tasks all = { .limit = INT32_MAX };

	book_on_damage(check->book, on_unusable, check);
	json_object_put(book_list_asks(check->book, INT32_MAX, NULL));
	book_read_tasks(check->book, &all, pass_task, NULL, NULL);
	book_read_turns(check->book, NULL, 0, pass_turn, NULL, NULL);
	book_read_spans(check->book, 0, pass_span, NULL, NULL);
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
	check_history(check);
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

/* What is kept no longer, a few rows at a time: the loop waits for it. */

static int64_t
ask(struct book *book, const char *sql, int64_t value, size_t count)
{
	int64_t answer = 0;

	book_get_int(book, sql, (const struct book_value[]){ BOOK_I(value) },
	    count, &answer, NULL);
	return answer;
}

static bool
prune(struct book *book, const struct kind *kind)
{
	struct book_value values[1 + nitems(kind->values)] = { BOOK_I(1) };
	int64_t any = 0;

	for (size_t i = 0; i < kind->count; i++)
		values[1 + i] = kind->values[i];
	if (book_get_int(book, kind->any, values, 1 + kind->count, &any, NULL) <
		0 ||
	    any == 0)
		return false;
	values[0].number = PRUNE_STEP;
	book_run(book, kind->remove, values, 1 + kind->count);
	return true;
}

/* Beyond that many bytes the oldest day goes, whatever is to be kept; but never
 * the last one. */
static int64_t
bounded(struct book *book, int64_t now_ms, int64_t keep_ms, int64_t bytes)
{
	int64_t pages = ask(book, "PRAGMA page_count", 0, 0) -
	    ask(book, "PRAGMA freelist_count", 0, 0);
	int64_t oldest;

	if (pages * ask(book, "PRAGMA page_size", 0, 0) <= bytes)
		return keep_ms;
	oldest = ask(book,
		     "SELECT min(n.at_ms) FROM ("
		     "SELECT min(e.finished_ms) AS at_ms FROM ended_task AS e "
		     "WHERE e.finished_ms > 0 UNION ALL "
		     "SELECT min(g.ended_ms) FROM goals AS g "
		     "WHERE g.ended_ms > 0 UNION ALL "
		     "SELECT e.latest_ms FROM events AS e WHERE e.seq = "
		     "(SELECT min(f.seq) FROM events AS f)) AS n",
		     0, 0) +
	    DAY_MS;
	if (oldest > now_ms - DAY_MS)
		oldest = now_ms - DAY_MS;
	return oldest > keep_ms ? oldest : keep_ms;
}

/* The newest task and event stay, however old: the numbers of the next ones go
 * on from theirs. What is older than all tasks that are kept goes with them. */
bool
book_history_prune(struct book *book, const struct book_limits *limits)
{
	int64_t keep =
	    bounded(book, limits->now_ms, limits->keep_ms, limits->bytes);
	int64_t last =
	    ask(book, "SELECT max(e.filed) FROM ended_task AS e", 0, 0);
	int64_t event = ask(book, "SELECT max(e.seq) FROM events AS e", 0, 0);
	int64_t first = last > limits->tasks ?
	    ask(book,
		"SELECT e.finished_ms FROM ended_task AS e "
		"WHERE e.filed > $1 ORDER BY e.filed LIMIT 1",
		last - limits->tasks, 1) :
	    0;
	struct book_value before = BOOK_I(first > keep ? first : keep);
	cleanup_free char *id = NULL;
	struct book_value goal;

	book_get_text(book,
	    "SELECT g.id FROM goals AS g WHERE g.ended_ms > 0 "
	    "AND g.ended_ms < $1 AND g.status NOT IN ('active', 'paused') "
	    "ORDER BY g.ended_ms LIMIT 1",
	    &before, 1, &id, NULL);
	goal = BOOK_T(id != NULL ? id : "");
	{
		const struct kind kinds[] = {
			KIND("ended_task", "", "id",
			    OLDEST(
				"ended_task", "id", "r.filed <= $2", "filed"),
			    BOOK_I(last - limits->tasks)),
			KIND("ended_task", "", "id",
			    OLDEST("ended_task", "id",
				"r.finished_ms > 0 AND r.finished_ms < $2 "
				"AND r.filed < $3",
				"finished_ms"),
			    BOOK_I(keep), BOOK_I(last)),
			KIND("run", "", "began_ms",
			    OLDEST("run", "began_ms", "r.began_ms < $2",
				"began_ms"),
			    BOOK_I(keep)),
			KIND("events", "", "seq",
			    "SELECT f.seq FROM (SELECT e.seq, e.latest_ms "
			    "FROM events AS e ORDER BY e.seq LIMIT $1) AS f "
			    "WHERE f.seq <= $2 OR (f.latest_ms < $3 AND "
			    "f.seq < $4)",
			    BOOK_I(event - limits->tasks * EVENTS),
			    BOOK_I(keep), BOOK_I(event)),
			KIND("span", "", "to_ms",
			    OLDEST("span", "to_ms", "r.to_ms < $2", "to_ms"),
			    BOOK_I(limits->now_ms - BOOK_SPAN_DAYS * DAY_MS)),
			KIND("attempt", "", "id",
			    OLDEST(
				"attempt", "id", "r.ended_ms < $2", "ended_ms"),
			    BOOK_I(
				limits->now_ms - PERF_KEEP_DAYS * PERF_DAY_MS)),
			/* The next one gets the number after the newest. */
			KIND("ask", "", "id",
			    OLDEST("ask", "id",
				"r.how <> 'open' AND r.ended_ms > 0 AND "
				"r.ended_ms < $2 AND r.nr < $3",
				"ended_ms"),
			    before,
			    BOOK_I(ask(
				book, "SELECT max(a.nr) FROM ask AS a", 0, 0))),
			KIND("message", "", "id",
			    OLDEST("message", "id",
				"r.done = 1 AND r.at_ms < $2", "at_ms"),
			    before),
			CLOSED("mail", before),
			CLOSED("requests", before),
			CLOSED("reservations", before),
			OF_GOAL("crystals", "", goal),
			OF_GOAL("nodes", NO("crystals") NO_CHILD, goal),
			KIND("goals", "", "id",
			    "SELECT r.id FROM goals AS r WHERE r.id = $2" NO(
				"crystals") NO("nodes") " LIMIT $1",
			    goal),
		};

		/* Each has its turn. */
		for (size_t i = 0; i < nitems(kinds); i++) {
			size_t next = book->pruned++ % nitems(kinds);

			if (prune(book, &kinds[next]))
				return true;
		}
	}
	return false;
}
