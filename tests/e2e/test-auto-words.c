/* SPDX-License-Identifier: ISC */

/* What an agent says at the end of its turn, and what becomes of its task: done
 * without a change, blocked, asking, refusing. With the default settings. */
#include "faults.h"
#include "filed.h"
#include "goalrun.h"

#define BLOCKED                                                     \
	"fake: say I looked for it.\n"                              \
	"fake: say ```json\n"                                       \
	"fake: say {\"overseerUpdate\": {\"status\": \"blocked\", " \
	"\"blockers\": [\"needs NPM_TOKEN\"]}}\n"                   \
	"fake: say ```"

void
unit_before(void)
{
	fleet_begin();
	auto_ails("");
}

static void
check_record(const char *key, const char *words)
{
	struct json_object *record = filed_last(fleet_root());

	e2e_has(auto_member(record, key), words);
	json_object_put(record);
}

/* The task waits for a person, for this; each place says it once. */
static void
check_asked(const char *kind, const char *words)
{
	const char *status;

	auto_wait_state("tasks.0.step", "parked");
	auto_wait_state("tasks.0.ask", kind);
	e2e_has(auto_member(auto_state(), "tasks.0.reason"), words);
	ck_assert_str_eq(auto_member(auto_state(), "tasks.0.attempts"),
	    auto_member(auto_state(), "tasks.0.from")[0] != '\0' ? "1" : "0");
	e2e_has(fleet_do("task", "list", NULL)->out, "parked");
	e2e_has(fleet_do("task", "show", "t1", NULL)->out, words);
	status = fleet_do("status", NULL)->out;
	e2e_has(status, words);
	ck_assert_ptr_null(strstr(strstr(status, words) + 1, words));
	e2e_has(e2e_llmc(fleet_root(), "report", NULL)->out, words);
	e2e_lacks(fleet_do("status", NULL)->out, "Nothing needs you");
	ck_assert_int_eq(auto_finished(NULL), 0);
}

const int unit_timeout = 120; /* seconds, each */

/* --- done without a change ----------------------------------------- */

TEST(a_report_is_a_result_where_it_is_wanted)
{
	auto_set("auto.require_commit", "true");
	auto_task("a.md",
	    "Result: report\n\nReview the parser.\n"
	    "fake: say main.c leaks a descriptor.");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	auto_no_complaints();
	ck_assert_int_eq(auto_finished("no_changes"), 1);
	ck_assert_int_eq(auto_events("sent_back", NULL), 0);
	ck_assert_int_eq(fleet_prompts("Your work is a report"), 1);
	ck_assert_int_eq(fleet_prompts("Result: report"), 0);
	e2e_has(fleet_do("task", "show", "t1", NULL)->out,
	    "main.c leaks a descriptor.");
	e2e_has(e2e_llmc(fleet_root(), "report", NULL)->out,
	    "main.c leaks a descriptor.");
}

/* Hung, stuck, or it only looked: nobody knows whether it is done. It is asked
 * once, and then a person is. */
TEST(no_change_without_a_reason_is_for_a_person)
{
	auto_task("a.md", "fake: say I have looked at everything.");
	auto_task("b.md", "fake: commit b.txt x");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 1);
	ck_assert_int_eq(auto_finished("no_changes"), 0);
	ck_assert_int_eq(auto_finished("failed"), 0);
	ck_assert_str_eq(auto_folder("done"), "b.md\n");
	ck_assert_int_eq(auto_events("sent_back", "No change is needed"), 1);
	ck_assert_int_eq(auto_events("sent_back", NULL), 1);
	e2e_has(fleet_do("task", "show", "t1", NULL)->out,
	    "I have looked at everything.");
	e2e_lacks(fleet_do("status", NULL)->out, "Nothing needs you");
	fleet_do("task", "drop", "t1", NULL);
	/* The next run is complete: it has its own status. */
	auto_task("c.md", "fake: say It is fine as it is.");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
}

/* --- questions and refusals ---------------------------------------- */

static const struct {
	const char *words;
	const char *told; /* in the answer */
	const char *ask; /* if it does not stop */
} endings[] = {
	{ "Which colour should I take?", "Do not end your turn", "question" },
	{ "I cannot complete this task.", "cannot or will not", "failure" },
};

TEST_ROWS(an_ending_that_stays_none_is_for_a_person, nitems(endings))
{
	const char *ask = e2e_path("fake: ask %s\n", endings[_i].words);

	auto_task("a.md", "fake: commit a.txt x\n%s%s%s%s%s", ask, ask, ask,
	    ask, ask);
	auto_up(NULL);
	check_asked(endings[_i].ask, endings[_i].words);
	ck_assert_int_eq(auto_events("sent_back", NULL), 3);
	auto_drain();
	auto_no_complaints();
}

/* --- blocked ------------------------------------------------------- */

TEST(what_blocks_it_is_asked_of_a_person)
{
	auto_task("a.md", "Publish the package.");
	auto_ails(BLOCKED);
	auto_up(NULL);
	check_asked("blocked", "needs NPM_TOKEN");
	ck_assert_int_eq(auto_events("sent_back", NULL), 0);
	ck_assert_int_eq(fleet_prompts("Publish the package."), 1);
	/* Its worker does something else meanwhile. */
	auto_ails("");
	auto_task("b.md", "fake: commit b.txt x");
	auto_wait_finished("landed", 1);
	auto_ails("fake: commit a.txt x");
	e2e_has(fleet_do("asks", NULL)->out, "needs NPM_TOKEN");
	fleet_do("answer", "t1", "The token is in ~/.npmrc.", NULL);
	auto_wait_finished("landed", 2);
	e2e_lacks(fleet_do("asks", NULL)->out, "needs NPM_TOKEN");
	ck_assert_int_eq(fleet_prompts("The token is in ~/.npmrc."), 1);
	auto_drain();
	auto_no_complaints();
	auto_history("a.txt: x", "b.txt: x", NULL);
	check_record("attempts", "1");
}

/* What it left in its worktree is there when it goes on. */
TEST(blocked_work_is_kept)
{
	goal_enable();
	auto_task("a.md", "Publish the package.");
	auto_ails("fake: write half.txt done\n" BLOCKED);
	auto_up(NULL);
	check_asked("blocked", "needs NPM_TOKEN");
	e2e_has(fleet_do("why", "t1", NULL)->out,
	    "parked: it is blocked: needs NPM_TOKEN");
	auto_ails("fake: run git commit -q --amend -m Published");
	fleet_do("resume", "t1", "--note", "The token is in ~/.npmrc.", NULL);
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_history("Published", NULL);
	ck_assert(e2e_exists(e2e_path("%s/half.txt", fleet_root())));
}

/* --- every command for tasks, on a task of a goal ---------------------- */

/* Runs llmc with these words and the node, of a goal whose id is not typed to
 * the end. */
static const char *
on_node(
    const char *goal, const char *command, const char *verb, const char *name)
{
	const char *node =
	    e2e_path("%.*s/%s", (int)strlen(goal) - 1, goal, name);

	return verb != NULL ? fleet_do(command, verb, node, NULL)->out :
			      fleet_do(command, node, NULL)->out;
}

TEST(a_blocked_node_waits_and_every_command_finds_it)
{
	const char *goal;

	goal_enable();
	goal = goal_of_one_task("");
	auto_ails(BLOCKED);
	auto_up(NULL);
	check_asked("blocked", "needs NPM_TOKEN");
	e2e_has(fleet_do("task", "list", NULL)->out, e2e_path("%s/T1.1", goal));
	e2e_has(on_node(goal, "task", "show", "T1.1"), "needs NPM_TOKEN");
	e2e_has(on_node(goal, "task", "show", "1.1"), "needs NPM_TOKEN");
	e2e_has(fleet_do("task", "show", "1.1", NULL)->out, "needs NPM_TOKEN");
	e2e_has(
	    fleet_do("task", "priority", "1.1", "high", NULL)->out, "t1: high");
	e2e_has(on_node(goal, "resume", NULL, "1.1"), "Continuing");
	auto_wait_state("tasks.0.step", "parked"); /* blocked once more */
	auto_ails("fake: commit a.txt x");
	e2e_has(on_node(goal, "task", "retry", "T1.1"), "t1: waiting");
	auto_wait_finished("landed", 1);
	auto_drain();
	/* It has ended: by its id, and by its place. */
	e2e_has(on_node(goal, "task", "show", "1.1"), "landed");
	ck_assert_str_eq(goal_node(goal, "T1.1", "status"), "done");
}

TEST(a_task_of_a_goal_is_dropped_by_its_place)
{
	const char *goal;

	goal_enable();
	goal = goal_of_one_task("");
	auto_ails(BLOCKED);
	auto_up(NULL);
	check_asked("blocked", "needs NPM_TOKEN");
	e2e_has(on_node(goal, "task", "drop", "1.1"), "t1: aborted");
	auto_wait_finished("aborted", 1);
	auto_drain();
}

/* --- kills ---------------------------------------------------------- */

static struct faults park_story = { .sample = 1 };

/* The daemon is killed on the way from the Stop hook to the parked task. */
TEST_ROWS(a_killed_daemon_parks_it_once, faults_rows(&park_story))
{
	if (!faults_begin(&park_story, _i))
		return;
	auto_task("a.md", "Publish the package.");
	auto_ails(
	    e2e_path("fake: run %s\n" BLOCKED, auto_gate("before-the-end")));
	auto_up("--until-empty", NULL);
	auto_wait_gate("before-the-end");
	faults_arm();
	auto_ails(BLOCKED);
	auto_open_gate("before-the-end");
	faults_run();
	check_asked("blocked", "needs NPM_TOKEN");
	auto_ails("fake: commit a.txt x");
	auto_up(NULL);
	fleet_do("resume", "t1", "--note", "The token is in ~/.npmrc.", NULL);
	auto_wait_finished("landed", 1);
	auto_drain();
	ck_assert_int_eq(fleet_prompts("The token is in ~/.npmrc."), 1);
	auto_history("a.txt: x", NULL);
}
