/* SPDX-License-Identifier: ISC */

#include "unit.h"

#include <json-c/json.h>

#include "backoff.h"
#include "check-book.h"
#include "landing-record.h"
#include "schema.h"
#include "task.h"

static struct landing_item *
add(struct landing_record *record, const char *head, const char *worker)
{
	struct landing_item *item = landing_record_new_item(record);

	xstrset(&item->head, head);
	xstrset(&item->worker, worker);
	landing_record_append(record, item);
	return item;
}

/* Written, and read again. */
static void
pass_on(struct landing_record *record, struct landing_record *ret_copy)
{
	cleanup_json struct json_object *json =
	    schema_json(&landing_record_schema, record);
	struct err err = { 0 };

	memset(ret_copy, 0, sizeof *ret_copy);
	ck_assert_msg(schema_read(&landing_record_schema, json, "landings",
			  ret_copy, &err) == 0,
	    "%s", err.msg);
}

static int
read_text(const char *text, struct err *err)
{
	cleanup_json struct json_object *json = json_tokener_parse(text);
	struct landing_record record = { 0 };
	int r =
	    schema_read(&landing_record_schema, json, "landings", &record, err);

	schema_release(&landing_record_schema, &record);
	return r;
}

TEST(items_are_numbered_and_found)
{
	struct landing_record record = { 0 };
	struct landing_item *first = add(&record, "abc", "adam");
	struct landing_item *second = add(&record, "def", "eve");

	ck_assert_str_eq(first->id, "q1");
	ck_assert_str_eq(second->id, "q2");
	ck_assert_uint_lt(first->seq, second->seq);
	ck_assert_int_eq(first->priority, PRIORITY_NORMAL);
	ck_assert_ptr_eq(landing_record_find(&record, "q2"), second);
	ck_assert_ptr_eq(landing_record_of(&record, "eve"), second);
	ck_assert_ptr_null(landing_record_of(&record, "abel"));
	second->kind = ITEM_PICK; /* eve does not have it in her worktree */
	ck_assert_ptr_null(landing_record_of(&record, "eve"));
	landing_record_remove(&record, first);
	ck_assert_ptr_null(landing_record_find(&record, "q1"));
	ck_assert_uint_eq(record.count, 1);
	ck_assert_str_eq(add(&record, "123", NULL)->id, "q3");
	schema_release(&landing_record_schema, &record);
}

TEST(everything_is_written_and_read)
{
	struct landing_record record = { 0 }, copy;
	struct landing_item *item = add(&record, "abc", "adam");
	char word[] = "word";

	item->kind = ITEM_REVERT;
	item->step = ITEM_EJECTED;
	item->priority = PRIORITY_URGENT;
	item->conflict = item->guarded = item->approved = true;
	xstrset(&item->words, "words");
	xstrset(&item->commit, "fed");
	item->uncommitted = 3;
	item->undoes = 2;
	xstrset(&item->why, "it fails");
	record.window = 7;
	xstrset(&record.red_told, "tree");
	push_record_done(&record.push, "abc", "abc");
	xstrset(&record.push.unpushed, "fed");
	push_record_failed(&record.push, "away", 5);
	red_run_add(
	    &record.own, &(struct red_commit){ word, word, word, word, word });
	check_book_note(
	    &record.checks, "tree", "command", CHECK_PASSED, 5, 6, 0);
	pass_on(&record, &copy);
	ck_assert_uint_eq(copy.count, 1);
	ck_assert_int_eq(copy.items[0]->kind, ITEM_REVERT);
	ck_assert_int_eq(copy.items[0]->step, ITEM_EJECTED);
	ck_assert_int_eq(copy.items[0]->priority, PRIORITY_URGENT);
	ck_assert(copy.items[0]->conflict && copy.items[0]->guarded &&
	    copy.items[0]->approved && !copy.items[0]->incorporated);
	ck_assert_str_eq(copy.items[0]->words, "words");
	ck_assert_str_eq(copy.items[0]->commit, "fed");
	ck_assert_int_eq(copy.items[0]->uncommitted, 3);
	ck_assert_uint_eq(copy.ids, 1);
	ck_assert_int_eq(copy.window, 7);
	ck_assert_int_eq(copy.items[0]->undoes, 2);
	ck_assert_str_eq(copy.items[0]->why, "it fails");
	ck_assert_str_eq(copy.red_told, "tree");
	ck_assert_str_eq(copy.push.pushed, "abc");
	ck_assert_str_eq(copy.push.unpushed, "fed");
	ck_assert_str_eq(copy.push.reason, "away");
	ck_assert_int_eq(copy.push.tries, 1);
	ck_assert_int_eq(copy.push.next_ms, record.push.next_ms);
	ck_assert_uint_eq(copy.own.count, 1);
	ck_assert_str_eq(copy.own.list[0].task, "word");
	ck_assert_ptr_nonnull(check_book_find(&copy.checks, "tree", "command"));
	schema_release(&landing_record_schema, &record);
	schema_release(&landing_record_schema, &copy);
}

/* Half a journal is none: what it was about is built again. */
TEST(a_journal_has_two_ends)
{
	struct landing_record record = { 0 }, copy;
	struct landing_item *item = add(&record, "abc", "adam");

	xstrset(&item->commit, "fed");
	xstrset(&record.branch, "main");
	xstrset(&record.from, "a");
	xstrset(&record.to, "b");
	pass_on(&record, &copy);
	ck_assert_str_eq(copy.branch, "main");
	ck_assert_str_eq(copy.to, "b");
	ck_assert_str_eq(copy.items[0]->commit, "fed");
	schema_release(&landing_record_schema, &copy);
	xstrset(&record.from, NULL);
	pass_on(&record, &copy);
	ck_assert_ptr_null(copy.to);
	ck_assert_ptr_null(copy.branch);
	ck_assert_ptr_null(copy.items[0]->commit);
	schema_release(&landing_record_schema, &record);
	schema_release(&landing_record_schema, &copy);
}

TEST(what_is_wrong_is_named)
{
	static const struct {
		const char *text, *words;
	} rows[] = {
		{ "{\"items\":3}", "landings.items" },
		{ "{\"items\":[{\"id\":\"q1\"}]}", "landings.items[0].head" },
		{ "{\"items\":[{\"head\":\"a\"}]}", "landings.items[0].id" },
		{ "{\"items\":[{\"id\":\"q1\",\"head\":\"a\",\"step\":\"x\"}]}",
		    "landings.items[0].step" },
		{ "{\"items\":[{\"id\":\"q1\",\"head\":\"a\"},"
		  "{\"id\":\"q1\",\"head\":\"b\"}]}",
		    "another item has this id" },
		{ "{\"checks\":3}", "landings.checks" },
	};
	struct err err;

	for (size_t i = 0; i < nitems(rows); i++) {
		memset(&err, 0, sizeof err);
		ck_assert_int_eq(read_text(rows[i].text, &err), -EINVAL);
		ck_assert_msg(strstr(err.msg, rows[i].words) != NULL, "%s: %s",
		    rows[i].text, err.msg);
	}
	ck_assert_int_eq(read_text("{}", &err), 0);
}

/* --- what origin has to be given ------------------------------------- */

#define NOW INT64_C(1000000)

static void
release(struct push_record *push)
{
	free(push->unpushed);
	free(push->pushed);
	free(push->reason);
}

static void
assert_json(const struct push_record *push, const char *want)
{
	cleanup_json struct json_object *json = push_record_json(push);
	cleanup_buf struct buf text = BUF_INIT;

	ck_assert_ptr_nonnull(json);
	json_print(json, false, &text);
	ck_assert_str_eq(text.data, want);
}

TEST(from_a_landing_to_the_remote)
{
	struct push_record push = { 0 };

	ck_assert_ptr_null(push_record_json(&push));
	ck_assert_int_eq(push_record_wait_ms(&push, NOW), -1);
	xstrset(&push.unpushed, "a");
	ck_assert_int_eq(push_record_wait_ms(&push, NOW), 0);
	assert_json(&push,
	    "{\"state\":\"waiting\",\"commit_sha\":\"a\",\"tries\":0,"
	    "\"reason\":null,\"next_unix\":null,\"away_unix\":null,"
	    "\"since_unix\":null}");
	xstrset(&push.unpushed, "b");
	push_record_done(&push, "a", "a");
	ck_assert_str_eq(push.unpushed, "b");
	push_record_done(&push, "b", "b");
	ck_assert_int_eq(push_record_wait_ms(&push, NOW), -1);
	assert_json(&push,
	    "{\"state\":\"done\",\"commit_sha\":\"b\",\"tries\":0,"
	    "\"reason\":null,\"next_unix\":null,\"away_unix\":null,"
	    "\"since_unix\":null}");
	release(&push);
}

TEST(failures_are_further_and_further_apart)
{
	struct push_record push = { 0 };
	int64_t last = 0;

	xstrset(&push.unpushed, "a");
	push_record_failed(&push, "no route", NOW);
	ck_assert(push_record_has_failed(&push));
	assert_json(&push,
	    "{\"state\":\"failed\",\"commit_sha\":\"a\",\"tries\":1,"
	    "\"reason\":\"no route\",\"next_unix\":1030,\"away_unix\":null,"
	    "\"since_unix\":null}");
	for (int i = 0; i < 20; i++) {
		int64_t ms = push_record_wait_ms(&push, NOW);

		ck_assert_int_ge(ms, last);
		last = ms;
		push_record_failed(&push, "no route", NOW);
	}
	ck_assert_int_eq(last, backoff_outage.max_ms);
	/* Later, and with a clock that was set back. */
	ck_assert_int_eq(push_record_wait_ms(&push, NOW + 2 * last), 0);
	ck_assert_int_eq(push_record_wait_ms(&push, 0), last);
	push_record_done(&push, "a", "a");
	ck_assert(!push_record_has_failed(&push));
	xstrset(&push.unpushed, "b");
	ck_assert_int_eq(push_record_wait_ms(&push, NOW), 0);
	release(&push);
}

/* --- when to look ------------------------------------------------------- */

#define MINUTE (INT64_C(60) * 1000)

TEST(origin_is_looked_at_when_that_is_due)
{
	static const struct {
		enum look_why why;
		int64_t looked_ms, next_ms, want;
		bool held;
	} rows[] = {
		/* At once when this daemon has not looked yet. */
		{ LOOK_REGULAR, 0, 0, 0, false },
		{ LOOK_TASK, 0, 0, 0, false },
		{ LOOK_LANDING, 0, 0, 0, false },
		{ LOOK_REGULAR, NOW, 0, 5 * MINUTE, false },
		{ LOOK_REGULAR, NOW - MINUTE, 0, 4 * MINUTE, false },
		{ LOOK_REGULAR, NOW - 6 * MINUTE, 0, 0, false },
		/* For tasks, once a minute. */
		{ LOOK_TASK, NOW - MINUTE + 1, 0, -1, false },
		{ LOOK_TASK, NOW - MINUTE, 0, 0, false },
		/* For a landing always, unless it was just done. */
		{ LOOK_LANDING, NOW - LOOK_LANDING_MS, 0, 0, false },
		{ LOOK_LANDING, NOW - LOOK_LANDING_MS + 1, 0, -1, false },
		/* An origin that is away is not waited for. */
		{ LOOK_REGULAR, NOW - 6 * MINUTE, NOW + MINUTE, MINUTE, false },
		{ LOOK_TASK, NOW - 6 * MINUTE, NOW + MINUTE, -1, false },
		{ LOOK_LANDING, NOW - 6 * MINUTE, NOW + MINUTE, -1, false },
		{ LOOK_LANDING, NOW - 6 * MINUTE, NOW + MINUTE, 0, true },
		/* The clock was set back. */
		{ LOOK_REGULAR, NOW + 90 * MINUTE, 0, 0, false },
		{ LOOK_TASK, NOW + 90 * MINUTE, 0, 0, false },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		struct push_record push = { .looked_ms = rows[i].looked_ms,
			.next_ms = rows[i].next_ms,
			.held = rows[i].held };

		ck_assert_msg(push_record_look_ms(&push, rows[i].why,
				  5 * MINUTE, NOW) == rows[i].want,
		    "row %zu", i);
	}
}

/* --- what follows a push ------------------------------------------------ */

TEST(an_answer_says_what_becomes_of_the_landing)
{
	struct push_record push = { 0 };
	char *words;

	ck_assert_int_eq(
	    push_record_answer(&push, PUSH_OK, "", NOW), PUSH_THEN_LAND);
	ck_assert_ptr_null(push_record_asks(&push, UPSTREAM_PUSH, "main"));
	/* Four times it is built again, then a person is asked. */
	for (int i = 1; i < PUSH_REJECTED_MAX; i++)
		ck_assert_int_eq(
		    push_record_answer(&push, PUSH_REJECTED, "moved", NOW),
		    PUSH_THEN_REBUILD);
	ck_assert(!push.held);
	ck_assert_int_eq(push_record_answer(&push, PUSH_REJECTED, "moved", NOW),
	    PUSH_THEN_HOLD);
	ck_assert(push.held && push_record_has_failed(&push));
	ck_assert_int_gt(push_record_wait_ms(&push, NOW), 0);
	words = push_record_asks(&push, UPSTREAM_PUSH, "main");
	/* What it names can be typed. */
	ck_assert_ptr_nonnull(
	    strstr(words, "llmc config set auto.land pull-request"));
	ck_assert_ptr_nonnull(
	    strstr(words, "(llmc config set repo.upstream follow)"));
	free(words);
	/* Where nothing is pushed, nobody is asked about it. */
	ck_assert_ptr_null(push_record_asks(&push, UPSTREAM_FOLLOW, "main"));
	ck_assert(push_record_let_go(&push) && !push.held);
	ck_assert(!push_record_let_go(&push));
	ck_assert_int_eq(push.tries + push.rejected, 0);
	ck_assert_int_eq(
	    push_record_answer(&push, PUSH_OK, "", NOW), PUSH_THEN_LAND);
	ck_assert(!push.held && push.rejected == 0 && push.tries == 0);
	/* A rule of origin is no race: at once. */
	ck_assert_int_eq(
	    push_record_answer(&push, PUSH_REFUSED, "protected", NOW),
	    PUSH_THEN_HOLD);
	push_record_done(&push, "a", "a");
	ck_assert(!push.held);
	/* Without an answer nothing lands; a person is asked if that stays. */
	for (int i = 1; i <= 3; i++) {
		ck_assert_int_eq(
		    push_record_answer(&push, PUSH_UNKNOWN, "hung up", NOW + i),
		    PUSH_THEN_HOLD);
		ck_assert(push.held && push.away_ms == NOW + 1);
		words = push_record_asks(&push, UPSTREAM_PUSH, "main");
		ck_assert((words != NULL) == (i == 3));
		free(words);
	}
	push_record_done(&push, "a", "a");
	/* Since when it is away is since the first time. */
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(
		    push_record_answer(&push, PUSH_AWAY, "no route", NOW + i),
		    PUSH_THEN_LATER);
	ck_assert_int_eq(push.away_ms, NOW);
	assert_json(&push,
	    "{\"state\":\"away\",\"commit_sha\":\"a\",\"tries\":3,"
	    "\"reason\":\"no route\",\"next_unix\":1120,\"away_unix\":1000,"
	    "\"since_unix\":null}");
	push_record_reached(&push);
	ck_assert_int_eq(push.away_ms, 0);
	release(&push);
}

TEST(a_checkout_in_the_way_is_an_ask_after_a_while)
{
	char why[] = "x";
	struct push_record push = { .blocked = why, .blocked_ms = NOW };
	int64_t then = NOW + FOLLOW_PATIENCE_MS;

	ck_assert_ptr_null(push_record_blocks(&push, UPSTREAM_PUSH, then - 1));
	ck_assert_ptr_nonnull(push_record_blocks(&push, UPSTREAM_PUSH, then));
	ck_assert_ptr_null(push_record_blocks(&push, UPSTREAM_OFF, then));
	push.blocked = NULL;
	ck_assert_ptr_null(push_record_blocks(&push, UPSTREAM_PUSH, then));
}

TEST(a_branch_that_has_diverged_has_three_ways_on)
{
	struct push_record push = { 0 };
	cleanup_free char *words = NULL;

	xstrset(&push.ours, "1111111111111111");
	xstrset(&push.theirs, "2222222222222222");
	words = push_record_asks(&push, UPSTREAM_FOLLOW, "trunk");
	ck_assert_ptr_nonnull(strstr(words, "trunk is at 111111111111 here"));
	ck_assert_ptr_nonnull(strstr(words, "at 222222222222 at origin"));
	ck_assert_ptr_nonnull(strstr(words, "git rebase 222222222222"));
	ck_assert_ptr_nonnull(strstr(words, "git merge 222222222222"));
	ck_assert_ptr_nonnull(strstr(words, "git reset --keep 222222222222"));
	free(push.ours);
	free(push.theirs);
}

/* --- the tasks of one move of the branch ----------------------------- */

#define COUNT 5

static struct task *tasks[COUNT];

/* t1 and t3 landed with c2, in the other order; t4 with c3; t2 has not landed,
 * and t5 is settled already. */
void
unit_before(void)
{
	static const char *const ids[] = { "t1", "t2", "t3", "t4", "t5" };
	static const char *const moves[] = { "c2", NULL, "c2", "c3", "c2" };
	static const int places[] = { 2, 0, 1, 1, 3 };
	static const enum task_step steps[] = { TASK_LANDED, TASK_WAITING,
		TASK_LANDED, TASK_LANDED, TASK_SETTLING };

	for (size_t i = 0; i < COUNT; i++) {
		tasks[i] = task_new(ids[i], "command", "k", NULL, "x", 1);
		xstrset(&tasks[i]->move, moves[i]);
		xstrset(&tasks[i]->commit, moves[i] != NULL ? "c" : NULL);
		tasks[i]->place = places[i];
		tasks[i]->step = steps[i];
	}
}

void
unit_after(void)
{
	for (size_t i = 0; i < COUNT; i++)
		task_free(tasks[i]);
}

static void
assert_ids(const char *move, const char *want)
{
	cleanup_landed_tasks struct landed_tasks list = { 0 };
	cleanup_buf struct buf ids = BUF_INIT;

	landed_tasks_find(tasks, COUNT, move, &list);
	landed_tasks_add_ids(&list, " ", &ids);
	ck_assert_str_eq(ids.data, want);
}

TEST(tasks_of_a_move_in_their_order)
{
	assert_ids("c2", "t3 t1");
	assert_ids("c3", "t4");
	assert_ids("c4", "");
}

TEST(the_newest_is_taken_back_first)
{
	cleanup_landed_tasks struct landed_tasks list = { 0 };
	cleanup_landed_tasks struct landed_tasks none = { 0 };

	landed_tasks_find(tasks, COUNT, "c2", &list);
	ck_assert_ptr_eq(landed_tasks_last(&list), tasks[0]);
	ck_assert_ptr_eq(landed_tasks_next_revert(&list), tasks[0]);
	xstrset(&tasks[0]->commit, NULL);
	ck_assert_ptr_eq(landed_tasks_last(&list), tasks[0]);
	ck_assert_ptr_eq(landed_tasks_next_revert(&list), tasks[2]);
	xstrset(&tasks[2]->commit, NULL);
	ck_assert_ptr_null(landed_tasks_next_revert(&list));
	ck_assert_ptr_null(landed_tasks_last(&none));
}

/* --- a branch that fails its check ----------------------------------- */

/* A commit "b" has the tree "B" and the task "t". */
static void
add_red(struct red_run *run, char parent, char commit, bool of_task)
{
	char names[4][2] = { { commit }, { (char)(commit - 'a' + 'A') },
		{ parent }, { (char)(parent - 'a' + 'A') } };
	char task[] = "t";

	red_run_add(run,
	    &(struct red_commit){ .commit = names[0],
		.tree = names[1],
		.parent = names[2],
		.parent_tree = names[3],
		.task = of_task ? task : NULL });
}

static void
expect(const struct red_run *run, const char *want)
{
	cleanup_buf struct buf text = BUF_INIT;

	for (size_t i = 0; i < run->count; i++)
		buf_addf(&text, "%s", run->list[i].commit);
	ck_assert_str_eq(text.data, want);
}

TEST(a_run_has_commits_of_tasks_only)
{
	struct red_run run = { 0 };

	add_red(&run, 'p', 'a', true);
	add_red(&run, 'a', 'b', true);
	expect(&run, "ab");
	/* A person committed something in between. */
	add_red(&run, 'q', 'c', true);
	expect(&run, "c");
	/* A pick, or a commit that takes others back. */
	add_red(&run, 'c', 'd', false);
	expect(&run, "");
	add_red(&run, 'd', 'e', true);
	expect(&run, "e");
	red_run_release(&run);
}

TEST(a_run_is_bounded)
{
	struct red_run run = { 0 };
	char parent[16] = "c0", commit[16], word[] = "x";

	for (int i = 1; i <= RED_RUN_MAX + 5; i++) {
		snprintf(commit, sizeof commit, "c%d", i);
		red_run_add(&run,
		    &(struct red_commit){ commit, word, parent, word, word });
		memcpy(parent, commit, sizeof parent);
	}
	ck_assert_uint_eq(run.count, RED_RUN_MAX);
	ck_assert_str_eq(run.list[0].commit, "c6");
	ck_assert_str_eq(run.list[RED_RUN_MAX - 1].commit, commit);
	red_run_release(&run);
}

/* As it is in the record of landings. */
static const struct schema_field own[] = {
	SCHEMA_PARTS(struct red_run, "own", SLOTS, list, count,
	    red_commit_schema, .max = RED_RUN_MAX),
};
static const struct schema schema = SCHEMA_OF(struct red_run, own);

TEST(a_run_is_written_and_read)
{
	cleanup_json struct json_object *json = NULL;
	cleanup_json struct json_object *wrong =
	    json_tokener_parse("{\"own\": [{\"commit\": \"a\"}]}");
	struct red_run run = { 0 }, copy = { 0 };
	struct err err = { 0 };

	add_red(&run, 'p', 'a', true);
	add_red(&run, 'a', 'b', true);
	json = schema_json(&schema, &run);
	ck_assert_int_eq(schema_read(&schema, json, "", &copy, &err), 0);
	expect(&copy, "ab");
	ck_assert_str_eq(copy.list[1].parent_tree, "A");
	ck_assert_str_eq(copy.list[1].task, "t");
	red_run_release(&copy);
	ck_assert_int_eq(schema_read(&schema, wrong, "", &copy, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "own[0]"));
	red_run_release(&copy);
	red_run_release(&run);
}

static const struct row {
	const char *run; /* oldest first; the first one is a person's */
	char tip;
	const char *passed, *failed; /* trees */
	size_t want;
} rows[] = {
	{ "p", 'p', "", "P", 0 },
	/* The newest one is a person's, whatever is below it. */
	{ "pab", 'q', "AB", "Q", 0 },
	/* Back to the last one that passed. */
	{ "pabc", 'c', "PAB", "C", 1 },
	{ "pabc", 'c', "PA", "C", 2 },
	/* It passed once and fails now: that is no place to go back to. */
	{ "pabc", 'c', "CBA", "CB", 2 },
	/* The command is new: nothing is known of it. */
	{ "pabc", 'c', "", "C", 3 },
	/* Never beyond the first of them. */
	{ "pabc", 'c', "", "CBAP", 3 },
};

static void
note(struct check_book *book, const char *trees, enum check_verdict verdict)
{
	for (; *trees != '\0'; trees++)
		check_book_note(book, (const char[]){ *trees, '\0' }, "k",
		    verdict, 1, 1, 0);
}

TEST_ROWS(how_many_are_taken_back, nitems(rows))
{
	const struct row *row = &rows[_i];
	struct check_book book = { 0 };
	struct red_run run = { 0 };

	for (const char *p = row->run; p[1] != '\0'; p++)
		add_red(&run, p[0], p[1], true);
	note(&book, row->passed, CHECK_PASSED);
	note(&book, row->failed, CHECK_FAILED);
	ck_assert_uint_eq(
	    red_run_length(&run, (const char[]){ row->tip, '\0' }, &book, "k"),
	    row->want);
	schema_release(&check_book_schema, &book);
	red_run_release(&run);
}
