/* SPDX-License-Identifier: ISC */

/* The tables of plans, mail and events, and every statement on them. */

#include "base.h"
#include "book-private.h"
#include "workspace.h"

/* --- tables ------------------------------------------------------------- */

/* latest_ms is the highest ts_ms of this event and all before it: it never
 * falls, even if the clock does, so a time can be searched for by seq. */
#define PLAN_TABLES                                                     \
	"CREATE TABLE goals ("                                          \
	" id TEXT NOT NULL PRIMARY KEY,"                                \
	" number INTEGER,"                                              \
	" status TEXT NOT NULL,"                                        \
	" ended_ms INTEGER,"                                            \
	" body TEXT NOT NULL) STRICT;"                                  \
	"CREATE INDEX goals_status ON goals (status, id);"              \
	"CREATE INDEX goals_number ON goals (number, id)"               \
	" WHERE number IS NOT NULL;"                                    \
	"CREATE INDEX goals_ended ON goals (ended_ms, id)"              \
	" WHERE ended_ms > 0;"                                          \
	"CREATE TABLE nodes ("                                          \
	" goal_id TEXT NOT NULL,"                                       \
	" id TEXT NOT NULL,"                                            \
	" parent_id TEXT,"                                              \
	" status TEXT NOT NULL,"                                        \
	" commit_sha TEXT," /* the last one that it is done by */       \
	" body TEXT NOT NULL,"                                          \
	" assignment_id TEXT,"                                          \
	" assignment TEXT,"                                             \
	" PRIMARY KEY (goal_id, id)) STRICT;"                           \
	"CREATE INDEX nodes_id ON nodes (id);"                          \
	"CREATE INDEX nodes_parent ON nodes (goal_id, parent_id)"       \
	" WHERE parent_id IS NOT NULL;"                                 \
	"CREATE INDEX nodes_commit ON nodes (commit_sha)"               \
	" WHERE commit_sha IS NOT NULL;"                                \
	"CREATE INDEX nodes_assignment ON nodes (assignment_id)"        \
	" WHERE assignment_id IS NOT NULL;"                             \
	"CREATE TABLE crystals ("                                       \
	" id TEXT NOT NULL PRIMARY KEY,"                                \
	" goal_id TEXT NOT NULL,"                                       \
	" node_id TEXT,"                                                \
	" body TEXT NOT NULL) STRICT;"                                  \
	"CREATE INDEX crystals_goal ON crystals (goal_id, id);"         \
	"CREATE TABLE events ("                                         \
	" seq INTEGER NOT NULL PRIMARY KEY,"                            \
	" ts_ms INTEGER NOT NULL,"                                      \
	" latest_ms INTEGER NOT NULL,"                                  \
	" type TEXT NOT NULL,"                                          \
	" goal_id TEXT, assignment_id TEXT, node_id TEXT,"              \
	" worker TEXT, task TEXT, data TEXT, dedupe_key TEXT) STRICT;"  \
	"CREATE INDEX events_type ON events (type, seq);"               \
	"CREATE INDEX events_goal ON events (goal_id, seq)"             \
	" WHERE goal_id IS NOT NULL;"                                   \
	"CREATE INDEX events_assignment ON events (assignment_id, seq)" \
	" WHERE assignment_id IS NOT NULL;"                             \
	"CREATE INDEX events_node ON events (node_id, seq)"             \
	" WHERE node_id IS NOT NULL;"                                   \
	"CREATE INDEX events_worker ON events (worker, seq)"            \
	" WHERE worker IS NOT NULL;"                                    \
	"CREATE INDEX events_task ON events (task, seq)"                \
	" WHERE task IS NOT NULL;"                                      \
	"CREATE UNIQUE INDEX events_key ON events (dedupe_key)"         \
	" WHERE dedupe_key IS NOT NULL;"

/* What agents tell, ask and reserve. actor_id is whose it is. */
#define TEAM_TABLE(table)                                                 \
	"CREATE TABLE " table " ("                                        \
	" id TEXT NOT NULL PRIMARY KEY,"                                  \
	" goal_id TEXT NOT NULL,"                                         \
	" status TEXT NOT NULL,"                                          \
	" actor_id TEXT,"                                                 \
	" ts_ms INTEGER NOT NULL,"                                        \
	" body TEXT NOT NULL) STRICT;"                                    \
	"CREATE INDEX " table "_goal ON " table " (goal_id, id);"         \
	"CREATE INDEX " table "_open ON " table                           \
	" (status, actor_id, ts_ms, id);"                                 \
	"CREATE INDEX " table "_closed ON " table " (ts_ms, id)"          \
	" WHERE status <> 'open';"                                        \
	"CREATE INDEX " table "_time ON " table " (ts_ms, id);"           \
	"CREATE INDEX " table "_actor ON " table " (actor_id, ts_ms, id)" \
	" WHERE actor_id IS NOT NULL;"

const char *const book_scripts[] = { PLAN_TABLES TEAM_TABLE("mail")
	    TEAM_TABLE("requests") TEAM_TABLE("reservations") };
const size_t book_version = WORKSPACE_BOOK_VERSION;
_Static_assert(nitems(book_scripts) == WORKSPACE_BOOK_VERSION,
    "workspace.h has another version");

const char *const book_kind_tables[BOOK_KIND_COUNT] = {
	[BOOK_GOAL] = "goals",
	[BOOK_NODE] = "nodes",
	[BOOK_ASSIGNMENT] = "assignments", /* in the rows of nodes */
	[BOOK_CRYSTAL] = "crystals",
	[BOOK_MAIL] = "mail",
	[BOOK_REQUEST] = "requests",
	[BOOK_RESERVATION] = "reservations",
};

/* --- statements --------------------------------------------------------- */

/* Of one kind of record. */
struct statements {
	const char *put; /* id, body, goal (not of goals), columns */
	const char *remove; /* goal, id */
	const char *all;
	const char *by_goal; /* goal */
	const char *by_id; /* id */
	const char *by_both; /* goal, id */
	const char *open; /* of open goals; of plans only */
	/* Mail, requests and reservations only: */
	const char *newest; /* limit */
	const char *newest_of; /* limit, actor */
};

#define SELECT(table, goal) "SELECT " goal ", r.id, r.body FROM " table " AS r"
#define ORDER(goal)         " ORDER BY " goal ", r.id"
#define IS_OPEN             "(g.status = 'active' OR g.status = 'paused')"
#define NEWEST              " ORDER BY r.ts_ms DESC, r.id DESC LIMIT $1"

/* What all kinds but goals have in common. */
#define COMMON(table)                                                         \
	.remove = "DELETE FROM " table " AS r"                                \
		  " WHERE r.goal_id = $1 AND r.id = $2",                      \
	.all = SELECT(table, "r.goal_id") ORDER("r.goal_id"),                 \
	.by_goal = SELECT(table, "r.goal_id") " WHERE r.goal_id = $1" ORDER(  \
	    "r.goal_id"),                                                     \
	.by_id =                                                              \
	    SELECT(table, "r.goal_id") " WHERE r.id = $1" ORDER("r.goal_id"), \
	.by_both = SELECT(table,                                              \
	    "r.goal_id") " WHERE r.goal_id = $1 AND r.id = $2" ORDER("r.goal_id")
#define PLAN(table)                                                                \
	COMMON(table),                                                             \
	    .open = SELECT(table,                                                  \
		"r.goal_id") " JOIN goals AS g ON g.id = r.goal_id WHERE " IS_OPEN \
		ORDER("r.goal_id")
#define TEAM(table)                                                         \
	COMMON(table),                                                      \
	    .put = "INSERT INTO " table " (id, body, goal_id, status,"      \
		   " actor_id, ts_ms) VALUES ($1, $2, $3, $4, $5, $6)"      \
		   " ON CONFLICT (id) DO UPDATE SET body = excluded.body,"  \
		   " goal_id = excluded.goal_id, status = excluded.status," \
		   " actor_id = excluded.actor_id, ts_ms = excluded.ts_ms", \
	    .newest = SELECT(table, "r.goal_id") NEWEST,                    \
	    .newest_of =                                                    \
		SELECT(table, "r.goal_id") " WHERE r.actor_id = $2" NEWEST

/* The work on nodes, in their rows. */
#define WORK(join)                                        \
	"SELECT r.goal_id, r.assignment_id, r.assignment" \
	" FROM nodes AS r" join " WHERE r.assignment_id IS NOT NULL"
#define WORK_ORDER " ORDER BY r.goal_id, r.assignment_id"

static const struct statements statements[BOOK_KIND_COUNT] = {
	[BOOK_GOAL] = {
	    .put = "INSERT INTO goals (id, body, status, ended_ms, number)"
		   " VALUES ($1, $2, $3, $4, $5)"
		   " ON CONFLICT (id) DO UPDATE SET body = excluded.body,"
		   " status = excluded.status, ended_ms = excluded.ended_ms,"
		   " number = excluded.number",
	    .remove = "DELETE FROM goals AS r WHERE r.id = $1 AND r.id = $2",
	    .all = SELECT("goals", "r.id") ORDER("r.number"),
	    .by_goal = SELECT("goals", "r.id") " WHERE r.id = $1",
	    .by_id = SELECT("goals", "r.id") " WHERE r.id = $1",
	    .by_both = SELECT("goals", "r.id") " WHERE r.id = $1"
		" AND r.id = $2",
	    .open = "SELECT g.id, g.id, g.body FROM goals AS g"
		    " WHERE " IS_OPEN " ORDER BY g.number, g.id",
	},
	[BOOK_NODE] = {
	    PLAN("nodes"),
	    .put = "INSERT INTO nodes"
		   " (id, body, goal_id, status, parent_id, commit_sha)"
		   " VALUES ($1, $2, $3, $4, $5, $6)"
		   " ON CONFLICT (goal_id, id) DO UPDATE"
		   " SET body = excluded.body, status = excluded.status,"
		   " parent_id = excluded.parent_id,"
		   " commit_sha = excluded.commit_sha",
	},
	[BOOK_ASSIGNMENT] = {
	    .put = "UPDATE nodes SET assignment_id = $1, assignment = $2"
		   " WHERE goal_id = $3 AND id = $4",
	    .remove = "UPDATE nodes SET assignment_id = NULL,"
		      " assignment = NULL"
		      " WHERE goal_id = $1 AND assignment_id = $2",
	    .all = WORK("") WORK_ORDER,
	    .by_goal = WORK("") " AND r.goal_id = $1" WORK_ORDER,
	    .by_id = WORK("") " AND r.assignment_id = $1" WORK_ORDER,
	    .by_both = WORK("") " AND r.goal_id = $1"
		" AND r.assignment_id = $2" WORK_ORDER,
	    .open = WORK(" JOIN goals AS g ON g.id = r.goal_id")
		" AND " IS_OPEN WORK_ORDER,
	},
	[BOOK_CRYSTAL] = {
	    PLAN("crystals"),
	    .put = "INSERT INTO crystals (id, body, goal_id, node_id)"
		   " VALUES ($1, $2, $3, $4)"
		   " ON CONFLICT (id) DO UPDATE SET body = excluded.body,"
		   " goal_id = excluded.goal_id, node_id = excluded.node_id",
	},
	[BOOK_MAIL] = { TEAM("mail") },
	[BOOK_REQUEST] = { TEAM("requests") },
	[BOOK_RESERVATION] = { TEAM("reservations") },
};

static const char event_from[] = "SELECT e.seq, e.latest_ms FROM events AS e"
				 " WHERE e.seq >= $1 ORDER BY e.seq LIMIT 1";

/* Which index leads to the events of a query; the narrowest first. */
#define EVENTS(where)                                                       \
	{                                                                   \
		"SELECT " BOOK_EVENT_COLUMNS " FROM events AS e"            \
		" WHERE e.seq > $1 AND e.seq < $2" where " ORDER BY e.seq", \
		    "SELECT " BOOK_EVENT_COLUMNS " FROM events AS e"        \
		    " WHERE e.seq > $1 AND e.seq < $2" where                \
		    " ORDER BY e.seq DESC",                                 \
	}
static const char *const events[][2] = {
	EVENTS(" AND e.assignment_id = $3"),
	EVENTS(" AND e.task = $3"),
	EVENTS(" AND e.node_id = $3"),
	EVENTS(" AND e.worker = $3"),
	EVENTS(" AND e.goal_id = $3"),
	EVENTS(" AND e.type = $3"),
	EVENTS(""),
};
#define LEAD_NONE (nitems(events) - 1)

/* Each statement that writes names every column of its table. */
int
book_check_tables(struct book *book, struct err *err)
{
	sqlite3_stmt *statement = NULL;
	int r = 0;

	for (size_t i = 0; r == 0 && i <= BOOK_KIND_COUNT; i++) {
		r = book_prepare(book,
		    i < BOOK_KIND_COUNT ? statements[i].put : book_sql_append,
		    &statement, err);
		sqlite3_finalize(statement);
		statement = NULL;
	}
	return r;
}

/* --- records ------------------------------------------------------------ */

/* If the book cannot be read now, it is stored all the same. */
static int
check_node(struct book *book, const struct book_body *body, struct err *err)
{
	/* In the order of its columns: id, body, goal, node. */
	const struct book_value *v = body->values;
	int64_t one;

	if (book_get_int(book,
		"SELECT 1 FROM nodes AS n WHERE n.goal_id = $1 AND n.id = $2",
		BOOK_VALUES(v[2], v[3]), &one, NULL) != -ENOENT)
		return 0;
	return err_set(err, -ENOENT, "assignment %s: goal %s has no node %s",
	    v[0].text, v[2].text, v[3].text);
}

int
book_check_body(enum book_kind kind, const char *goal_id, const char *id,
    const char *text, struct err *err)
{
	struct book_body body;
	int r = book_body_init(&body, kind, goal_id, id, text, err);

	if (r == 0)
		book_body_release(&body);
	return r;
}

int
book_put_body(struct book *book, enum book_kind kind, const char *goal_id,
    const char *id, const char *text, struct err *err)
{
	cleanup_free char *row = NULL;
	struct book_body body;
	int r;

	if (goal_id == NULL && kind == BOOK_GOAL)
		goal_id = id;
	r = book_body_init(&body, kind, goal_id, id, text, err);
	if (r < 0)
		return r;
	row = xasprintf("%s %s %s", book_kind_tables[kind], goal_id, id);
	if (text == NULL) {
		book_queue(book, statements[kind].remove, row,
		    BOOK_VALUES(BOOK_T(goal_id), BOOK_T(id)));
		return 0;
	}
	if (kind == BOOK_ASSIGNMENT)
		r = check_node(book, &body, err);
	if (r == 0)
		book_queue(
		    book, statements[kind].put, row, body.values, body.count);
	book_body_release(&body);
	return r;
}

struct reader {
	enum book_kind kind;
	book_record_fn *fn;
	void *arg;
	bool stopped;
};

static bool
give_record(struct book_row *row, void *arg)
{
	struct reader *reader = arg;
	struct book_record record = {
		.kind = reader->kind,
		.goal_id = book_text(row, 0),
		.id = book_text(row, 1),
		.body = book_text(row, 2),
	};

	reader->stopped = !reader->fn(&record, reader->arg);
	return !reader->stopped;
}

int
book_load_open(
    struct book *book, book_record_fn *fn, void *arg, struct err *err)
{
	struct reader reader = { .fn = fn, .arg = arg };
	int r = 0;

	for (unsigned i = 0; r == 0 && !reader.stopped && i < BOOK_MAIL; i++) {
		reader.kind = (enum book_kind)i;
		r = book_query(book, statements[i].open, NULL, 0, give_record,
		    &reader, err);
	}
	return r;
}

int
book_read_bodies(struct book *book, enum book_kind kind, const char *goal_id,
    const char *id, book_record_fn *fn, void *arg, struct err *err)
{
	const struct statements *s = &statements[kind];
	struct reader reader = { .kind = kind, .fn = fn, .arg = arg };
	struct book_value values[2];
	size_t count = 0;

	if (goal_id != NULL)
		values[count++] = BOOK_T(goal_id);
	if (id != NULL)
		values[count++] = BOOK_T(id);
	return book_query(book,
	    count == 2          ? s->by_both :
		goal_id != NULL ? s->by_goal :
		id != NULL      ? s->by_id :
				  s->all,
	    values, count, give_record, &reader, err);
}

int
book_find_nodes(struct book *book, const char *commit, book_record_fn *fn,
    void *arg, struct err *err)
{
	struct reader reader = { .kind = BOOK_NODE, .fn = fn, .arg = arg };

	return book_query(book,
	    SELECT("nodes", "r.goal_id") " WHERE r.commit_sha = $1" ORDER(
		"r.goal_id"),
	    BOOK_VALUES(BOOK_T(commit)), give_record, &reader, err);
}

static size_t
limited(size_t limit)
{
	return limit == 0 || limit > BOOK_QUERY_MAX ? BOOK_QUERY_MAX : limit;
}

int
book_read_newest(struct book *book, enum book_kind kind, const char *actor,
    size_t limit, book_record_fn *fn, void *arg, struct err *err)
{
	struct reader reader = { .kind = kind, .fn = fn, .arg = arg };
	struct book_value values[] = { BOOK_I((int64_t)limited(limit)),
		BOOK_T(actor) };

	return book_query(book,
	    actor != NULL ? statements[kind].newest_of :
			    statements[kind].newest,
	    values, actor != NULL ? 2 : 1, give_record, &reader, err);
}

/* --- events ------------------------------------------------------------- */

#define EVENT_VALUES(e, latest)                                           \
	BOOK_VALUES(BOOK_I((e)->seq), BOOK_I((e)->ts_ms), BOOK_I(latest), \
	    BOOK_T((e)->type), BOOK_T((e)->goal_id),                      \
	    BOOK_T((e)->assignment_id), BOOK_T((e)->node_id),             \
	    BOOK_T((e)->worker), BOOK_T((e)->task), BOOK_T((e)->data),    \
	    BOOK_T((e)->key))

int
book_add_event(
    struct book *book, const struct book_event *event, struct err *err)
{
	struct book_entry entry;
	int r = book_entry_init(&entry, event, err);

	if (r < 0)
		return r;
	/* It gets its number when it is written. */
	book_run(book, book_sql_append, EVENT_VALUES(&entry.event, 0));
	book_entry_release(&entry);
	return 0;
}

void
book_row_event(struct book_row *row, struct book_event *ret)
{
	*ret = (struct book_event){
		.seq = book_int(row, 0),
		.ts_ms = book_int(row, 1),
		.type = book_text(row, 2),
		.goal_id = book_text(row, 3),
		.assignment_id = book_text(row, 4),
		.node_id = book_text(row, 5),
		.worker = book_text(row, 6),
		.task = book_text(row, 7),
		.data = book_text(row, 8),
		.key = book_text(row, 9),
	};
}

struct event_reader {
	const struct book_filter *filter;
	size_t left;
	book_event_fn *fn;
	void *arg;
};

static bool
is_wanted(const char *want, const char *found)
{
	return want == NULL || text_is(found, want);
}

static bool
give_event(struct book_row *row, void *arg)
{
	struct event_reader *reader = arg;
	const struct book_filter *f = reader->filter;
	struct book_event e;

	book_row_event(row, &e);
	/* The seq of an older clock may be above that of a newer one. */
	if (e.ts_ms < f->since_ms || !is_wanted(f->type, e.type) ||
	    !is_wanted(f->goal_id, e.goal_id) ||
	    !is_wanted(f->assignment_id, e.assignment_id) ||
	    !is_wanted(f->node_id, e.node_id) ||
	    !is_wanted(f->worker, e.worker) || !is_wanted(f->task, e.task))
		return true;
	return reader->fn(&e, reader->arg) && --reader->left > 0;
}

struct place {
	int64_t seq, latest_ms;
	bool found;
};

static bool
take_place(struct book_row *row, void *arg)
{
	*(struct place *)arg =
	    (struct place){ book_int(row, 0), book_int(row, 1), true };
	return false;
}

/* All events before *seq are older than since: latest_ms never falls. */
static int
skip_older(struct book *book, int64_t since_ms, int64_t *seq, struct err *err)
{
	struct place last = { 0 };
	int64_t low = *seq, high;
	int r =
	    book_query(book, book_sql_last, NULL, 0, take_place, &last, err);

	for (high = last.seq; r == 0 && low < high;) {
		int64_t middle = low + (high - low) / 2;
		struct place place = { 0 };

		r = book_query(book, event_from, BOOK_VALUES(BOOK_I(middle)),
		    take_place, &place, err);
		if (!place.found || place.latest_ms >= since_ms)
			high = middle;
		else
			low = place.seq + 1;
	}
	*seq = low;
	return r;
}

int
book_query_events(struct book *book, const struct book_filter *filter,
    book_event_fn *fn, void *arg, struct err *err)
{
	const char *leads[] = { filter->assignment_id, filter->task,
		filter->node_id, filter->worker, filter->goal_id,
		filter->type };
	struct event_reader reader = { filter, limited(filter->limit), fn,
		arg };
	int64_t from = filter->after_seq + 1;
	size_t lead = 0;
	int r = 0;

	if (filter->since_ms > 0)
		r = skip_older(book, filter->since_ms, &from, err);
	if (r < 0)
		return r;
	while (lead < LEAD_NONE && leads[lead] == NULL)
		lead++;
	{
		struct book_value values[] = {
			BOOK_I(from - 1),
			BOOK_I(filter->before_seq > 0 ? filter->before_seq :
							INT64_MAX),
			BOOK_T(lead < LEAD_NONE ? leads[lead] : NULL),
		};

		return book_query(book, events[lead][filter->newest_first],
		    values, lead < LEAD_NONE ? 3 : 2, give_event, &reader, err);
	}
}
