/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "ask.h"
#include "schema.h"
#include "task.h"
#include "worker.h"

/* --- ask record -------------------------------------------------------- */

#define NOW  INT64_C(1800000000000)
#define HOUR INT64_C(3600000)

static struct ask_draft
draft(void)
{
	return (struct ask_draft){ .kind = ASK_BUDGET,
		.level = ESCALATION_WARNING,
		.key = "task/t3",
		.title = "a budget is reached",
		.words = "it has used 5 dollars",
		.task = "t3" };
}

TEST(an_ask_says_what_to_type)
{
	static const struct {
		enum ask_kind kind;
		bool stays;
		const char *node, *command, *expected;
	} rows[] = {
		{ ASK_QUESTION, false, NULL, NULL, "llmc answer a12 TEXT" },
		{ ASK_BLOCKED, false, NULL, NULL, "llmc answer a12 TEXT" },
		{ ASK_BUDGET, false, NULL, NULL, "llmc answer a12 --yes" },
		{ ASK_FAILURE, false, NULL, NULL, "llmc answer a12 TEXT" },
		/* Its task has ended: nobody can be told anything. */
		{ ASK_FAILURE, true, NULL, NULL, "llmc answer a12 --yes" },
		{ ASK_BLOCKED, true, "T1", NULL, "llmc answer a12 TEXT" },
		{ ASK_BLOCKED, false, NULL, "git status", "git status" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		struct ask_draft d = draft();
		cleanup_buf struct buf text = BUF_INIT;
		struct ask *ask;

		d.kind = rows[i].kind;
		d.stays = rows[i].stays;
		d.node = rows[i].node;
		d.command = rows[i].command;
		ask = ask_new(&d, 12, NOW);
		ask_command(ask, &text);
		ck_assert_str_eq(text.data, rows[i].expected);
		ask_free(ask);
	}
}

TEST(a_number_or_its_words_are_an_option)
{
	char **options = NULL;
	struct err err = { 0 };

	ck_assert_str_eq(ask_choice(strv_const(options), "2", &err), "2");
	strv_add(&options, "Red");
	strv_add(&options, "3");
	ck_assert_str_eq(ask_choice(strv_const(options), "1", &err), "Red");
	ck_assert_str_eq(ask_choice(strv_const(options), "red", &err), "Red");
	ck_assert_str_eq(ask_choice(strv_const(options), "3", &err), "3");
	ck_assert_str_eq(
	    ask_choice(strv_const(options), "2 or 3", &err), "2 or 3");
	ck_assert_ptr_null(ask_choice(strv_const(options), "0", &err));
	ck_assert_ptr_null(ask_choice(strv_const(options), "4", &err));
	ck_assert_str_eq(err.msg, "there is no option 4, only 2");
	strv_clear(&options);
}

/* What can be chosen is in the row, whoever shows it; only what nobody can
 * answer, and a question without options, has none. */
static const struct {
	enum ask_kind kind;
	bool stays;
	const char *key, *task, *worker, *node, *command;
	const char *first, *second;
} offers[] = {
	{ ASK_FAILURE, false, "task/t1", "t1", NULL, NULL, NULL, "continue",
	    "abort" },
	{ ASK_BUDGET, false, "task/t1", "t1", NULL, NULL, NULL, "continue",
	    "abort" },
	{ ASK_FAILURE, true, "task/t1", "t1", NULL, NULL, NULL, "try again",
	    "leave it" },
	{ ASK_BLOCKED, true, "node/g/T1", "t1", NULL, "T1", NULL, "try again",
	    "leave it" },
	{ ASK_BLOCKED, false, "worker/w", NULL, "w", NULL, NULL, "continue",
	    NULL },
	{ ASK_BLOCKED, false, ASKS_PAUSED, NULL, NULL, NULL, "llmc resume",
	    "continue", NULL },
	{ ASK_FAILURE, true, ASKS_LOST, NULL, NULL, NULL, "git cherry-pick x",
	    "seen", NULL },
	{ ASK_TOLD, true, "end", NULL, NULL, NULL, NULL, "seen", NULL },
	{ ASK_BLOCKED, false, "checkout", NULL, NULL, NULL, "llmc landing",
	    NULL, NULL },
	{ ASK_QUESTION, false, "question/R_1", "t1", "w", NULL, NULL, NULL,
	    NULL },
};

TEST_ROWS(every_ask_has_what_can_be_chosen_in_its_row, nitems(offers))
{
	struct ask *ask = ask_new(&(struct ask_draft){ .kind = offers[_i].kind,
				      .stays = offers[_i].stays,
				      .key = offers[_i].key,
				      .task = offers[_i].task,
				      .worker = offers[_i].worker,
				      .goal = offers[_i].node,
				      .node = offers[_i].node,
				      .command = offers[_i].command,
				      .title = "t" },
	    1, NOW);
	const char *const wanted[] = { offers[_i].first, offers[_i].second };
	size_t count = 0;

	for (; count < nitems(wanted) && wanted[count] != NULL; count++) {
		ck_assert_uint_gt(strv_count(ask->options), count);
		ck_assert_str_eq(ask->options[count], wanted[count]);
		/* All of them are understood as a decision. */
		ck_assert_int_eq(ask_decision(wanted[count]),
		    count == 0 ? ASK_SAYS_YES : ASK_SAYS_NO);
	}
	ck_assert_uint_eq(strv_count(ask->options), count);
	ask_free(ask);
}

TEST(it_is_found_by_whatever_it_is_about)
{
	static const char *const names[] = { "a12", "t3", "auto-1", "R_1",
		"task/t3" };
	struct ask_draft d = draft();
	struct ask *ask;

	d.worker = "auto-1";
	d.question = "R_1";
	ask = ask_new(&d, 12, NOW);
	for (size_t i = 0; i < nitems(names); i++)
		ck_assert_int_gt(ask_named(ask, names[i]), 0);
	ck_assert_int_eq(ask_named(ask, "a1"), 0);
	ck_assert_int_eq(ask_named(ask, "t"), 0);
	ask_free(ask);
	d.goal = "goal_7";
	d.node = "T1.2";
	ask = ask_new(&d, 12, NOW);
	ck_assert_int_gt(ask_named(ask, "goal_7/T1.2"), ask_named(ask, "T1.2"));
	ck_assert_int_gt(ask_named(ask, "T1.2"), 0);
	ck_assert_int_eq(ask_named(ask, "T1.1"), 0);
	ask_free(ask);
}

TEST(an_update_says_whether_anything_is_new)
{
	struct ask_draft d = draft();
	struct ask *ask = ask_new(&d, 1, NOW);
	const char *const options[] = { "yes", "no", NULL };

	ck_assert(!ask_update(ask, &d));
	d.words = "it has used 6 dollars";
	ck_assert(ask_update(ask, &d));
	ck_assert(!ask_update(ask, &d));
	d.options = options;
	ck_assert(ask_update(ask, &d));
	ck_assert(!ask_update(ask, &d));
	d.options = NULL;
	ck_assert(ask_update(ask, &d));
	ck_assert_str_eq(ask->words, "it has used 6 dollars");
	ask_free(ask);
}

TEST(what_nobody_answers_is_said_again_after_longer_and_longer)
{
	static const int64_t gaps[] = { 1, 4, 24, 24 };
	struct ask_draft d = draft();
	struct ask *ask = ask_new(&d, 1, NOW);

	for (size_t i = 0; i < nitems(gaps); i++) {
		int64_t due = ask->said_ms + gaps[i] * HOUR;

		ck_assert(!ask_is_due(ask, due - 1));
		ck_assert(ask_is_due(ask, due));
		ask->said_ms = due;
		ask->count++;
	}
	ask->kind = ASK_TOLD;
	ck_assert(!ask_is_due(ask, ask->said_ms + 100 * HOUR));
	ask_free(ask);
}

TEST(its_texts_hide_keys_and_it_survives_json)
{
	struct ask_draft d = draft();
	cleanup_json struct json_object *json = NULL, *again = NULL;
	struct ask *ask, *copy;

	d.words = "TOKEN=ghp_0123456789abcdefghijklmnopqrstuvwxyz is wrong";
	ask = ask_new(&d, 7, NOW);
	ck_assert_ptr_null(strstr(ask->words, "0123456789abcdef"));
	json = schema_json(&ask_schema, ask);
	copy = schema_make(&ask_schema, json, "", NULL);
	ck_assert_ptr_nonnull(copy);
	again = schema_json(&ask_schema, copy);
	ck_assert(json_object_equal(json, again));
	ck_assert_str_eq(copy->id, "a7");
	ask_free(copy);
	ask_free(ask);
}

/* --- what follows from the state ------------------------------------------ */

/* The only ask that follows, NULL = none; the caller frees it. */
static struct ask *
followed(const struct ask_facts *facts)
{
	size_t count;
	cleanup_free struct ask **added = ask_follow(facts, &count);

	ck_assert_uint_le(count, 1);
	return count == 1 ? added[0] : NULL;
}

/* However many workers it fails for, and until it works for all. */
TEST(what_fails_for_all_workers_is_one_ask)
{
	static const struct {
		enum worker_status status;
		const char *reasons[2], *key, *words;
	} rows[] = {
		{ WORKER_ERROR,
		    { WORKER_SETUP_FAILED " exited with status 1",
			WORKER_SETUP_FAILED " exited with status 1" },
		    "setup",
		    "ann and 1 more: repo.setup_command exited with status 1" },
		{ WORKER_PAUSED,
		    { "401" WORKER_LOGIN_LOST "claude auth login, then: ann",
			"401" WORKER_LOGIN_LOST "claude auth login, then: b" },
		    "login",
		    "ann and 1 more: 401; log in with: claude auth login, "
		    "then: ann" },
		/* Each kind has its own. */
		{ WORKER_PAUSED,
		    { "401" WORKER_LOGIN_LOST "claude auth login",
			"402" WORKER_LOGIN_LOST "codex login" },
		    "login",
		    "ann and 1 more: 401; log in with: claude auth login; bob: "
		    "402; log in with: codex login" },
	};

	for (size_t row = 0; row < nitems(rows); row++) {
		struct worker *w[] = { worker_new("ann", NOW),
			worker_new("bob", NOW) };
		struct ask_facts facts = {
			.now_ms = NOW, .workers = w, .worker_count = 2
		};
		struct ask *ask;

		for (size_t i = 0; i < nitems(w); i++)
			ck_assert_int_eq(
			    worker_transition(w[i], rows[row].status,
				rows[row].reasons[i], NOW, NULL),
			    0);
		ask = followed(&facts);
		ck_assert_str_eq(ask->key, rows[row].key);
		ck_assert_str_eq(ask->words, rows[row].words);
		facts.asks = &ask;
		facts.ask_count = 1;
		worker_transition(w[0], WORKER_OFFLINE, NULL, NOW, NULL);
		ck_assert_ptr_null(followed(&facts));
		ck_assert_int_eq(ask->how, ASK_OPEN);
		worker_transition(w[1], WORKER_OFFLINE, NULL, NOW, NULL);
		ck_assert_ptr_null(followed(&facts));
		ck_assert_int_eq(ask->how, ASK_RESOLVED);
		ask_free(ask);
		for (size_t i = 0; i < nitems(w); i++)
			schema_free(&worker_table, w[i]);
	}
}

static const struct {
	enum task_step step;
	enum ask_kind ask;
	bool answered, asks;
} tasks[] = {
	{ TASK_PARKED, ASK_QUESTION, false, true },
	{ TASK_PARKED, ASK_NONE, false, true },
	{ TASK_ASSIGNED, ASK_BLOCKED, false, true }, /* it is being parked */
	{ TASK_ASSIGNED, ASK_BLOCKED, true, false },
	{ TASK_ASSIGNED, ASK_NONE, false, false },
	{ TASK_WAITING, ASK_NONE, false, false },
};

TEST_ROWS(a_task_asks_from_the_moment_it_is_being_parked, nitems(tasks))
{
	struct task *t = task_new("t3", "plan", "g1/T1.1", "T", "x", 1);
	struct ask_facts facts = {
		.now_ms = NOW, .tasks = &t, .task_count = 1, .ids = 11
	};
	struct ask *ask;

	t->step = tasks[_i].step;
	t->ask = tasks[_i].ask;
	t->answered = tasks[_i].answered;
	xstrset(&t->reason, "tabs?");
	ask = followed(&facts);
	ck_assert_int_eq(ask != NULL, tasks[_i].asks);
	if (ask != NULL) {
		ck_assert_str_eq(ask->id, "a12");
		ck_assert_str_eq(ask->key, "task/t3");
		ck_assert_str_eq(ask->words, "tabs?");
		ck_assert_str_eq(ask->node, "T1.1");
		ck_assert_int_eq(ask->created_ms, NOW);
		/* The same again is nothing new; then it is over. */
		facts.asks = &ask;
		facts.ask_count = 1;
		ask->changed = false;
		ck_assert_ptr_null(followed(&facts));
		ck_assert(!ask->changed);
		facts.task_count = 0;
		facts.now_ms = NOW + 1;
		ck_assert_ptr_null(followed(&facts));
		ck_assert(ask->changed);
		ck_assert_int_eq(ask->how, ASK_RESOLVED);
		ck_assert_int_eq(ask->ended_ms, NOW + 1);
	}
	ask_free(ask);
	task_free(t);
}

static const struct {
	const char *worker, *task;
	enum ask_end how;
} questions[] = {
	{ "auto-1", "t3", ASK_OPEN },
	{ "auto-1", NULL, ASK_OPEN },
	{ NULL, NULL, ASK_OPEN },
	{ "auto-2", "t3", ASK_RESOLVED },
	{ "auto-1", "t4", ASK_RESOLVED },
};

TEST_ROWS(what_an_agent_asks_ends_with_the_agent, nitems(questions))
{
	struct task *t = task_new("t3", "plan", "g1/T1.1", "T", "x", 1);
	struct worker *w = worker_new("auto-1", 1);
	struct ask_draft d = draft();
	struct ask *ask;

	d.kind = ASK_QUESTION;
	d.key = ASK_OF_AGENT "R_1";
	d.worker = questions[_i].worker;
	d.task = questions[_i].task;
	ask = ask_new(&d, 1, NOW);
	ck_assert_ptr_null(followed(&(struct ask_facts){ .now_ms = NOW,
	    .workers = &w,
	    .worker_count = 1,
	    .tasks = &t,
	    .task_count = 1,
	    .asks = &ask,
	    .ask_count = 1 }));
	ck_assert_int_eq(ask->how, questions[_i].how);
	ask_free(ask);
	schema_free(&worker_table, w);
	task_free(t);
}

/* One that stays is over when its task is tried again, and not before. */
TEST(an_ask_that_stays_ends_with_what_it_is_about)
{
	struct task *t = task_new("t3", "plan", "g1/T1.1", "T", "x", 1);
	struct ask_facts facts = { .now_ms = NOW, .tasks = &t };
	struct ask_draft d = draft();
	struct ask *ask;

	d.kind = ASK_FAILURE;
	d.stays = true;
	ask = ask_new(&d, 1, NOW);
	facts.asks = &ask;
	facts.ask_count = 1;
	ck_assert_ptr_null(followed(&facts));
	ck_assert_int_eq(ask->how, ASK_OPEN);
	facts.task_count = 1;
	t->step = TASK_SETTLING;
	ck_assert_ptr_null(followed(&facts));
	ck_assert_int_eq(ask->how, ASK_OPEN);
	t->step = TASK_WAITING;
	ck_assert_ptr_null(followed(&facts));
	ck_assert_int_eq(ask->how, ASK_RESOLVED);
	ask_free(ask);
	task_free(t);
}

TEST(one_ask_takes_in_another)
{
	cleanup_free char *longest = xcalloc(1, ASK_WORDS_MAX);
	const char *options[] = { "A", "B", NULL };
	struct ask_draft d = draft();
	struct ask *ask, *other;

	memset(longest, 'x', ASK_WORDS_MAX - 1);
	d.question = "R_2";
	other = ask_new(&d, 2, NOW);
	d.question = "R_1";
	d.words = longest;
	d.options = options;
	ask = ask_new(&d, 1, NOW);
	ask->changed = false;
	ask_join(ask, other);
	ck_assert_uint_lt(strlen(ask->words), ASK_WORDS_MAX);
	ck_assert_ptr_nonnull(strstr(ask->words, "x\n\nit has used"));
	ck_assert_uint_eq(strv_count(ask->options), 0);
	ck_assert(ask->changed);
	ck_assert_int_eq(ask_named(ask, "R_1"), ASK_NAMED_BEST);
	ck_assert_int_eq(ask_named(ask, "R_2"), ASK_NAMED_BEST);
	ck_assert_int_eq(ask_named(ask, "R_"), 0);
	ck_assert_int_eq(ask_named(ask, ""), 0);
	ask_free(ask);
	ask_free(other);
}

TEST(a_goal_is_asked_about_unless_its_nodes_are)
{
	cleanup_json struct json_object *goals = json_tokener_parse(
	    "{\"goals\": [{\"goal\": \"g1\", \"blocked\": 2}]}");
	struct task *t = task_new("t3", "plan", "g1/T1.1", "T", "x", 1);
	struct ask_draft d = draft();
	struct ask *node, *ask;
	struct ask_facts facts = { .now_ms = NOW, .goals = goals };

	ask = followed(&facts);
	ck_assert_str_eq(ask->words, "2 nodes are blocked");
	ck_assert_str_eq(ask->command, "llmc goal plan recommend g1");
	ask_free(ask);
	d.key = "node/g1/T1.2";
	d.goal = "g1";
	d.node = "T1.2";
	d.task = NULL;
	d.stays = true;
	node = ask_new(&d, 1, NOW);
	facts.asks = &node;
	facts.ask_count = 1;
	ask = followed(&facts);
	ck_assert_str_eq(ask->words, "1 node is blocked");
	ask_free(ask);
	t->step = TASK_PARKED;
	facts.tasks = &t;
	facts.task_count = 1;
	ask = followed(&facts);
	ck_assert_str_eq(ask->key, "task/t3");
	ask_free(ask);
	ask_free(node);
	task_free(t);
}

TEST(who_took_it_first_is_who_was_told)
{
	struct ask_draft d = draft();
	struct ask *ask = ask_new(&d, 1, NOW);

	ck_assert_int_eq(ask->told_ms, 0);
	ck_assert(ask_told(ask, "ops", NOW + 1));
	ck_assert(!ask_told(ask, ASK_SEEN, NOW + 2));
	ck_assert_int_eq(ask->told_ms, NOW + 1);
	ck_assert_str_eq(ask->told_by, "ops");
	ask_free(ask);
}

TEST(what_is_told_again_is_saved_now_and_then)
{
	struct ask_draft d = draft();
	struct ask *ask = ask_new(&d, 1, NOW);

	ask->changed = false;
	ask_repeat(ask, &d, NOW + 1);
	ck_assert_int_eq(ask->count, 2);
	ck_assert(!ask->changed);
	ask_repeat(ask, &d, NOW + 60000);
	ck_assert(ask->changed);
	ask->changed = false;
	d.words = "more";
	ask_repeat(ask, &d, NOW + 60001);
	ck_assert(ask->changed);
	ask_free(ask);
}
