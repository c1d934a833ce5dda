/* SPDX-License-Identifier: ISC */

/* Tasks of a host of a fleet: published, claimed, told how they ended. */

#include "hosts-world.h"

#include "emit.h"
#include "hosts-private.h"
#include "landing-record.h"
#include "loop.h"
#include "metrics.h"
#include "postgres-world.h"
#include "repo.h"
#include "view-state.h"
#include "view.h"

TEST(a_task_is_published_claimed_and_done_by_its_own_host)
{
	hosts_world_begin(NULL);
	auto_world_task("a.md", "Do it\n");
	hosts_world_live();
	auto_world_turn_on("t1-a");
	ck_assert_str_eq(hosts_world_row("t1-a"), "claimed a 1");
	hosts_world_work_ends(auto_world_agent(), "one");
	auto_world_wait_step("t1-a", -1);
	hosts_world_wait_row("t1-a", "landed a 1");
	auto_world_folder("done: a.md; ");
	ck_assert_uint_eq(hosts_world.floor->share_count, 0);
}

/* What a host says of a task that has landed. */
/* As what landed; a format. */
#define LANDED                                                      \
	"{\"outcome\":\"landed\",\"commit\":\"%s\",\"attempts\":1," \
	"\"last_words\":\"Finished.\",\"tokens\":7}"

/* The database answers nobody, until it is given back. */
static void *
take_away(void)
{
	cleanup_free char *owner = postgres_owner();

	return postgres_hold(owner,
	    "begin; set search_path=llmc; lock table meta,host,task,attempt,"
	    "lander,letter,event in access exclusive mode");
}

/* b claims the next task; its fence is 1. */
static void
b_claims(const char *task)
{
	const struct shared_call calls[] = {
		SHARED_CALL(SHARED_CLAIM_ONE, BOOK_T(B_BOOT), BOOK_T(task)),
		SHARED_CALL(SHARED_ATTEMPTS_BEGIN, BOOK_T(B_BOOT)),
	};

	ck_assert_int_eq(
	    strncmp(hosts_world_says(calls, 2), task, strlen(task)), 0);
}

/* auto-1 has t1, and t2 waits for any host. */
static void
begin_with_two(void)
{
	hosts_world_begin(NULL);
	auto_world_task("a.md", "Do it\n");
	auto_world_task("b.md", "Do that\n");
	hosts_world_live();
	auto_world_turn_on("t1-a");
	hosts_world_wait_row("t2-a", "queued - 0");
}

/* And b has t2. */
static void
begin_elsewhere(void)
{
	begin_with_two();
	b_claims("t2-a");
	hosts_world_polls();
	auto_world_wait_step("t2-a", TASK_ELSEWHERE);
}

/* It has landed, or b only says so: then it is none of ours, for all that it
 * says, and nothing was landed. */
TEST_ROWS(a_task_that_another_host_does_is_settled_by_its_owner, 2)
{
	cleanup_free char *landed = NULL;
	const struct task *t;

	begin_elsewhere();
	landed = xasprintf(LANDED, hosts_world_push(_i == 0 ? "t2-a" : "t3-a"));
	t = state_task(&auto_world.core->state, "t2-a");
	ck_assert_str_eq(t->host, "b");
	ck_assert_str_ne(
	    SAYS(SHARED_FINISH, BOOK_T("t2-a"), BOOK_I(1), BOOK_T(B_BOOT),
		BOOK_T("done"), BOOK_T(landed), BOOK_T(NULL)),
	    "");
	hosts_world_polls();
	auto_world_wait_step("t2-a", -1);
	if (_i == 1) {
		auto_world_filed("t2-a failed; ");
		ck_assert_ptr_nonnull(strstr(
		    auto_world_record("t2-a"), "host b says that it has"));
		return;
	}
	auto_world_filed("t2-a landed; ");
	auto_world_folder("doing: a.md; done: b.md; ");
	ck_assert_ptr_nonnull(strstr(auto_world_record("t2-a"), "Finished."));
}

static bool
holds(void *arg, const struct task *task)
{
	(void)task;
	return *(const bool *)arg;
}

/* Its goal is paused after it was published. */
TEST(a_task_of_a_paused_goal_is_not_claimed)
{
	static const struct auto_policy policy = { .holds = holds };
	const struct shared_call claim =
	    SHARED_CALL(SHARED_CLAIM_ONE, BOOK_T(B_BOOT), BOOK_T("t2-a"));
	bool paused = true;
	const struct share *share;

	begin_with_two();
	auto_set_policy(auto_world.mode, &policy, &paused);
	xstrset(&state_task(&auto_world.core->state, "t2-a")->source,
	    AUTO_PLAN_SOURCE);
	share = share_of_task(hosts_world.floor, "t2-a");
	for (int i = 0; i < 100 && !share->withheld; i++) {
		hosts_world_polls();
		hosts_world_row("t2-a");
	}
	ck_assert(share->withheld);
	ck_assert_str_eq(hosts_world_says(&claim, 1), "");
	paused = false;
	for (int i = 0; i < 100 && share->withheld; i++) {
		hosts_world_polls();
		hosts_world_row("t2-a");
	}
	b_claims("t2-a");
	auto_set_policy(auto_world.mode, NULL, NULL);
}

/* Its source hears of the end that all hosts know. */
TEST(an_end_that_comes_too_late_is_none)
{
	cleanup_free char *landed = NULL;

	hosts_world_begin(NULL);
	auto_world_task("a.md", "Look at it\n");
	hosts_world_live();
	auto_world_turn_on("t1-a");
	floor_world_settle();
	hosts_world_sql("update task set host='b',boot='" B_BOOT
			"',fence=2 where task='t1-a'");
	fake_session_turn_ends(
	    auto_world_agent()->session, "It is fine as it is.");
	auto_world_wait("task_finished t1-a no_changes; ");
	auto_world_wait("task_fenced t1-a; ");
	auto_world_wait_step("t1-a", TASK_ELSEWHERE);
	auto_world_folder("doing: a.md; ");
	landed = xasprintf(LANDED, hosts_world_push("t1-a"));
	ck_assert_str_ne(
	    SAYS(SHARED_FINISH, BOOK_T("t1-a"), BOOK_I(2), BOOK_T(B_BOOT),
		BOOK_T("done"), BOOK_T(landed), BOOK_T(NULL)),
	    "");
	hosts_world_polls();
	auto_world_wait_step("t1-a", -1);
	auto_world_filed("t1-a landed; ");
}

/* b has this task for others. */
static void
b_publishes(const char *task)
{
	cleanup_free char *body =
	    xasprintf("{\"title\":\"%s\",\"text\":\"Do %s\"}", task, task);

	ck_assert_str_ne(
	    SAYS(SHARED_PUBLISH, BOOK_T(task), BOOK_I(1), BOOK_T(NULL),
		BOOK_T("main"), BOOK_T(task), BOOK_T(body), BOOK_I(0)),
	    "");
}

TEST(a_task_of_another_host_is_done_here_and_told)
{
	hosts_world_run();
	b_publishes("t7-b");
	hosts_world_polls();
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(auto_world_turn_on("t7-b")->session),
		"Do t7-b"));
	hosts_world_work_ends(auto_world_agent(), "one");
	auto_world_wait_step("t7-b", -1);
	hosts_world_wait_row("t7-b", "landed a 1");
	ck_assert_ptr_nonnull(strstr(SAYS(SHARED_TASK_READ, BOOK_T("t7-b")),
	    floor_world_sh("git rev-parse main")));
	auto_world_filed("t7-b landed; ");
}

TEST(the_next_daemon_adopts_what_its_host_holds)
{
	begin_with_two();
	b_publishes("t7-b");
	hosts_world_reopen();
	hosts_world_live();
	auto_world_wait_step("t1-a", TASK_ASSIGNED);
	ck_assert_str_eq(hosts_world_row("t1-a"), "claimed a 1");
	ck_assert(share_of_task(hosts_world.floor, "t1-a")->step == SHARE_HELD);
	ck_assert_ptr_null(strstr(auto_world.told.data, "task_fenced"));
}

/* What the server has lost, and what becomes of it: t1-a runs here. */
static const struct {
	const char *sql, *row;
} lost[] = {
	{ "update task set state='queued',host=null,boot=null,fence=0,"
	  "changed_at=changed_at+1 where task='t1-a'",
	    "claimed a 1" },
	{ "delete from task; insert into meta values('doubt','1')",
	    "claimed a 1" },
	/* b has it by now, without having known. */
	{ "update task set host='b',boot='" B_BOOT "',fence=1,"
	  "changed_at=changed_at+1 where task='t1-a'",
	    "claimed b 1" },
	/* Every host is being drained. */
	{ "update host set draining=1; insert into meta values('doubt','1')",
	    "claimed a 1" },
};

static void
wait_trusted(void)
{
	hosts_world.floor->asked_ms = 0; /* the next beat is due */
	hosts_world_polls();
	auto_world_wait("fleet_doubt; ");
	for (int i = 0;
	     i < 400 && strstr(auto_world.told.data, "fleet_trusted") == NULL;
	     i++) {
		/* b is here, too. */
		SAYS(SHARED_BEAT, BOOK_T(B_BOOT), BOOK_I(0), BOOK_T("main"));
		hosts_world.floor->land->ready = true;
		hosts_world_polls();
	}
	auto_world_wait("fleet_trusted; ");
}

TEST_ROWS(what_the_server_has_lost_is_restored_or_said, nitems(lost))
{
	begin_with_two();
	auto_world_work("mine");
	if (_i == 2) { /* a knows of a later claim; no answer is under way */
		floor_world_until(!hosts_world.floor->busy);
		share_of_task(hosts_world.floor, "t1-a")->fence = 3;
	}
	hosts_world_sql(lost[_i].sql);
	wait_trusted();
	hosts_world_wait_row("t1-a", lost[_i].row);
	if (_i == 2) {
		auto_world_wait("task_fenced t1-a; ");
		return;
	}
	if (_i == 3)
		return;
	hosts_world_wait_row("t2-a", "queued - 0");
	ck_assert_ptr_null(strstr(auto_world.told.data, "task_fenced"));
	fake_session_turn_ends(auto_world_agent()->session, "Done.");
	hosts_world_wait_row("t1-a", "landed a 1");
	auto_world_wait_step("t1-a", -1);
	auto_world_folder("doing: b.md; done: a.md; ");
}

/* More than one ask can tell of. */
TEST(claims_of_many_tasks_are_restored)
{
	hosts_world_run();
	hosts_world_sql(
	    "with recursive n(i) as (select 1 union all select i+1 from n "
	    "where i<140) insert into task(task,owner,seq,prio,state,host,boot,"
	    "fence,attempts,lost,not_before,branch,title,body,created_at,"
	    "changed_at) select 't'||i||'-b','b',i,1,'claimed','a',(select "
	    "boot from host where host='a'),1,1,0,0,'main','x',"
	    "'{\"title\":\"x\",\"text\":\"Do it\"}',1,1 from n");
	while (hosts_world.floor->share_count < 140) {
		hosts_world_polls();
		floor_world_settle();
	}
	hosts_world_sql("update task set state='queued',host=null,boot=null,"
			"fence=0; insert into meta values('doubt','1')");
	wait_trusted();
	while (strcmp(hosts_world_says(&SHARED_CALL0(SHARED_TASK_COUNTS), 1),
		   "claimed,140;") != 0 &&
	    !unit_is_late())
		hosts_world_polls();
	ck_assert_str_eq(hosts_world_says(&SHARED_CALL0(SHARED_TASK_COUNTS), 1),
	    "claimed,140;");
	ck_assert_ptr_null(strstr(auto_world.told.data, "task_fenced"));
}

/* t1-a has landed, and the server has lost that; t9-b as well, and with it the
 * whole task, which b publishes again. */
TEST(what_has_landed_is_found_on_the_branch)
{
	hosts_world_begin(NULL);
	auto_world_task("a.md", "Do it\n");
	hosts_world_live();
	auto_world_turn_on("t1-a");
	hosts_world_work_ends(auto_world_agent(), "one");
	hosts_world_wait_row("t1-a", "landed a 1");
	auto_world_wait_step("t1-a", -1);
	floor_world_sh(
	    "git clone -qb main \"$B/origin\" \"$B/b\"; cd \"$B/b\"; git -c "
	    "user.name=b -c user.email=b@b commit -q --allow-empty -m 'by b' "
	    "-m 'Llmc-Task: t9-b\nLlmc-Attempt: 1/b/x'; git push -q");
	hosts_world_sql("update task set state='claimed',commit_id=null;"
			"update lander set tip=null;"
			"insert into meta values('doubt','1')");
	wait_trusted();
	ck_assert_int_eq(strncmp(hosts_world_row("t1-a"), "landed a ", 9), 0);
	ck_assert_str_eq(
	    SAYS(SHARED_PUBLISH, BOOK_T("t9-b"), BOOK_I(1), BOOK_T(NULL),
		BOOK_T("main"), BOOK_T("t9"), BOOK_T("{}"), BOOK_I(0)),
	    "");
	ck_assert_str_eq(hosts_world_row("t9-b"), "landed b 1");
	floor_world_settle();
	ck_assert_uint_eq(hosts_world.floor->share_count, 0);
}

/* The others have given host a up, and b has what it had. */
TEST(what_another_host_has_by_now_is_stopped_and_said)
{
	begin_with_two();
	auto_world_work("mine");
	hosts_world_sql("update host set lease_until=1 where host='a'");
	hosts_world_says(
	    (const struct shared_call[]){ SHARED_CALL0(SHARED_STEAL_HOSTS),
		SHARED_CALL0(SHARED_STEAL_TASKS) },
	    2);
	b_claims("t1-a");
	hosts_world.floor->asked_ms = 0; /* the next beat is due */
	hosts_world_polls();
	auto_world_wait("task_fenced t1-a; ");
	auto_world_wait_step("t1-a", TASK_ELSEWHERE);
	floor_world_settle();
	ck_assert_str_eq(hosts_world_row("t1-a"), "claimed b 3");
	ck_assert_str_ne(
	    floor_world_sh("git for-each-ref refs/llmc/salvage"), "");
	/* It goes on with something else. */
	auto_world_turn_on("t2-a");
}

TEST(a_task_with_which_three_hosts_were_lost_asks_a_person)
{
	begin_with_two();
	b_claims("t2-a");
	hosts_world_sql(
	    "update task set state='held',host=null,fence=9,lost=3,words='b "
	    "was lost',changed_at=changed_at+1 where task='t2-a'");
	hosts_world_polls();
	auto_world_wait_step("t2-a", TASK_PARKED);
	ck_assert_ptr_nonnull(
	    strstr(state_task(&auto_world.core->state, "t2-a")->reason,
		"3 hosts were lost while they had it; it was on: b"));
	/* A person lets it go on. */
	floor_world_answer(
	    floor_world_ask("task.retry", "{\"task\":\"t2-a\"}"));
	hosts_world_wait_row("t2-a", "queued - 10");
}

TEST(a_task_that_its_owner_drops_is_dropped_for_all)
{
	begin_elsewhere();
	ck_assert_ptr_null(floor_world_answer(
	    floor_world_ask("task.drop", "{\"task\":\"t2-a\"}")));
	hosts_world_wait_row("t2-a", "dropped b 2");
	auto_world_filed("t2-a aborted; ");
}

TEST(what_its_owner_has_dropped_is_stopped)
{
	hosts_world_run();
	b_publishes("t7-b");
	hosts_world_polls();
	auto_world_turn_on("t7-b");
	SAYS(SHARED_DROP, BOOK_T("t7-b"), BOOK_T("not wanted"));
	hosts_world_polls();
	auto_world_wait_step("t7-b", -1);
	auto_world_filed("t7-b aborted; ");
	ck_assert_uint_eq(hosts_world.floor->share_count, 0);
}

TEST(another_daemon_with_this_name_is_refused)
{
	hosts_world_begin(NULL);
	hosts_world_sql(
	    "update host set state='up',boot='x',lease_until=9000000000000 "
	    "where host='a'");
	auto_world_task("a.md", "Do it\n");
	auto_world_live();
	auto_world_wait("fleet_refuses; ");
	auto_world_wait_step("t1-a", TASK_WAITING);
	floor_world_settle();
	ck_assert(!hosts_world.floor->up);
	auto_world_wait_step("t1-a", TASK_WAITING);
}

static bool
is_submitted(void *arg)
{
	const struct landing_record *record = &auto_world.core->state.landings;

	(void)arg;
	return record->count > 0 && record->items[0]->step == ITEM_SUBMITTED;
}

TEST(nothing_begins_while_the_database_is_away_and_all_goes_on_then)
{
	void *db;

	begin_with_two();
	db = take_away();
	hosts_world_work_ends(auto_world_agent(), "one");
	/* The turn goes on, and its work is kept. */
	floor_world_wait(is_submitted, &hosts_world);
	floor_world_settle();
	ck_assert_int_eq(
	    state_task(&auto_world.core->state, "t2-a")->step, TASK_WAITING);
	postgres_let_go(db, "rollback");
	auto_world_turn_on("t2-a");
	hosts_world_wait_row("t1-a", "landed a 1");
}

/* This one was thought to be lost. */
TEST(work_that_another_host_has_landed_meanwhile_is_taken_out)
{
	cleanup_free char *landed = NULL;
	void *db;

	begin_with_two();
	db = take_away();
	hosts_world_work_ends(auto_world_agent(), "one");
	floor_world_wait(is_submitted, &hosts_world);
	landed =
	    xasprintf("update task set state='landed',host='b',boot='" B_BOOT
		      "',fence=3,commit_id='%s',changed_at=changed_at+1 where "
		      "task='t1-a'; commit",
		hosts_world_push("t1-a"));
	postgres_let_go(db, landed);
	auto_world_wait_step("t1-a", -1);
	auto_world_filed("t1-a landed; ");
	auto_world_turn_on("t2-a");
}

TEST(a_draining_host_claims_nothing)
{
	hosts_world_run();
	hosts_world_sql("update host set draining=1 where host='a'");
	hosts_world.floor->asked_ms = 0;
	b_publishes("t7-b");
	hosts_world_polls();
	floor_world_settle();
	hosts_world_polls();
	floor_world_settle();
	ck_assert_str_eq(hosts_world_row("t7-b"), "queued - 0");
}

/* One that ends with the last task waits for it, whoever has it: also for one
 * of a host that is lost. */
TEST(a_run_until_empty_takes_over_from_a_lost_host)
{
	hosts_world_begin(NULL);
	auto_world.mode->until_empty = true;
	b_publishes("t7-b");
	b_claims("t7-b");
	hosts_world_live();
	while (hosts_world.floor->steal_ms == 0)
		floor_world_settle();
	floor_world_settle();
	hosts_world_sql("update host set lease_until=1 where host='b'");
	hosts_world.floor->steal_ms -= HOSTS_LEASE_MS;
	hosts_world_polls();
	auto_world_turn_on("t7-b");
	ck_assert_int_eq(strncmp(hosts_world_row("t7-b"), "claimed a ", 10), 0);
}

/* A host wakes for an agent that nobody else has taken only when it would take
 * it back then: else it would wake again at once, and again. */
TEST(what_is_not_taken_back_is_not_waited_for)
{
	static const struct {
		enum share_step step;
		bool withheld, doubt, unsure, ended, waits;
	} rows[] = {
		{ .step = SHARE_OUT, .waits = true },
		{ .step = SHARE_HELD },
		{ .step = SHARE_OUT, .withheld = true },
		{ .step = SHARE_OUT, .doubt = true },
		{ .step = SHARE_OUT, .unsure = true },
		{ .step = SHARE_OUT, .ended = true },
	};
	struct share share = { .task = xstrdup("t9") };
	struct hosts_floor *floor;
	struct task *t;

	hosts_world_run();
	floor_world_settle();
	floor = hosts_world.floor;
	t = task_new("t9", "team", "k", "T", "Do it", clock_wall_ms());
	t->launch.depth = 1;
	state_add_task(&auto_world.core->state, t);
	for (size_t i = 0; i < nitems(rows); i++) {
		share.step = rows[i].step;
		share.withheld = rows[i].withheld;
		share.out_ms = clock_boot_ms() - HOSTS_HOME_MS;
		t->step = rows[i].ended ? TASK_SETTLING : TASK_WAITING;
		floor->doubt = rows[i].doubt;
		floor->up = true;
		floor->unsure = rows[i].unsure;
		floor->asked_ms = clock_boot_ms();
		ck_assert_msg(rows[i].waits ?
			kin_due_ms(floor, &share) <= 0 :
			kin_due_ms(floor, &share) == INT64_MAX,
		    "%zu", i);
	}
	state_remove_task(&auto_world.core->state, "t9");
	free(share.task);
}

/* Nobody but the host that has the author reviews its work, although all of its
 * workers are busy: with that. */
TEST(work_is_reviewed_by_the_host_that_did_it)
{
	hosts_world_begin("review = \"codex\"\n");
	auto_world_task("a.md", "Do it\n");
	hosts_world_live();
	auto_world_turn_on("t1-a");
	hosts_world_work_ends(auto_world_agent(), "one");
	fake_session_turn_ends(
	    auto_world_turn_on("t2-a")->session, "verdict: approve\n");
	hosts_world_wait_row("t1-a", "landed a 1");
	auto_world_wait_step("t1-a", -1);
	ck_assert_str_eq(SAYS(SHARED_TASK_READ, BOOK_T("t2-a")), "");
}

static bool
is_asked(void *arg)
{
	bool *want = arg;

	hosts_world.floor->nobody_ms = 0;
	hosts_world_polls();
	return (state_ask(&auto_world.core->state, "host/t1-a") != NULL) ==
	    *want;
}

TEST(a_task_that_no_host_can_take_is_asked_about_once)
{
	bool asked = true;

	hosts_world_begin(NULL);
	auto_world_task("a.md", "Wants: gpu\n\nDo it\n");
	hosts_world_live();
	floor_world_wait(is_asked, &asked);
	ck_assert_str_eq(hosts_world_row("t1-a"), "queued - 0");
	SAYS(SHARED_CAN_SET, BOOK_T("gpu"));
	asked = false;
	floor_world_wait(is_asked, &asked);
	b_claims("t1-a");
	hosts_world_polls();
	auto_world_wait_step("t1-a", TASK_ELSEWHERE);
}

TEST(a_program_that_a_task_wants_is_found)
{
	hosts_world_begin(NULL);
	auto_world_task("a.md", "Wants: sh host:a\n\nDo it\n");
	hosts_world_live();
	auto_world_turn_on("t1-a");
}

/* b was not there for a month; what lives, and what its owner may still read,
 * stays. */
TEST(what_is_old_goes_and_what_nobody_has_read_is_said)
{
	hosts_world_run();
	hosts_world_sql("update host set draining=1 where host='a'");
	b_publishes("t7-b");
	b_publishes("t8-b");
	b_publishes("t9-b");
	hosts_world_sql("update task set changed_at=1;"
			"update task set state='done' where task='t8-b';"
			"update task set state='done',changed_at=(select "
			"seen_at-100000000 from host where host='a') where "
			"task='t9-b'");
	hosts_world.floor->prune_ms = 0;
	hosts_world_polls();
	auto_world_wait("fleet_forgot; ");
	hosts_world_wait_row("t8-b", "  ");
	ck_assert_str_eq(hosts_world_row("t7-b"), "queued - 0");
	ck_assert_str_eq(hosts_world_row("t9-b"), "done - 0");
}

static bool
is_paused(void *arg)
{
	hosts_world.floor->money_ms = 0;
	hosts_world_polls();
	return auto_world.core->state.paused != NULL || arg == NULL;
}

TEST(the_budget_of_a_day_is_for_all_hosts)
{
	int64_t day = clock_wall_ms() / ((int64_t)24 * 3600 * 1000);
	cleanup_json struct json_object *view = view_new();
	struct metrics m = { 0 };

	hosts_world_begin("[budget]\nday_tokens = 1000\n");
	hosts_world_live();
	SAYS(
	    SHARED_SPEND_PUT, BOOK_I(day), BOOK_T(""), BOOK_I(2000), BOOK_I(0));
	floor_world_wait(is_paused, &hosts_world);
	ck_assert_ptr_nonnull(
	    strstr(auto_world.core->state.paused, "budget.day_tokens"));
	metrics_state_fill(&auto_world.core->state, auto_world.core->settings,
	    clock_wall_ms(), &m);
	ck_assert_int_eq(m.day_tokens, 2000);
	view_state_fill(&auto_world.core->state, auto_world.core->settings,
	    NULL, NULL, view);
	ck_assert_int_eq(
	    json_int_or(view_of(view, "budget"), "tokens_others", 0), 2000);
}

/* What b says of a window is of the same one if that ends at the same time; of
 * another account's else. */
TEST_ROWS(a_window_is_that_of_the_same_account, 2)
{
	int64_t now = clock_wall_ms(), end = now / 1000 + 7200;
	struct window *window;
	cleanup_free char *body =
	    xasprintf("{\"used_percentage\": 90, \"resets_at\": %" PRId64 "}",
		end + _i * 3600);

	hosts_world_run();
	window = &auto_world.core->state.windows[0];
	*window = (struct window){
		.used = 100, .resets_ms = end * 1000, .seen_ms = now
	};
	SAYS(SHARED_QUOTA_PUT, BOOK_T("five_hour"), BOOK_T(body));
	for (int i = 0; i < 400 && window->used == 100; i++) {
		hosts_world.floor->quota = true;
		hosts_world_polls();
		hosts_world_row("t1-a");
	}
	ck_assert_int_eq(window->used, _i == 0 ? 900 : 100);
}

/* Until b reads this among the events of the others. */
static void
wait_event(const char *want)
{
	for (int i = 0; i < 20000 &&
	     strstr(hosts_world_says(&SHARED_CALL0(SHARED_EVENTS), 1), want) ==
		 NULL;
	     i++)
		hosts_world_polls();
	ck_assert_ptr_nonnull(
	    strstr(hosts_world_says(&SHARED_CALL0(SHARED_EVENTS), 1), want));
}

TEST(hosts_tell_each_other_what_happens)
{
	struct floor_call *call;
	const char *answer;

	begin_with_two();
	wait_event("\"task\":\"t1-a\"");
	SAYS(SHARED_EVENT_ADD, BOOK_T("e1"),
	    BOOK_T("{\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"level\":"
		   "\"INFO\",\"event\":{\"type\":\"host_lost\",\"text\":"
		   "\"c\"}}"));
	SAYS(SHARED_EVENT_ADD, BOOK_T("e2"), BOOK_T("{\"forged\":1}"));
	call = floor_world_ask("fleet.events", "{}");
	ck_assert_ptr_null(floor_world_answer(call));
	answer = json_object_to_json_string_ext(
	    floor_call_result(call), JSON_C_TO_STRING_PLAIN);
	ck_assert_ptr_nonnull(strstr(answer, "host_lost"));
	ck_assert_ptr_nonnull(strstr(answer, "\"host\":\"b\""));
	ck_assert_ptr_null(strstr(answer, "forged"));
	ck_assert_ptr_null(strstr(answer, "task_claimed"));
	/* How a task ended is told by the host that it was on. */
	EMIT(auto_world.core, EVENT_TASK_FINISHED, .task = "t9-c",
	    .result = "landed");
	EMIT(auto_world.core, EVENT_TASK_FENCED, .task = "t8-c",
	    .reason = "gone");
	wait_event("t8-c");
	ck_assert_ptr_null(
	    strstr(hosts_world_says(&SHARED_CALL0(SHARED_EVENTS), 1), "t9-c"));
}

/* What happens meanwhile waits, also for the next daemon; what is too much is
 * counted. */
TEST(events_wait_while_the_database_is_away)
{
	void *db;
	const char *missed;

	begin_with_two();
	floor_world_settle();
	db = take_away();
	for (int i = 0; i < 1100; i++)
		EMIT(auto_world.core, EVENT_TASK_FENCED, .task = "t9-c",
		    .reason = "gone");
	floor_world_settle();
	postgres_let_go(db, "rollback");
	wait_event("fleet_missed");
	missed = strstr(
	    hosts_world_says(&SHARED_CALL0(SHARED_EVENTS), 1), "\"count\":\"");
	ck_assert_ptr_nonnull(missed);
	missed += strlen("\"count\":\"");
	ck_assert_int_ge(strtol(missed, NULL, 10), 100);
	ck_assert_int_lt(strtol(missed, NULL, 10), 120);
}

static bool
is_limited(void *arg)
{
	const struct agent *agent = auto_world_agent();

	hosts_world.floor->quota = true;
	hosts_world_polls();
	return agent != NULL && agent->worker->status == WORKER_LIMITED &&
	    arg == NULL;
}

/* By the account that both have a login for; b has said so a minute ago.
 * Another account is not meant, and what this host itself has said is no news.
 */
TEST_ROWS(an_account_that_is_limited_is_so_for_all_hosts, 3)
{
	static const char login[] =
	    "{\"oauthAccount\": {\"accountUuid\": \"u-1\"}}";
	cleanup_free char *file = file_join(unit_scratch(), ".claude.json");
	const struct agent *agent;
	cleanup_free char *account = NULL;
	char hash[17];

	hosts_world_begin(NULL);
	ck_assert_int_eq(setenv("CLAUDE_CONFIG_DIR", unit_scratch(), 1), 0);
	unsetenv("ANTHROPIC_API_KEY");
	ck_assert_int_eq(
	    file_replace(file, login, strlen(login), 0600, NULL), 0);
	hosts_world_live();
	while ((agent = auto_world_agent()) == NULL ||
	    agent->worker->status != WORKER_IDLE)
		floor_world_settle();
	id_hash(_i == 1 ? "u-2" : "u-1", hash, 16);
	account = xasprintf("claude:%s", hash);
	SAYS(SHARED_QUOTA_LIMIT, BOOK_T(account),
	    BOOK_T("{\"left_ms\":3600000,\"why\":\"full\"}"));
	hosts_world_sql("update quota set changed_at=changed_at-60000");
	if (_i == 2)
		hosts_world_sql("update quota set host='a'");
	if (_i > 0) {
		for (int i = 0; i < 20; i++) {
			ck_assert(!is_limited(NULL));
			floor_world_settle();
		}
		return;
	}
	floor_world_wait(is_limited, NULL);
	ck_assert_int_le(
	    llabs(agent->worker->until_ms - clock_wall_ms() - 3540000), 5000);
	ck_assert_ptr_nonnull(
	    strstr(agent->worker->reason, "host b says of the same account"));
}

/* What was heard of one account does not count for another. */
TEST(each_account_is_limited_by_itself)
{
	cleanup_free char *file = file_join(unit_scratch(), ".claude.json");
	struct agent *agent;

	hosts_world_begin(NULL);
	ck_assert_int_eq(setenv("CLAUDE_CONFIG_DIR", unit_scratch(), 1), 0);
	unsetenv("ANTHROPIC_API_KEY");
	hosts_world_live();
	for (int i = 1; i <= 2; i++) {
		cleanup_free char *id = xasprintf("u-%d", i);
		cleanup_free char *login = xasprintf(
		    "{\"oauthAccount\": {\"accountUuid\": \"%s\"}}", id);
		cleanup_free char *body =
		    xasprintf("{\"left_ms\":%d,\"why\":\"full\"}", 7200000 / i);
		cleanup_free char *account = NULL;
		char hash[17];

		ck_assert_int_eq(
		    file_replace(file, login, strlen(login), 0600, NULL), 0);
		while ((agent = auto_world_agent()) == NULL ||
		    agent->worker->status != WORKER_IDLE) {
			floor_world_settle();
			if (agent != NULL &&
			    agent->worker->status == WORKER_LIMITED)
				agent->worker->status = WORKER_IDLE;
		}
		id_hash(id, hash, 16);
		account = xasprintf("claude:%s", hash);
		SAYS(SHARED_QUOTA_LIMIT, BOOK_T(account), BOOK_T(body));
		floor_world_wait(is_limited, NULL);
	}
}

/* Its agent says so, and the others can read it, without any secret. */
TEST(what_a_host_hears_of_its_account_is_told)
{
	cleanup_free char *file = file_join(unit_scratch(), ".claude.json");
	static const char login[] =
	    "{\"oauthAccount\": {\"accountUuid\": \"u-1\"}}";
	struct agent *agent;
	const char *rows = "";

	begin_with_two();
	ck_assert_int_eq(setenv("CLAUDE_CONFIG_DIR", unit_scratch(), 1), 0);
	unsetenv("ANTHROPIC_API_KEY");
	ck_assert_int_eq(
	    file_replace(file, login, strlen(login), 0600, NULL), 0);
	agent = auto_world_agent();
	outage_limited(auto_world.mode, agent, LIMIT_USAGE, "limit reached",
	    clock_wall_ms() + 3600000);
	for (int i = 0; i < 400 && strstr(rows, ",limit,a,") == NULL; i++) {
		hosts_world_polls();
		rows = hosts_world_says(&SHARED_CALL0(SHARED_QUOTA_READ), 1);
	}
	ck_assert_ptr_nonnull(strstr(rows, ",limit,a,{\"left_ms\":"));
	ck_assert_ptr_nonnull(strstr(rows, "limit reached"));
	ck_assert_ptr_null(strstr(rows, "u-1"));
}

/* Another host asks for what a person may, and an agent may not: whatever its
 * role is let write, it is not done. */
TEST_ROWS(a_letter_has_no_rights_of_a_person, 3)
{
	static const char *const letters[][2] = {
		{ "task.priority", "{\"task\":\"a.md\",\"priority\":\"low\"}" },
		{ "daemon.stop", "{}" },
		{ "mail.deliver", "[]" },
	};
	cleanup_free char *sql = NULL, *answer = NULL;

	hosts_world_run();
	auto_world_task("a.md", "Do it\n");
	auto_world_turn_on("t1-a");
	ck_assert_str_eq(SAYS(SHARED_LETTER_POST, BOOK_T("l1"), BOOK_T("a"),
			     BOOK_T("task.priority"), BOOK_T("{}")),
	    "");
	sql = xasprintf("insert into letter values('l1','b','a','%s','%s',"
			"'open',null,1,1)",
	    letters[_i][0], letters[_i][1]);
	hosts_world_sql(sql);
	hosts_world.floor->letters = true;
	answer = xasprintf("l1,a,%s,failed,%s is not done for other hosts",
	    letters[_i][0], letters[_i][0]);
	hosts_world_wait_letter("l1", answer);
	ck_assert_int_eq(
	    auto_world.core->state.tasks[0]->priority, PRIORITY_NORMAL);
}

/* --- agents that an agent has asked for --------------------------- */

/* Host a was lost, and is back; b has the task t1-a now, and what that had
 * asked for. */
TEST(what_the_next_attempt_owns_is_not_ours_any_more)
{
	begin_elsewhere();
	xstrset(&state_task(&auto_world.core->state, "t2-a")->launch.parent,
	    "t1-a");
	hosts_world_sql("update task set host='b',boot='" B_BOOT
			"',fence=2,changed_at=changed_at+1 where task='t1-a';"
			"update task set owner='b' where task='t2-a'");
	hosts_world_polls();
	auto_world_wait("task_fenced t1-a; ");
	auto_world_wait_step("t2-a", -1);
	ck_assert_str_eq(hosts_world_row("t2-a"), "claimed b 1");
	ck_assert_ptr_null(share_of_task(hosts_world.floor, "t2-a"));
}

static bool
follows(void *arg)
{
	hosts_world_polls();
	return (hosts_world.floor->follow_ms != 0) == (arg != NULL);
}

/* A child has landed, but the branch here does not have it yet: other news do
 * not wait for that, and it is not forgotten. */
TEST(news_go_on_while_the_branch_follows)
{
	cleanup_free char *landed = NULL;

	begin_elsewhere();
	xstrset(&state_task(&auto_world.core->state, "t2-a")->launch.parent,
	    "t1-a");
	landed = xasprintf("update task set changed_at=changed_at+100000 where "
			   "task='t1-a'; update task set state='landed',"
			   "commit_id='%s' where task='t2-a'",
	    hosts_world_push("t2-a"));
	hosts_world_sql(landed);
	hosts_world.floor->since_ms = 0;
	floor_world_wait_closely(follows, &hosts_world);
	ck_assert_int_gt(
	    hosts_world.floor->since_ms, hosts_world.floor->follow_ms);
	ck_assert_int_le(
	    hosts_world.floor->read_to, hosts_world.floor->follow_ms);
	floor_world_wait(follows, NULL);
	auto_world_wait_step("t2-a", -1);
	auto_world_filed("t2-a landed; ");
}
