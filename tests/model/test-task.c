/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "attempt.h"
#include "excerpt.h"
#include "task.h"

#define NOW 1766502000000

static void
cleanup_task_fn(struct task **task)
{
	task_free(*task);
}
#define cleanup_task __attribute__((cleanup(cleanup_task_fn)))

static struct task *
make(const char *text)
{
	return task_new("t1", "folder", "a.md", NULL, text, NOW);
}

/* A task that waits for a worker. */
static struct task *
make_taken(const char *text)
{
	struct task *task = make(text);

	ck_assert_int_eq(task_take(task, NOW), 0);
	return task;
}

/* The n-th entry from the end of the history: "what: detail". */
static void
assert_noted(const struct task *task, size_t back, const char *wanted)
{
	size_t count = json_object_array_length(task->history);
	struct json_object *entry;
	cleanup_free char *said = NULL;

	ck_assert_uint_gt(count, back);
	entry = json_object_array_get_idx(task->history, count - 1 - back);
	said = xasprintf("%s: %s", json_string_or(entry, "what", "?"),
	    json_string_or(entry, "detail", "-"));
	ck_assert_str_eq(said, wanted);
}

/* Columns in the order of the rows: offered, waiting, assigned, queued, landed,
 * parked, elsewhere, settling. */
static const char *const wanted_table[TASK_STEP_COUNT] = {
	[TASK_OFFERED] = /*  */ ". W . . . . . S",
	[TASK_WAITING] = /*  */ ". . A . . P E S",
	[TASK_ASSIGNED] = /* */ ". W . Q L P . S",
	[TASK_QUEUED] = /*   */ ". W . . L . . S",
	[TASK_LANDED] = /*   */ ". W . . . . . S",
	[TASK_PARKED] = /*   */ ". W . Q . . . S",
	[TASK_ELSEWHERE] = /**/ ". W . . . P . S",
	[TASK_SETTLING] = /* */ ". . . . . . E .",
};

TEST(table_is_the_one_that_was_agreed)
{
	static const char letters[] = "OWAQLPES";

	printf("# %-11sO W A Q L P E S\n", "from \\ to");
	for (unsigned from = 0; from < TASK_STEP_COUNT; from++) {
		cleanup_buf struct buf row = BUF_INIT;

		for (unsigned to = 0; to < TASK_STEP_COUNT; to++)
			buf_addf(&row, "%s%c", to > 0 ? " " : "",
			    task_step_may(
				(enum task_step)from, (enum task_step)to) ?
				letters[to] :
				'.');
		printf("# %-11s%s\n", task_step_name((enum task_step)from),
		    row.data);
		ck_assert_str_eq(row.data, wanted_table[from]);
	}
	fflush(stdout);
}

TEST(a_task_of_an_agent_fits_a_sandbox_that_is_as_strict)
{
	cleanup_task struct task *task = make("x");
	cleanup_task struct task *again = NULL;

	ck_assert(task_fits(task, BOX_OFF));
	task_set_maker(task, "auto-1", "worktree");
	ck_assert(!task_fits(task, BOX_OFF));
	ck_assert(task_fits(task, BOX_WORKTREE));
	ck_assert(task_fits(task, BOX_STRICT));
	/* Done again, it is still that agent's. */
	again = task_new_retry("t2", task, NOW);
	ck_assert_str_eq(again->maker, "auto-1");
	ck_assert(!task_fits(again, BOX_OFF));
	task_set_maker(task, "auto-1", "stricter");
	ck_assert(!task_fits(task, BOX_WORKTREE));
	ck_assert(task_fits(task, BOX_STRICT));
}

TEST(what_is_no_step_may_nothing)
{
	ck_assert(!task_step_may(TASK_OFFERED, TASK_STEP_COUNT));
	ck_assert(!task_step_may(TASK_STEP_COUNT, TASK_WAITING));
	ck_assert(!task_step_may((enum task_step) - 1, TASK_WAITING));
}

TEST(refused_move_changes_nothing_and_says_so)
{
	cleanup_task struct task *task = make("x");
	struct err err = { 0 };

	ck_assert_int_eq(task_move(task, TASK_LANDED, NOW + 1, &err), -EINVAL);
	ck_assert_str_eq(err.msg, "t1: offered cannot become landed");
	ck_assert_int_eq(
	    task_move(task, TASK_STEP_COUNT, NOW + 1, &err), -EINVAL);
	ck_assert_str_eq(err.msg, "t1: there is no such step");
	ck_assert_int_eq(task_assign(task, "auto-1", NOW + 1), -EINVAL);
	ck_assert_int_eq(task_landed(task, "3f2a91c", NOW + 1), -EINVAL);
	ck_assert_int_eq(task_give_back(task, "no", NOW + 1), -EINVAL);
	ck_assert(!task_attempt_failed(task, "no", 3, NOW + 1));
	ck_assert_int_eq(task->step, TASK_OFFERED);
	ck_assert_int_eq(task->attempts, 0);
	ck_assert_int_eq(task->assigned_ms, 0);
	ck_assert_ptr_null(task->worker);
	ck_assert_ptr_null(task->commit);
	ck_assert_uint_eq(json_object_array_length(task->history), 0);
	ck_assert_int_eq(task_take(task, NOW + 1), 0);
	ck_assert_int_eq(task_take(task, NOW + 1), -EINVAL);
	ck_assert_int_eq(task_settle(task, OUTCOME_ABORTED, NULL, NOW), 0);
	ck_assert_int_eq(task_settle(task, OUTCOME_LANDED, NULL, NOW), -EINVAL);
	ck_assert(!task_attempt_failed(task, "no", 3, NOW));
	ck_assert_int_eq(task->outcome, OUTCOME_ABORTED);
	assert_noted(task, 0, "aborted: -");
}

TEST(new_task_is_offered)
{
	cleanup_task struct task *task = make("Mend it.\nAll of it.\n");

	ck_assert_str_eq(task->id, "t1");
	ck_assert_str_eq(task->source, "folder");
	ck_assert_str_eq(task->key, "a.md");
	ck_assert_str_eq(task->title, "Mend it.");
	ck_assert_str_eq(task->text, "Mend it.\nAll of it.\n");
	ck_assert_int_eq(task->step, TASK_OFFERED);
	ck_assert_int_eq(task->outcome, OUTCOME_NONE);
	ck_assert_int_eq(task->priority, PRIORITY_NORMAL);
	ck_assert_int_eq(task->created_ms, NOW);
	ck_assert_int_eq(task->attempts, 0);
	ck_assert_uint_eq(json_object_array_length(task->history), 0);
	task_free(NULL);
}

TEST(title_is_the_first_line_that_says_something)
{
	static const struct {
		const char *title, *text, *wanted;
	} cases[] = {
		{ NULL, "# Add a flag #1\n\nMore", "Add a flag #1" },
		{ NULL, "\n \t\n---\n## Two\n", "Two" },
		{ NULL, "- [ ] **Rename** `foo`  to\tbar  ",
		    "Rename foo to bar" },
		{ NULL, "> * 3. nested", "nested" },
		{ NULL, "12) twelve", "twelve" },
		{ NULL, "#12 is broken", "#12 is broken" },
		{ NULL, "-v says nothing", "-v says nothing" },
		{ NULL, "2 files are missing", "2 files are missing" },
		{ NULL, "3.5 is no number of an item",
		    "3.5 is no number of an item" },
		{ NULL, "```sh\nmake\n```", "make" },
		{ NULL, "CR\r\nLF", "CR" },
		{ NULL, "a\x1b[31mb", "a [31mb" },
		{ NULL,
		    "a\xff"
		    "b",
		    "a\xef\xbf\xbd"
		    "b" },
		{ NULL, "\xe4\xbf\xae\xe5\xa4\x8d",
		    "\xe4\xbf\xae\xe5\xa4\x8d" },
		{ NULL, "", "t1" },
		{ NULL, "---\n***\n", "t1" },
		{ NULL, NULL, "t1" },
		{ "Given", "Not this", "Given" },
		{ "\nGiven\nwith more", "Not this", "Given" },
		{ "", "This", "This" },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		cleanup_task struct task *task = task_new(
		    "t1", "command", "k", cases[i].title, cases[i].text, NOW);

		ck_assert_str_eq(task->title, cases[i].wanted);
	}
}

TEST(long_title_is_cut_between_characters)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_task struct task *task = NULL;

	for (int i = 0; i < 50; i++)
		buf_adds(&text, "\xe2\x82\xac");
	task = make(text.data);
	ck_assert_uint_eq(strlen(task->title), 99);
	ck_assert(text_utf8_valid(task->title, 99));
}

TEST(history_keeps_its_first_and_last_entries)
{
	cleanup_task struct task *task = make("x");
	struct json_object *entry;
	char what[16];

	for (int i = 0; i < TASK_HISTORY_MAX + 10; i++) {
		snprintf(what, sizeof what, "%d", i);
		task_note(task, what, NULL, NOW + i * 1000);
	}
	ck_assert_uint_eq(
	    json_object_array_length(task->history), TASK_HISTORY_MAX);
	entry = json_object_array_get_idx(task->history, 0);
	ck_assert_str_eq(json_string_or(entry, "what", ""), "0");
	ck_assert_int_eq(json_int_or(entry, "at_unix", 0), NOW / 1000);
	ck_assert(!json_object_object_get_ex(entry, "detail", NULL));
	entry = json_object_array_get_idx(task->history, 1);
	ck_assert_str_eq(json_string_or(entry, "what", ""), "11");
	assert_noted(task, 0, "49: -");
}

TEST(long_detail_is_cut)
{
	cleanup_task struct task *task = make("x");
	cleanup_buf struct buf detail = BUF_INIT;
	const char *kept;

	for (int i = 0; i < 500; i++)
		buf_adds(&detail, "\xe2\x82\xac");
	task_note(task, "x", detail.data, NOW);
	kept = json_string_or(
	    json_object_array_get_idx(task->history, 0), "detail", "");
	ck_assert_uint_eq(strlen(kept), 1023);
	ck_assert(text_utf8_valid(kept, 1023));
}

TEST(assignment_begins_an_attempt)
{
	cleanup_task struct task *task = make_taken("x");

	task_assign(task, "auto-1", NOW + 5);
	ck_assert_int_eq(task->step, TASK_ASSIGNED);
	ck_assert_str_eq(task->worker, "auto-1");
	ck_assert_int_eq(task->attempts, 1);
	ck_assert_int_eq(task->assigned_ms, NOW + 5);
	assert_noted(task, 0, "assigned: auto-1");
	task->turns = 4;
	task->nudges = 2;
	task->tokens = 17;
	ck_assert(task_attempt_failed(task, "no", 3, NOW));
	task_assign(task, "auto-2", NOW + 9);
	ck_assert_str_eq(task->worker, "auto-2");
	ck_assert_int_eq(task->attempts, 2);
	ck_assert_int_eq(task->turns, 0);
	ck_assert_int_eq(task->turns_before, 4);
	ck_assert_int_eq(task->nudges, 0);
	ck_assert_int_eq(task->tokens, 17);
	ck_assert_str_eq(task->reason, "no");
}

TEST(failed_attempts_are_repeated_then_a_dead_letter)
{
	cleanup_task struct task *task = make_taken("x");

	for (int i = 1; i < 3; i++) {
		task_assign(task, "auto-1", NOW);
		ck_assert(task_attempt_failed(task, "no luck", 3, NOW + i));
		ck_assert_int_eq(task->step, TASK_WAITING);
		ck_assert_int_eq(task->outcome, OUTCOME_NONE);
		ck_assert_str_eq(task->reason, "no luck");
		ck_assert_int_eq(task->finished_ms, 0);
		assert_noted(task, 0, "attempt failed: no luck");
	}
	task_assign(task, "auto-1", NOW);
	ck_assert(!task_attempt_failed(task, "again", 3, NOW + 7));
	ck_assert_int_eq(task->step, TASK_SETTLING);
	ck_assert_int_eq(task->outcome, OUTCOME_DEAD_LETTER);
	ck_assert_str_eq(task->reason, "again");
	ck_assert_int_eq(task->finished_ms, NOW + 7);
	assert_noted(task, 0, "dead-letter: again");
}

TEST(the_only_attempt_fails_the_task)
{
	for (int max = 0; max <= 1; max++) {
		cleanup_task struct task *task = make_taken("x");

		task_assign(task, "auto-1", NOW);
		ck_assert(!task_attempt_failed(task, "no", max, NOW));
		ck_assert_int_eq(task->outcome, OUTCOME_FAILED);
		assert_noted(task, 0, "failed: no");
	}
}

TEST(task_given_back_waits_and_has_lost_no_attempt)
{
	cleanup_task struct task *task = make_taken("x");

	task_assign(task, "auto-1", NOW);
	task->turns = 3;
	ck_assert_int_eq(task_give_back(task, "reset", NOW), 0);
	ck_assert_int_eq(task->step, TASK_WAITING);
	ck_assert_int_eq(task->attempts, 0);
	ck_assert_ptr_null(task->reason);
	assert_noted(task, 0, "given back: reset");
	ck_assert_int_eq(task_give_back(task, NULL, NOW), -EINVAL);
	assert_noted(task, 0, "given back: reset"); /* the second call changes
						     * nothing */
	task_assign(task, "auto-1", NOW);
	ck_assert(task_attempt_failed(task, "no", 3, NOW));
	ck_assert_int_eq(task_give_back(task, "again", NOW), -EINVAL);
	ck_assert_int_eq(task->attempts, 1);
	ck_assert_int_eq(task->turns_before, 3);
}

TEST(settled_task_has_its_outcome)
{
	cleanup_task struct task *task = make_taken("x");

	task_assign(task, "auto-1", NOW);
	ck_assert(task_attempt_failed(task, "no", 3, NOW));
	task_settle(task, OUTCOME_ABORTED, NULL, NOW + 1);
	ck_assert_int_eq(task->step, TASK_SETTLING);
	ck_assert_int_eq(task->outcome, OUTCOME_ABORTED);
	ck_assert_str_eq(task->reason, "no"); /* the last known one */
	ck_assert_int_eq(task->finished_ms, NOW + 1);
	ck_assert_str_eq(task->worker, "auto-1");
	assert_noted(task, 0, "aborted: -");
}

TEST(landed_task_forgets_what_failed_before)
{
	cleanup_task struct task *task = make_taken("x");

	task_assign(task, "auto-1", NOW);
	ck_assert(task_attempt_failed(task, "no", 3, NOW));
	task_assign(task, "auto-1", NOW);
	ck_assert_int_eq(task_landed(task, "3f2a91c", NOW + 2), 0);
	ck_assert_int_eq(task->step, TASK_LANDED);
	ck_assert_str_eq(task->commit, "3f2a91c");
	ck_assert_int_eq(task->finished_ms, 0);
	assert_noted(task, 0, "landed: 3f2a91c");
	ck_assert_int_eq(task_settle(task, OUTCOME_LANDED, NULL, NOW + 3), 0);
	ck_assert_ptr_null(task->reason);
	ck_assert_int_eq(task->finished_ms, NOW + 3);
}

TEST(landing_may_find_the_work_there_already)
{
	cleanup_task struct task *task = make_taken("x");

	task_assign(task, "auto-1", NOW);
	ck_assert_int_eq(task_landed(task, NULL, NOW), 0);
	ck_assert_ptr_null(task->commit);
	assert_noted(task, 0, "nothing left to land: -");
}

TEST(landed_task_that_is_taken_back_waits_again)
{
	cleanup_task struct task *task = make_taken("x");

	task_assign(task, "auto-1", NOW);
	ck_assert_int_eq(task_landed(task, "3f2a91c", NOW), 0);
	ck_assert_int_eq(task_give_back(task, "no", NOW), -EINVAL);
	ck_assert(task_attempt_failed(task, "post", 3, NOW));
	ck_assert_int_eq(task->step, TASK_WAITING);
	ck_assert_int_eq(task->attempts, 1);
}

TEST(worker_is_told_what_landed_before)
{
	cleanup_task struct task *task = make_taken("Mend it.");
	cleanup_buf struct buf out = BUF_INIT;
	static const char told[] =
	    "Mend it.\n\nThis task was done before, as commit 3f2a91c, and is "
	    "to be done again. Look at that commit, and at what has become of "
	    "it since.\n";

	xstrset(&task->landed_before, "3f2a91c");
	task_assign(task, "auto-1", NOW);
	task_text(task, &out);
	ck_assert_str_eq(out.data, told);
	ck_assert(task_attempt_failed(task, "no", 9, NOW));
	buf_clear(&out);
	task_text(task, &out);
	ck_assert_int_eq(strncmp(out.data, told, strlen(told)), 0);
	ck_assert_str_eq(out.data + strlen(told),
	    "\nAn earlier attempt at this task failed. How it ended:\n> no\n");
}

TEST(worker_is_told_how_it_went_before)
{
	cleanup_task struct task *task = make_taken("Mend it.");
	cleanup_buf struct buf out = BUF_INIT;

	task_assign(task, "auto-1", NOW);
	task_text(task, &out);
	ck_assert_str_eq(out.data, "Mend it.");
	xstrset(&task->last_words, "Which one?");
	ck_assert(task_attempt_failed(task, "it asked\ntwice", 9, NOW));
	buf_clear(&out);
	task_text(task, &out);
	ck_assert_str_eq(out.data,
	    "Mend it.\n\nAn earlier attempt at this task failed. How it "
	    "ended:\n> it asked\n> twice\nThe last message of the agent that "
	    "tried:\n> Which one?\n");
	task_assign(task, "auto-1", NOW);
	xstrset(&task->last_words, NULL);
	ck_assert(task_attempt_failed(task, "no", 9, NOW));
	task_assign(task, "auto-1", NOW); /* no difference before or after
					   * this */
	buf_clear(&out);
	task_text(task, &out);
	ck_assert_str_eq(out.data,
	    "Mend it.\n\n2 earlier attempts at this task failed. How the last "
	    "one ended:\n> no\n");
}

static void
assert_next(struct task *const *tasks, size_t count, const char *id)
{
	struct task *next = task_next_waiting(tasks, count);

	ck_assert_str_eq(next == NULL ? "none" : next->id, id);
}

TEST(next_is_by_label_then_people_then_priority_then_age)
{
	static const struct {
		const char *id, *label;
		enum priority priority;
		int64_t created;
		enum task_step step;
		const char *maker;
	} rows[] = {
		{ "t1", "a", PRIORITY_NORMAL, 1, TASK_ASSIGNED, NULL },
		{ "t10", NULL, PRIORITY_URGENT, 0, TASK_WAITING, "auto-1" },
		{ "t2", "a", PRIORITY_URGENT, 2, TASK_WAITING, NULL },
		{ "t3", NULL, PRIORITY_LOW, 3, TASK_WAITING, NULL },
		{ "t4", "b", PRIORITY_HIGH, 5, TASK_WAITING, NULL },
		{ "t5", NULL, PRIORITY_HIGH, 4, TASK_WAITING, NULL },
		{ "t6", "c", PRIORITY_HIGH, 4, TASK_WAITING, NULL },
		{ "t7", NULL, PRIORITY_URGENT, 0, TASK_OFFERED, NULL },
		{ "t8", "c", PRIORITY_URGENT, 0, TASK_SETTLING, NULL },
		{ "t9", "c", PRIORITY_URGENT, 0, TASK_LANDED, NULL },
	};
	static const char *const order[] = { "t5", "t6", "t4", "t3", "t10",
		"t2", "none" };
	struct task *tasks[nitems(rows)], *next;

	for (size_t i = 0; i < nitems(rows); i++) {
		tasks[i] = task_new(rows[i].id, "files", rows[i].id, NULL, "x",
		    rows[i].created);
		xstrset(&tasks[i]->label, rows[i].label);
		tasks[i]->priority = rows[i].priority;
		tasks[i]->step = rows[i].step;
		task_set_maker(tasks[i], rows[i].maker, "off");
		ck_assert(rows[i].maker == NULL ||
		    task_landing_priority(tasks[i]) == PRIORITY_LOW);
	}
	for (size_t i = 0; i < nitems(order); i++) {
		assert_next(tasks, nitems(tasks), order[i]);
		next = task_next_waiting(tasks, nitems(tasks));
		if (next != NULL)
			next->step = TASK_SETTLING;
	}
	assert_next(tasks, 0, "none");
	for (size_t i = 0; i < nitems(rows); i++)
		task_free(tasks[i]);
}

TEST(a_worker_of_another_host_has_not_added_it)
{
	cleanup_task struct task *task = make("Add a flag");

	ck_assert(!task_is_made_by(task, "auto-1"));
	task_set_maker(task, "auto-1", "strict");
	ck_assert(task_is_made_by(task, "auto-1"));
	ck_assert(!task_is_made_by(task, "auto-2"));
	xstrset(&task->source, HOSTS_SOURCE);
	ck_assert(!task_is_made_by(task, "auto-1"));
}

TEST(work_that_leaves_the_queue_goes_on)
{
	cleanup_task struct task *task = make("Add a flag");
	cleanup_buf struct buf text = BUF_INIT;

	task_take(task, NOW);
	ck_assert_int_eq(task_queue(task, NOW), -EINVAL);
	ck_assert_int_eq(task_send_back(task, "3f2", "no", NOW), -EINVAL);
	task_assign(task, "auto-1", NOW);
	task->turns = 2;
	ck_assert_int_eq(task_queue(task, NOW), 0);
	assert_noted(task, 0, "queued without its worker: auto-1");
	ck_assert_int_eq(task_send_back(task, "3f2", "it failed", NOW), 0);
	ck_assert_int_eq(task->step, TASK_WAITING);
	assert_noted(task, 0, "sent back: it failed");
	/* The same attempt, with its turns. */
	task_assign(task, "auto-2", NOW);
	ck_assert_int_eq(task->attempts, 1);
	ck_assert_int_eq(task->turns, 2);
	task_text(task, &text);
	ck_assert_str_eq(text.data,
	    "Add a flag\n\nThis task was worked on before. That work is in "
	    "your worktree, as commit 3f2, but it has not landed:\n"
	    "> it failed\n");
	task_give_back(task, "lost", NOW);
	ck_assert_int_eq(task->attempts, 1);
	ck_assert_str_eq(task->from, "3f2");
	/* Nor is it lost when nobody knows where its work is now. */
	task_assign(task, "auto-2", NOW);
	ck_assert_int_eq(task_park(task, ASK_BUDGET, NULL, "budget", NOW), 0);
	ck_assert_int_eq(task->ask, ASK_BUDGET);
	ck_assert_str_eq(task->from, "3f2");
	task->nudges = 3;
	ck_assert_int_eq(task_attempt_turns(task), 2);
	task_unpark(task, NULL, NOW);
	ck_assert_int_eq(task->ask, ASK_NONE);
	/* Whoever lets it go on gives it all its turns again. */
	task_assign(task, "auto-2", NOW);
	ck_assert_int_eq(task->turns, 2);
	ck_assert_int_eq(task_attempt_turns(task), 0);
	ck_assert_int_eq(task->nudges, 0);
	task->turns++;
	ck_assert_int_eq(task_attempt_turns(task), 1);
	/* The next attempt starts over. */
	ck_assert(task_attempt_failed(task, "bad", 3, NOW));
	ck_assert_ptr_null(task->from);
	task_assign(task, "auto-2", NOW);
	ck_assert_int_eq(task->attempts, 2);
	ck_assert_int_eq(task->turns, 0);
	ck_assert_int_eq(task->turns_before, 3);
	ck_assert_int_eq(task_attempt_turns(task), 0);
}

TEST(fix_is_urgent_and_knows_what_broke)
{
	cleanup_task struct task *broken = make("Add a flag"), *fix = NULL,
				 *second = NULL;
	cleanup_buf struct buf output = BUF_INIT;

	xstrset(&broken->commit, "3f2a91c");
	xstrset(&broken->label, "ui");
	for (size_t i = 0; i < EXCERPT_MAX; i++)
		buf_addf(&output, "line %zu\n", i);
	fix = task_for_fix("t2", &broken, 1, "make test", output.data, NOW);
	ck_assert_str_eq(fix->id, "t2");
	ck_assert_str_eq(fix->source, "fix");
	ck_assert_str_eq(fix->key, "t1");
	ck_assert_str_eq(fix->label, "ui");
	ck_assert_str_eq(fix->title, "Fix after: Add a flag");
	ck_assert_int_eq(fix->priority, PRIORITY_URGENT);
	ck_assert_int_eq(fix->fixes, 1);
	ck_assert_int_eq(fix->step, TASK_OFFERED);
	ck_assert_ptr_nonnull(strstr(fix->text, "> make test\n"));
	ck_assert_ptr_nonnull(strstr(fix->text, "as 3f2a91c:\n> Add a flag\n"));
	ck_assert_ptr_nonnull(strstr(fix->text, "line 8191\n```\n"));
	ck_assert_uint_lt(strlen(fix->text), EXCERPT_MAX + 1000);
	second = task_for_fix(
	    "t3", (struct task *[]){ fix, broken }, 2, "make test", "", NOW);
	ck_assert_int_eq(second->fixes, 2);
	ck_assert_str_eq(second->key, "t1");
	ck_assert_ptr_nonnull(strstr(second->text,
	    "What had just landed:\n> Fix after: Add a flag\nAnd as "
	    "3f2a91c:\n> Add a flag\n"));
	ck_assert_ptr_nonnull(strstr(second->text, "It printed nothing.\n"));
}

TEST(words_parse_back)
{
	enum task_outcome outcome = OUTCOME_ABORTED;

	for (unsigned i = 0; i < OUTCOME_COUNT; i++) {
		ck_assert(task_outcome_parse(
		    task_outcome_name((enum task_outcome)i), &outcome));
		ck_assert_uint_eq(outcome, i);
	}
	ck_assert(!task_outcome_parse("Landed", &outcome));
	ck_assert(!task_outcome_parse("", &outcome));
	ck_assert_str_eq(task_outcome_name(OUTCOME_DEAD_LETTER), "dead-letter");
	ck_assert_str_eq(task_outcome_name(OUTCOME_NO_CHANGES), "no_changes");
	ck_assert_str_eq(task_step_name(TASK_WAITING), "waiting");
	ck_assert_str_eq(task_step_name(TASK_SETTLING), "settling");
}

/* The id, the name at the source, the place in a goal, the node alone. */
TEST(a_task_is_named_by_its_id_its_key_or_its_place)
{
	static const struct {
		const char *source, *key, *word;
		int fits;
	} rows[] = {
		{ "folder", "a.md", "t17", 5 },
		{ "folder", "a.md", "t1", 0 },
		{ "folder", "a.md", "a.md", 4 },
		{ "folder", "a/T1.1", "T1.1", 0 },
		{ "plan", "goal_ab/T3.1", "goal_ab/T3.1", 4 },
		{ "plan", "goal_ab/T3.1", "goal_a/T3.1", 2 },
		{ "plan", "goal_ab/T3.1", "g/3.1", 2 },
		{ "plan", "g2/T3.1", "g2/3.1", 3 },
		{ "plan", "g20/T3.1", "g2/3.1", 0 },
		{ "plan", "goal_ab/T3.1", "T3.1", 1 },
		{ "plan", "goal_ab/T3.1", "3.1", 1 },
		{ "plan", "goal_ab/T3.1", "/3.1", 0 },
		{ "plan", "goal_ab/T3.1", "goal_abc/3.1", 0 },
		{ "plan", "goal_ab/T3.1", "h/3.1", 0 },
		{ "plan", "goal_ab/T3.1", "g/3", 0 },
		{ "plan", "goal_ab/T3.1", "g/", 0 },
		{ "plan", "goal_ab/", "1", 0 },
		{ "plan", NULL, "g/1", 0 },
		{ NULL, NULL, "", 0 },
	};

	for (size_t i = 0; i < nitems(rows); i++)
		ck_assert_msg(task_named("t17", rows[i].source, rows[i].key,
				  rows[i].word) == rows[i].fits,
		    "%s", rows[i].word);
}

/* In the conversation in which it asked, but only its own worker. */
TEST_ROWS(an_answered_task_keeps_its_conversation, 3)
{
	cleanup_task struct task *task = make_taken("x");
	bool kept = _i == 0;

	task_assign(task, "auto-1", NOW);
	ck_assert_int_eq(
	    task_park(task, ASK_QUESTION, "c0ffee", "which?", NOW), 0);
	task->conversation = xstrdup("id");
	task->transcript = xstrdup("/id.jsonl");
	task_unpark(task, "blue", NOW);
	task_assign(task, _i == 1 ? "auto-2" : "auto-1", NOW);
	if (_i == 2)
		task_attempt_failed(task, "no", 3, NOW);
	ck_assert(kept == (task->conversation != NULL));
	ck_assert(kept == (task->transcript != NULL));
}
