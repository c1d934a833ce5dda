/* SPDX-License-Identifier: ISC */

/* Tasks of a host of a fleet: published, claimed, told how they ended. */

#include "hosts-world.h"

#include <sqlite3.h>

#include "hosts-private.h"
#include "landing-item.h"
#include "landing-record.h"
#include "loop.h"
#include "repo.h"

TEST(a_task_is_published_claimed_and_done_by_its_own_host)
{
	hosts_world_begin(NULL);
	auto_world_task("a.md", "Do it\n");
	hosts_world_live();
	auto_world_turn_on("t1-a");
	ck_assert_str_eq(hosts_world_row("t1-a"), "claimed a 1");
	hosts_world_work_ends(auto_world_agent(), "one");
	hosts_world_wait_step("t1-a", -1);
	hosts_world_wait_row("t1-a", "landed a 1");
	auto_world_folder("done: a.md; ");
	ck_assert_uint_eq(hosts_world.floor->share_count, 0);
}

/* What a host says of a task that has landed. */
#define LANDED                                                       \
	"{\"outcome\":\"landed\",\"commit\":\"abc\",\"attempts\":1," \
	"\"last_words\":\"Finished.\",\"tokens\":7}"

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

TEST(a_task_that_another_host_does_is_settled_by_its_owner)
{
	const struct task *t;

	begin_with_two();
	b_claims("t2-a");
	hosts_world_polls();
	hosts_world_wait_step("t2-a", TASK_ELSEWHERE);
	t = state_task(&auto_world.core->state, "t2-a");
	ck_assert_str_eq(t->host, "b");
	ck_assert_str_ne(
	    SAYS(SHARED_FINISH, BOOK_T("t2-a"), BOOK_I(1), BOOK_T(B_BOOT),
		BOOK_T("done"), BOOK_T(LANDED), BOOK_T(NULL)),
	    "");
	hosts_world_polls();
	hosts_world_wait_step("t2-a", -1);
	auto_world_filed("t2-a landed; ");
	auto_world_folder("doing: a.md; done: b.md; ");
	ck_assert_ptr_nonnull(strstr(auto_world_record("t2-a"), "Finished."));
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
	hosts_world_begin(NULL);
	hosts_world_live();
	b_publishes("t7-b");
	hosts_world_polls();
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(auto_world_turn_on("t7-b")->session),
		"Do t7-b"));
	hosts_world_work_ends(auto_world_agent(), "one");
	hosts_world_wait_step("t7-b", -1);
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
	hosts_world_wait_step("t1-a", TASK_ASSIGNED);
	ck_assert_str_eq(hosts_world_row("t1-a"), "claimed a 1");
	ck_assert(share_of_task(hosts_world.floor, "t1-a")->step == SHARE_HELD);
	ck_assert_ptr_null(strstr(auto_world.told.data, "task_fenced"));
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
	hosts_world_wait_step("t1-a", TASK_ELSEWHERE);
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
	hosts_world_wait_step("t2-a", TASK_PARKED);
	ck_assert_ptr_nonnull(
	    strstr(state_task(&auto_world.core->state, "t2-a")->reason,
		"3 hosts were lost"));
	/* A person lets it go on. */
	floor_world_answer(
	    floor_world_ask("task.retry", "{\"task\":\"t2-a\"}"));
	hosts_world_wait_row("t2-a", "queued - 10");
}

TEST(a_task_that_its_owner_drops_is_dropped_for_all)
{
	begin_with_two();
	b_claims("t2-a");
	hosts_world_polls();
	hosts_world_wait_step("t2-a", TASK_ELSEWHERE);
	ck_assert_ptr_null(floor_world_answer(
	    floor_world_ask("task.drop", "{\"task\":\"t2-a\"}")));
	hosts_world_wait_row("t2-a", "dropped b 2");
	auto_world_filed("t2-a aborted; ");
}

TEST(what_its_owner_has_dropped_is_stopped)
{
	hosts_world_begin(NULL);
	hosts_world_live();
	b_publishes("t7-b");
	hosts_world_polls();
	auto_world_turn_on("t7-b");
	SAYS(SHARED_DROP, BOOK_T("t7-b"), BOOK_T("not wanted"));
	hosts_world_polls();
	hosts_world_wait_step("t7-b", -1);
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
	hosts_world_wait_step("t1-a", TASK_WAITING);
	floor_world_settle();
	ck_assert(!hosts_world.floor->up);
	hosts_world_wait_step("t1-a", TASK_WAITING);
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
	sqlite3 *db = NULL;

	begin_with_two();
	ck_assert_int_eq(
	    sqlite3_open(strchr(hosts_world.database, ':') + 1, &db), 0);
	ck_assert_int_eq(
	    sqlite3_exec(db, "begin exclusive", NULL, NULL, NULL), 0);
	hosts_world_work_ends(auto_world_agent(), "one");
	/* The turn goes on, and its work is kept. */
	floor_world_wait(is_submitted, &hosts_world);
	floor_world_settle();
	ck_assert_int_eq(
	    state_task(&auto_world.core->state, "t2-a")->step, TASK_WAITING);
	sqlite3_exec(db, "rollback", NULL, NULL, NULL);
	sqlite3_close(db);
	auto_world_turn_on("t2-a");
	hosts_world_wait_row("t1-a", "landed a 1");
}

TEST(a_draining_host_claims_nothing)
{
	hosts_world_begin(NULL);
	hosts_world_live();
	SAYS(SHARED_DRAIN, BOOK_T("a"), BOOK_I(1));
	hosts_world.floor->asked_ms = 0;
	b_publishes("t7-b");
	hosts_world_polls();
	floor_world_settle();
	hosts_world_polls();
	floor_world_settle();
	ck_assert_str_eq(hosts_world_row("t7-b"), "queued - 0");
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
	hosts_world_wait_step("t1-a", TASK_ELSEWHERE);
}

TEST(a_program_that_a_task_wants_is_found)
{
	hosts_world_begin(NULL);
	auto_world_task("a.md", "Wants: sh host:a\n\nDo it\n");
	hosts_world_live();
	auto_world_turn_on("t1-a");
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
	cleanup_free char *day = xasprintf(
	    "%" PRId64, clock_wall_ms() / ((int64_t)24 * 3600 * 1000));

	hosts_world_begin("[budget]\nday_tokens = 1000\n");
	hosts_world_live();
	SAYS(
	    SHARED_SPEND_PUT, BOOK_T(day), BOOK_T(""), BOOK_I(2000), BOOK_I(0));
	floor_world_wait(is_paused, &hosts_world);
	ck_assert_ptr_nonnull(
	    strstr(auto_world.core->state.paused, "budget.day_tokens"));
}

/* What b reads of its letters, until that is part of it. */
static void
wait_letter(const char *want)
{
	for (int i = 0; i < 2000 &&
	     strstr(SAYS(SHARED_LETTERS_OF, BOOK_I(0)), want) == NULL;
	     i++)
		hosts_world_polls();
	ck_assert_ptr_nonnull(strstr(SAYS(SHARED_LETTERS_OF, BOOK_I(0)), want));
}

TEST(a_letter_is_done_once_with_the_rights_of_a_person)
{
	hosts_world_begin(NULL);
	hosts_world_live();
	auto_world_task("a.md", "Do it\n");
	auto_world_turn_on("t1-a");
	SAYS(SHARED_LETTER_POST, BOOK_T("l1"), BOOK_T("a"),
	    BOOK_T("task.priority"),
	    BOOK_T("{\"task\":\"a.md\",\"priority\":\"low\"}"));
	wait_letter("l1,a,task.priority,done,");
	ck_assert_int_eq(
	    auto_world.core->state.tasks[0]->priority, PRIORITY_LOW);
	SAYS(SHARED_LETTER_POST, BOOK_T("l2"), BOOK_T("a"),
	    BOOK_T("daemon.stop"), BOOK_T("{}"));
	wait_letter("l2,a,daemon.stop,failed,");
}

TEST(a_person_is_told_what_another_host_answers)
{
	struct floor_call *call;
	const char *id;
	char text[64];

	hosts_world_begin(NULL);
	hosts_world_live();
	call = floor_world_ask("fleet.letter",
	    "{\"host\":\"b\",\"method\":\"worker.pause\",\"params\":"
	    "{\"worker\":\"auto-1\"}}");
	do
		id = hosts_world_says(&SHARED_CALL0(SHARED_LETTER_TAKE), 1);
	while (strstr(id, ",a,worker.pause,{\"worker\":\"auto-1\"}") == NULL);
	snprintf(text, sizeof text, "%.36s", id);
	SAYS(SHARED_LETTER_DONE, BOOK_T(text), BOOK_T("done"),
	    BOOK_T("{\"worker\":\"auto-1\"}"));
	ck_assert_ptr_null(floor_world_answer(call));
}
