/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "turn.h"

static struct said said;

/* What it says by plain words. */
static void
say(enum said_what what, const char *words)
{
	said = (struct said){ .what = what };
	said.words = words != NULL ? (char *)(uintptr_t)words : NULL;
}

/* A turn without any problem. */
static struct turn_facts
good(void)
{
	say(SAID_NOTHING, NULL);
	return (struct turn_facts){ .driven = true,
		.ahead = 1,
		.turns = 1,
		.turns_max = 10,
		.said = &said };
}

static const char *const action_words[] = {
	[TURN_FINISHED] = "finished",
	[TURN_NO_CHANGES] = "no changes",
	[TURN_CHECK] = "check",
	[TURN_BACK] = "back",
	[TURN_NUDGE] = "nudge",
	[TURN_COMMIT] = "commit",
	[TURN_PAUSE] = "pause",
	[TURN_ASK] = "ask",
	[TURN_WAIT] = "wait",
	[TURN_FAIL] = "fail",
};

/* Judge, and check that the message contains this text ("" = no message).
 * Returns what is asked for. */
static enum ask_kind
assert_judged(
    const struct turn_facts *facts, enum turn_action action, const char *part)
{
	cleanup_buf struct buf words = BUF_INIT;
	enum ask_kind ask = ASK_NONE;
	enum turn_action judged;

	buf_adds(&words, ">");
	judged = turn_judge(facts, &words, &ask);
	ck_assert_msg(judged == action, "%s instead of %s: %s",
	    action_words[judged], action_words[action], words.data);
	if (*part == '\0')
		ck_assert_str_eq(words.data, ">");
	else
		ck_assert_msg(
		    strstr(words.data, part) != NULL, "%s", words.data);
	ck_assert((ask != ASK_NONE) == (judged == TURN_ASK));
	return ask;
}

TEST(good_work_is_accepted)
{
	struct turn_facts facts = good();

	assert_judged(&facts, TURN_FINISHED, "");
	facts.commit_wanted = true;
	assert_judged(&facts, TURN_FINISHED, "");
	facts.turns = 10; /* the last turn may succeed */
	facts.nudges = TURN_NUDGES_MAX;
	assert_judged(&facts, TURN_FINISHED, "");
}

TEST(check_comes_before_the_landing)
{
	struct turn_facts facts = good();

	facts.check_wanted = true;
	assert_judged(&facts, TURN_CHECK, "");
	facts.turns = facts.turns_max;
	assert_judged(&facts, TURN_CHECK, "");
}

TEST(no_commit_is_no_change_unless_one_is_wanted)
{
	struct turn_facts facts = good();

	facts.ahead = 0;
	facts.check_wanted = true;
	assert_judged(&facts, TURN_NO_CHANGES, "");
	facts.commit_wanted = true;
	assert_judged(&facts, TURN_NUDGE, "no commit on your branch");
	facts.resolving = true; /* its change was already in the other commit */
	assert_judged(&facts, TURN_NO_CHANGES, "");
}

TEST(unfinished_rebase_outranks_all)
{
	struct turn_facts facts = good();

	facts.rebasing = true;
	facts.conflicts = 2;
	facts.uncommitted = 5;
	said.what = SAID_FAILED;
	facts.ahead = 0;
	facts.commit_wanted = true;
	assert_judged(&facts, TURN_BACK, ">2 files are still in conflict. ");
	facts.conflicts = 1;
	assert_judged(&facts, TURN_BACK, ">1 file is still in conflict. ");
	facts.conflicts = 0;
	assert_judged(&facts, TURN_BACK, ">The rebase is not finished.");
	facts.resolving = true;
	assert_judged(&facts, TURN_BACK, "git rebase --continue");
}

TEST(uncommitted_files_outrank_the_ending)
{
	struct turn_facts facts = good();

	facts.uncommitted = 3;
	said.what = SAID_FAILED;
	facts.check_wanted = true;
	assert_judged(&facts, TURN_BACK, ">3 files are changed or untracked. ");
	facts.uncommitted = 1;
	facts.nudges = TURN_NUDGES_MAX; /* those do not count here */
	assert_judged(&facts, TURN_BACK, ">1 file is changed or untracked. ");
	said.what = SAID_QUESTION;
	assert_judged(&facts, TURN_BACK, "Nobody can answer you.");
}

/* Nobody's attempts are used up by what is said. */
TEST(what_is_said_is_nudged_and_then_asked)
{
	static const struct {
		enum said_what what;
		int nudges;
		const char *told, *reason;
		enum ask_kind ask;
	} cases[] = {
		{ SAID_QUESTION, TURN_NUDGES_MAX, ">Nobody can answer you.",
		    ">it asks: Which one?", ASK_QUESTION },
		{ SAID_FAILED, TURN_NUDGES_MAX,
		    ">You said that you cannot or will not",
		    ">it says that it cannot go on: Which one?", ASK_FAILURE },
		{ SAID_BLOCKED, 0, NULL, ">it is blocked: Which one?",
		    ASK_BLOCKED },
		{ SAID_DONE, 1, ">There is no commit on your branch. If",
		    ">it ended without a change: Which one?", ASK_FAILURE },
		{ SAID_NOTHING, 1, ">There is no commit on your branch. If",
		    ">it ended without a change: Which one?", ASK_FAILURE },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		struct turn_facts facts = good();

		facts.ahead = 0;
		say(cases[i].what, "Which one?");
		facts.check_wanted = facts.result_wanted = true;
		for (; facts.nudges < cases[i].nudges; facts.nudges++)
			assert_judged(&facts, TURN_NUDGE, cases[i].told);
		ck_assert_int_eq(
		    assert_judged(&facts, TURN_ASK, cases[i].reason),
		    cases[i].ask);
		facts.nudges = 0;
		facts.turns = facts.turns_max;
		assert_judged(&facts, TURN_ASK, cases[i].reason);
	}
}

TEST(one_that_reports_what_blocks_it_is_not_sent_back)
{
	struct turn_facts facts = good();

	say(SAID_BLOCKED, "needs NPM_TOKEN");
	said.by = SAID_BY_UPDATE;
	facts.uncommitted = 3;
	facts.rebasing = true;
	ck_assert_int_eq(
	    assert_judged(&facts, TURN_ASK, ">it is blocked: needs NPM_TOKEN"),
	    ASK_BLOCKED);
	said.by = SAID_BY_REPORT;
	assert_judged(&facts, TURN_ASK, "needs NPM_TOKEN");
	facts.driven = false;
	assert_judged(&facts, TURN_BACK, "The rebase is not finished.");
}

TEST(who_can_ask_is_told_whom)
{
	struct turn_facts facts = good();

	said.what = SAID_QUESTION;
	facts.answers = "a person";
	assert_judged(&facts, TURN_NUDGE,
	    "ask a person with the tool request_orchestrator");
	facts.uncommitted = 1;
	assert_judged(&facts, TURN_BACK, "ask a person with the tool");
}

TEST(a_question_that_a_person_answers_is_asked_at_once)
{
	struct turn_facts facts = good();

	say(SAID_QUESTION, "Tabs or spaces?");
	facts.asks_person = true;
	assert_judged(&facts, TURN_ASK, "it asks: Tabs or spaces?");
	facts.turns = facts.turns_max = 3;
	assert_judged(&facts, TURN_ASK, "it asks: Tabs or spaces?");
	/* What it left over comes first. */
	facts.turns_max = 0;
	facts.uncommitted = 1;
	assert_judged(&facts, TURN_BACK, "shows a clean worktree.");
	facts.uncommitted = 0;
	said.what = SAID_FAILED;
	assert_judged(&facts, TURN_NUDGE, ">You said");
}

TEST(one_that_waits_for_others_is_not_judged_but_leaves_nothing)
{
	struct turn_facts facts = good();

	facts.waits = true;
	facts.check_wanted = facts.commit_wanted = true;
	assert_judged(&facts, TURN_WAIT, "");
	facts.ahead = 0;
	assert_judged(&facts, TURN_WAIT, "");
	said.what = SAID_QUESTION;
	facts.asks_person = true;
	assert_judged(&facts, TURN_WAIT, "");
	said.what = SAID_FAILED;
	facts.nudges = TURN_NUDGES_MAX;
	facts.turns = facts.turns_max;
	assert_judged(&facts, TURN_WAIT, "");
	facts.uncommitted = 1;
	assert_judged(&facts, TURN_FAIL, "not committed");
	facts.turns = 1;
	assert_judged(&facts, TURN_BACK, "shows a clean worktree.");
	facts.rebasing = true;
	assert_judged(&facts, TURN_BACK, "The rebase is not finished.");
	/* By hand nobody has asked for others. */
	facts = good();
	facts.waits = true;
	facts.driven = false;
	assert_judged(&facts, TURN_FINISHED, "");
}

TEST(what_sends_back_fails_with_the_last_turn)
{
	struct turn_facts facts = good();

	facts.uncommitted = 1;
	facts.turns = 9;
	assert_judged(&facts, TURN_BACK, "clean worktree");
	facts.turns = 10;
	assert_judged(&facts, TURN_FAIL,
	    ">it left changes that are not committed after 10 turns");
	facts.uncommitted = 0;
	facts.rebasing = true;
	facts.turns = facts.turns_max = 1;
	assert_judged(
	    &facts, TURN_FAIL, ">it left a rebase unfinished after 1 turn");
}

TEST(failed_check_is_told_with_its_output)
{
	cleanup_buf struct buf out = BUF_INIT;

	turn_check_words(
	    "make test", "exited with status 2", "1 failed\n", &out);
	ck_assert_str_eq(out.data,
	    "The check of your work failed: make test exited with status 2.\n"
	    "```\n1 failed\n```\nFind the cause, fix it and commit (amend your "
	    "commit). Do not make the check less strict.\n");
	buf_clear(&out);
	turn_check_words("make", "took longer than 5s", "", &out);
	ck_assert_ptr_nonnull(strstr(out.data, "5s.\nIt printed nothing.\n"));
}

/* Like good(), but driven by a person; the facts for auto mode are set and must
 * be ignored. */
static struct turn_facts
by_hand(void)
{
	say(SAID_QUESTION, "Which one?");
	return (struct turn_facts){ .ahead = 1,
		.commit_wanted = true,
		.check_wanted = true,
		.said = &said,
		.turns = 10,
		.turns_max = 10,
		.nudges = TURN_NUDGES_MAX };
}

TEST(by_hand_a_clean_worktree_is_finished)
{
	struct turn_facts facts = by_hand();

	assert_judged(&facts, TURN_FINISHED, "");
	said.what = SAID_FAILED;
	facts.sent_back = TURN_SENT_BACK_MAX;
	assert_judged(&facts, TURN_FINISHED, "");
}

TEST(by_hand_only_a_turn_that_was_to_work_ends_without_changes)
{
	struct turn_facts facts = by_hand();

	facts.ahead = 0;
	assert_judged(&facts, TURN_NO_CHANGES, "");
	facts.reviewing = true;
	assert_judged(&facts, TURN_FINISHED, "");
	facts.reviewing = false;
	facts.resolving = true;
	assert_judged(&facts, TURN_FINISHED, "");
}

TEST(by_hand_what_is_left_is_committed_at_last)
{
	struct turn_facts facts = by_hand();

	facts.uncommitted = 2;
	for (; facts.sent_back < TURN_SENT_BACK_MAX; facts.sent_back++)
		assert_judged(&facts, TURN_BACK,
		    ">2 files are changed or untracked. Commit what belongs");
	assert_judged(&facts, TURN_COMMIT, "");
	facts.ahead = 0;
	assert_judged(&facts, TURN_COMMIT, "");
}

TEST(by_hand_an_unfinished_rebase_waits_for_a_person_at_last)
{
	struct turn_facts facts = by_hand();

	facts.rebasing = true;
	facts.conflicts = 1;
	facts.uncommitted = 3;
	for (; facts.sent_back < TURN_SENT_BACK_MAX; facts.sent_back++)
		assert_judged(&facts, TURN_BACK,
		    ">1 file is still in conflict. The rebase is not finished");
	assert_judged(
	    &facts, TURN_PAUSE, ">the agent could not finish its rebase; ");
}

TEST(by_hand_nobody_is_told_that_nobody_answers)
{
	struct turn_facts facts = by_hand();
	cleanup_buf struct buf words = BUF_INIT;

	facts.uncommitted = 1;
	ck_assert_int_eq(turn_judge(&facts, &words, NULL), TURN_BACK);
	ck_assert_ptr_null(strstr(words.data, "Nobody"));
}
