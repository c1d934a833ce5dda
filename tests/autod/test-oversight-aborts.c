/* SPDX-License-Identifier: ISC */

/* A person ends a task, whatever its worker does just then; and its daemon may
 * be killed at any moment. */
#include "oversight-world.h"
#include "check-book.h"
#include "landing-private.h"
#include "oversight-floor.h"
#include "worker-op.h"

#define has floor_has

static const char *
abort_it(const char *name)
{
	cleanup_free char *params =
	    xasprintf("{\"task\": \"%s\", \"reason\": \"wrong way\", "
		      "\"user\": \"ann\"}",
		name);

	return oversight_world_ask("task.abort", params);
}

static const char *
salvaged(const char *file)
{
	cleanup_free char *script = xasprintf(
	    "for r in $(git for-each-ref --format='%%(refname)' "
	    "refs/llmc/salvage); do git show $r:%s 2>/dev/null && break; done",
	    file);

	return floor_world_sh(script);
}

/* It has ended once, its work is saved, and its worker can do another one. */
static void
is_aborted(const char *file)
{
	const char *text;

	auto_world_wait_done();
	auto_world_filed("t1 aborted; ");
	auto_world_folder("failed: a.md; failed: a.md.why; ");
	floor_world_wait_status(auto_world_agent(), WORKER_IDLE);
	floor_world_settle();
	text = floor_world_sh("tr -d '\\n' <.llmc/aborted/t1/abort.json");
	has(text, "wrong way");
	has(text, "ann");
	if (file != NULL)
		ck_assert_str_eq(salvaged(file), "1");
	ck_assert_str_eq(floor_world_wt("auto-1", "git status --short"), "");
}

const int unit_timeout = 600; /* seconds, each */

TEST(all_kinds_of_work_are_salvaged)
{
	oversight_world_begin(OVERSIGHT_ON);
	auto_world_turn(1);
	oversight_world_sh(
	    "echo 1 >c.txt; git add c.txt; git commit -qm c; echo 1 >s.txt; "
	    "git add s.txt; echo 1 >u.txt");
	ck_assert_ptr_null(abort_it("auto-1"));
	is_aborted("c.txt");
	ck_assert_str_eq(salvaged("s.txt"), "1");
	ck_assert_str_eq(salvaged("u.txt"), "1");
	has(floor_world_sh("cat .llmc/tasks/failed/a.md.why"),
	    "aborted by a person (ann): wrong way");
	/* Twice: it has ended. */
	has(abort_it("t1"), "t1 has ended already: aborted");
	has(abort_it("auto-1"), "auto-1 has no task of auto mode");
	has(abort_it("b.md"), "llmc task drop b.md");
}

TEST(a_check_that_runs_is_ended)
{
	struct agent *agent;
	int64_t began = clock_mono_ms();

	oversight_world_begin("check_command = \"sleep 100\"\n" OVERSIGHT_ON);
	agent = auto_world_turn(1);
	oversight_world_sh("echo 1 >b.txt; git add .; git commit -qm b");
	fake_session_turn_ends(agent->session, "Done.");
	floor_world_wait_step(agent, "run");
	ck_assert_ptr_null(abort_it("t1"));
	is_aborted("b.txt");
	ck_assert_int_lt(clock_mono_ms() - began, 90 * 1000);
	has(floor_world_sh("cat .llmc/aborted/t1/checks.jsonl"), "sleep 100");
}

TEST(own_tests_that_run_are_ended)
{
	struct agent *agent;
	int64_t began = clock_mono_ms();

	oversight_world_begin(OVERSIGHT_ON "test_command = \"sleep 100\"\n");
	agent = auto_world_turn(1);
	oversight_world_sh("echo 1 >b.txt; git add .; git commit -qm b");
	fake_session_turn_ends(agent->session, "Done.");
	floor_world_wait_step(agent, "test");
	ck_assert_ptr_null(abort_it("t1"));
	is_aborted("b.txt");
	ck_assert_int_lt(clock_mono_ms() - began, 90 * 1000);
}

static const char *const short_steps[] = { "reset" };

/* It starts: that is waited for. */
TEST_ROWS(a_start_is_waited_for, nitems(short_steps))
{
	oversight_world_begin(OVERSIGHT_ON);
	auto_world_wait("task_assigned t1");
	floor_world_wait_step(auto_world_agent(), short_steps[_i]);
	ck_assert_ptr_null(abort_it("t1"));
	is_aborted(NULL);
}

#define SLOW_LANDING \
	"check_command = \"case $PWD in */checks/*) sleep 100;; esac\"\n" OVERSIGHT_ON

/* Its branch has moved, so that the landing checks again. */
static void
begin_landing(void)
{
	struct agent *agent;

	oversight_world_begin(SLOW_LANDING);
	agent = auto_world_turn(1);
	floor_world_sh("echo 1 >x.txt; git add x.txt; git commit -qm 'add x'");
	oversight_world_sh("echo 1 >b.txt; git add .; git commit -qm b");
	fake_session_turn_ends(agent->session, "Done.");
	floor_world_wait_status(agent, WORKER_ACCEPTING);
}

TEST(work_in_the_queue_is_taken_out)
{
	begin_landing();
	ck_assert_ptr_null(abort_it("auto-1"));
	is_aborted("b.txt");
}

/* Its worker does something else already. */
TEST(queued_work_that_no_worker_has_is_salvaged)
{
	struct check_book *book;
	char key[CHECK_KEY_SIZE];

	begin_landing();
	book = &auto_world.core->state.landings.checks;
	check_slot_key(auto_world.core, key);
	check_book_note(
	    book, "t", key, CHECK_PASSED, clock_wall_ms(), 3600000, 0);
	for (size_t i = 0; i < book->command_count; i++)
		book->commands[i].took_ms = 3600000;
	auto_world_task("b.md", "Second\n");
	auto_world_patrol();
	auto_world_turn_on("t2");
	ck_assert_int_eq(
	    state_task(&auto_world.core->state, "t1")->step, TASK_QUEUED);
	ck_assert_ptr_null(abort_it("t1"));
	ck_assert_ptr_null(abort_it("t2"));
	auto_world_wait_done();
	auto_world_filed("t1 aborted; t2 aborted; ");
	floor_world_settle();
	ck_assert_str_eq(salvaged("b.txt"), "1");
}

static const enum worker_status held[] = { WORKER_PAUSED, WORKER_ERROR,
	WORKER_NEEDS_REVIEW, WORKER_LIMITED };

TEST_ROWS(whatever_its_worker_waits_for, nitems(held))
{
	struct agent *agent;
	const char *error;

	agent = oversight_world_begin_turn(OVERSIGHT_ON);
	agent->worker->on_hold = held[_i] != WORKER_ERROR;
	agent->worker->for_person = true;
	/* An error of a worker that auto mode drives ends the daemon. */
	auto_world.mode->active = held[_i] != WORKER_ERROR;
	agent_move(agent, held[_i], "a test");
	agent->worker->until_ms = clock_wall_ms() + 1000000;
	error = abort_it("auto-1");
	ck_assert_msg(error == NULL, "%s", error);
	auto_world.mode->active = true;
	agent->worker->on_hold = false;
	is_aborted("one.txt");
}

/* Its budget is used up: it waits for a person, with its work. */
TEST(a_parked_task_and_its_work)
{
	struct agent *agent;

	oversight_world_begin(
	    "max_turns = 50\n[oversight]\nmode = \"act\"\n[budget]\n"
	    "task_tokens = 1000\n");
	agent = auto_world_turn(1);
	oversight_world_sh("echo 1 >b.txt; git add .; git commit -qm b");
	fake_session_uses(agent->session, 2000);
	floor_world_wait_status(agent, WORKER_IDLE);
	floor_world_settle();
	ck_assert_int_eq(
	    state_task(&auto_world.core->state, "t1")->step, TASK_PARKED);
	ck_assert_ptr_null(abort_it("t1"));
	is_aborted("b.txt");
}

static bool
is_recorded(void *arg)
{
	const struct task *t = state_task(&auto_world.core->state, "t1");

	(void)arg;
	return t->abort_why != NULL;
}

/* Its worker is not free before the daemon dies. */
TEST(an_abort_that_waits_survives_the_daemon)
{
	int fd;

	oversight_world_begin(OVERSIGHT_ON);
	auto_world_wait("task_assigned t1");
	floor_world_wait_step(auto_world_agent(), "reset");
	fd = floor_world_send("task.abort",
	    "{\"task\": \"t1\", \"reason\": \"wrong way\", \"user\": \"ann\"}");
	floor_world_wait_closely(is_recorded, &oversight_world);
	ck_assert_int_eq(persist_flush(auto_world.core, NULL), 0);
	oversight_world_die();
	close(fd);
	is_aborted(NULL);
}

/* --- kills ----------------------------------------------------------- */

static bool
is_there(void)
{
	return state_task(&auto_world.core->state, "t1") != NULL;
}

#define CHANGES_MAX 60

/* What is seen of the daemon from outside, and of its operations. */
static void
describe(struct buf *out)
{
	const struct task *t = state_task(&auto_world.core->state, "t1");
	const struct agent *agent = auto_world_agent();
	int count;

	oversight_world_recorded("intervention", &count);
	buf_addf(out, "%d %d %d %d %s %d %d", t != NULL ? (int)t->step : -1,
	    (int)agent->worker->status, (int)worker_holds(agent->worker),
	    (int)session_phase(agent->session),
	    agent->op != NULL ? operation_step_name(&agent->op->op) : "",
	    persist_is_idle(auto_world.core), count);
}

/* And that is recorded. */
static bool
is_parked(void)
{
	const struct task *t = state_task(&auto_world.core->state, "t1");

	return t != NULL && t->step == TASK_PARKED &&
	    strstr(oversight_world_recorded("intervention", NULL),
		"\"level\":\"pause\"") != NULL;
}

struct changing {
	int left;
	bool over; /* all is done */
	struct buf last;
};

static bool
has_changed(void *arg)
{
	struct changing *changing = arg;
	const struct agent *agent = auto_world_agent();
	cleanup_buf struct buf now = BUF_INIT;

	describe(&now);
	if (strcmp(now.data, changing->last.data) != 0) {
		buf_clear(&changing->last);
		buf_adds(&changing->last, now.data);
		changing->left--;
	}
	changing->over = persist_is_idle(auto_world.core) &&
	    agent->worker->status == WORKER_IDLE &&
	    (!is_there() || is_parked());
	return changing->left < 0 || changing->over;
}

/* Until the n-th change; 0: the state is not even saved. False: all is done. */
static bool
let_change(int n)
{
	struct changing changing = { .left = n };

	if (n == 0)
		return true;
	buf_init(&changing.last);
	describe(&changing.last);
	floor_world_wait_closely(has_changed, &changing);
	buf_release(&changing.last);
	return !changing.over;
}

/* It dies at the n-th change after the call. False: all was done by then. */
static bool
die_in_abort(int n)
{
	const struct task *t;
	bool there;
	int fd;

	oversight_world_begin_turn(OVERSIGHT_ON);
	fd = floor_world_send("task.abort",
	    "{\"task\": \"t1\", \"reason\": \"wrong way\", \"user\": \"ann\"}");
	there = let_change(n);
	oversight_world_die();
	close(fd);
	t = state_task(&auto_world.core->state, "t1");
	/* Nobody was told that it has ended, or will be. */
	if (t != NULL && t->step != TASK_SETTLING && t->abort_why == NULL)
		ck_assert_ptr_null(abort_it("t1"));
	is_aborted("one.txt");
	oversight_world_end();
	return there;
}

TEST(killed_at_any_moment_of_an_abort)
{
	int n = 0;

	while (n < CHANGES_MAX && die_in_abort(n))
		n++;
	printf("# %d kills\n", n);
	ck_assert_int_gt(n, 3);
	ck_assert_int_lt(n, CHANGES_MAX);
}

struct judging {
	int count;
};

static bool
is_judged(void *arg)
{
	const struct judging *judging = arg;
	int count;

	oversight_world_recorded("iteration", &count);
	return count >= judging->count;
}

/* In the same pass of the loop. */
static void
wait_judged(int iterations)
{
	struct judging judging = { iterations };

	floor_world_wait_closely(is_judged, &judging);
}

/* What was not saved did not happen: its fifth turn ends for the next daemon.
 */
static bool
is_paused(void *arg)
{
	struct agent *agent = auto_world_agent();
	const struct task *t = state_task(&auto_world.core->state, "t1");

	(void)arg;
	if (t != NULL && t->step == TASK_PARKED)
		return true;
	if (oversight_turn_find(oversight_world.floor, "t1")->count < 4 &&
	    agent->worker->status == WORKER_WORKING &&
	    agent->worker->session.busy && !agent_is_taken(agent))
		fake_session_turn_ends(agent->session, "Again.");
	return false;
}

static bool
die_in_pause(int n)
{
	struct agent *agent;
	bool there;

	agent = oversight_world_begin_turn(OVERSIGHT_QUICK);
	for (int i = 1; i <= 3; i++)
		oversight_world_sent_back(i);
	fake_session_turn_ends(agent->session, "Again.");
	wait_judged(4);
	there = let_change(n);
	oversight_world_die();
	floor_world_wait(is_paused, &oversight_world);
	oversight_world_parked();
	ck_assert_ptr_nonnull(state_task(&auto_world.core->state, "t1")->from);
	has(oversight_world_recorded("intervention", NULL),
	    "\"level\":\"pause\"");
	oversight_world_recorded("iteration", &n);
	ck_assert_int_le(n, 6);
	oversight_world_end();
	return there;
}

TEST(killed_at_any_moment_of_a_pause)
{
	int n = 0;

	while (n < CHANGES_MAX && die_in_pause(n))
		n++;
	printf("# %d kills\n", n);
	ck_assert_int_lt(n, CHANGES_MAX);
}
