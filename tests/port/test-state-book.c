/* SPDX-License-Identifier: ISC */

/* The rows of the state in the book. */

#include "unit.h"
#include "account.h"
#include "book.h"
#include "landing-record.h"
#include "state-book.h"
#include "state.h"
#include "task.h"
#include "worker.h"

#define NOW INT64_C(1700000000000)

struct place {
	char *file;
	struct book *book;
	struct state_book *rows;
	struct state state;
};

static void
open_place(struct place *p)
{
	struct err err = { 0 };

	ck_assert_msg(book_open(p->file, &p->book, &err) == 0 &&
		state_book_new(p->book, &p->rows, &err) == 0,
	    "%s", err.msg);
}

static void
close_place(struct place *p)
{
	state_book_free(take_ptr(&p->rows));
	book_close(take_ptr(&p->book));
}

static void
place_begin(struct place *p, const char *name)
{
	memset(p, 0, sizeof *p);
	p->file = xstrdup(unit_path(name));
	state_init(&p->state);
	open_place(p);
}

static void
place_end(struct place *p)
{
	close_place(p);
	state_release(&p->state);
	free(p->file);
}

static void
save(struct place *p)
{
	struct err err = { 0 };

	state_book_put(p->rows, &p->state);
	ck_assert_msg(book_commit(p->book, &err) == 0, "%s", err.msg);
}

/* As another process finds it. */
static int
load(const struct place *p, struct state *state, struct err *err)
{
	struct book *book = NULL;
	int r = book_look(p->file, &book, err);

	ck_assert_int_eq(r, 0);
	state_init(state);
	r = state_book_load(book, NOW, state, err);
	book_close(book);
	return r;
}

static char *
text_of(const struct state *state)
{
	cleanup_json struct json_object *json = state_to_json(state);
	cleanup_buf struct buf text = BUF_INIT;

	json_print(json, true, &text);
	return buf_take(&text);
}

/* What was saved is what is in memory. */
static void
assert_saved(const struct place *p)
{
	cleanup_free char *want = text_of(&p->state), *found = NULL;
	struct err err = { 0, "" };
	struct state state;

	ck_assert_msg(load(p, &state, &err) == 0, "%s", err.msg);
	found = text_of(&state);
	ck_assert_str_eq(found, want);
	state_release(&state);
}

static void
run(struct place *p, const char *sql)
{
	struct err err = { 0 };

	book_run(p->book, sql, NULL, 0);
	ck_assert_msg(book_commit(p->book, &err) == 0, "%s", err.msg);
}

static int64_t
number(struct place *p, const char *sql)
{
	int64_t value = -1;

	ck_assert_int_eq(book_get_int(p->book, sql, NULL, 0, &value, NULL), 0);
	return value;
}

/* Something of everything, with numbers and texts that are easily confused. */
static void
fill(struct state *state)
{
	static const char text[] =
	    "{\"receipts\": 9007199254740993, \"last_reviewed\": \"eve\","
	    "\"daemon_running\": true, \"paused\": \"\", \"run_id\": \"r3\","
	    "\"run_ms\": 1699999999999, \"auto_workers\": [\"auto-1\"],"
	    "\"outcomes\": {\"landed\": 7}, \"errors\": 2,"
	    "\"last_task_completion_unix\": 1699999990,"
	    "\"goals\": {\"a\": [1, null]}, \"counters\": {\"x\": 1.5},"
	    "\"today\": {\"day\": 19675, \"tokens\": 5, \"cost\": 6},"
	    "\"later\": {\"of\": [\"a newer version\"]},"
	    "\"workers\": {\"auto-1\": {\"name\": \"auto-1\","
	    "\"status\": \"working\", \"prompt\": \"say \\\"hi\\\"\\n\\u00e9\","
	    "\"task\": \"t2\", \"mail_given\": [\"m1\", \"m2\"],"
	    "\"pane\": {\"pid\": 7}, \"clone\": true, \"crashes\": 3},"
	    "\"eve\": {\"name\": \"eve\", \"reason\": \"\"}},"
	    "\"task_ids\": 12,"
	    "\"tasks\": [{\"id\": \"t12\", \"text\": \"later\","
	    "\"priority\": \"urgent\", \"history\": [{\"at_unix\": 1,"
	    "\"what\": \"taken\", \"detail\": \"x\"}]},"
	    "{\"id\": \"t2\", \"step\": \"assigned\", \"worker\": \"auto-1\","
	    "\"from\": \"abc\", \"commit\": \"def\", \"key\": \"k\","
	    "\"cost\": 12, \"usage\": {\"tool_calls\": 2, \"models\": {"
	    "\"m\": {\"input\": 3}}}}],"
	    "\"landings\": {\"ids\": 4, \"window\": 2, \"items\": ["
	    "{\"id\": \"q10\", \"head\": \"abc\", \"seq\": 3},"
	    "{\"id\": \"q2\", \"head\": \"def\", \"kind\": \"pick\"}]},"
	    "\"days\": [{\"day\": 19674, \"cost\": 3, \"cost_hand\": 1},"
	    "{\"day\": 19675, \"attempts\": 2}],"
	    "\"accounts\": [{\"transcript\": \"/z\", \"from_ms\": 0,"
	    "\"worker\": \"eve\"}, {\"transcript\": \"/a\", \"from_ms\": 5,"
	    "\"reported\": true, \"reported_usage\": {}},"
	    "{\"transcript\": \"/a\", \"from_ms\": 6}]}";
	struct err err = { 0, "" };

	state_release(state);
	ck_assert_msg(state_parse(text, strlen(text), NOW, state, &err) == 0,
	    "%s", err.msg);
}

TEST(a_new_book_has_no_state)
{
	struct err err = { 0 };
	struct state state;
	ended_by(place_end) struct place p;

	place_begin(&p, "new.db");
	ck_assert_int_eq(load(&p, &state, &err), -ENOENT);
	state_release(&state);
	save(&p);
	assert_saved(&p);
}

TEST(everything_is_loaded_as_it_was_saved)
{
	ended_by(place_end) struct place p;

	place_begin(&p, "all.db");
	fill(&p.state);
	save(&p);
	assert_saved(&p);
	/* In the order that it had, not that of the names. */
	close_place(&p);
	open_place(&p);
	ck_assert_int_eq(state_book_load(p.book, NOW, &p.state, NULL), 0);
	ck_assert_str_eq(p.state.tasks[0]->id, "t12");
	ck_assert_str_eq(p.state.landings.items[0]->id, "q10");
	ck_assert_str_eq(p.state.accounts[0]->transcript, "/z");
	ck_assert_int_eq(p.state.accounts[2]->from_ms, 6);
	assert_saved(&p);
}

static _Noreturn void
write_for_ever(struct place *p)
{
	alarm(60);
	open_place(p);
	for (int i = 0;; i++) {
		cleanup_free char *text = xasprintf("%d", i);

		xstrset(&p->state.paused, text);
		xstrset(&p->state.workers[0]->prompt, text);
		save(p);
	}
}

/* Not some tables of before a commit and others of after it. */
TEST(a_state_that_is_being_written_is_of_one_moment)
{
	ended_by(place_end) struct place p;
	pid_t writer;

	place_begin(&p, "moment.db");
	fill(&p.state);
	xstrset(&p.state.paused, "");
	xstrset(&p.state.workers[0]->prompt, "");
	save(&p);
	close_place(&p);
	writer = fork();
	ck_assert_int_ge(writer, 0);
	if (writer == 0)
		write_for_ever(&p);
	for (int i = 0; i < 300; i++) {
		struct err err = { 0, "" };
		struct state state;

		ck_assert_msg(load(&p, &state, &err) == 0, "%s", err.msg);
		ck_assert_str_eq(state.paused, state.workers[0]->prompt);
		state_release(&state);
	}
	kill(writer, SIGKILL);
	ck_assert_int_eq(waitpid(writer, NULL, 0), writer);
}

/* Nothing is written that has not changed, also not by the next daemon. */
TEST(only_what_differs_is_written)
{
	ended_by(place_end) struct place p;

	place_begin(&p, "differs.db");
	fill(&p.state);
	save(&p);
	state_book_put(p.rows, &p.state);
	ck_assert(book_is_clean(p.book));
	close_place(&p);
	open_place(&p);
	ck_assert_int_eq(state_book_load(p.book, NOW, &p.state, NULL), 0);
	state_book_know(p.rows, &p.state);
	state_book_put(p.rows, &p.state);
	ck_assert(book_is_clean(p.book));

	run(&p, "UPDATE worker SET prompt = 'marked'");
	run(&p, "UPDATE task SET title = 'marked'");
	run(&p, "UPDATE host SET value = '\"marked\"' WHERE key = 'paused'");
	xstrset(&state_find(&p.state, "eve")->reason, "new");
	task_note(p.state.tasks[1], "said", NULL, NOW);
	p.state.receipts++;
	save(&p);
	ck_assert_int_eq(number(&p,
			     "SELECT count(*) FROM worker"
			     " WHERE worker.prompt = 'marked'"),
	    1);
	ck_assert_int_eq(
	    number(&p,
		"SELECT count(*) FROM task"
		" WHERE task.title = 'marked' AND task.id = 't12'"),
	    1);
	ck_assert_int_eq(number(&p,
			     "SELECT count(*) FROM host"
			     " WHERE host.value = '\"marked\"'"),
	    1);
}

TEST(every_change_is_written)
{
	ended_by(place_end) struct place p;

	place_begin(&p, "every.db");
	fill(&p.state);
	save(&p);
	xstrset(&state_find(&p.state, "eve")->reason, NULL);
	state_find(&p.state, "auto-1")->clone = false;
	p.state.tasks[0]->priority = PRIORITY_LOW;
	p.state.tasks[1]->spent.usage.tool_calls++;
	p.state.landings.items[1]->freeing = true;
	p.state.landings.window++;
	p.state.accounts[1]->filed.cost++;
	p.state.accounts[2]->report.usage.tool_calls++;
	p.state.accounts[2]->report.given = true;
	p.state.days.days[0].spent.cost++;
	p.state.outcomes[OUTCOME_LANDED]++;
	xstrset(&p.state.paused, NULL);
	save(&p);
	assert_saved(&p);
}

TEST(what_is_gone_is_deleted)
{
	ended_by(place_end) struct place p;

	place_begin(&p, "gone.db");
	fill(&p.state);
	save(&p);
	state_remove(&p.state, "eve");
	state_remove_task(&p.state, "t12");
	landing_record_remove(&p.state.landings, p.state.landings.items[0]);
	state_auto_remove_account(&p.state, p.state.accounts[1]);
	json_object_put(take_ptr(&p.state.rest));
	save(&p);
	ck_assert_int_eq(number(&p, "SELECT count(*) FROM worker"), 1);
	ck_assert_int_eq(number(&p, "SELECT count(*) FROM task"), 1);
	ck_assert_int_eq(number(&p, "SELECT count(*) FROM landing"), 1);
	ck_assert_int_eq(number(&p, "SELECT count(*) FROM account"), 2);
	assert_saved(&p);
	/* A new one comes after the others, whatever its id. */
	state_add_task(&p.state, task_new("t1", NULL, NULL, NULL, "x", NOW));
	save(&p);
	assert_saved(&p);
	/* Also what an earlier daemon wrote. */
	close_place(&p);
	open_place(&p);
	ck_assert_int_eq(state_book_load(p.book, NOW, &p.state, NULL), 0);
	state_book_know(p.rows, &p.state);
	state_remove(&p.state, "auto-1");
	save(&p);
	assert_saved(&p);
}

TEST(a_new_state_replaces_all)
{
	ended_by(place_end) struct place p;

	place_begin(&p, "anew.db");
	fill(&p.state);
	save(&p);
	close_place(&p);
	open_place(&p);
	state_release(&p.state);
	state_init(&p.state);
	state_add(&p.state, worker_new("bob", NOW));
	state_book_clear(p.rows);
	save(&p);
	assert_saved(&p);
}

/* A place whose state was saved once, and has changed since another one holds
 * the lock: its transaction is open. */
static void
begin_locked(struct place *p, const char *name, struct place *other)
{
	place_begin(p, name);
	fill(&p->state);
	save(p);
	memset(other, 0, sizeof *other);
	ck_assert_int_eq(book_open(p->file, &other->book, NULL), 0);
	BOOK_RUN(other->book, "UPDATE host SET key = $1 WHERE key = $1",
	    BOOK_T("none"));
	number(other, "SELECT count(*) FROM host");
	xstrset(&state_find(&p->state, "eve")->reason, "first");
	state_book_put(p->rows, &p->state);
}

static void
end_locked(struct place *p, struct place *other)
{
	book_close(other->book);
	save(p);
	assert_saved(p);
	place_end(p);
}

/* A commit that fails is tried again with all that it had. */
TEST(nothing_is_lost_by_a_failed_commit)
{
	struct place p, other;
	struct err err = { 0 };

	begin_locked(&p, "failed.db", &other);
	ck_assert_int_eq(book_commit(p.book, &err), -EAGAIN);
	state_remove_task(&p.state, "t2");
	state_book_put(p.rows, &p.state);
	ck_assert_int_eq(book_commit(p.book, &err), -EAGAIN);
	end_locked(&p, &other);
}

/* A row that is deleted and made again while nothing can be written. */
TEST(nothing_is_lost_by_a_long_outage)
{
	struct place p, other;
	struct err err = { 0 };

	begin_locked(&p, "outage.db", &other);
	state_remove(&p.state, "eve");
	state_remove_task(&p.state, "t2");
	state_book_put(p.rows, &p.state);
	state_add(&p.state, worker_new("eve", NOW));
	state_book_put(p.rows, &p.state);
	for (int i = 0; i < 10001; i++) /* more than are kept one by one */
		BOOK_RUN(p.book, "DELETE FROM task WHERE task.id = $1",
		    BOOK_T("none"));
	ck_assert_int_eq(book_commit(p.book, &err), -EAGAIN);
	end_locked(&p, &other);
}

static const struct {
	const char *sql, *words;
} wrong[] = {
	{ "UPDATE worker SET status = 'lost' WHERE name = 'eve'", "status" },
	{ "UPDATE worker SET pane = '{' WHERE name = 'eve'", "worker.pane" },
	{ "UPDATE task SET attempts = -1", "attempts" },
	{ "UPDATE host SET value = '[]' WHERE key = 'today'", "today" },
	{ "UPDATE host SET value = '\"x\"' WHERE key = 'root_id'", "root_id" },
};

TEST_ROWS(a_row_that_makes_no_sense_is_named, nitems(wrong))
{
	struct err err = { 0, "" };
	ended_by(state_release) struct state state;
	ended_by(place_end) struct place p;

	place_begin(&p, "wrong.db");
	fill(&p.state);
	save(&p);
	run(&p, wrong[_i].sql);
	ck_assert_int_eq(load(&p, &state, &err), -EINVAL);
	ck_assert_msg(strstr(err.msg, wrong[_i].words) != NULL, "%s", err.msg);
	ck_assert_ptr_nonnull(strstr(err.msg, "llmc doctor --rebuild"));
	ck_assert_ptr_nonnull(strstr(err.msg, "wrong.db"));
}

/* A column that an older book lacks is added; one of a newer is left alone. */
TEST(other_versions_have_other_columns)
{
	ended_by(place_end) struct place p;

	place_begin(&p, "versions.db");
	fill(&p.state);
	save(&p);
	run(&p, "ALTER TABLE worker DROP COLUMN crashes");
	run(&p, "ALTER TABLE worker ADD COLUMN of_later TEXT");
	run(&p, "UPDATE worker SET of_later = 'kept'");
	close_place(&p);
	open_place(&p);
	ck_assert_int_eq(state_book_load(p.book, NOW, &p.state, NULL), 0);
	ck_assert_int_eq(state_find(&p.state, "auto-1")->crashes, 0);
	state_find(&p.state, "auto-1")->crashes = 4;
	save(&p);
	assert_saved(&p);
	ck_assert_int_eq(number(&p,
			     "SELECT count(*) FROM worker"
			     " WHERE worker.of_later = 'kept'"),
	    2);
}
