/* SPDX-License-Identifier: ISC */

/* Asks follow the state and are saved with it, wherever the daemon dies. */
#include "base.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include "core.h"
#include "emit.h"
#include "notice.h"
#include "identity.h"
#include "floor-world.h"
#include "life.h"
#include "obstacle.h"
#include "persist.h"
#include "ask.h"
#include "person.h"
#include "state.h"
#include "worker.h"

static void
begin(void)
{
	floor_world_begin(NULL);
	floor_world_live();
	floor_world_settle();
}

static void
end(void)
{
	floor_world_end();
}

static void
change(void)
{
	persist_changed(floor_world.core);
	floor_world_settle();
}

/* As killed: nothing more is saved. */
static void
die(void)
{
	floor_world.store_fails = true;
	floor_world_close();
	floor_world.store_fails = false;
	floor_world_open();
	floor_world_live();
	floor_world_settle();
}

static void
park(enum ask_kind kind)
{
	struct task *t = task_new("t1", "command", "k", "T", "x", 1);

	t->step = TASK_WAITING;
	ck_assert_int_eq(task_park(t, kind, NULL, "no money", 2), 0);
	state_add_task(&floor_world.core->state, t);
}

static const struct ask *
only(void)
{
	ck_assert_uint_eq(floor_world.core->state.ask_count, 1);
	return floor_world.core->state.asks[0];
}

TEST(a_parked_task_is_an_open_ask_until_it_goes_on)
{
	begin();
	park(ASK_BUDGET);
	change();
	ck_assert_str_eq(only()->id, "a1");
	ck_assert_str_eq(only()->key, "task/t1");
	ck_assert_str_eq(only()->words, "no money");
	ck_assert_int_eq(only()->kind, ASK_BUDGET);
	change();
	only();
	task_unpark(state_task(&floor_world.core->state, "t1"), NULL, 3);
	change();
	ck_assert_uint_eq(floor_world.core->state.ask_count, 0);
	/* Its number is not given again. */
	task_park(state_task(&floor_world.core->state, "t1"), ASK_BLOCKED, NULL,
	    "w", 4);
	change();
	ck_assert_str_eq(only()->id, "a2");
	end();
}

/* A state that has lost its workers shows where that was. */
TEST(each_save_says_how_many_workers_there_are)
{
	cleanup_free char *file = xstrdup(unit_path("log"));
	cleanup_buf struct buf text = BUF_INIT;
	struct worker *w;

	begin();
	ck_assert_int_eq(
	    log_open(&(struct log_options){
		.component = "test", .path = file, .level = LOG_LEVEL_DEBUG }),
	    0);
	w = worker_new("auto-1", 1);
	state_add(&floor_world.core->state, w);
	change();
	log_close();
	ck_assert_int_eq(file_read(file, 1 << 20, &text, NULL), 0);
	ck_assert_ptr_nonnull(
	    strstr(text.data, "saved: 1 workers, 1 of them auto, 0 in a turn"));
	end();
}

TEST(it_is_saved_with_what_caused_it_or_not_at_all)
{
	begin();
	floor_world.store_fails = true;
	park(ASK_BUDGET);
	persist_changed(floor_world.core);
	die();
	ck_assert_ptr_null(state_task(&floor_world.core->state, "t1"));
	ck_assert_uint_eq(floor_world.core->state.ask_count, 0);
	park(ASK_BUDGET);
	change();
	die();
	ck_assert_ptr_nonnull(state_task(&floor_world.core->state, "t1"));
	ck_assert_str_eq(only()->id, "a1");
	end();
}

TEST(a_failed_task_asks_until_a_person_answers)
{
	const struct notice failed = {
		.class = NOTICE_TASK, .why = "it is broken", .task = "t9"
	};
	struct floor_call *call;

	begin();
	person_tell(floor_world.core, &failed);
	person_tell(floor_world.core, &failed);
	floor_world_settle();
	ck_assert_int_eq(only()->count, 2);
	ck_assert_int_eq(only()->kind, ASK_FAILURE);
	die();
	ck_assert_str_eq(only()->words, "it is broken");
	call = floor_world_done(floor_world_ask(
	    "ask.end", "{\"ask\": \"a1\", \"answer\": \"no\"}"));
	ck_assert_str_eq(
	    json_string_or(floor_call_result(call), "status", ""), "answered");
	ck_assert_uint_eq(floor_world.core->state.ask_count, 0);
	die();
	ck_assert_uint_eq(floor_world.core->state.ask_count, 0);
	end();
}

/* The answer came first; what it did has ended the ask then. */
TEST(what_is_still_so_stays_open)
{
	struct floor_call *call;

	begin();
	park(ASK_BLOCKED);
	change();
	call = floor_world_done(floor_world_ask(
	    "ask.end", "{\"ask\": \"t1\", \"answer\": \"go on\"}"));
	ck_assert_str_eq(
	    json_string_or(floor_call_result(call), "status", ""), "open");
	ck_assert_str_eq(only()->answer, "go on");
	end();
}

TEST(only_what_is_critical_stays_open_of_what_wants_nothing)
{
	begin();
	person_tell(floor_world.core,
	    &(struct notice){ .class = NOTICE_LIMIT, .why = "until seven" });
	ck_assert_uint_eq(floor_world.core->state.ask_count, 0);
	person_tell(floor_world.core,
	    &(struct notice){ .class = NOTICE_STATE, .why = "damaged" });
	ck_assert_int_eq(only()->kind, ASK_TOLD);
	ck_assert_str_eq(only()->id, "a2");
	end();
}

TEST(what_a_person_has_seen_is_told)
{
	begin();
	park(ASK_BLOCKED);
	change();
	ck_assert_int_eq(only()->told_ms, 0);
	floor_world_done(
	    floor_world_ask("ask.seen", "{\"asks\": [\"a9\", \"a1\"]}"));
	die();
	ck_assert_int_gt(only()->told_ms, 0);
	ck_assert_str_eq(only()->told_by, "seen");
	end();
}

TEST(what_wants_nothing_ends_when_it_is_over)
{
	const struct escalation step = { .level = ESCALATION_CRITICAL,
		.event = "oversight/t1/3/stuck/redirect",
		.title = "oversight has redirected a worker",
		.task = "t1" };

	begin();
	person_tell(floor_world.core,
	    &(struct notice){ .class = NOTICE_BRANCH, .why = "no branch" });
	ck_assert_str_eq(only()->key, "branch-told");
	emit(floor_world.core, &(struct event){ .kind = EVENT_LANDED });
	ck_assert_uint_eq(floor_world.core->state.ask_count, 0);
	/* The state has an ask for this one. */
	xstrset(&floor_world.core->state.landings.red_told, "tree");
	person_tell(floor_world.core,
	    &(struct notice){ .class = NOTICE_BRANCH, .why = "it is red" });
	change();
	ck_assert_str_eq(only()->key, "branch");
	xstrset(&floor_world.core->state.landings.red_told, NULL);
	state_add_task(&floor_world.core->state,
	    task_new("t1", "command", "k", "T", "x", 1));
	person_escalate(floor_world.core, &step);
	change();
	ck_assert_str_eq(only()->key, step.event);
	task_settle(state_task(&floor_world.core->state, "t1"), OUTCOME_LANDED,
	    NULL, 2);
	state_remove_task(&floor_world.core->state, "t1");
	change();
	ck_assert_uint_eq(floor_world.core->state.ask_count, 0);
	end();
}

/* --- what is in the way ----------------------------------------------------
 */

static const struct {
	const char *name, *make, *was;
} ways[] = {
	{ IDENTITY_PANES, "rm -f panes.json; mkdir panes.json", "a folder" },
	{ IDENTITY_PANES, "rm -f panes.json; mkfifo panes.json", "a FIFO" },
	{ IDENTITY_PANES, "rm -f panes.json; ln -s panes.json panes.json",
	    "a symbolic link" },
	{ "checks", "rm -rf checks; touch checks", "a file" },
	{ "checks", "rm -rf checks; mkfifo checks", "a FIFO" },
	{ "checks", "rm -rf checks; ln -s checks checks", "a symbolic link" },
};

/* While it runs, and before it starts: it goes on, and a person is told. */
TEST_ROWS(what_is_in_the_place_of_a_file_of_ours_is_put_aside, 12)
{
	const char *name = ways[_i / 2].name;
	cleanup_free char *path = NULL;
	cleanup_free char *make =
	    xasprintf("cd .llmc && { %s; }", ways[_i / 2].make);
	cleanup_free char *kept = xasprintf("ls -d .llmc/%s.aside-*", name);
	struct stat st;

	begin();
	if (_i % 2 == 1) {
		floor_world_close();
		floor_world_sh(make);
		floor_world_open();
		floor_world_live();
	} else {
		floor_world_sh(make);
		life_patrol(floor_world.core);
	}
	floor_world_settle();
	ck_assert_int_eq(only()->kind, ASK_TOLD);
	ck_assert_ptr_nonnull(strstr(only()->words, name));
	ck_assert_ptr_nonnull(strstr(only()->words, ways[_i / 2].was));
	ck_assert_ptr_nonnull(strstr(only()->words, "It is kept as"));
	floor_world_sh(kept);
	path = workspace_path(&floor_world.workspace, name);
	if (strcmp(name, IDENTITY_PANES) == 0)
		ck_assert(lstat(path, &st) == 0 && S_ISREG(st.st_mode));
	else
		ck_assert(lstat(path, &st) == -1);
	/* It is told once, and is gone. */
	life_patrol(floor_world.core);
	floor_world_settle();
	ck_assert_uint_eq(floor_world.core->state.ask_count, 1);
	change();
	end();
}

TEST(a_link_to_a_folder_of_checks_is_left)
{
	begin();
	floor_world_sh("rm -rf .llmc/checks; mkdir more; ln -s ../more "
		       ".llmc/checks");
	life_patrol(floor_world.core);
	ck_assert_uint_eq(floor_world.core->state.ask_count, 0);
	end();
}

static void
limit_files(rlim_t soft, rlim_t hard)
{
	const struct rlimit limit = { soft, hard };

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	life_patrol(floor_world.core);
	floor_world_settle();
}

TEST(too_few_files_are_told_with_the_number_that_is_needed)
{
	struct rlimit limit;

	begin();
	ck_assert_uint_eq(obstacle_files_needed(2), 160);
	/* It allows itself what it may. */
	limit_files(100, 200);
	ck_assert_uint_eq(floor_world.core->state.ask_count, 0);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_uint_eq(limit.rlim_cur, 128);
	limit_files(100, 100);
	ck_assert_int_eq(only()->kind, ASK_BLOCKED);
	ck_assert_ptr_nonnull(strstr(only()->words,
	    "may have 100 files open at the same time, and needs 128 for 0 "
	    "workers"));
	ck_assert_ptr_nonnull(strstr(only()->words, "ulimit -n 128"));
	die();
	ck_assert_uint_eq(floor_world.core->state.ask_count, 1);
	end();
}
