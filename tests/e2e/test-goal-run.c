/* SPDX-License-Identifier: ISC */

/* A goal from a file, worked on by two workers until it is reached: across
 * deaths of the daemon, and across a damaged book. */
#include "goalrun.h"

static const char *const tasks[] = { "T1.1", "T1.2", "T2.1", "T2.2", NULL };

void
unit_before(void)
{
	fleet_begin();
	goal_enable();
	auto_set("auto.concurrency", "2");
}

/* T1.1 and T1.2 at once, T2.1 after T1.2, T2.2 after everything. */
static const char *
create(void)
{
	return goal_create(e2e_path(
	    "# Build a house\nIt rains.\n\n"
	    "## Walls\n"
	    "### Left wall\nfake: run %s\nfake: commit left.txt x\n\n"
	    "Acceptance:\n- it stands\n\n"
	    "### Right wall\nfake: run %s\nfake: commit right.txt x\n\n"
	    "Acceptance:\n- it stands\n\n"
	    "## Roof\n"
	    "### Beams\nfake: run %s\nfake: commit beams.txt x\n\n"
	    "Acceptance:\n- they hold\n\nDepends: Right wall\n\n"
	    "### Tiles\nfake: run %s\nfake: commit tiles.txt x\n\n"
	    "Acceptance:\n- it is dry\n\nDepends:\n- Walls\n- Beams\n",
	    auto_gate("left"), auto_gate("right"), auto_gate("beams"),
	    auto_gate("tiles")));
}

static void
open_gates(void)
{
	auto_open_gate("left");
	auto_open_gate("right");
	auto_open_gate("beams");
	auto_open_gate("tiles");
}

static void
is_built(const char *goal)
{
	goal_is_reached(goal, tasks);
	auto_history("left.txt: x", "right.txt: x", "beams.txt: x",
	    "tiles.txt: x", NULL);
	ck_assert_int_eq(auto_landed(), 4);
	ck_assert_int_eq(auto_finished("landed"), 4);
	ck_assert_int_eq(auto_finished(NULL), 4);
	ck_assert_int_eq(fleet_prompts("fake: commit left.txt"), 1);
	ck_assert_int_eq(fleet_prompts("fake: commit right.txt"), 1);
	ck_assert_int_eq(fleet_prompts("fake: commit beams.txt"), 1);
	ck_assert_int_eq(fleet_prompts("fake: commit tiles.txt"), 1);
	auto_no_sessions();
}

/* --- deaths ------------------------------------------------------------- */

const int unit_timeout = 120; /* seconds, each */

TEST(a_goal_is_reached_across_two_deaths_of_the_daemon)
{
	const char *goal = create();

	auto_up("--until-empty", NULL);
	auto_wait_gate("left");
	auto_wait_gate("right");
	/* Dead while both work; one of them ends its turn meanwhile. */
	auto_kill9_daemon();
	auto_open_gate("right");
	fleet_wait_spooled();
	auto_up("--until-empty", NULL);
	auto_wait_gate("beams");
	ck_assert_str_eq(goal_node(goal, "T1.2", "status"), "done");
	ck_assert_str_eq(goal_node(goal, "T1.1", "status"), "in_progress");
	ck_assert_str_eq(goal_node(goal, "T2.2", "status"), "todo");
	/* And as soon as another one has landed. */
	auto_open_gate("beams");
	auto_wait_landed(2);
	auto_kill9_daemon();
	open_gates();
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	is_built(goal);
	auto_no_complaints();
	e2e_has(fleet_do("goal", "show", goal, NULL)->out,
	    "completed, 4 of 4 done (100%)");
	/* There is nothing left to do. */
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	ck_assert_int_eq(auto_landed(), 4);
}

/* --- a title is enough ---------------------------------------------------- */

/* The planner, a script: its prompt is kept, and its plan has one task that
 * makes this file. */
static void
set_planner(const char *file)
{
	const char *script = e2e_path("%s/planner.sh", unit_scratch());

	e2e_write(script,
	    e2e_path("cat >'%s/prompt'\ncat <<'E'\n{\"planVersion\":1,"
		     "\"phases\":[{\"id\":\"P1\",\"name\":\"A phase\","
		     "\"acceptance\":[\"x\"],\"tasks\":[{\"id\":\"T1.1\","
		     "\"name\":\"A task\",\"objective\":\"fake: commit %s "
		     "x\",\"acceptance\":[\"x\"]}]}]}\nE\n",
		unit_scratch(), file));
	auto_set("planner.command", e2e_path("sh '%s'", script));
}

static const char *
add(const char *text, const char *option)
{
	return json_string_or(
	    e2e_json(fleet_do("--json", "goal", "add", text, option, NULL), 0),
	    "goal", "");
}

TEST_IN(fleet_begin, a_goal_without_a_plan_is_planned_and_reached)
{
	static const char *const one[] = { "T1.1", NULL };
	const char *goal, *prompt;

	set_planner("door.txt");
	goal = add("Build a door", NULL);
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	goal_is_reached(goal, one);
	prompt = e2e_read(e2e_path("%s/prompt", unit_scratch()));
	e2e_has(prompt, "Goal: Build a door");
	e2e_has(prompt, "Top level: ");
	e2e_has(prompt, "\nREADME begins:\n");
	e2e_has(prompt, "\nFiles by kind:");
}

TEST_IN(fleet_begin, a_plan_is_edited_before_it_begins)
{
	static const char *const one[] = { "T1.1", NULL };
	const char *goal, *text;

	set_planner("door.txt");
	fleet_up();
	goal = add("Build a door", "--dry-run");
	e2e_has(fleet_do("goal", "plan", "draft", goal, NULL)->out, "door.txt");
	fleet_do("goal", "cancel", goal, NULL);
	e2e_write(e2e_path("%s/editor", unit_scratch()),
	    "#!/bin/sh\nsed -i s/door.txt/gate.txt/ \"$1\"\n");
	e2e_env(e2e_path("EDITOR=sh '%s/editor'", unit_scratch()));
	text = fleet_do("goal", "add", "Build a door", "--edit", "--yes", NULL)
		   ->out;
	e2e_has(text, "g2 ");
	goal = "g2";
	fleet_do("down", NULL);
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	goal_is_reached(goal, one);
	auto_history("gate.txt: x", NULL);
}

/* --- damage -------------------------------------------------------------- */

/* The first page of the book is not one any more: the next daemon saves what
 * can be read of the others. */
TEST(a_goal_is_reached_after_its_book_was_damaged)
{
	const char *goal = create();

	auto_up(NULL);
	auto_wait_gate("left");
	auto_wait_gate("right");
	auto_kill9_daemon();
	/* What the last daemon had not yet moved to the file is moved first. */
	fleet_do("goal", "list", NULL);
	e2e_expect(e2e_sh(fleet_root(),
		       "[ ! -e .llmc/llmc.db-wal ] && printf 'no database' | "
		       "dd of=.llmc/llmc.db conv=notrunc 2>/dev/null"),
	    0, NULL);
	auto_up(NULL);
	open_gates();
	auto_wait_finished("landed", 4);
	auto_drain();
	is_built(goal);
	e2e_expect(
	    e2e_llmc(fleet_root(), "doctor", "store", "check", NULL), 0, NULL);
}
