/* SPDX-License-Identifier: ISC */

#include "book-world.h"
#include "book-care.h"
#include "book-private.h"
#include "child.h"
#include "version.h"

#define WHEN  INT64_C(1700000000000) /* 20231114T221320Z */
#define ASIDE "a.corrupt-20231114T221320Z.db"

static void
write_file(const char *path, const void *bytes, size_t len)
{
	ck_assert_int_eq(file_replace(path, bytes, len, 0600, NULL), 0);
}

/* What a task says: the report as text, or the message of the error. */
static int
job(const char *task, const char *path, const char *file, struct buf *out)
{
	cleanup_json struct json_object *report = NULL;
	struct err err = { 0 };
	int r;

	if (strcmp(task, "check") == 0)
		r = book_check(path, &report, &err);
	else if (strcmp(task, "export") == 0)
		r = book_export(path, file, &err);
	else
		r = book_sql(path, file, 500, &report, &err);
	buf_clear(out);
	if (r < 0)
		buf_adds(out, err.msg);
	else if (report != NULL)
		json_print(report, false, out);
	return r;
}

/* Open it as the daemon does: what was saved as text, "-" if it was sound. */
static int
open_or_recover(const char *path, struct buf *out)
{
	struct book_recovered found;
	struct book *book = NULL;
	struct err err = { 0 };
	int r = book_open_or_recover(path, WHEN, &book, &found, &err);

	buf_clear(out);
	if (r < 0)
		buf_adds(out, err.msg);
	else if (found.damaged == NULL)
		buf_addc(out, '-');
	else
		buf_addf(out, "%zu rows, %zu refused, %zu gaps", found.rows,
		    found.refused, found.gaps);
	if (r == 0 && found.damaged != NULL) {
		ck_assert(file_exists(found.damaged));
		ck_assert_ptr_nonnull(strstr(found.why, "damaged"));
	}
	if (r == 0)
		book_recovered_release(&found);
	book_close(book);
	return r;
}

static void
fill(const char *path)
{
	struct book_world world;

	book_world_open(&world, path);
	ck_assert_msg(world.err.code == 0, "%s", world.err.msg);
	book_world_fill(&world);
	book_world_close(&world);
}

/* --- export -------------------------------------------------- */

TEST(export_has_the_shape_of_the_root_document)
{
	cleanup_buf struct buf out = BUF_INIT, text = BUF_INIT;

	fill(unit_path("llmc.db"));
	ck_assert_int_eq(
	    job("export", unit_path("llmc.db"), unit_path("all.json"), &out),
	    0);
	book_world_file(unit_path("all.json"), &text);
	ck_assert_str_eq(text.data,
	    "{\"version\":1,\n"
	    "\"goals\":{\n"
	    "\"G\":{\"goalId\":\"G\",\"title\":\"Test\","
	    "\"status\":\"active\",\"nodes\":{\n"
	    "\"P1\":{\"phaseId\":\"P1\",\"goalId\":\"G\","
	    "\"name\":\"Phase\",\"status\":\"in_progress\"},\n"
	    "\"T1.1\":{\"taskId\":\"T1.1\",\"goalId\":\"G\","
	    "\"parentId\":\"P1\",\"name\":\"Task\","
	    "\"status\":\"in_progress\"}}}},\n"
	    "\"assignments\":{\n"
	    "\"A_1\":{\"assignmentId\":\"A_1\",\"goalId\":\"G\","
	    "\"workNodeId\":\"T1.1\",\"status\":\"active\"}},\n"
	    "\"crystallizations\":{\n"
	    "\"C_1\":{\"crystallizationId\":\"C_1\",\"goalId\":\"G\","
	    "\"workNodeId\":\"T1.1\",\"summary\":\"half\"}},\n"
	    "\"events\":[\n"
	    "{\"seq\":1,\"ts\":1000,\"type\":\"goal.created\","
	    "\"goalId\":\"G\"},\n"
	    "{\"seq\":2,\"ts\":2000,\"type\":\"assignment.dispatched\","
	    "\"goalId\":\"G\",\"assignmentId\":\"A_1\","
	    "\"workNodeId\":\"T1.1\",\"worker\":\"adam\","
	    "\"task\":\"01J\",\"key\":\"D_1/sent\","
	    "\"data\":{\"dispatchId\":\"D_1\"}},\n"
	    "{\"seq\":3,\"ts\":3000,\"type\":\"assignment.stalled\","
	    "\"goalId\":\"G\",\"assignmentId\":\"A_1\","
	    "\"workNodeId\":\"T1.1\",\"worker\":\"adam\"}]}\n");
}

/* What agents send, ask and reserve. */
static void
fill_team(const char *path)
{
	static const struct book_record changes[] = {
		{ BOOK_MAIL, "none", "M_1",
		    "{\"id\":\"M_1\",\"status\":\"open\",\"actor\":\"b\","
		    "\"ts\":10,\"sender\":\"a\",\"subject\":\"s\","
		    "\"kind\":\"info\",\"ack_required\":false,"
		    "\"body\":\"t\"}" },
		{ BOOK_MAIL, "G", "M_2",
		    "{\"id\":\"M_2\",\"status\":\"done\",\"actor\":\"b\","
		    "\"ts\":20,\"sender\":\"a\",\"subject\":\"s\","
		    "\"kind\":\"info\",\"ack_required\":false,"
		    "\"body\":{\"k\":1}}" },
		{ BOOK_MAIL, "gone", "M_3",
		    "{\"id\":\"M_3\",\"status\":\"done\",\"actor\":\"b\","
		    "\"ts\":30,\"sender\":\"a\",\"subject\":\"s\","
		    "\"kind\":\"info\",\"ack_required\":false,"
		    "\"body\":\"t\"}" },
		{ BOOK_REQUEST, "none", "Q_1",
		    "{\"id\":\"Q_1\",\"status\":\"answered\",\"ts\":5}" },
		{ BOOK_RESERVATION, "none", "R_1",
		    "{\"id\":\"R_1\",\"status\":\"open\",\"actor\":\"a\"}" },
	};
	struct book_world world;

	book_world_open(&world, path);
	book_world_fill(&world);
	ck_assert_int_eq(
	    book_world_commit(&world, changes, nitems(changes), NULL, 0), 0);
	book_world_close(&world);
}

TEST(mail_requests_and_reservations_are_exported)
{
	cleanup_buf struct buf out = BUF_INIT, first = BUF_INIT;

	fill_team(unit_path("a.db"));
	ck_assert_int_eq(
	    job("export", unit_path("a.db"), unit_path("a.json"), &out), 0);
	book_world_file(unit_path("a.json"), &first);
	ck_assert_ptr_nonnull(strstr(first.data, "\"mail\":{\n\"M_2\":"));
	ck_assert_ptr_nonnull(strstr(first.data, "\"requests\":{\n\"Q_1\":"));
	ck_assert_ptr_nonnull(
	    strstr(first.data, "\"reservations\":{\n\"R_1\":"));
}

/* Names and texts that could get lost on the way. */
static void
fill_oddly(const char *path)
{
	static const struct book_record changes[] = {
		{ BOOK_GOAL, NULL, "a \"b\" \\ c",
		    "{\"title\":\"\\u00e4\\n\\u001b[0m \\ud83d\\ude00\","
		    " \"status\": \"paused\", \"n\": 1.50, \"big\": "
		    "18446744073709551615, \"e\": [ {}, [], null, true ] }" },
		{ BOOK_NODE, "a \"b\" \\ c", "N,}{", "{\"status\":\"todo\"}" },
		{ BOOK_GOAL, NULL, "empty", "{\"status\":\"archived\"}" },
		{ BOOK_CRYSTAL, "empty", "C", "{}" },
	};
	static const struct book_event events[] = {
		{ .ts_ms = 9, .type = "\xc3\xa4", .data = "{}" },
		{ .ts_ms = 3,
		    .type = "b",
		    .key = "k\"",
		    .data = "{\"a\":\"}\"}" },
	};
	struct book_world world;

	book_world_open(&world, path);
	ck_assert_int_eq(book_world_commit(&world, changes, nitems(changes),
			     events, nitems(events)),
	    0);
	book_world_close(&world);
	fill(path);
}

TEST(odd_names_and_texts_are_exported)
{
	cleanup_buf struct buf out = BUF_INIT, text = BUF_INIT;
	cleanup_json struct json_object *json = NULL;

	fill_oddly(unit_path("a.db"));
	ck_assert_int_eq(
	    job("export", unit_path("a.db"), unit_path("a.json"), &out), 0);
	book_world_file(unit_path("a.json"), &text);
	ck_assert_int_eq(
	    json_parse(text.data, text.len, SIZE_MAX, &json, NULL), 0);
	ck_assert_str_eq(json_string_or(json_member(json_member(json, "goals"),
					    "a \"b\" \\ c"),
			     "title", ""),
	    "\xc3\xa4\n\x1b[0m \xf0\x9f\x98\x80");
	ck_assert(!file_exists(unit_path("a.db-wal")));
}

/* More than is written at a time, wherever that ends. */
TEST(long_goals_are_exported_whole)
{
	cleanup_buf struct buf out = BUF_INIT, text = BUF_INIT;
	cleanup_json struct json_object *json = NULL;
	struct book_world world;

	book_world_open(&world, unit_path("a.db"));
	for (int i = 0; i < 3; i++) {
		cleanup_free char *id = xasprintf("goal_%d", i);
		cleanup_free char *body =
		    xasprintf("{\"status\":\"active\",\"x\":\"%0300000d\"}", i);

		ck_assert_int_eq(
		    book_world_put(&world, BOOK_GOAL, id, id, body), 0);
		ck_assert_int_eq(book_world_put(&world, BOOK_NODE, id, "T1",
				     "{\"status\":\"todo\"}"),
		    0);
	}
	book_world_close(&world);
	ck_assert_int_eq(
	    job("export", unit_path("a.db"), unit_path("a.json"), &out), 0);
	book_world_file(unit_path("a.json"), &text);
	ck_assert_int_eq(
	    json_parse(text.data, text.len, SIZE_MAX, &json, NULL), 0);
	ck_assert_int_eq(
	    json_object_object_length(json_member(json, "goals")), 3);
}

/* --- check -------------------------------------------------------------- */

TEST(sound_book_has_no_problem)
{
	cleanup_buf struct buf out = BUF_INIT;

	ck_assert_int_eq(job("check", unit_path("a.db"), NULL, &out), -ENOENT);
	fill(unit_path("a.db"));
	ck_assert_int_eq(job("check", unit_path("a.db"), NULL, &out), 0);
	ck_assert_str_eq(out.data,
	    "{\"ok\":true,\"records\":5,\"events\":3,\"problems\":[]}");
}

#define NODE(id, more) \
	"{\"taskId\":\"" id "\",\"goalId\":\"G\",\"name\":\"n\"" more "}"

static const struct {
	struct book_record change;
	const char *words;
} unsound[] = {
	{ { BOOK_NODE, "X", "N",
	      "{\"taskId\":\"N\",\"goalId\":\"X\",\"name\":\"n\","
	      "\"status\":\"todo\"}" },
	    "node N: there is no goal X" },
	{ { BOOK_NODE, "G", "N",
	      NODE("N", ",\"parentId\":\"P9\",\"status\":\"todo\"") },
	    "node N: its goal has no node P9, its parent" },
	{ { BOOK_NODE, "G", "N",
	      NODE("N", ",\"parentId\":\"P1\",\"status\":\"soon\"") },
	    "node N.status: " },
	{ { BOOK_ASSIGNMENT, "G", "A",
	      "{\"assignmentId\":\"A\",\"workNodeId\":\"P1\","
	      "\"status\":\"soon\"}" },
	    "assignment A.status: " },
	{ { BOOK_CRYSTAL, "X", "C", "{\"crystallizationId\":\"C\"}" },
	    "crystallization C: there is no goal X" },
	{ { BOOK_CRYSTAL, "G", "C",
	      "{\"crystallizationId\":\"C\",\"workNodeId\":\"P9\"}" },
	    "crystallization C: its goal has no node P9" },
};

TEST_ROWS(check_names_what_does_not_belong_together, nitems(unsound))
{
	cleanup_buf struct buf out = BUF_INIT;
	struct book_world world;

	book_world_open(&world, unit_path("a.db"));
	book_world_fill(&world);
	ck_assert_int_eq(
	    book_world_commit(&world, &unsound[_i].change, 1, NULL, 0), 0);
	book_world_close(&world);
	ck_assert_int_eq(job("check", unit_path("a.db"), NULL, &out), 0);
	ck_assert_ptr_nonnull(strstr(out.data, "\"ok\":false"));
	ck_assert_msg(
	    strstr(out.data, unsound[_i].words) != NULL, "%s", out.data);
}

/* --- damage ------------------------------------------------------------- */

#define NODES  400
#define EVENTS 4000
#define THINGS 3000

static void
fill_much(const char *path)
{
	struct book_event event = { .type = "assignment.updated",
		.goal_id = "G",
		.data = "{\"text\":\"something that takes some space\"}" };
	struct book_world world;

	book_world_open(&world, path);
	book_run(world.book,
	    "CREATE TABLE thing (id INTEGER NOT NULL, name TEXT NOT NULL,"
	    " PRIMARY KEY (id, name)) STRICT",
	    NULL, 0);
	book_world_fill(&world);
	for (int i = 0; i < NODES; i++) {
		cleanup_free char *id = xasprintf("T%d", i);
		cleanup_free char *body = xasprintf(
		    "{\"taskId\":\"%s\",\"goalId\":\"G\",\"name\":\"n\","
		    "\"parentId\":\"P1\",\"status\":\"todo\"}",
		    id);
		book_put_body(world.book, BOOK_NODE, "G", id, body, NULL);
	}
	for (int i = 0; i < EVENTS; i++)
		book_add_event(world.book, &event, NULL);
	for (int i = 0; i < THINGS; i++)
		BOOK_RUN(world.book,
		    "INSERT INTO thing (id, name) VALUES ($1, 'something')",
		    BOOK_I(i));
	ck_assert_int_eq(book_commit(world.book, NULL), 0);
	book_world_close(&world);
}

static void
expect_recovered(struct buf *out, size_t *rows, size_t *refused, size_t *gaps)
{
	ck_assert_msg(
	    open_or_recover(unit_path("a.db"), out) == 0, "%s", out->data);
	ck_assert_msg(sscanf(out->data, "%zu rows, %zu refused, %zu gaps", rows,
			  refused, gaps) == 3,
	    "%s", out->data);
	ck_assert(file_exists(unit_path(ASIDE)));
	ck_assert(!file_exists(unit_path("a.db.build")));
	ck_assert(!file_exists(unit_path("a.db.repaired")));
	ck_assert(!file_exists(unit_path("a.db.recovered")));
	/* Once; and the pages of the new one are sound. */
	ck_assert_int_eq(open_or_recover(unit_path("a.db"), out), 0);
	ck_assert_str_eq(out->data, "-");
	job("check", unit_path("a.db"), NULL, out);
	ck_assert_ptr_null(strstr(out->data, "the file:"));
}

TEST(pages_that_cannot_be_read_are_skipped)
{
	cleanup_buf struct buf bytes = BUF_INIT, out = BUF_INIT;
	size_t pages, bad_pages = 0, rows, refused, gaps;

	fill_much(unit_path("a.db"));
	book_world_file(unit_path("a.db"), &bytes);
	pages = bytes.len / 4096;
	ck_assert_uint_gt(pages, 100);
	/* The tables' roots are the first pages. */
	for (size_t page = 60; page < pages; page += 17, bad_pages++)
		memset(bytes.data + page * 4096, 0x5a, 4096);
	write_file(unit_path("a.db"), bytes.data, bytes.len);
	job("check", unit_path("a.db"), NULL, &out);
	ck_assert_ptr_nonnull(strstr(out.data, "\"ok\":false"));
	expect_recovered(&out, &rows, &refused, &gaps);
	ck_assert_uint_gt(gaps, 0);
	ck_assert_uint_le(gaps, bad_pages);
	ck_assert_uint_gt(rows, (NODES + EVENTS + THINGS) * 8 / 10);
	ck_assert_uint_lt(rows, NODES + EVENTS + THINGS + 8);
}

/* Damage in a book that is too large to be looked at as a whole at every start
 * is found when it is used, and remembered. */
TEST(damage_that_is_found_later_is_recovered_from)
{
	cleanup_buf struct buf bytes = BUF_INIT, out = BUF_INIT;
	const char *path = unit_path("a.db");
	const char *mark = unit_path("a.db.damaged");
	size_t rows, refused, gaps;
	struct book_world world;

	fill_much(path);
	book_world_file(path, &bytes);
	for (size_t page = 60; page < bytes.len / 4096; page += 5)
		memset(bytes.data + page * 4096, 0x5a, 4096);
	write_file(path, bytes.data, bytes.len);
	ck_assert_int_eq(truncate(path, (off_t)40 * 1024 * 1024), 0);
	ck_assert_int_eq(open_or_recover(path, &out), 0);
	ck_assert_str_eq(out.data, "-");
	book_world_open(&world, path);
	ck_assert(!file_exists(mark));
	ck_assert_int_eq(
	    book_world_events(&world, (struct book_filter){ .goal_id = "G" }),
	    -EUCLEAN);
	book_world_close(&world);
	ck_assert(file_exists(mark));
	expect_recovered(&out, &rows, &refused, &gaps);
	ck_assert(!file_exists(mark));
	ck_assert_uint_gt(gaps, 0);
}

TEST(a_book_whose_end_is_missing_is_recovered_up_to_there)
{
	cleanup_buf struct buf bytes = BUF_INIT, out = BUF_INIT;
	size_t rows, refused, gaps;

	fill_much(unit_path("a.db"));
	book_world_file(unit_path("a.db"), &bytes);
	write_file(unit_path("a.db"), bytes.data, bytes.len / 8192 * 4096);
	expect_recovered(&out, &rows, &refused, &gaps);
	ck_assert_uint_gt(gaps, 0);
	ck_assert_uint_gt(rows, 0);
}

/* All of its tables, what is in its log too. */
TEST(a_book_whose_first_bytes_are_damaged_is_recovered)
{
	cleanup_buf struct buf bytes = BUF_INIT, out = BUF_INIT;
	size_t rows, refused, gaps;
	ended_by(book_world_close) struct book_world world;
	int64_t n = 0;

	fill_much(unit_path("a.db"));
	job("export", unit_path("a.db"), unit_path("a.json"), &out);
	book_world_file(unit_path("a.db"), &bytes);
	memset(bytes.data, 0x5a, 100);
	write_file(unit_path("a.db"), bytes.data, bytes.len);
	expect_recovered(&out, &rows, &refused, &gaps);
	/* The assignment is a part of its node. */
	ck_assert_uint_eq(rows, NODES + EVENTS + THINGS + 7);
	ck_assert_uint_eq(refused, 0);
	ck_assert_uint_eq(gaps, 1);
	job("export", unit_path("a.db"), unit_path("b.json"), &out);
	buf_clear(&bytes);
	book_world_file(unit_path("a.json"), &bytes);
	book_world_file(unit_path("b.json"), &out);
	ck_assert_str_eq(bytes.data, out.data);
	book_world_open(&world, unit_path("a.db"));
	ck_assert_int_eq(
	    book_get_int(world.book, "SELECT count(*) FROM thing AS t", NULL, 0,
		&n, NULL),
	    0);
	ck_assert_int_eq(n, THINGS);
}

/* The list of its tables is in more pages than the first. */
TEST(a_book_whose_first_page_is_lost_has_its_other_tables)
{
	cleanup_buf struct buf bytes = BUF_INIT, out = BUF_INIT;
	size_t rows, refused, gaps;

	fill(unit_path("a.db"));
	book_world_file(unit_path("a.db"), &bytes);
	memset(bytes.data + 100, 0x5a, 3000);
	write_file(unit_path("a.db"), bytes.data, bytes.len);
	job("check", unit_path("a.db"), NULL, &out);
	ck_assert_ptr_nonnull(strstr(out.data, "is damaged"));
	expect_recovered(&out, &rows, &refused, &gaps);
	ck_assert_uint_eq(gaps, 1);
}

/* Whatever is wrong with it: afterwards there is a book that is sound, unless
 * it is not ours any more. */
TEST(flipped_bytes_are_recovered_from)
{
	cleanup_buf struct buf bytes = BUF_INIT, copy = BUF_INIT,
			       out = BUF_INIT;
	const char *path = unit_path("a.db");
	struct dice dice = { 5 };
	int recovered = 0;

	fill_oddly(path);
	book_world_file(path, &bytes);
	for (int round = 0; round < 40; round++) {
		int r;

		buf_clear(&copy);
		buf_add(&copy, bytes.data, bytes.len);
		for (int i = 0; i < 30; i++)
			copy.data[dice_below(&dice, (unsigned)copy.len)] ^=
			    (char)(1 + dice_below(&dice, 255));
		book_files_remove(path);
		write_file(path, copy.data, copy.len);
		r = open_or_recover(path, &out);
		ck_assert_msg(r == 0 || r == -EINVAL || r == -EPROTONOSUPPORT,
		    "%d: %s", r, out.data);
		if (r < 0)
			continue;
		recovered += strcmp(out.data, "-") != 0;
		job("check", path, NULL, &out);
		/* Of an index: found when it is used, not at the start. */
		if (strstr(out.data, "damaged") != NULL) {
			write_file(unit_path("a.db" BOOK_DAMAGED), "", 0);
			ck_assert_int_eq(open_or_recover(path, &out), 0);
			job("check", path, NULL, &out);
		}
		ck_assert_msg(strstr(out.data, "the file:") == NULL &&
			strstr(out.data, "damaged") == NULL,
		    "round %d: %s", round, out.data);
	}
	ck_assert_int_gt(recovered, 10);
}

TEST(recovery_that_was_killed_before_the_new_book_has_its_name)
{
	cleanup_buf struct buf out = BUF_INIT;
	ended_by(book_world_close) struct book_world world;

	fill(unit_path("a.db"));
	ck_assert_int_eq(
	    rename(unit_path("a.db"), unit_path("a.db.recovered")), 0);
	write_file(unit_path(ASIDE), "damaged", 7);
	ck_assert_int_eq(open_or_recover(unit_path("a.db"), &out), 0);
	ck_assert_str_eq(out.data, "-");
	book_world_open(&world, unit_path("a.db"));
	book_world_load(&world);
	ck_assert_uint_eq(world.records, 5);
}

TEST_ROWS(a_book_of_another_program_or_version_is_not_recovered, 2)
{
	cleanup_buf struct buf bytes = BUF_INIT, out = BUF_INIT;

	fill(unit_path("a.db"));
	book_world_file(unit_path("a.db"), &bytes);
	book_world_header(&bytes, _i == 0 ? 68 : 60, 0x01010101);
	write_file(unit_path("a.db"), bytes.data, bytes.len);
	ck_assert_int_eq(open_or_recover(unit_path("a.db"), &out),
	    _i == 0 ? -EINVAL : -EPROTONOSUPPORT);
	ck_assert(!file_exists(unit_path(ASIDE)));
}

TEST(pages_that_are_free_are_given_back)
{
	struct book_world world;
	struct stat before, after;
	int steps = 0;

	fill_much(unit_path("a.db"));
	book_world_open(&world, unit_path("a.db"));
	book_run(world.book,
	    "INSERT INTO events (seq, ts_ms, latest_ms, type, data)"
	    " WITH RECURSIVE n(i) AS"
	    " (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 60000)"
	    " SELECT i + 100000, 1, 1, 'a',"
	    " 'something that takes some space, as it is longer than most'"
	    " FROM n",
	    NULL, 0);
	book_commit(world.book, NULL);
	book_run(world.book, "DELETE FROM events", NULL, 0);
	ck_assert(!book_shrink(world.book)); /* not clean */
	ck_assert_int_eq(book_commit(world.book, NULL), 0);
	book_exec(world.book, "PRAGMA wal_checkpoint(TRUNCATE)", NULL);
	ck_assert_int_eq(stat(unit_path("a.db"), &before), 0);
	while (book_shrink(world.book))
		ck_assert_int_lt(++steps, 1000);
	ck_assert_int_gt(steps, 0);
	book_world_close(&world);
	ck_assert_int_eq(stat(unit_path("a.db"), &after), 0);
	ck_assert_int_lt(after.st_size, before.st_size);
}

/* --- a file that another program writes to ---------------------------------
 */

static const char book_file[] = "a.db";

static void
run_shell(const char *script)
{
	const char *const argv[] = { "sh", "-c", script, NULL };
	const struct child_spec child = { .argv = argv, .cwd = unit_path(".") };
	cleanup_child_result struct child_result result;

	ck_assert_int_eq(child_run(&child, &result, NULL), 0);
	ck_assert_msg(result.status == 0, "%s", script);
}

static void
grow(struct book *book, int from, int count)
{
	cleanup_free char *sql = xasprintf(
	    "INSERT INTO events (seq, ts_ms, latest_ms, type, data)"
	    " WITH RECURSIVE n(i) AS"
	    " (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT %d)"
	    " SELECT i + %d, 1, 1, 'a', 'something that takes some space' "
	    "FROM n",
	    count, from);

	ck_assert_int_eq(book_exec(book, sql, NULL), 0);
}

/* Own writes, other readers, and what leaves its bytes as they are. */
static const char *const harmless[] = { "true", "touch a.db",
	"touch -d 2001-01-01 a.db", "cp a.db b && cat b >a.db",
	"touch -d 2001-01-01 a.db && cp -p a.db b", "chmod 400 a.db" };

TEST_ROWS(a_book_that_nobody_overwrote_is_as_it_was, nitems(harmless))
{
	cleanup_buf struct buf bytes = BUF_INIT;
	const char *path = unit_path(book_file);
	struct book_world world;
	struct err err = { 0 };

	fill_much(path);
	book_world_open(&world, path);
	for (int i = 0; i < 3; i++) {
		grow(world.book, 100000 * (i + 1), 3000);
		ck_assert_int_eq(book_check_file(world.book, NULL), 0);
		run_shell(harmless[_i]);
		ck_assert_msg(
		    book_check_file(world.book, &err) == 0, "%s", err.msg);
		book_exec(world.book, "PRAGMA wal_checkpoint(PASSIVE)", NULL);
		ck_assert_int_eq(
		    book_copy(path, unit_path("copy.db"), NULL), 0);
		ck_assert_msg(
		    book_check_file(world.book, &err) == 0, "%s", err.msg);
	}
	ck_assert_int_eq(
	    book_exec(world.book, "PRAGMA wal_checkpoint(TRUNCATE)", NULL), 0);
	book_exec(world.book, "DELETE FROM events", NULL);
	book_exec(world.book, "PRAGMA incremental_vacuum", NULL);
	ck_assert_int_eq(
	    book_exec(world.book, "PRAGMA wal_checkpoint(TRUNCATE)", NULL), 0);
	ck_assert_msg(book_check_file(world.book, &err) == 0, "%s", err.msg);
	book_world_close(&world);
	ck_assert_int_eq(open_or_recover(path, &bytes), 0);
	ck_assert_str_eq(bytes.data, "-");
}

/* An old copy of itself, too, and what comes between a look and a write of
 * ours; old.db was made before the last commits. */
static const char *const foreign[] = { "cat old.db >a.db", "cat other.db >a.db",
	"tr e E <a.db >b && cat b >a.db", "echo nonsense >a.db",
	"head -c 4096 a.db >b && cat b >a.db" };
#define FULL_SIZE 3 /* of them */

/* Overwritten after a checkpoint; then there are commits that are in the log
 * only. looks: the patrol sees it before the next checkpoint does. */
static void
overwrite(struct book *book, const char *script, bool looks)
{
	struct err err = { 0 };

	grow(book, 100000, 300);
	ck_assert_int_eq(
	    book_exec(book, "PRAGMA wal_checkpoint(TRUNCATE)", NULL), 0);
	run_shell(script);
	run_shell("touch -d 2001-01-01 a.db");
	if (looks)
		ck_assert_int_eq(book_check_file(book, &err), -EUCLEAN);
	grow(book, 200000, 300);
	book_exec(book, "PRAGMA wal_checkpoint(PASSIVE)", NULL);
	ck_assert_int_eq(book_check_file(book, &err), -EUCLEAN);
	ck_assert_ptr_nonnull(strstr(err.msg, "overwritten by another"));
}

static int64_t
count_grown(struct book *book)
{
	int64_t rows = 0;

	ck_assert_int_eq(
	    book_get_int(book, "SELECT count(*) FROM events WHERE seq > 100000",
		NULL, 0, &rows, NULL),
	    0);
	return rows;
}

TEST_ROWS(a_small_book_that_was_overwritten_is_put_back, 2 * nitems(foreign))
{
	const char *path = unit_path(book_file);
	struct book_recovered found;
	struct book *book = NULL;
	struct err err = { 0 };

	fill_much(unit_path("other.db"));
	fill(path);
	run_shell("cp a.db old.db");
	ck_assert_int_eq(
	    book_open_or_recover(path, WHEN, &book, &found, NULL), 0);
	overwrite(book, foreign[_i / 2], _i % 2 == 0);
	ck_assert_msg(book_put_back(book, &err) == 0, "%s", err.msg);
	ck_assert(file_exists(unit_path("a.db.replaced")));
	ck_assert_int_eq(book_open(path, &book, NULL), 0);
	ck_assert_int_eq(count_grown(book), 600);
	book_close(book);
}

/* Of one that is not in memory the next start has what is in the log, as long
 * as the file says which tables there are. */
TEST_ROWS(of_a_large_book_that_was_overwritten_the_log_is_left, FULL_SIZE)
{
	const char *path = unit_path(book_file);
	struct book_recovered found;
	struct book *book = NULL;

	fill_much(unit_path("other.db"));
	fill_much(path);
	run_shell("cp a.db old.db");
	ck_assert_int_eq(book_open(path, &book, NULL), 0);
	overwrite(book, foreign[_i], true);
	ck_assert_int_eq(book_put_back(book, NULL), -EUCLEAN);
	ck_assert_int_eq(
	    book_open_or_recover(path, WHEN, &book, &found, NULL), 0);
	book_recovered_release(&found);
	ck_assert_int_ge(count_grown(book), 300);
	book_close(book);
}

/* --- SQL ---------------------------------------------------------------- */

TEST(a_query_of_a_person_is_answered)
{
	cleanup_buf struct buf out = BUF_INIT;
	ended_by(book_world_close) struct book_world world;

	/* With the daemon at work. */
	book_world_open(&world, unit_path("a.db"));
	book_world_fill(&world);
	ck_assert_int_eq(job("sql", unit_path("a.db"),
			     "SELECT e.seq, e.type, e.task, 1.5 AS x"
			     " FROM events AS e WHERE e.seq < 3; ",
			     &out),
	    0);
	ck_assert_str_eq(out.data,
	    "{\"columns\":[\"seq\",\"type\",\"task\",\"x\"],\"rows\":["
	    "[1,\"goal.created\",null,1.5],"
	    "[2,\"assignment.dispatched\",\"01J\",1.5]],"
	    "\"truncated\":false}");
	ck_assert_int_eq(job("sql", unit_path("a.db"),
			     "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL"
			     " SELECT i + 1 FROM n LIMIT 20000)"
			     " SELECT i FROM n",
			     &out),
	    0);
	ck_assert_ptr_nonnull(strstr(out.data, "[10000]],\"truncated\":true"));
	/* A text as long as all that is answered is cut, and is the last. */
	ck_assert_int_eq(job("sql", unit_path("a.db"),
			     "SELECT hex(zeroblob(3000000))", &out),
	    0);
	ck_assert_uint_lt(out.len, BOOK_SQL_BYTES_MAX + 100);
	ck_assert_ptr_nonnull(strstr(out.data, "\"truncated\":false"));
}

static const struct {
	const char *sql, *words;
	int code;
} refused_sql[] = {
	{ "DELETE FROM events", "only SELECT", -EINVAL },
	{ "PRAGMA user_version = 9", "only SELECT", -EINVAL },
	{ "PRAGMA table_info(events)", "only SELECT", -EINVAL },
	{ "ATTACH DATABASE 'x.db' AS x", "only SELECT", -EINVAL },
	{ "VACUUM INTO 'x.db'", "only SELECT", -EINVAL },
	{ "BEGIN", "only SELECT", -EINVAL },
	{ "SELECT 1; SELECT 2", "one statement", -EINVAL },
	{ "", "no statement", -EINVAL },
	{ "SELECT nothing FROM events", "nothing", -EINVAL },
	{ "SELEC", "SELEC", -EINVAL },
	{ "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
	  " SELECT count(*) FROM n",
	    "took too long", -ETIME },
};

TEST_ROWS(other_sql_is_refused_with_words, nitems(refused_sql))
{
	cleanup_buf struct buf out = BUF_INIT;

	fill(unit_path("a.db"));
	ck_assert_int_eq(
	    job("sql", unit_path("a.db"), refused_sql[_i].sql, &out),
	    refused_sql[_i].code);
	ck_assert_msg(
	    strstr(out.data, refused_sql[_i].words) != NULL, "%s", out.data);
	job("check", unit_path("a.db"), NULL, &out);
	ck_assert_ptr_nonnull(strstr(out.data, "\"ok\":true"));
	ck_assert_int_eq(
	    job("sql", unit_path("none.db"), "SELECT 1", &out), -ENOENT);
	ck_assert(!file_exists(unit_path("none.db")));
}
