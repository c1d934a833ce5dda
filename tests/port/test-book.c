/* SPDX-License-Identifier: ISC */

#include "book-world.h"
#include "book-private.h"
#include "schema.h"

static void
begin(struct book_world *world)
{
	book_world_open(world, unit_path("llmc.db"));
	ck_assert_msg(world->err.code == 0, "%s", world->err.msg);
}

/* --- records ------------------------------------------------------------ */

TEST(what_was_committed_is_loaded_again_in_its_order)
{
	struct book_world world;

	begin(&world);
	book_world_fill(&world);
	book_world_close(&world);
	begin(&world);
	ck_assert_int_eq(book_world_load(&world), 0);
	ck_assert_str_eq(world.text.data,
	    "goal G/G {\"goalId\":\"G\",\"title\":\"Test\","
	    "\"status\":\"active\"}\n"
	    "node G/P1 {\"phaseId\":\"P1\",\"goalId\":\"G\","
	    "\"name\":\"Phase\",\"status\":\"in_progress\"}\n"
	    "node G/T1.1 {\"taskId\":\"T1.1\",\"goalId\":\"G\","
	    "\"parentId\":\"P1\",\"name\":\"Task\","
	    "\"status\":\"in_progress\"}\n"
	    "assignment G/A_1 {\"assignmentId\":\"A_1\",\"goalId\":\"G\","
	    "\"workNodeId\":\"T1.1\",\"status\":\"active\"}\n"
	    "crystallization G/C_1 {\"crystallizationId\":\"C_1\","
	    "\"goalId\":\"G\",\"workNodeId\":\"T1.1\","
	    "\"summary\":\"half\"}\n");
	book_world_close(&world);
}

TEST(only_open_goals_are_loaded_and_others_can_be_read)
{
	ended_by(book_world_close) struct book_world world;

	begin(&world);
	book_world_fill(&world);
	ck_assert_int_eq(book_world_put(&world, BOOK_GOAL, "G", "G",
			     "{\"status\":\"completed\"}"),
	    0);
	ck_assert_int_eq(book_world_put(&world, BOOK_GOAL, NULL, "H",
			     "{\"status\":\"paused\"}"),
	    0);
	ck_assert_int_eq(book_world_load(&world), 0);
	ck_assert_str_eq(world.text.data, "goal H/H {\"status\":\"paused\"}\n");
	book_world_read(&world, BOOK_GOAL, NULL, NULL);
	ck_assert_uint_eq(world.records, 2);
	book_world_read(&world, BOOK_NODE, "G", NULL);
	ck_assert_uint_eq(world.records, 2);
	book_world_read(&world, BOOK_NODE, NULL, "T1.1");
	ck_assert_uint_eq(world.records, 1);
	book_world_read(&world, BOOK_NODE, "H", "T1.1");
	ck_assert_uint_eq(world.records, 0);
	book_world_read(&world, BOOK_ASSIGNMENT, NULL, "A_1");
	ck_assert_uint_eq(world.records, 1);
	book_world_find(&world, "c0ffee");
	ck_assert_uint_eq(world.records, 0);
	ck_assert_int_eq(
	    book_world_put(&world, BOOK_NODE, "G", "T1.1",
		"{\"goalId\":\"G\",\"status\":\"done\",\"evidence\":"
		"{\"commits\":[\"decade\",\"c0ffee\"]}}"),
	    0);
	book_world_find(&world, "c0ffee");
	ck_assert_uint_eq(world.records, 1);
}

TEST(record_is_replaced_and_deleted)
{
	ended_by(book_world_close) struct book_world world;

	begin(&world);
	book_world_fill(&world);
	book_world_put(&world, BOOK_NODE, "G", "P1", "{\"status\":\"done\"}");
	book_world_read(&world, BOOK_NODE, "G", "P1");
	ck_assert_str_eq(world.text.data, "node G/P1 {\"status\":\"done\"}\n");
	ck_assert_int_eq(book_world_put(&world, BOOK_NODE, "G", "P1", NULL), 0);
	book_world_read(&world, BOOK_NODE, "G", NULL);
	ck_assert_uint_eq(world.records, 1);
	ck_assert_int_eq(book_world_put(&world, BOOK_GOAL, NULL, "G", NULL), 0);
	book_world_read(&world, BOOK_GOAL, NULL, NULL);
	ck_assert_uint_eq(world.records, 0);
}

/* One after the other, in its row. */
TEST(a_node_has_one_assignment)
{
	const char *second = "{\"workNodeId\":\"T1.1\",\"status\":\"queued\"}";
	ended_by(book_world_close) struct book_world world;

	begin(&world);
	book_world_fill(&world);
	ck_assert_int_eq(
	    book_world_put(&world, BOOK_ASSIGNMENT, "G", "A_2", second), 0);
	book_world_read(&world, BOOK_ASSIGNMENT, NULL, "A_1");
	ck_assert_uint_eq(world.records, 0);
	book_world_read(&world, BOOK_ASSIGNMENT, NULL, "A_2");
	ck_assert_uint_eq(world.records, 1);
	ck_assert_int_eq(book_world_put(&world, BOOK_NODE, "G", "T1.1",
			     "{\"status\":\"done\"}"),
	    0);
	book_world_read(&world, BOOK_ASSIGNMENT, "G", "A_2");
	ck_assert_uint_eq(world.records, 1);
	ck_assert_int_eq(
	    book_world_put(&world, BOOK_ASSIGNMENT, "G", "A_2", NULL), 0);
	book_world_read(&world, BOOK_ASSIGNMENT, "G", NULL);
	ck_assert_uint_eq(world.records, 0);
}

/* --- events ------------------------------------------------------------- */

TEST(event_with_a_known_key_is_not_added_again)
{
	struct book_event events[] = {
		{ .type = "a", .key = "D_1/sent" },
		{ .type = "b" },
		{ .type = "b" },
		{ .type = "c", .key = "D_1/sent" },
		{ .type = "d", .key = "D_1/done" },
	};
	ended_by(book_world_close) struct book_world world;

	begin(&world);
	ck_assert_int_eq(book_world_commit(&world, NULL, 0, events, 5), 0);
	ck_assert_int_eq(book_world_commit(&world, NULL, 0, events, 1), 0);
	book_world_events(&world, (struct book_filter){ 0 });
	ck_assert_str_eq(world.text.data, "a -\nb -\nb -\nd -\n");
	ck_assert_int_eq(world.last_seq, 4);
}

static const struct {
	struct book_filter filter;
	size_t count;
	int64_t first, last;
} filters[] = {
	{ { 0 }, 100, 1, 100 },
	{ { .newest_first = true }, 100, 100, 1 },
	{ { .limit = 3 }, 3, 1, 3 },
	{ { .limit = 3, .newest_first = true }, 3, 100, 98 },
	{ { .after_seq = 90 }, 10, 91, 100 },
	{ { .before_seq = 11, .newest_first = true }, 10, 10, 1 },
	{ { .goal_id = "G1" }, 50, 2, 100 },
	{ { .goal_id = "G1", .type = "t1" }, 0, 0, 0 },
	{ { .goal_id = "G1", .type = "t0", .limit = 2 }, 2, 4, 8 },
	{ { .type = "t1" }, 25, 1, 97 },
	{ { .assignment_id = "A3" }, 10, 3, 93 },
	{ { .node_id = "N2", .goal_id = "G1" }, 10, 2, 92 },
	{ { .worker = "w4", .newest_first = true }, 20, 99, 4 },
	{ { .task = "k5" }, 10, 5, 95 },
	{ { .task = "nobody" }, 0, 0, 0 },
	{ { .since_ms = 95000 }, 7, 50, 100 },
	{ { .since_ms = 200000 }, 1, 50, 50 },
	{ { .since_ms = 300000 }, 0, 0, 0 },
	{ { .since_ms = 98000, .worker = "w4" }, 1, 99, 99 },
};

TEST(events_are_found_by_every_filter)
{
	struct book_event events[100];
	char names[100][6][8];
	ended_by(book_world_close) struct book_world world;

	for (int i = 0; i < 100; i++) {
		int n = i + 1;

		snprintf(names[i][0], 8, "t%d", n % 4);
		snprintf(names[i][1], 8, "G%d", n % 2 == 0);
		snprintf(names[i][2], 8, "A%d", n % 10);
		snprintf(names[i][3], 8, "N%d", n % 5);
		snprintf(names[i][4], 8, "w%d", n % 5);
		snprintf(names[i][5], 8, "k%d", n % 10);
		/* The clock was wrong once. */
		events[i] = (struct book_event){
			.ts_ms = n == 50 ? 200000 : n * 1000,
			.type = names[i][0],
			.goal_id = names[i][1],
			.assignment_id = names[i][2],
			.node_id = names[i][3],
			.worker = names[i][4],
			.task = names[i][5],
		};
	}
	begin(&world);
	ck_assert_int_eq(book_world_commit(&world, NULL, 0, events, 100), 0);
	for (size_t i = 0; i < nitems(filters); i++) {
		ck_assert_int_eq(
		    book_world_events(&world, filters[i].filter), 0);
		ck_assert_msg(world.events == filters[i].count &&
			world.first_seq == filters[i].first &&
			world.last_seq == filters[i].last,
		    "row %zu: %zu events, %lld to %lld", i, world.events,
		    (long long)world.first_seq, (long long)world.last_seq);
	}
}

TEST(event_is_masked)
{
	ended_by(book_world_close) struct book_world world;

	begin(&world);
	book_world_event(&world,
	    (struct book_event){
		.type = "a", .data = "{ \"password\" : \"hunter-two\" }" });
	book_world_events(&world, (struct book_filter){ 0 });
	ck_assert_str_eq(world.text.data, "a {\"password\":\"[masked]\"}\n");
}

/* --- the list of writes -------------------------------------------------- */

#define GOAL(n) "{\"status\":\"active\",\"n\":" #n "}"

static void
count_dirty(void *arg)
{
	++*(int *)arg;
}

TEST(writes_wait_for_the_commit_and_a_query_sees_them)
{
	struct book_world world, other;
	int dirty = 0;

	begin(&world);
	book_on_dirty(world.book, count_dirty, &dirty);
	ck_assert(book_is_clean(world.book));
	ck_assert_int_eq(book_commit(world.book, NULL), 0);
	ck_assert_int_eq(
	    book_put_body(world.book, BOOK_GOAL, NULL, "G", GOAL(1), NULL), 0);
	ck_assert_int_eq(
	    book_put_body(world.book, BOOK_GOAL, NULL, "H", GOAL(1), NULL), 0);
	ck_assert_int_eq(dirty, 1);
	ck_assert(!book_is_clean(world.book));
	book_world_read(&world, BOOK_GOAL, NULL, NULL);
	ck_assert_uint_eq(world.records, 2);
	/* Another process sees nothing of it yet. */
	memset(&other, 0, sizeof other);
	buf_init(&other.text);
	ck_assert_int_eq(book_look(unit_path("llmc.db"), &other.book, NULL), 0);
	book_world_read(&other, BOOK_GOAL, NULL, NULL);
	ck_assert_uint_eq(other.records, 0);
	ck_assert_int_eq(book_commit(world.book, NULL), 0);
	ck_assert(book_is_clean(world.book));
	book_world_read(&other, BOOK_GOAL, NULL, NULL);
	ck_assert_uint_eq(other.records, 2);
	book_world_close(&other);
	book_put_body(world.book, BOOK_GOAL, NULL, "G", NULL, NULL);
	ck_assert_int_eq(dirty, 2);
	book_world_close(&world);
	/* What was not committed is gone with it. */
	begin(&world);
	book_world_read(&world, BOOK_GOAL, NULL, NULL);
	ck_assert_uint_eq(world.records, 2);
	book_world_close(&world);
}

TEST(record_that_is_refused_leaves_the_others_of_its_pass)
{
	ended_by(book_world_close) struct book_world world;

	begin(&world);
	book_world_fill(&world);
	book_add_event(
	    world.book, &(struct book_event){ .type = "test" }, NULL);
	ck_assert_int_eq(
	    book_put_body(world.book, BOOK_ASSIGNMENT, "G", "A_2",
		"{\"workNodeId\":\"T9\",\"status\":\"queued\"}", NULL),
	    -ENOENT);
	ck_assert_int_eq(book_put_body(world.book, BOOK_NODE, "G", "T2",
			     "{\"status\":1}", NULL),
	    -EINVAL);
	ck_assert_int_eq(book_commit(world.book, NULL), 0);
	book_world_events(&world, (struct book_filter){ .type = "test" });
	ck_assert_uint_eq(world.events, 1);
	book_world_read(&world, BOOK_ASSIGNMENT, NULL, NULL);
	ck_assert_uint_eq(world.records, 1);
}

/* Another program holds the lock: nothing can be committed. */
static sqlite3 *
hold_lock(void)
{
	sqlite3 *holder = NULL;

	ck_assert_int_eq(
	    sqlite3_open(unit_path("llmc.db"), &holder), SQLITE_OK);
	ck_assert_int_eq(
	    sqlite3_exec(holder, "BEGIN IMMEDIATE", NULL, NULL, NULL),
	    SQLITE_OK);
	return holder;
}

TEST(failed_commit_keeps_the_list_and_the_next_one_writes_it)
{
	struct book_event event = { .type = "a", .key = "k" };
	struct book_world world;
	sqlite3 *holder;

	begin(&world);
	holder = hold_lock();
	book_put_body(world.book, BOOK_GOAL, NULL, "G", GOAL(1), NULL);
	book_add_event(world.book, &event, NULL);
	ck_assert_int_eq(book_commit(world.book, &world.err), -EAGAIN);
	ck_assert_ptr_nonnull(strstr(world.err.msg, "another program"));
	ck_assert(!book_is_clean(world.book));
	/* What comes in between is in the same commit, in its order. */
	book_put_body(world.book, BOOK_GOAL, NULL, "G", GOAL(2), NULL);
	book_add_event(world.book, &event, NULL);
	ck_assert_int_eq(book_commit(world.book, NULL), -EAGAIN);
	ck_assert_int_eq(book_world_load(&world), -EAGAIN);
	sqlite3_close(holder);
	ck_assert_int_eq(book_commit(world.book, NULL), 0);
	ck_assert(book_is_clean(world.book));
	book_world_close(&world);
	begin(&world);
	book_world_load(&world);
	ck_assert_str_eq(world.text.data, "goal G/G " GOAL(2) "\n");
	book_world_events(&world, (struct book_filter){ 0 });
	ck_assert_uint_eq(world.events, 1);
	ck_assert_int_eq(world.last_seq, 1);
	book_world_close(&world);
}

TEST(list_that_cannot_be_written_does_not_grow_without_end)
{
	ended_by(book_world_close) struct book_world world;
	sqlite3 *holder;
	int64_t n = 0;

	begin(&world);
	book_run(world.book, "CREATE TABLE t (n INTEGER) STRICT", NULL, 0);
	ck_assert_int_eq(book_commit(world.book, NULL), 0);
	holder = hold_lock();
	for (int i = 0; i < 20000; i++) {
		book_put_body(world.book, BOOK_GOAL, NULL, i % 2 ? "G" : "H",
		    i < 19998 ? GOAL(1) : GOAL(2), NULL);
		if (i % 100 == 0)
			BOOK_RUN(world.book, "INSERT INTO t (n) VALUES ($1)",
			    BOOK_I(i));
	}
	ck_assert_int_eq(book_commit(world.book, NULL), -EAGAIN);
	ck_assert_uint_eq(world.book->write_count, 202);
	sqlite3_close(holder);
	ck_assert_int_eq(book_commit(world.book, NULL), 0);
	book_world_load(&world);
	ck_assert_str_eq(
	    world.text.data, "goal G/G " GOAL(2) "\ngoal H/H " GOAL(2) "\n");
	ck_assert_int_eq(book_get_int(world.book, "SELECT count(*) FROM t",
			     NULL, 0, &n, NULL),
	    0);
	ck_assert_int_eq(n, 200);
}

TEST(shortened_list_has_the_same_effect)
{
	static const struct {
		const char *id, *body;
	} writes[] = { { "A", GOAL(1) }, { "B", GOAL(1) }, { "E", GOAL(1) },
		{ "A", GOAL(2) }, { "C", GOAL(1) }, { "C", NULL },
		{ "B", NULL }, { "B", GOAL(3) }, { "D", NULL } };
	ended_by(book_world_close) struct book_world world;
	cleanup_free char *order = NULL;
	sqlite3 *holder;

	begin(&world);
	book_world_put(&world, BOOK_GOAL, NULL, "D", GOAL(1));
	holder = hold_lock();
	for (size_t i = 0; i < nitems(writes); i++)
		book_put_body(world.book, BOOK_GOAL, NULL, writes[i].id,
		    writes[i].body, NULL);
	for (int i = 0; i < 10001; i++)
		book_put_body(world.book, BOOK_GOAL, NULL, "Z", GOAL(1), NULL);
	ck_assert_int_eq(book_commit(world.book, NULL), -EAGAIN);
	ck_assert_uint_eq(world.book->write_count, 7);
	sqlite3_close(holder);
	ck_assert_int_eq(book_commit(world.book, NULL), 0);
	book_world_load(&world);
	ck_assert_str_eq(world.text.data,
	    "goal A/A " GOAL(2) "\ngoal B/B " GOAL(3) "\ngoal E/E " GOAL(
		1) "\ngoal Z/Z " GOAL(1) "\n");
	/* In the order in which they were written first. */
	ck_assert_int_eq(book_get_text(world.book,
			     "SELECT group_concat(g.id, '') FROM (SELECT h.id"
			     " FROM goals AS h ORDER BY h.rowid) AS g",
			     NULL, 0, &order, NULL),
	    0);
	ck_assert_str_eq(order, "AEBZ");
}

TEST(write_that_can_never_be_stored_does_not_block_the_others)
{
	static const char insert[] = "INSERT INTO t (n, s) VALUES ($1, $2)";
	ended_by(book_world_close) struct book_world world;
	int64_t n = 0;

	begin(&world);
	book_run(world.book,
	    "CREATE TABLE t (n INTEGER PRIMARY KEY, s TEXT NOT NULL) STRICT",
	    NULL, 0);
	BOOK_RUN(world.book, insert, BOOK_I(1), BOOK_T("a"));
	BOOK_RUN(world.book, insert, BOOK_I(1), BOOK_T("b"));
	BOOK_RUN(world.book, insert, BOOK_I(2), BOOK_T(NULL));
	BOOK_RUN(world.book, insert, BOOK_I(3), BOOK_T("c"));
	ck_assert_int_eq(book_commit(world.book, NULL), 0);
	ck_assert_int_eq(book_get_int(world.book, "SELECT sum(t.n) FROM t",
			     NULL, 0, &n, NULL),
	    0);
	ck_assert_int_eq(n, 4);
}

static bool
copy_goal(const struct book_record *record, void *arg)
{
	struct book_world *world = arg;
	cleanup_free char *id = xasprintf("%s2", record->id);
	struct book_world inner = { .book = world->book };

	/* Reads and writes while a query of the same text is under way. */
	buf_init(&inner.text);
	book_world_read(&inner, BOOK_GOAL, NULL, NULL);
	ck_assert_uint_ge(inner.records, 2);
	buf_release(&inner.text);
	if (strlen(record->id) == 1)
		book_put_body(
		    world->book, BOOK_GOAL, NULL, id, record->body, NULL);
	return true;
}

TEST(query_may_query_and_write)
{
	ended_by(book_world_close) struct book_world world;

	begin(&world);
	book_world_put(&world, BOOK_GOAL, NULL, "G", GOAL(1));
	book_world_put(&world, BOOK_GOAL, NULL, "H", GOAL(1));
	ck_assert_int_eq(book_read_bodies(world.book, BOOK_GOAL, NULL, NULL,
			     copy_goal, &world, NULL),
	    0);
	ck_assert_int_eq(book_commit(world.book, NULL), 0);
	book_world_read(&world, BOOK_GOAL, NULL, NULL);
	ck_assert_uint_eq(world.records, 4);
}

TEST(first_column_of_a_query)
{
	cleanup_free char *text = NULL;
	ended_by(book_world_close) struct book_world world;
	int64_t n = 7;

	begin(&world);
	book_world_fill(&world);
	ck_assert_int_eq(book_get_text(world.book,
			     "SELECT g.status FROM goals AS g WHERE g.id = $1",
			     BOOK_VALUES(BOOK_T("G")), &text, NULL),
	    0);
	ck_assert_str_eq(text, "active");
	ck_assert_int_eq(book_get_int(world.book,
			     "SELECT e.seq FROM events AS e WHERE e.seq > $1",
			     BOOK_VALUES(BOOK_I(99)), &n, NULL),
	    -ENOENT);
	ck_assert_int_eq(n, 7);
	ck_assert_int_eq(book_get_int(world.book, "SELECT * FROM nothing", NULL,
			     0, &n, &world.err),
	    -EIO);
	ck_assert_ptr_nonnull(strstr(world.err.msg, "nothing"));
}

/* --- structs as rows ----------------------------------------------------- */

enum colour {
	RED,
	GREEN
};
static const char *const colours[] = { "red", "green", NULL };

struct thing {
	char *id;
	int part;
	enum colour colour;
	bool is_new;
	int64_t started_ms;
	uint64_t bytes;
	char **tags;
	struct json_object *more;
	char *order; /* a word of SQL */
};

static const struct schema_field fields[] = {
	SCHEMA_FIELD(struct thing, "id", id),
	SCHEMA_FIELD(struct thing, "part", part),
	SCHEMA_FIELD(struct thing, "colour", colour, .words = colours),
	SCHEMA_FIELD(struct thing, "isNew", is_new),
	SCHEMA_FIELD(struct thing, "startedAt", started_ms,
	    .flags = SCHEMA_ZERO_IS_NULL),
	SCHEMA_FIELD(struct thing, "bytes", bytes),
	SCHEMA_FIELD(struct thing, "tags", tags),
	SCHEMA_FIELD(struct thing, "more", more),
	SCHEMA_FIELD(struct thing, "order", order),
};
static const struct schema schema = { .fields = fields,
	.count = nitems(fields) };
static const char *const keys[] = { "id", "part", NULL };
static const struct book_table things = { "things", fields, nitems(fields),
	keys, "CREATE INDEX IF NOT EXISTS things_start ON things (started_at);",
	false };
/* Before it had more fields. */
static const struct book_table few = { "things", fields, 4, keys, NULL, false };

static bool
read_thing(struct book_row *row, void *arg)
{
	struct book_world *world = arg;
	int count = book_columns(row);

	for (int i = 0; i < count; i++)
		buf_addf(&world->text, "%s%s", i > 0 ? "|" : "",
		    book_is_null(row, i) ? "-" : book_text(row, i));
	buf_addc(&world->text, '\n');
	return true;
}

static void
read_things(struct book_world *world)
{
	buf_clear(&world->text);
	ck_assert_int_eq(book_query(world->book,
			     "SELECT t.* FROM things AS t"
			     " ORDER BY t.id, t.part",
			     NULL, 0, read_thing, world, NULL),
	    0);
}

TEST(struct_is_a_row_with_a_column_for_each_field)
{
	struct thing thing = { .id = xstrdup("a"),
		.part = 2,
		.colour = GREEN,
		.is_new = true,
		.started_ms = 5,
		.bytes = 6,
		.more = json_object_new_object(),
		.order = xstrdup("it's \"quoted\"") };
	struct book_world world;
	int64_t n = 0;

	strv_add(&thing.tags, "x");
	strv_add(&thing.tags, "y z");
	json_set_int(thing.more, "k", 1);
	begin(&world);
	ck_assert_msg(book_add_table(world.book, &things, &world.err) == 0,
	    "%s", world.err.msg);
	book_put(world.book, &things, &thing);
	thing.part = 1;
	thing.started_ms = 0;
	xstrset(&thing.order, NULL);
	book_put(world.book, &things, &thing);
	read_things(&world);
	ck_assert_str_eq(world.text.data,
	    "a|1|green|1|-|6|[\"x\",\"y z\"]|{\"k\":1}|-\n"
	    "a|2|green|1|5|6|[\"x\",\"y z\"]|{\"k\":1}|it's \"quoted\"\n");
	thing.colour = RED;
	book_put(world.book, &things, &thing);
	ck_assert_int_eq(book_commit(world.book, NULL), 0);
	ck_assert_int_eq(
	    book_get_int(world.book,
		"SELECT count(*) FROM things AS t WHERE t.colour = $1"
		" AND t.is_new = 1 AND t.started_at IS NULL",
		BOOK_VALUES(BOOK_T("red")), &n, NULL),
	    0);
	ck_assert_int_eq(n, 1);
	book_delete(world.book, &things,
	    (const struct book_value[]){ BOOK_T("a"), BOOK_I(2) });
	ck_assert_int_eq(
	    book_get_int(world.book, "SELECT t.part FROM things AS t", NULL, 0,
		&n, NULL),
	    0);
	ck_assert_int_eq(n, 1);
	book_world_close(&world);
	schema_release(&schema, &thing);
}

TEST(field_that_is_new_becomes_a_column)
{
	struct thing thing = { .id = xstrdup("a"), .colour = GREEN };
	struct book_world world;

	begin(&world);
	ck_assert_int_eq(book_add_table(world.book, &few, NULL), 0);
	book_put(world.book, &few, &thing);
	ck_assert_int_eq(book_commit(world.book, NULL), 0);
	book_world_close(&world);
	for (int i = 0; i < 2; i++) {
		begin(&world);
		ck_assert_int_eq(book_add_table(world.book, &things, NULL), 0);
		read_things(&world);
		ck_assert_str_eq(world.text.data, "a|0|green|0|-|-|-|-|-\n");
		book_world_close(&world);
	}
	/* Who knows fewer goes on with those. */
	begin(&world);
	ck_assert_int_eq(book_add_table(world.book, &few, NULL), 0);
	book_put(world.book, &few, &thing);
	ck_assert_int_eq(book_commit(world.book, NULL), 0);
	book_world_close(&world);
	free(thing.id);
}
