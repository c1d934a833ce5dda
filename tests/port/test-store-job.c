/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "mem.h"
#include "store-aside.h"
#include "store-db.h"
#include "store-job.h"
#include "store-world.h"
#include "unit.h"

static void
read_file(const char *path, struct buf *out)
{
	buf_clear(out);
	ck_assert_int_eq(file_read(path, 1 << 28, out, NULL), 0);
}

static void
write_file(const char *path, const void *bytes, size_t len)
{
	ck_assert_int_eq(file_replace(path, bytes, len, 0600, NULL), 0);
}

/* Run it; the report as text, or the message of the error. */
static int
job(const char *task, const char *path, const char *file, struct buf *out)
{
	struct store_job spec = { task, path, file, 5000 };
	cleanup_json struct json_object *report = NULL;
	struct err err = { 0 };
	int r = store_job_run(&spec, &report, &err);

	buf_clear(out);
	if (r < 0)
		buf_adds(out, err.msg);
	else if (report != NULL)
		json_print(report, false, out);
	return r;
}

static void
fill(const char *path)
{
	struct store_world world;

	store_world_open(&world, path);
	ck_assert_msg(world.err.code == 0, "%s", world.err.msg);
	store_world_fill(&world);
	store_world_close(&world);
}

/* --- export and import -------------------------------------------------- */

START_TEST(export_has_the_shape_of_the_root_document)
{
	cleanup_buf struct buf out = BUF_INIT, text = BUF_INIT;

	fill(unit_path("store.db"));
	ck_assert_int_eq(
	    job("export", unit_path("store.db"), unit_path("all.json"), &out),
	    0);
	read_file(unit_path("all.json"), &text);
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
	    "\"dispatchIndex\":{\n"
	    "\"D_1\":{\"dispatchId\":\"D_1\",\"assignmentId\":\"A_1\","
	    "\"goalId\":\"G\",\"ts\":5,\"mode\":\"sessions_send\"}},\n"
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
END_TEST

/* What agents send, ask and reserve. */
static void
fill_team(const char *path)
{
	static const struct store_change changes[] = {
		{ STORE_MAIL, "none", "M_1",
		    "{\"id\":\"M_1\",\"status\":\"open\",\"actor\":\"b\","
		    "\"ts\":10,\"sender\":\"a\",\"subject\":\"s\","
		    "\"kind\":\"info\",\"ack_required\":false,"
		    "\"body\":\"t\"}" },
		{ STORE_MAIL, "G", "M_2",
		    "{\"id\":\"M_2\",\"status\":\"done\",\"actor\":\"b\","
		    "\"ts\":20,\"sender\":\"a\",\"subject\":\"s\","
		    "\"kind\":\"info\",\"ack_required\":false,"
		    "\"body\":{\"k\":1}}" },
		{ STORE_MAIL, "gone", "M_3",
		    "{\"id\":\"M_3\",\"status\":\"done\",\"actor\":\"b\","
		    "\"ts\":30,\"sender\":\"a\",\"subject\":\"s\","
		    "\"kind\":\"info\",\"ack_required\":false,"
		    "\"body\":\"t\"}" },
		{ STORE_REQUEST, "none", "Q_1",
		    "{\"id\":\"Q_1\",\"status\":\"answered\",\"ts\":5}" },
		{ STORE_RESERVATION, "none", "R_1",
		    "{\"id\":\"R_1\",\"status\":\"open\",\"actor\":\"a\"}" },
	};
	struct store_world world;

	store_world_open(&world, path);
	store_world_fill(&world);
	ck_assert_int_eq(
	    store_world_commit(&world, changes, nitems(changes), NULL, 0), 0);
	store_world_close(&world);
}

START_TEST(mail_requests_and_reservations_are_exported_and_imported)
{
	cleanup_buf struct buf out = BUF_INIT, first = BUF_INIT,
			       second = BUF_INIT;

	fill_team(unit_path("a.db"));
	ck_assert_int_eq(
	    job("export", unit_path("a.db"), unit_path("a.json"), &out), 0);
	read_file(unit_path("a.json"), &first);
	ck_assert_ptr_nonnull(strstr(first.data, "\"mail\":{\n\"M_2\":"));
	ck_assert_ptr_nonnull(strstr(first.data, "\"requests\":{\n\"Q_1\":"));
	ck_assert_ptr_nonnull(
	    strstr(first.data, "\"reservations\":{\n\"R_1\":"));
	ck_assert_int_eq(
	    job("import", unit_path("b.db"), unit_path("a.json"), &out), 0);
	ck_assert_str_eq(out.data, "{\"records\":11,\"events\":3}");
	job("export", unit_path("b.db"), unit_path("b.json"), &out);
	read_file(unit_path("b.json"), &second);
	ck_assert_str_eq(first.data, second.data);
	job("check", unit_path("b.db"), NULL, &out);
	ck_assert_str_eq(out.data,
	    "{\"ok\":true,\"records\":11,\"events\":3,\"problems\":[]}");
}
END_TEST

START_TEST(mail_requests_and_reservations_are_recovered)
{
	cleanup_buf struct buf out = BUF_INIT;

	fill_team(unit_path("a.db"));
	ck_assert_int_eq(
	    job("recover", unit_path("b.db"), unit_path("a.db"), &out), 0);
	ck_assert_str_eq(
	    out.data, "{\"records\":11,\"events\":3,\"refused\":0,\"gaps\":0}");
}
END_TEST

START_TEST(a_store_from_before_mail_is_recovered)
{
	cleanup_buf struct buf out = BUF_INIT;
	struct store_db *db = NULL;

	fill(unit_path("a.db"));
	ck_assert_int_eq(store_db_open(unit_path("a.db"), &db, NULL), 0);
	ck_assert_int_eq(store_db_exec(db,
			     "DROP TABLE mail; DROP TABLE requests;"
			     "DROP TABLE reservations;"
			     "PRAGMA user_version = 1;",
			     NULL),
	    0);
	store_db_close(db);
	ck_assert_int_eq(
	    job("recover", unit_path("b.db"), unit_path("a.db"), &out), 0);
	ck_assert_str_eq(
	    out.data, "{\"records\":6,\"events\":3,\"refused\":0,\"gaps\":0}");
}
END_TEST

START_TEST(ended_mail_of_goals_that_have_ended_is_compacted)
{
	cleanup_buf struct buf out = BUF_INIT;
	struct store_world world;

	fill_team(unit_path("a.db"));
	ck_assert_int_eq(job("compact", unit_path("a.db"), NULL, &out), 0);
	ck_assert_ptr_nonnull(strstr(out.data, "\"ended\":2"));
	store_world_open(&world, unit_path("a.db"));
	store_world_read(&world, STORE_MAIL, NULL, NULL);
	/* Not the open one, not that of an active goal. */
	ck_assert_uint_eq(world.records, 2);
	ck_assert_ptr_null(strstr(world.text.data, "M_3"));
	store_world_read(&world, STORE_REQUEST, NULL, NULL);
	ck_assert_uint_eq(world.records, 0);
	store_world_close(&world);
}
END_TEST

/* Names and texts that could get lost on the way. */
static void
fill_oddly(const char *path)
{
	static const struct store_change changes[] = {
		{ STORE_GOAL, NULL, "a \"b\" \\ c",
		    "{\"title\":\"\\u00e4\\n\\u001b[0m \\ud83d\\ude00\","
		    " \"status\": \"paused\", \"n\": 1.50, \"big\": "
		    "18446744073709551615, \"e\": [ {}, [], null, true ] }" },
		{ STORE_NODE, "a \"b\" \\ c", "N,}{", "{\"status\":\"todo\"}" },
		{ STORE_GOAL, NULL, "empty", "{\"status\":\"archived\"}" },
		{ STORE_CRYSTAL, "empty", "C", "{}" },
	};
	static const struct store_event events[] = {
		{ .ts_ms = 9, .type = "\xc3\xa4", .data = "{}" },
		{ .ts_ms = 3,
		    .type = "b",
		    .key = "k\"",
		    .data = "{\"a\":\"}\"}" },
	};
	struct store_world world;

	store_world_open(&world, path);
	ck_assert_int_eq(store_world_commit(&world, changes, nitems(changes),
			     events, nitems(events)),
	    0);
	store_world_close(&world);
	fill(path);
}

START_TEST(import_gives_back_what_was_exported_byte_for_byte)
{
	cleanup_buf struct buf out = BUF_INIT, first = BUF_INIT,
			       second = BUF_INIT;

	fill_oddly(unit_path("a.db"));
	ck_assert_int_eq(
	    job("export", unit_path("a.db"), unit_path("a.json"), &out), 0);
	ck_assert_msg(
	    job("import", unit_path("b.db"), unit_path("a.json"), &out) == 0,
	    "%s", out.data);
	ck_assert_str_eq(out.data, "{\"records\":10,\"events\":5}");
	ck_assert_int_eq(
	    job("export", unit_path("b.db"), unit_path("b.json"), &out), 0);
	read_file(unit_path("a.json"), &first);
	read_file(unit_path("b.json"), &second);
	ck_assert_str_eq(first.data, second.data);
	ck_assert(!file_exists(unit_path("b.db.build")));
	ck_assert(!file_exists(unit_path("b.db-wal")));
}
END_TEST

static const struct {
	const char *text, *words;
} bad[] = {
	{ "", "byte 0: expected {" },
	{ "[]", "byte 0: expected {" },
	{ "{}", "version: missing" },
	{ "{\"version\":2}", "version: this llmc reads version 1 only" },
	{ "{\"version\":1} x", "byte 14: something after the end" },
	{ "{\"version\":1,}", "byte 13: expected a key" },
	{ "{\"version\":1", "byte 12: expected ," },
	{ "{\"version\":1,\"more\":{}}", "more: unknown key" },
	{ "{\"version\":1,\"goals\":[]}", "goals: byte 0: expected {" },
	{ "{\"version\":1,\"goals\":{\"G\":{}}}",
	    "goals: G: goal G.status: missing" },
	{ "{\"version\":1,\"goals\":{\"G\":{\"status\":\"active\","
	  "\"nodes\":{\"N\":{\"status\":3}}}}}",
	    "goals: G: nodes.N: node N.status: expected a string" },
	{ "{\"version\":1,\"goals\":{\"G\":{\"status\":\"active",
	    "does not end" },
	{ "{\"version\":1,\"assignments\":{\"A\":{}}}",
	    "assignments: A: goalId: missing" },
	{ "{\"version\":1,\"events\":[{}]}", "events: [0]: type: missing" },
	{ "{\"version\":1,\"events\":[{\"type\":\"a\",\"ts\":1},"
	  "{\"type\":\"a\",\"ts\":1,\"seq\":1}]}",
	    "events: [1]: there are two events number 1" },
	{ "{\"version\":1,\"events\":[{\"type\":\"a\",\"ts\":1,"
	  "\"key\":\"k\"},{\"type\":\"b\",\"ts\":1,\"key\":\"k\"}]}",
	    "events: [1]: there are two events with the key k" },
	{ "{\"version\":1,\"events\":[{\"type\":\"a\",\"ts\":1} 7]}",
	    "events: byte 21: expected ," },
};

START_TEST(import_of_a_wrong_file_names_the_place_and_leaves_nothing)
{
	cleanup_buf struct buf out = BUF_INIT;

	write_file(unit_path("a.json"), bad[_i].text, strlen(bad[_i].text));
	ck_assert_int_lt(
	    job("import", unit_path("a.db"), unit_path("a.json"), &out), 0);
	ck_assert_msg(strstr(out.data, bad[_i].words) != NULL, "%s", out.data);
	ck_assert(!file_exists(unit_path("a.db")));
	ck_assert(!file_exists(unit_path("a.db.build")));
}
END_TEST

START_TEST(import_replaces_an_empty_store_and_no_other)
{
	cleanup_buf struct buf out = BUF_INIT;
	struct store_world world;

	fill(unit_path("a.db"));
	job("export", unit_path("a.db"), unit_path("a.json"), &out);
	ck_assert_int_eq(
	    job("import", unit_path("a.db"), unit_path("a.json"), &out),
	    -EEXIST);
	ck_assert_ptr_nonnull(strstr(out.data, "move it away first"));
	store_world_open(&world, unit_path("b.db"));
	store_world_close(&world);
	ck_assert_int_eq(
	    job("import", unit_path("b.db"), unit_path("a.json"), &out), 0);
	ck_assert_int_eq(
	    job("import", unit_path("c.db"), unit_path("none"), &out), -ENOENT);
}
END_TEST

/* --- check -------------------------------------------------------------- */

START_TEST(sound_store_has_no_problem)
{
	cleanup_buf struct buf out = BUF_INIT;

	ck_assert_int_eq(job("check", unit_path("a.db"), NULL, &out), -ENOENT);
	fill(unit_path("a.db"));
	ck_assert_int_eq(job("check", unit_path("a.db"), NULL, &out), 0);
	ck_assert_str_eq(out.data,
	    "{\"ok\":true,\"records\":6,\"events\":3,\"problems\":[]}");
}
END_TEST

#define NODE(id, more) \
	"{\"taskId\":\"" id "\",\"goalId\":\"G\",\"name\":\"n\"" more "}"

static const struct {
	struct store_change change;
	const char *words;
} unsound[] = {
	{ { STORE_NODE, "X", "N",
	      "{\"taskId\":\"N\",\"goalId\":\"X\",\"name\":\"n\","
	      "\"status\":\"todo\"}" },
	    "node N: there is no goal X" },
	{ { STORE_NODE, "G", "N",
	      NODE("N", ",\"parentId\":\"P9\",\"status\":\"todo\"") },
	    "node N: its goal has no node P9, its parent" },
	{ { STORE_NODE, "G", "N",
	      NODE("N", ",\"parentId\":\"P1\",\"status\":\"soon\"") },
	    "node N.status: " },
	{ { STORE_ASSIGNMENT, "X", "A",
	      "{\"assignmentId\":\"A\",\"workNodeId\":\"P1\","
	      "\"status\":\"done\"}" },
	    "assignment A: there is no goal X" },
	{ { STORE_ASSIGNMENT, "G", "A",
	      "{\"assignmentId\":\"A\",\"workNodeId\":\"P9\","
	      "\"status\":\"done\"}" },
	    "assignment A: its goal has no node P9" },
	{ { STORE_DISPATCH, "G", "D",
	      "{\"dispatchId\":\"D\",\"assignmentId\":\"A_9\",\"ts\":1,"
	      "\"mode\":\"sessions_send\"}" },
	    "dispatch D: there is no assignment A_9" },
	{ { STORE_DISPATCH, "X", "D",
	      "{\"dispatchId\":\"D\",\"assignmentId\":\"A_1\",\"ts\":1,"
	      "\"mode\":\"sessions_send\"}" },
	    "dispatch D: assignment A_1 belongs to another goal" },
	{ { STORE_CRYSTAL, "X", "C", "{\"crystallizationId\":\"C\"}" },
	    "crystallization C: there is no goal X" },
	{ { STORE_CRYSTAL, "G", "C",
	      "{\"crystallizationId\":\"C\",\"workNodeId\":\"P9\"}" },
	    "crystallization C: its goal has no node P9" },
};

START_TEST(check_names_what_does_not_belong_together)
{
	cleanup_buf struct buf out = BUF_INIT;
	struct store_world world;

	store_world_open(&world, unit_path("a.db"));
	store_world_fill(&world);
	ck_assert_int_eq(
	    store_world_commit(&world, &unsound[_i].change, 1, NULL, 0), 0);
	store_world_close(&world);
	ck_assert_int_eq(job("check", unit_path("a.db"), NULL, &out), 0);
	ck_assert_ptr_nonnull(strstr(out.data, "\"ok\":false"));
	ck_assert_msg(
	    strstr(out.data, unsound[_i].words) != NULL, "%s", out.data);
}
END_TEST

/* --- damage ------------------------------------------------------------- */

#define NODES  400
#define EVENTS 4000

static void
fill_much(const char *path)
{
	struct store_event event = { .type = "assignment.updated",
		.goal_id = "G",
		.data = "{\"text\":\"something that takes some space\"}" };
	struct store_world world;

	store_world_open(&world, path);
	store_world_fill(&world);
	for (int i = 0; i < NODES; i++) {
		cleanup_free char *id = xasprintf("T%d", i);
		cleanup_free char *body = xasprintf(
		    "{\"taskId\":\"%s\",\"goalId\":\"G\",\"name\":\"n\","
		    "\"parentId\":\"P1\",\"status\":\"todo\"}",
		    id);
		struct store_change change = { STORE_NODE, "G", id, body };

		store_commit(
		    world.store, &change, 1, NULL, 0, store_world_done, &world);
	}
	for (int i = 0; i < EVENTS; i++)
		store_commit(
		    world.store, NULL, 0, &event, 1, store_world_done, &world);
	store_world_wait(&world, NODES + EVENTS + 2);
	store_world_close(&world);
}

static int64_t
number(const struct buf *report, const char *key)
{
	cleanup_json struct json_object *json = NULL;

	ck_assert_int_eq(
	    json_parse(report->data, report->len, 1 << 20, &json, NULL), 0);
	return json_int_or(json, key, -1);
}

START_TEST(pages_that_cannot_be_read_are_skipped)
{
	cleanup_buf struct buf bytes = BUF_INIT, out = BUF_INIT;
	size_t pages, bad_pages = 0;

	fill_much(unit_path("a.db"));
	read_file(unit_path("a.db"), &bytes);
	pages = bytes.len / 4096;
	ck_assert_uint_gt(pages, 100);
	/* The tables' roots are the first pages. */
	for (size_t page = 40; page < pages; page += 17, bad_pages++)
		memset(bytes.data + page * 4096, 0x5a, 4096);
	write_file(unit_path("a.db"), bytes.data, bytes.len);
	job("check", unit_path("a.db"), NULL, &out);
	ck_assert_ptr_nonnull(strstr(out.data, "\"ok\":false"));
	ck_assert_msg(
	    job("recover", unit_path("b.db"), unit_path("a.db"), &out) == 0,
	    "%s", out.data);
	ck_assert_int_gt(number(&out, "gaps"), 0);
	ck_assert_int_le(number(&out, "gaps"), (int64_t)bad_pages);
	ck_assert_msg(number(&out, "records") + number(&out, "events") >
		(NODES + EVENTS) * 8 / 10,
	    "%s", out.data);
	ck_assert_int_lt(number(&out, "events"), EVENTS + 3);
	/* The pages of the new one are sound. */
	job("check", unit_path("b.db"), NULL, &out);
	ck_assert_ptr_null(strstr(out.data, "the file:"));
}
END_TEST

START_TEST(a_store_whose_end_is_missing_is_recovered_up_to_there)
{
	cleanup_buf struct buf bytes = BUF_INIT, out = BUF_INIT;

	fill_much(unit_path("a.db"));
	read_file(unit_path("a.db"), &bytes);
	write_file(unit_path("a.db"), bytes.data, bytes.len / 8192 * 4096);
	ck_assert_msg(
	    job("recover", unit_path("b.db"), unit_path("a.db"), &out) == 0,
	    "%s", out.data);
	ck_assert_int_gt(number(&out, "gaps"), 0);
	ck_assert_int_gt(number(&out, "records"), 0);
}
END_TEST

START_TEST(a_store_whose_first_bytes_are_damaged_is_recovered)
{
	cleanup_buf struct buf bytes = BUF_INIT, out = BUF_INIT;

	fill_oddly(unit_path("a.db"));
	read_file(unit_path("a.db"), &bytes);
	memset(bytes.data, 0x5a, 100);
	write_file(unit_path("a.db"), bytes.data, bytes.len);
	ck_assert_int_eq(
	    job("recover", unit_path("b.db"), unit_path("a.db"), &out), 0);
	ck_assert_str_eq(
	    out.data, "{\"records\":10,\"events\":5,\"refused\":0,\"gaps\":0}");
	ck_assert(!file_exists(unit_path("b.db.repaired")));
}
END_TEST

START_TEST(everything_is_recovered_from_a_sound_store)
{
	cleanup_buf struct buf out = BUF_INIT, first = BUF_INIT,
			       second = BUF_INIT;

	fill_oddly(unit_path("a.db"));
	ck_assert_int_eq(
	    job("recover", unit_path("b.db"), unit_path("a.db"), &out), 0);
	ck_assert_str_eq(
	    out.data, "{\"records\":10,\"events\":5,\"refused\":0,\"gaps\":0}");
	job("export", unit_path("a.db"), unit_path("a.json"), &out);
	job("export", unit_path("b.db"), unit_path("b.json"), &out);
	read_file(unit_path("a.json"), &first);
	read_file(unit_path("b.json"), &second);
	ck_assert_str_eq(first.data, second.data);
}
END_TEST

START_TEST(store_without_its_tables_cannot_be_recovered)
{
	cleanup_buf struct buf bytes = BUF_INIT, out = BUF_INIT;

	fill(unit_path("a.db"));
	read_file(unit_path("a.db"), &bytes);
	memset(bytes.data + 100, 0x5a, 3000);
	write_file(unit_path("a.db"), bytes.data, bytes.len);
	ck_assert_int_eq(
	    job("recover", unit_path("b.db"), unit_path("a.db"), &out),
	    -EUCLEAN);
	ck_assert(!file_exists(unit_path("b.db")));
	job("check", unit_path("a.db"), NULL, &out);
	ck_assert_ptr_nonnull(strstr(out.data, "is damaged"));
}
END_TEST

/* --- milestones --------------------------------------------------------- */

START_TEST(old_events_of_ended_goals_become_milestones)
{
	struct store_change ended[] = {
		{ STORE_GOAL, NULL, "E", "{\"status\":\"completed\"}" },
	};
	struct store_event events[] = {
		{ .ts_ms = 100, .type = "a", .goal_id = "E" },
		{ .ts_ms = 200, .type = "b", .goal_id = "E" },
		{ .ts_ms = 150, .type = "a", .goal_id = "E" },
		{ .ts_ms = 300, .type = "c" },
		{ .ts_ms = 310, .type = "c" },
		{ .ts_ms = 9000, .type = "a", .goal_id = "E" },
	};
	cleanup_buf struct buf out = BUF_INIT;
	struct store_world world;

	store_world_open(&world, unit_path("a.db"));
	store_world_fill(&world);
	ck_assert_int_eq(store_world_commit(&world, ended, 1, events, 6), 0);
	/* With the daemon at work. */
	ck_assert_int_eq(job("compact", unit_path("a.db"), NULL, &out), 0);
	ck_assert_str_eq(
	    out.data, "{\"removed\":5,\"milestones\":2,\"ended\":0}");
	store_world_events(&world, (struct store_filter){ .goal_id = "G" });
	ck_assert_uint_eq(world.events, 3);
	store_world_events(&world, (struct store_filter){ .after_seq = 3 });
	ck_assert_str_eq(world.text.data,
	    "milestone {\"events\":3,\"from\":100,\"to\":200,"
	    "\"types\":{\"a\":2,\"b\":1}}\n"
	    "milestone {\"events\":2,\"from\":300,\"to\":310,"
	    "\"types\":{\"c\":2}}\n"
	    "a -\n");
	ck_assert_int_eq(world.first_seq, 6);
	ck_assert_int_eq(
	    store_world_event(&world, (struct store_event){ .type = "z" }), 0);
	/* Once more changes nothing. */
	job("compact", unit_path("a.db"), NULL, &out);
	ck_assert_str_eq(
	    out.data, "{\"removed\":0,\"milestones\":0,\"ended\":0}");
	store_world_close(&world);
}
END_TEST

START_TEST(unknown_task_is_refused)
{
	cleanup_buf struct buf out = BUF_INIT;

	ck_assert_int_eq(job("polish", unit_path("a.db"), NULL, &out), -EINVAL);
	ck_assert_int_eq(job("import", unit_path("a.db"), NULL, &out), -EINVAL);
}
END_TEST

Suite *
unit_suite(void)
{
	const TTest *const tests[] = {
		export_has_the_shape_of_the_root_document,
		import_gives_back_what_was_exported_byte_for_byte,
		import_replaces_an_empty_store_and_no_other,
		sound_store_has_no_problem,
		pages_that_cannot_be_read_are_skipped,
		a_store_whose_end_is_missing_is_recovered_up_to_there,
		a_store_whose_first_bytes_are_damaged_is_recovered,
		everything_is_recovered_from_a_sound_store,
		store_without_its_tables_cannot_be_recovered,
		old_events_of_ended_goals_become_milestones,
		mail_requests_and_reservations_are_exported_and_imported,
		mail_requests_and_reservations_are_recovered,
		a_store_from_before_mail_is_recovered,
		ended_mail_of_goals_that_have_ended_is_compacted,
		unknown_task_is_refused,
		NULL,
	};
	Suite *suite = suite_create("store-job");

	unit_case(suite, "store-job", tests);
	unit_rows(suite,
	    import_of_a_wrong_file_names_the_place_and_leaves_nothing,
	    nitems(bad));
	unit_rows(
	    suite, check_names_what_does_not_belong_together, nitems(unsound));
	return suite;
}
