/* SPDX-License-Identifier: ISC */

/* Commands for tasks through the daemon, and a state written by another
 * program. */
#include "auto-world.h"
#include "book.h"
#include "landing-record.h"
#include "task.h"

static enum priority queued_as; /* the last item of the landing queue */

static void
begin_idle(const char *settings)
{
	auto_world_begin(settings);
	auto_world_live();
	auto_world_wait("exhausted; ");
	floor_world_settle();
	auto_world_told("exhausted; ");
}

/* The code of the error, 0 = none. */
static int
call(const char *method, const char *key, const char *value)
{
	cleanup_free char *params = xasprintf("\"%s\":\"%s\"", key, value);
	struct floor_call *made = floor_world_call(method, NULL, params);

	floor_world_answer(made);
	return floor_call_code(made);
}

static int
prioritize(const char *task, const char *priority)
{
	cleanup_free char *params =
	    xasprintf("\"task\":\"%s\",\"priority\":\"%s\"", task, priority);
	struct floor_call *made =
	    floor_world_call("task.priority", NULL, params);

	floor_world_answer(made);
	return floor_call_code(made);
}

/* --- tasks ----------------------------------------------------------- */

TEST(a_task_that_is_added_is_begun)
{
	begin_idle(NULL);
	ck_assert_int_eq(call("task.add", "text", "Do it"), 0);
	auto_world_turn(1);
	auto_world_told("task_assigned t1; ");
	ck_assert_int_eq(call("task.add", "text", ""), API_FAILED);
}

TEST(a_task_that_failed_is_tried_again)
{
	struct agent *agent;

	begin_idle("max_attempts = 1\nmax_turns = 1\n"
		   "check_command = \"test ! -e bad.txt\"\n");
	auto_world_task("a.md", "Do it\n");
	agent = auto_world_turn(1);
	auto_world_finish(agent, "bad.txt");
	auto_world_wait_done();
	auto_world_folder("failed: a.md; failed: a.md.why; ");
	ck_assert_int_eq(call("task.retry", "task", "t9"), API_UNKNOWN);
	ck_assert_int_eq(call("task.retry", "task", "t1"), 0);
	auto_world_turn(2);
	ck_assert_str_eq(agent->worker->task, "t2");
}

/* The task of this worker landed before, and the worker knows the commit. */
static void
expect_told_of_commit(struct agent *agent)
{
	const struct task *task =
	    state_task(&auto_world.core->state, agent->worker->task);
	cleanup_json struct json_object *json = task_to_json(task);
	cleanup_free char *told = NULL, *noted = NULL;
	const char *head = floor_world_sh("git rev-parse HEAD");

	ck_assert_str_eq(task->landed_before, head);
	told = xasprintf("done before, as commit %s,", head);
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(agent->session), told));
	noted = xasprintf("\"what\":\"did this before as commit\","
			  "\"detail\":\"%s\"",
	    head);
	ck_assert_ptr_nonnull(
	    strstr(json_object_to_json_string_ext(json, 0), noted));
}

static void
note_priority(const struct event *event, void *arg)
{
	const struct landing_record *record = &auto_world.core->state.landings;

	(void)arg;
	if (event->kind == EVENT_LANDING_QUEUED)
		queued_as = record->items[record->count - 1]->priority;
}

TEST_ROWS(work_lands_with_the_priority_of_its_task, 2)
{
	enum priority priority = _i == 0 ? PRIORITY_NORMAL : PRIORITY_LOW;
	struct agent *agent;

	begin_idle(NULL);
	emit_subscribe(auto_world.core, note_priority, &auto_world);
	auto_world_task("a.md",
	    priority == PRIORITY_NORMAL ? "Do it\n" :
					  "Priority: low\n\nDo it\n");
	agent = auto_world_turn(1);
	auto_world_finish(agent, "b.txt");
	auto_world_wait_done();
	ck_assert_int_eq(queued_as, priority);
}

TEST(a_landed_task_that_is_taken_back_says_so)
{
	struct agent *agent;
	const char *undone, *last;

	begin_idle(NULL);
	auto_world_task("a.md", "Do it\n");
	agent = auto_world_turn(1);
	auto_world_finish(agent, "b.txt");
	auto_world_wait_done();
	undone = floor_world_sh("git rev-parse main");
	ck_assert_int_eq(call("landing.revert", "commit", undone), 0);
	floor_world_sh("test ! -e b.txt");
	last = auto_world_record("t1");
	ck_assert_ptr_nonnull(strstr(last, undone));
	ck_assert_ptr_nonnull(
	    strstr(last, floor_world_sh("git rev-parse main")));
	/* What was no task is taken back too. */
	ck_assert_int_eq(call("landing.revert", "commit",
			     floor_world_sh("git rev-parse main")),
	    0);
	floor_world_sh("test -e b.txt");
	auto_world_filed("t1 landed; ");
}

TEST_ROWS(a_landed_task_is_done_again, 2)
{
	static const char *const names[] = { "t1", "a.md" };
	struct agent *agent;

	begin_idle(NULL);
	auto_world_task("a.md", "Priority: high\n\nDo it\n");
	agent = auto_world_turn(1);
	auto_world_finish(agent, "b.txt");
	auto_world_wait_done();
	auto_world_folder("done: a.md; ");
	ck_assert_int_eq(call("task.retry", "task", names[_i]), 0);
	auto_world_turn(2);
	ck_assert_str_eq(agent->worker->task, "t2");
	expect_told_of_commit(agent);
	ck_assert_int_eq(
	    state_task(&auto_world.core->state, "t2")->priority, PRIORITY_HIGH);
	auto_world_folder("doing: a.md; ");
	ck_assert_int_eq(call("task.retry", "task", names[_i]), API_STATUS);
}

TEST(a_landed_task_without_its_file_is_added_again)
{
	struct agent *agent;

	begin_idle(NULL);
	auto_world_task("a.md", "Do it\n");
	agent = auto_world_turn(1);
	auto_world_finish(agent, "b.txt");
	auto_world_wait_done();
	floor_world_sh("rm .llmc/tasks/done/a.md");
	ck_assert_int_eq(call("task.retry", "task", "t1"), 0);
	auto_world_turn(2);
	expect_told_of_commit(agent);
	auto_world_folder("doing: 1-do-it.md; ");
}

/* The file itself waits again, so that its end is written there too. */
TEST(a_task_file_that_landed_is_done_again)
{
	struct agent *agent;

	auto_world_begin("task_list = \".llmc/list\"\n");
	floor_world_sh(
	    "mkdir .llmc/list; echo '{\"id\":\"7\",\"subject\":\"Do it\","
	    "\"description\":\"\",\"status\":\"pending\"}' "
	    ">.llmc/list/7.json");
	auto_world_live();
	agent = auto_world_turn(1);
	auto_world_finish(agent, "b.txt");
	auto_world_wait_done();
	ck_assert_int_eq(call("task.retry", "task", "t1"), 0);
	auto_world_turn(2);
	expect_told_of_commit(agent);
	ck_assert_str_eq(
	    floor_world_sh("grep -c in_progress .llmc/list/7.json"), "1");
	auto_world_finish(agent, "c.txt");
	auto_world_wait_done();
	/* Without its file, from its record. */
	floor_world_sh("rm .llmc/list/7.json");
	ck_assert_int_eq(call("task.retry", "task", "7"), 0);
	auto_world_turn(3);
	expect_told_of_commit(agent);
}

/* This source does not keep finished tasks: the record is all there is. */
TEST(a_task_of_a_command_is_tried_again_from_its_record)
{
	struct agent *agent;

	auto_world_begin("max_attempts = 1\nmax_turns = 1\n"
			 "check_command = \"test ! -e bad.txt\"\n"
			 "task_pool_command = \"test -e .llmc/given && exit 4; "
			 "touch .llmc/given; echo do it\"\n");
	auto_world_live();
	agent = auto_world_turn(1);
	auto_world_finish(agent, "bad.txt");
	auto_world_wait_done();
	ck_assert_int_eq(call("task.add", "text", "More"), API_FAILED);
	ck_assert_int_eq(prioritize("t1", "high"), API_FAILED);
	ck_assert_int_eq(call("task.retry", "task", "t1"), 0);
	auto_world_turn(2);
	ck_assert_str_eq(agent->worker->task, "t2");
	auto_world_finish(agent, "b.txt");
	auto_world_wait_done();
	/* What has landed is done again too. */
	ck_assert_int_eq(call("task.retry", "task", "t2"), 0);
	auto_world_turn(3);
	expect_told_of_commit(agent);
}

/* It is its parent's to decide, and no plan says so here: as without a
 * daemon. */
TEST(a_failed_child_is_not_tried_again_by_a_person)
{
	struct agent *agent;
	struct task *t;

	auto_world_begin("max_attempts = 1\nmax_turns = 1\n"
			 "check_command = \"test ! -e bad.txt\"\n"
			 "task_pool_command = \"test -e .llmc/given && exit 4; "
			 "touch .llmc/given; echo do it\"\n");
	auto_world_live();
	agent = auto_world_turn(1);
	t = auto_task(agent);
	xstrset(&t->launch.parent, "t0");
	auto_world_finish(agent, "bad.txt");
	auto_world_wait_done();
	ck_assert_uint_eq(floor_world.core->state.ask_count, 0);
	ck_assert_int_eq(call("task.retry", "task", "t1"), API_STATUS);
	ck_assert_uint_eq(floor_world.core->state.task_count, 0);
}

TEST(a_task_is_added_with_its_priority)
{
	struct floor_call *made;

	begin_idle(NULL);
	xstrset(&auto_world.core->state.paused, "wait");
	made = floor_world_call("task.add", NULL,
	    "\"text\":\"Priority: low\\nDo it\",\"priority\":\"high\"");
	floor_world_answer(made);
	ck_assert_int_eq(floor_call_code(made), 0);
	ck_assert_int_eq(
	    call("task.add", "text", "Priority: low\\nThen this"), 0);
	ck_assert_str_eq(floor_world_sh("cat .llmc/tasks/todo/*"),
	    "Priority: high\n\nDo it\nPriority: low\n\nThen this");
}

TEST(priorities_are_changed_at_the_source_and_in_the_state)
{
	const struct task *task;
	struct agent *agent;

	begin_idle(NULL);
	xstrset(&auto_world.core->state.paused, "wait");
	auto_world_task("a.md", "One\n");
	auto_world_task("b.md", "Two\n");
	ck_assert_int_eq(prioritize("c.md", "high"), API_UNKNOWN);
	ck_assert_int_eq(prioritize("b.md", "high"), 0);
	free(take_ptr(&auto_world.core->state.paused));
	ck_assert_int_eq(call("task.add", "text", "Three"), 0);
	agent = auto_world_turn(1);
	task = state_task(&auto_world.core->state, agent->worker->task);
	ck_assert_str_eq(task->key, "b.md");
	ck_assert_int_eq(task->priority, PRIORITY_HIGH);
	/* In progress: by its id or its name. */
	ck_assert_int_eq(prioritize(task->id, "urgent"), 0);
	ck_assert_int_eq(task->priority, PRIORITY_URGENT);
	ck_assert_int_eq(prioritize("b.md", "low"), 0);
	ck_assert_int_eq(task->priority, PRIORITY_LOW);
	ck_assert_str_eq(floor_world_sh("cat .llmc/tasks/doing/b.md"),
	    "Priority: low\n\nTwo");
}

TEST(tasks_are_dropped)
{
	begin_idle(NULL);
	/* So that no worker gets a task. */
	xstrset(&auto_world.core->state.paused, "wait");
	auto_world_task("a.md", "Do it\n");
	ck_assert_int_eq(call("task.drop", "task", "b.md"), API_UNKNOWN);
	ck_assert_int_eq(call("task.drop", "task", "a.md"), 0);
	auto_world_folder("");
	/* A task that is already in the state. */
	floor_world.store_fails = true;
	free(take_ptr(&auto_world.core->state.paused));
	auto_world_task("c.md", "Do it\n");
	floor_world_until(auto_world.core->state.task_count > 0);
	xstrset(&auto_world.core->state.paused, "wait");
	floor_world.store_fails = false;
	ck_assert_int_eq(call("task.drop", "task", "t1"), 0);
	auto_world_all_filed("t1 aborted; ");
}

TEST(what_has_landed_is_not_dropped_or_changed)
{
	struct agent *agent;

	auto_world_begin(
	    "post_accept_command = \"until test -e .llmc/go; do sleep 0.05; "
	    "done\"\n");
	auto_world_task("a.md", "Do it\n");
	auto_world_live();
	agent = auto_world_turn(1);
	auto_world_finish(agent, "b.txt");
	auto_world_wait_post("run");
	ck_assert_int_eq(call("task.drop", "task", "t1"), API_STATUS);
	ck_assert_int_eq(prioritize("t1", "high"), API_STATUS);
	floor_world_sh("touch .llmc/go");
	auto_world_wait("task_finished t1 landed; ");
}

/* --- a book that another program replaced ------------------------------ */

static const char *const replaced[] = { "rm llmc.db",
	"cp llmc.db b; mv b llmc.db", "echo x >b; mv b llmc.db",
	"rm llmc.db; mkdir llmc.db" };

TEST_ROWS(a_book_that_is_gone_is_a_failure, nitems(replaced))
{
	cleanup_free char *script = xasprintf("cd .llmc; %s", replaced[_i]);
	uint64_t receipts;

	begin_idle(NULL);
	floor_world_settle();
	floor_world_sh(script);
	receipts = ++auto_world.core->state.receipts;
	persist_changed(auto_world.core);
	auto_world_fails("state_overwritten");
	/* What it knew is put back. */
	auto_world_reopen();
	ck_assert_ptr_nonnull(state_find(&auto_world.core->state, "auto-1"));
	ck_assert_uint_ge(auto_world.core->state.receipts, receipts);
	ck_assert_int_eq(book_commit(auto_world.core->book, NULL), 0);
}

/* In place, with a time that is not that of our last write. */
static const char *const overwritten[] = { "echo nonsense >llmc.db",
	": >llmc.db",
	"dd if=/dev/urandom of=llmc.db bs=4096 count=3 conv=notrunc",
	"dd if=/dev/zero of=llmc.db bs=4096 count=1 conv=notrunc",
	"truncate -s -4096 llmc.db",
	"tr L M <llmc.db >b; cat b >llmc.db; rm b" };

TEST_ROWS(
    a_book_that_is_overwritten_is_noticed_by_the_patrol, nitems(overwritten))
{
	cleanup_free char *script =
	    xasprintf("cd .llmc; { %s; } 2>&1; touch -d 2001-01-01 llmc.db",
		overwritten[_i]);

	begin_idle(NULL);
	floor_world_sh(script);
	persist_check_book(auto_world.core); /* as the patrol does */
	auto_world_fails("state_overwritten");
	ck_assert_ptr_nonnull(strstr(floor_world_sh("cat .llmc/failure.json"),
	    "was overwritten by another"));
	auto_world_reopen();
	ck_assert_ptr_nonnull(state_find(&auto_world.core->state, "auto-1"));
	ck_assert_int_eq(book_commit(auto_world.core->book, NULL), 0);
}
