/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "buf.h"
#include "gate.h"
#include "mem.h"
#include "text.h"
#include "unit.h"

/* A turn that left nothing to be said. */
static struct gate_facts
good(void)
{
	return (struct gate_facts){ .ahead = 1, .turns = 1, .turns_max = 10 };
}

/* Judge, and compare what the words have in them ("" = no words). */
static void
assert_judged(
    const struct gate_facts *facts, enum gate_action action, const char *part)
{
	cleanup_buf struct buf words = BUF_INIT;
	enum gate_action judged;

	buf_adds(&words, ">");
	judged = gate_judge(facts, &words);
	ck_assert_msg(judged == action, "%s instead of %s: %s",
	    gate_action_name(judged), gate_action_name(action), words.data);
	if (*part == '\0')
		ck_assert_str_eq(words.data, ">");
	else
		ck_assert_msg(
		    strstr(words.data, part) != NULL, "%s", words.data);
}

START_TEST(good_work_is_accepted)
{
	struct gate_facts facts = good();

	assert_judged(&facts, GATE_ACCEPT, "");
	facts.commit_wanted = true;
	assert_judged(&facts, GATE_ACCEPT, "");
	facts.turns = 10; /* the last turn may succeed */
	facts.nudges = GATE_NUDGES_MAX;
	assert_judged(&facts, GATE_ACCEPT, "");
}
END_TEST

START_TEST(check_comes_before_the_landing)
{
	struct gate_facts facts = good();

	facts.check_wanted = true;
	assert_judged(&facts, GATE_CHECK, "");
	facts.turns = facts.turns_max;
	assert_judged(&facts, GATE_CHECK, "");
}
END_TEST

START_TEST(no_commit_is_no_change_unless_one_is_wanted)
{
	struct gate_facts facts = good();

	facts.ahead = 0;
	facts.check_wanted = true;
	assert_judged(&facts, GATE_NO_CHANGES, "");
	facts.commit_wanted = true;
	assert_judged(&facts, GATE_BACK, "no commit on your branch");
	facts.resolving = true; /* its change was in the other one */
	assert_judged(&facts, GATE_NO_CHANGES, "");
}
END_TEST

START_TEST(unfinished_rebase_outranks_all)
{
	struct gate_facts facts = good();

	facts.rebasing = true;
	facts.conflicts = 2;
	facts.dirt = 5;
	facts.ending = ENDING_REFUSAL;
	facts.ahead = 0;
	facts.commit_wanted = true;
	assert_judged(&facts, GATE_BACK, ">2 files are still in conflict. ");
	facts.conflicts = 1;
	assert_judged(&facts, GATE_BACK, ">1 file is still in conflict. ");
	facts.conflicts = 0;
	assert_judged(&facts, GATE_BACK, ">The rebase is not finished.");
	facts.resolving = true;
	assert_judged(&facts, GATE_BACK, "git rebase --continue");
}
END_TEST

START_TEST(dirt_outranks_the_ending)
{
	struct gate_facts facts = good();

	facts.dirt = 3;
	facts.ending = ENDING_REFUSAL;
	facts.check_wanted = true;
	assert_judged(&facts, GATE_BACK, ">3 files are changed or untracked. ");
	facts.dirt = 1;
	facts.nudges = GATE_NUDGES_MAX; /* those do not count here */
	assert_judged(&facts, GATE_BACK, ">1 file is changed or untracked. ");
	facts.ending = ENDING_QUESTION;
	assert_judged(&facts, GATE_BACK, "Nobody is there to answer.");
}
END_TEST

START_TEST(bad_endings_are_nudged_a_bounded_number_of_times)
{
	static const struct {
		enum gate_ending ending;
		const char *told, *reason;
	} cases[] = {
		{ ENDING_QUESTION, ">Nobody is there to answer.",
		    ">it ended with a question after being told 3 times to go "
		    "on: Which one?" },
		{ ENDING_REFUSAL, ">You said that you cannot or will not",
		    ">it refused after being told 3 times to go on: Which "
		    "one?" },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		struct gate_facts facts = good();

		facts.ending = cases[i].ending;
		facts.words = "Which one?\n";
		facts.check_wanted = true;
		for (; facts.nudges < GATE_NUDGES_MAX; facts.nudges++)
			assert_judged(&facts, GATE_NUDGE, cases[i].told);
		assert_judged(&facts, GATE_FAIL, cases[i].reason);
		facts.words = NULL;
		assert_judged(&facts, GATE_FAIL, "times to go on");
		facts.words = " \n";
		assert_judged(&facts, GATE_FAIL, "times to go on");
	}
}
END_TEST

START_TEST(what_sends_back_fails_with_the_last_turn)
{
	struct gate_facts facts = good();

	facts.dirt = 1;
	facts.turns = 9;
	assert_judged(&facts, GATE_BACK, "clean worktree");
	facts.turns = 10;
	assert_judged(&facts, GATE_FAIL,
	    ">it left changes that are not committed after 10 turns");
	facts.dirt = 0;
	facts.rebasing = true;
	facts.turns = facts.turns_max = 1;
	assert_judged(
	    &facts, GATE_FAIL, ">it left a rebase unfinished after 1 turn");
	facts.rebasing = false;
	facts.ahead = 0;
	facts.commit_wanted = true;
	facts.turns = 11;
	assert_judged(&facts, GATE_FAIL, ">it made no commit after 11 turns");
	facts.ending = ENDING_QUESTION;
	facts.words = "Well?";
	assert_judged(&facts, GATE_FAIL,
	    ">it ended with a question after 11 turns: Well?");
	facts.turns_max = 0; /* no end */
	assert_judged(&facts, GATE_NUDGE, "Nobody");
}
END_TEST

START_TEST(long_words_are_cut_at_their_beginning)
{
	cleanup_buf struct buf said = BUF_INIT, words = BUF_INIT;
	struct gate_facts facts = good();

	for (int i = 0; i < 1000; i++)
		buf_adds(&said, "\xe2\x82\xac");
	buf_adds(&said, " Why?");
	facts.ending = ENDING_QUESTION;
	facts.nudges = GATE_NUDGES_MAX;
	facts.words = said.data;
	ck_assert_int_eq(gate_judge(&facts, &words), GATE_FAIL);
	ck_assert_uint_lt(words.len, 700);
	ck_assert(text_utf8_valid(words.data, words.len));
	ck_assert_ptr_nonnull(strstr(words.data, "on: ... \xe2\x82\xac"));
	ck_assert_str_eq(words.data + words.len - 5, " Why?");
}
END_TEST

START_TEST(failed_check_is_told_with_its_output)
{
	cleanup_buf struct buf out = BUF_INIT;

	gate_check_words(
	    "make test", "exited with status 2", "1 failed\n", &out);
	ck_assert_str_eq(out.data,
	    "The check of your work failed: make test exited with status 2.\n"
	    "```\n1 failed\n```\n"
	    "Find the cause, mend it and commit (amend your commit). Leave the "
	    "check itself as strict as it is.\n");
	buf_clear(&out);
	gate_check_words("make", "took longer than 5s", "", &out);
	ck_assert_ptr_nonnull(strstr(out.data, "5s.\nIt said nothing.\n"));
}
END_TEST

START_TEST(everything_has_a_name)
{
	ck_assert_str_eq(gate_ending_name(ENDING_PLAIN), "plain");
	ck_assert_str_eq(gate_ending_name(ENDING_QUESTION), "question");
	ck_assert_str_eq(gate_ending_name(ENDING_REFUSAL), "refusal");
	ck_assert_str_eq(gate_action_name(GATE_ACCEPT), "accept");
	ck_assert_str_eq(gate_action_name(GATE_FAIL), "fail");
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("gate");

	unit_case(suite, "judge",
	    (const TTest *[]){ good_work_is_accepted,
		check_comes_before_the_landing,
		no_commit_is_no_change_unless_one_is_wanted,
		unfinished_rebase_outranks_all, dirt_outranks_the_ending,
		bad_endings_are_nudged_a_bounded_number_of_times,
		what_sends_back_fails_with_the_last_turn, NULL });
	unit_case(suite, "words",
	    (const TTest *[]){ long_words_are_cut_at_their_beginning,
		failed_check_is_told_with_its_output, everything_has_a_name,
		NULL });
	return suite;
}
