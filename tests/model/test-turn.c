/* SPDX-License-Identifier: ISC */

#include <math.h>

#include "unit.h"
#include "hook-event.h"
#include "turn.h"

/* --- said -------------------------------------------------------------- */

/* What agents say at the end of a turn, in each of the ways they have. */

#define DONE "I've fixed the parser and committed it.\n\n"

static enum said_what
said_in(const char *text)
{
	cleanup_said struct said said = { 0 };

	said_read(&(struct said_sources){ .text = text }, &said);
	return said.what;
}

TEST(plain_words_are_guessed_at)
{
	static const struct {
		const char *words;
		enum said_what said;
	} replies[] = {
		/* statements */
		{ NULL, SAID_NOTHING },
		{ "", SAID_NOTHING },
		{ " \n\t\n", SAID_NOTHING },
		{ "Done.", SAID_NOTHING },
		{ "All 214 tests pass and the change is committed as 3f2a91c.",
		    SAID_NOTHING },
		{ "Summary:\n\n- Added `--dry-run`\n- Updated the manual",
		    SAID_NOTHING },
		{ "What changed?\n\n- The index is rebuilt.\n- The cache is gone.\n",
		    SAID_NOTHING },
		{ "## Why did it fail?\n\nThe lock was taken twice.",
		    SAID_NOTHING },
		{ "Why was it slow? The query had no index. I added one.",
		    SAID_NOTHING },
		{ "The link is https://example.org/search?q=1 and it works now.",
		    SAID_NOTHING },
		{ "I replaced the `?` operator with a match. ✅", SAID_NOTHING },
		{ "Please review the commit when you have time.",
		    SAID_NOTHING },
		{ "I am blocked: the token is missing.", SAID_NOTHING },
		/* offers, which hold no finished work up */
		{ DONE "Let me know if you would like any changes.",
		    SAID_NOTHING },
		{ DONE "Would you like me to update the changelog?",
		    SAID_NOTHING },
		{ DONE "Do you want me to add more tests as well?",
		    SAID_NOTHING },
		{ DONE "Is there anything else I can help with?",
		    SAID_NOTHING },
		{ DONE "If you'd like, I can also split the file.",
		    SAID_NOTHING },
		{ "I've renamed it everywhere. Should I also rename the file?",
		    SAID_NOTHING },
		{ "I have read it. Would you like me to implement the fix?",
		    SAID_NOTHING },
		{ "Would you like me to proceed?", SAID_QUESTION },
		{ DONE
		    "Would you like me to continue with the remaining files?",
		    SAID_QUESTION },
		/* questions */
		{ "Which database should I use?", SAID_QUESTION },
		{ DONE "Should I proceed?", SAID_QUESTION },
		{ "**Should I proceed with option B?**", SAID_QUESTION },
		{ "Proceed? (y/n)", SAID_QUESTION },
		{ "Is that OK?", SAID_QUESTION },
		{ "The schema has no such column. What is the right one?",
		    SAID_QUESTION },
		{ "Which database should I use? I would take SQLite.",
		    SAID_QUESTION },
		{ "Which approach do you prefer?\n\n1. A queue\n2. A lock",
		    SAID_QUESTION },
		{ "Some questions:\n\n1. Which port?\n2. Which host?",
		    SAID_QUESTION },
		{ "What should the name be?\n\n- alpha\n\nLet me know if you have any other idea.",
		    SAID_QUESTION },
		{ "Please confirm that I may delete the table.",
		    SAID_QUESTION },
		{ "I can do this in two ways. Let me know which one you prefer.",
		    SAID_QUESTION },
		{ "Let me know how you'd like it.", SAID_QUESTION },
		{ "The plan is ready and waiting for your approval.",
		    SAID_QUESTION },
		{ "I need your key.", SAID_QUESTION },
		{ "Should I call `rm -rf build`?", SAID_QUESTION },
		{ "Shall I go on? 🙂", SAID_QUESTION },
		{ "What do you mean by this?!", SAID_QUESTION },
		{ "Should I run this?\n\n```sh\nmake install\n```\n",
		    SAID_QUESTION },
		{ "我应该使用哪个数据库？", SAID_QUESTION },
		{ "هل أتابع؟", SAID_QUESTION },
		{ "Soll ich fortfahren?", SAID_QUESTION },
		/* questions that are not its own */
		{ "The dialog now says \"Do you want to continue?\"",
		    SAID_NOTHING },
		{ "The dialog now says “Are you sure?”", SAID_NOTHING },
		{ "Le bouton dit « Continuer ? »", SAID_NOTHING },
		{ "The prompt is `Proceed? [y/N]`", SAID_NOTHING },
		{ "It prints this:\n\n```\nShould I proceed?\n```\n",
		    SAID_NOTHING },
		{ "It prints this:\n\n~~~\nShould I proceed?", SAID_NOTHING },
		{ "Fixed what the issue asked for:\n\n> Should I use tabs?\n",
		    SAID_NOTHING },
		{ "Added:\n\n| text | shown |\n|---|---|\n| Go on? | yes |\n",
		    SAID_NOTHING },
		{ "Updated the [search page](https://example.org/?).",
		    SAID_NOTHING },
		{ "Should I use a queue? I asked myself.\n\nIt is a lock now.",
		    SAID_NOTHING },
		/* refusals of the work itself, and remarks */
		{ "I can't help with that.", SAID_FAILED },
		{ "I'm unable to do this without network access.",
		    SAID_FAILED },
		{ "I cannot complete this task.", SAID_FAILED },
		{ "I added half of it. I’m unable to implement the rest.",
		    SAID_FAILED },
		{ "I can't help with that. Is there anything else I can do?",
		    SAID_FAILED },
		{ "I can't help with that.\n\nIf you have another task, let me know if I may.",
		    SAID_FAILED },
		{ "I can't find any other caller of this function.",
		    SAID_NOTHING },
		{ "The fix is committed. I cannot run the Windows tests here.",
		    SAID_NOTHING },
		{ "If I can't do it, the error is reported now.",
		    SAID_NOTHING },
		{ "Users who can't do it now see why.", SAID_NOTHING },
		{ "The words were `I can't help with that`. Fixed.",
		    SAID_NOTHING },
		{ "Wifi can't do that, so the wired link was taken.",
		    SAID_NOTHING },
		/* a task without a commit needs none only with a reason */
		{ "No change is needed because the flag is there.",
		    SAID_NO_CHANGE },
		{ "I looked at it. No changes are needed: main() has it.",
		    SAID_NO_CHANGE },
		{ "It is fine as it is.", SAID_NO_CHANGE },
		{ "The option already exists, see the manual.",
		    SAID_NO_CHANGE },
		{ "I leave it at that.", SAID_NOTHING },
		{ "The test already fails, and I do not know why.",
		    SAID_NOTHING },
		{ "It is there already. Should I remove it?", SAID_QUESTION },
	};

	for (size_t i = 0; i < nitems(replies); i++) {
		enum said_what said = said_in(replies[i].words);

		ck_assert_msg(said == replies[i].said, "%s instead of %s: %s",
		    said_names[said], said_names[replies[i].said],
		    replies[i].words);
	}
}

TEST(long_and_broken_words_are_read_to_the_end)
{
	cleanup_buf struct buf words = BUF_INIT;

	for (int i = 0; i < 100000; i++)
		buf_adds(&words, "\xe2\x80\x9c`\"*");
	ck_assert_int_eq(said_in(words.data), SAID_NOTHING);
	buf_adds(&words, "\n\n\xff Should I proceed?");
	ck_assert_int_eq(said_in(words.data), SAID_QUESTION);
	ck_assert_int_eq(said_in("\xf0\x9f"), SAID_NOTHING);
	ck_assert_int_eq(said_in("\f\v\f?\v"), SAID_NOTHING);
}

TEST(any_words_have_an_ending)
{
	static const char *const pieces[] = { "I can't ", "?", " ", "\n",
		"\n\n", "```", "`", "\"", "- ", "1. ", "> ", "# ", "|", "done",
		".", "\f", "\v", "\xe2\x80\x9c", "\xef\xbc\x9f", "\xf0\x9f\x98",
		"would you like", "let me know", "(", ")", "](", "\xff", "if ",
		"be able to ", "not " };
	struct dice dice = { 0x5eed0004 };

	for (int i = 0; i < 20000; i++) {
		cleanup_buf struct buf words = BUF_INIT;

		dice_text(&dice, pieces, nitems(pieces), 200, &words);
		ck_assert_int_lt(said_in(words.data), SAID_COUNT);
	}
}

/* --- sources ---------------------------------------------------------- */

#define BLOCKED                                                 \
	"```json\n{\"overseerUpdate\":{\"status\":\"blocked\"," \
	"\"blockers\":[\"needs NPM_TOKEN\",\"needs a login\"]}}\n```"

static const struct source_row {
	const char *text, *report, *progress;
	enum said_what said;
	enum said_by by;
	const char *words; /* NULL = any */
} source_rows[] = {
	{ BLOCKED, NULL, NULL, SAID_BLOCKED, SAID_BY_UPDATE,
	    "needs NPM_TOKEN; needs a login" },
	{ "I looked.\n{ \"overseerUpdate\": {\"status\": \"blocked\", "
	  "\"blockers\": [\"which one\"]}}\n",
	    NULL, NULL, SAID_BLOCKED, SAID_BY_UPDATE, "which one" },
	{ "It ends with {\"overseerUpdate\": {\"status\": \"blocked\"}}, or "
	  "so it was said.",
	    NULL, NULL, SAID_NOTHING, SAID_BY_WORDS, NULL },
	{ "Should I go on?\n\n" BLOCKED, "{\"status\":\"complete\"}", NULL,
	    SAID_BLOCKED, SAID_BY_UPDATE, "needs NPM_TOKEN; needs a login" },
	{ "```json\n{\"overseerUpdate\":{\"status\":\"done\",\"summary\":"
	  "\"made it\"}}\n```\nIs that all?",
	    NULL, NULL, SAID_DONE, SAID_BY_UPDATE, "made it" },
	{ "```json\n{\"overseerUpdate\":{\"status\":\"in_progress\"}}\n```",
	    "{\"summary\":\"all of it\"}", NULL, SAID_WORKING, SAID_BY_UPDATE,
	    NULL },
	{ "```json\n{\"overseerUpdate\":{\"summary\":\"half of it\"}}\n```",
	    "{\"summary\":\"all of it\"}", NULL, SAID_DONE, SAID_BY_REPORT,
	    "all of it" },
	{ "I am finished.",
	    "{\"status\":\"failed\",\"summary\":\"no\",\"blockers\":"
	    "[\"no disk\"]}",
	    NULL, SAID_BLOCKED, SAID_BY_REPORT, "no disk" },
	{ "I am finished.", "{\"status\":\"failed\",\"summary\":\"no\"}", NULL,
	    SAID_FAILED, SAID_BY_REPORT, "no" },
	{ NULL, "{\"status\":\"partial\",\"summary\":\"half\"}", NULL,
	    SAID_WORKING, SAID_BY_REPORT, "half" },
	{ "Status: complete\nSummary: No change is needed because it is so.",
	    NULL, NULL, SAID_NO_CHANGE, SAID_BY_REPORT,
	    "No change is needed because it is so." },
	{ "Summary: it has no status.", NULL, NULL, SAID_NOTHING, SAID_BY_WORDS,
	    NULL },
	{ "I looked around.", NULL, "{\"percentComplete\":40}", SAID_WORKING,
	    SAID_BY_WORDS, "I looked around." },
	{ "Which one should I take?", NULL, "{\"percentComplete\":40}",
	    SAID_QUESTION, SAID_BY_WORDS, "Which one should I take?" },
	{ "I have a plan.\n\nWhich one?\n", NULL, NULL, SAID_QUESTION,
	    SAID_BY_WORDS, "Which one?" },
	{ NULL, NULL, NULL, SAID_NOTHING, SAID_BY_WORDS, NULL },
};

static struct json_object *
parsed(const char *text)
{
	struct json_object *json = NULL;

	if (text != NULL)
		ck_assert_int_eq(
		    json_parse(text, strlen(text), 4096, &json, NULL), 0);
	return json;
}

static void
assert_source(const struct source_row *row)
{
	cleanup_json struct json_object *report = parsed(row->report);
	cleanup_json struct json_object *progress = parsed(row->progress);
	cleanup_said struct said said = { 0 };

	said_read(
	    &(struct said_sources){
		.text = row->text, .report = report, .progress = progress },
	    &said);
	ck_assert_str_eq(said_names[said.what], said_names[row->said]);
	ck_assert_int_eq(said.by, row->by);
	if (row->words != NULL)
		ck_assert_str_eq(said.words, row->words);
	ck_assert((isnan(said.percent) != 0) == (progress == NULL));
	/* What was found cannot be faulty as well. */
	ck_assert(said.update == NULL || said.fault.code == 0);
}

TEST(the_first_source_that_says_something_decides)
{
	for (size_t i = 0; i < nitems(source_rows); i++)
		assert_source(&source_rows[i]);
}

TEST(an_update_about_other_work_is_not_its_own)
{
	cleanup_said struct said said = { 0 };

	said_read(
	    &(struct said_sources){
		.text = "```json\n{\"overseerUpdate\":{\"workNodeId\":\"S2\","
			"\"status\":\"done\"}}\n```",
		.goal_id = "g",
		.node_id = "S1" },
	    &said);
	ck_assert_int_eq(said.what, SAID_NOTHING);
	ck_assert_ptr_null(said.update);
	ck_assert_int_ne(said.fault.code, 0);
}

/* --- turn -------------------------------------------------------------- */

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
	[TURN_EXCUSE] = "excuse",
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

/* Claude Code tells it to wrap up: what is missing then is nobody's fault. */
TEST(a_turn_that_may_have_been_wrapped_up_is_sent_on)
{
	static const char said_so[] = ">A usage limit of the account may be "
				      "near.";
	struct turn_facts facts = good();

	facts.wraps_up = true;
	assert_judged(&facts, TURN_FINISHED, "");
	facts.turns = facts.turns_max;
	facts.nudges = TURN_NUDGES_MAX;
	facts.ahead = 0;
	facts.result_wanted = true;
	assert_judged(&facts, TURN_EXCUSE, said_so);
	assert_judged(&facts, TURN_EXCUSE, "No change is needed because");
	say(SAID_FAILED, "I stop here.");
	assert_judged(&facts, TURN_EXCUSE, said_so);
	facts.uncommitted = 2;
	facts.idle = true;
	assert_judged(&facts, TURN_EXCUSE, "2 files are changed");
	/* What a person has to answer still goes to one. */
	facts.uncommitted = 0;
	say(SAID_BLOCKED, "a key");
	assert_judged(&facts, TURN_ASK, "it is blocked");
	say(SAID_QUESTION, "Which one?");
	facts.asks_person = true;
	assert_judged(&facts, TURN_ASK, "Which one?");
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
	/* What it says about itself may be over when the others are done. */
	say(SAID_BLOCKED, "needs their work");
	assert_judged(&facts, TURN_WAIT, "");
	say(SAID_FAILED, NULL);
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

/* Whatever the message says besides. */
TEST(what_the_check_printed_is_in_its_message)
{
	static const char *const outputs[] = { "1 failed\n", "",
		"```\nfenced\n```\n1 failed\n" };

	for (size_t i = 0; i < nitems(outputs); i++) {
		cleanup_buf struct buf words = BUF_INIT, out = BUF_INIT;

		turn_check_words("make", "failed", outputs[i], &words);
		buf_adds(&words, "\nThis was your work on top of main.\n");
		turn_check_output(words.data, &out);
		ck_assert_str_eq(out.data != NULL ? out.data : "", outputs[i]);
	}
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
