/* SPDX-License-Identifier: ISC */

/* What is kept no longer, a few rows at a time: the loop waits for it. */

#include "base.h"
#include "attempt.h"
#include "book-history.h"
#include "book-private.h"

#define DAY_MS (24 * 3600 * (int64_t)1000)
#define STEP   50 /* rows that are removed at a time */
#define EVENTS 20 /* that are kept for each task */

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
	values[0].number = STEP;
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
