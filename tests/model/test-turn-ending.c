/* SPDX-License-Identifier: ISC */

/* How replies end, one per line, as agents write them. */

#include <string.h>

#include "buf.h"
#include "dice.h"
#include "mem.h"
#include "turn-ending.h"
#include "turn.h"
#include "unit.h"

#define DONE "I've fixed the parser and committed it.\n\n"

struct reply {
	const char *words;
	enum turn_ending ending;
};

static const char *const ending_words[] = {
	[ENDING_PLAIN] = "plain",
	[ENDING_QUESTION] = "question",
	[ENDING_REFUSAL] = "refusal",
};

static void
assert_endings(const struct reply *replies, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		enum turn_ending ending = turn_ending_read(replies[i].words);

		ck_assert_msg(ending == replies[i].ending,
		    "%s instead of %s: %s", ending_words[ending],
		    ending_words[replies[i].ending], replies[i].words);
	}
}

START_TEST(statements_are_plain)
{
	static const struct reply replies[] = {
		{ NULL, ENDING_PLAIN },
		{ "", ENDING_PLAIN },
		{ " \n\t\n", ENDING_PLAIN },
		{ "Done.", ENDING_PLAIN },
		{ "All 214 tests pass and the change is committed as 3f2a91c.",
		    ENDING_PLAIN },
		{ "The bug is fixed. The cause was an off-by-one error in the "
		  "ring buffer.",
		    ENDING_PLAIN },
		{ "Summary:\n\n- Added `--dry-run`\n- Updated the manual\n- "
		  "Extended the tests",
		    ENDING_PLAIN },
		{ "What changed?\n\n- The index is rebuilt.\n- The cache is "
		  "gone.\n",
		    ENDING_PLAIN },
		{ "## Why did it fail?\n\nThe lock was taken twice. I removed "
		  "the second one.",
		    ENDING_PLAIN },
		{ "Why was it slow? The query had no index. I added one.",
		    ENDING_PLAIN },
		{ "I looked at the whole module and everything is already in "
		  "place, so no change was needed.",
		    ENDING_PLAIN },
		{ "The link is https://example.org/search?q=1 and it works "
		  "now.",
		    ENDING_PLAIN },
		{ "I replaced the `?` operator with a match. ✅", ENDING_PLAIN },
		{ "Finished! 🎉", ENDING_PLAIN },
		{ "To run it, please install libfoo first. The change is "
		  "committed.",
		    ENDING_PLAIN },
		{ "Please review the commit when you have time.",
		    ENDING_PLAIN },
		{ "Once you run the migration, the table has the new column.",
		    ENDING_PLAIN },
	};

	assert_endings(replies, nitems(replies));
}
END_TEST

START_TEST(offers_of_more_after_finished_work_are_plain)
{
	static const struct reply replies[] = {
		{ DONE "Let me know if you would like any changes.",
		    ENDING_PLAIN },
		{ DONE "Would you like me to also add a benchmark?",
		    ENDING_PLAIN },
		{ DONE "Would you like me to update the changelog?",
		    ENDING_PLAIN },
		{ DONE "Do you want me to add more tests as well?",
		    ENDING_PLAIN },
		{ DONE "Want me to tackle the other warnings too?",
		    ENDING_PLAIN },
		{ DONE "Is there anything else I can help with?",
		    ENDING_PLAIN },
		{ DONE "Anything else?", ENDING_PLAIN },
		{ DONE "Feel free to ask if something is unclear.",
		    ENDING_PLAIN },
		{ DONE "If you'd like, I can also split the file.",
		    ENDING_PLAIN },
		{ DONE "I’m happy to adjust the wording. Let me know if "
		       "you’d like that.",
		    ENDING_PLAIN },
		{ "The tests pass. Let me know what you think!", ENDING_PLAIN },
		{ "Let me know if you have any questions.", ENDING_PLAIN },
		{ "I've renamed the function everywhere. Should I also rename "
		  "the file?",
		    ENDING_PLAIN },
		{ DONE "Would you like me to also implement the CLI flag?",
		    ENDING_PLAIN },
	};

	assert_endings(replies, nitems(replies));
}
END_TEST

START_TEST(offers_of_the_work_itself_are_questions)
{
	static const struct reply replies[] = {
		{ "Would you like me to proceed?", ENDING_QUESTION },
		{ DONE "Would you like me to continue with the remaining "
		       "files?",
		    ENDING_QUESTION },
		{ "I've completed my analysis. Would you like me to implement "
		  "the fix?",
		    ENDING_QUESTION },
		{ "There are two ways to do this. Do you want me to use a "
		  "queue or a lock?",
		    ENDING_QUESTION },
		{ DONE "Do you want me to keep the old name or drop it?",
		    ENDING_QUESTION },
		{ "I have a plan. Let me know if you'd like me to go ahead.",
		    ENDING_QUESTION },
		{ "If you want, I can make these changes.", ENDING_QUESTION },
		{ "Let me know if I should use tabs.", ENDING_QUESTION },
		{ "Would you like me to add the tests?", ENDING_QUESTION },
		{ "Nothing has been committed. Would you like me to write "
		  "the parser?",
		    ENDING_QUESTION },
		{ "Once that is done, the build is faster. Do you want me to "
		  "try?",
		    ENDING_QUESTION },
	};

	assert_endings(replies, nitems(replies));
}
END_TEST

START_TEST(questions_are_found)
{
	static const struct reply replies[] = {
		{ "Which database should I use?", ENDING_QUESTION },
		{ "Should I go ahead?", ENDING_QUESTION },
		{ "Should I proceed?", ENDING_QUESTION },
		{ DONE "Should I proceed?", ENDING_QUESTION },
		{ "**Should I proceed with option B?**", ENDING_QUESTION },
		{ "Proceed? (y/n)", ENDING_QUESTION },
		{ "Is that OK?", ENDING_QUESTION },
		{ "The schema has no such column. What is the right one?",
		    ENDING_QUESTION },
		{ "Which database should I use? I would take SQLite.",
		    ENDING_QUESTION },
		{ "Which approach do you prefer?\n\n1. A queue\n2. A lock",
		    ENDING_QUESTION },
		{ "Some questions:\n\n1. Which port?\n2. Which host?",
		    ENDING_QUESTION },
		{ "What should the name be?\n\n- alpha\n- beta\n\nLet me know "
		  "if you have any other idea.",
		    ENDING_QUESTION },
		{ "Please confirm.", ENDING_QUESTION },
		{ "Please confirm that I may delete the table.",
		    ENDING_QUESTION },
		{ "I need more information about the format.",
		    ENDING_QUESTION },
		{ "I'll wait for your decision.", ENDING_QUESTION },
		{ "I can do this in two ways. Let me know which one you "
		  "prefer.",
		    ENDING_QUESTION },
		{ "Let me know how you'd like to proceed.", ENDING_QUESTION },
		{ "Could you share the log?", ENDING_QUESTION },
		{ "I have a few questions before I start.", ENDING_QUESTION },
		{ "Please provide the API key so that I can go on.",
		    ENDING_QUESTION },
		{ "The plan is ready and waiting for your approval.",
		    ENDING_QUESTION },
		{ "May I install a package?", ENDING_QUESTION },
		{ "Should the name be \"foo\"?", ENDING_QUESTION },
		{ "Should I call `rm -rf build`?", ENDING_QUESTION },
		{ "Shall I go on? 🙂", ENDING_QUESTION },
		{ "What do you mean by this?!", ENDING_QUESTION },
		{ "Should I run this?\n\n```sh\nmake install\n```\n",
		    ENDING_QUESTION },
		{ "我应该使用哪个数据库？", ENDING_QUESTION },
		{ "هل أتابع؟", ENDING_QUESTION },
		{ "¿Qué base de datos debo usar?", ENDING_QUESTION },
		{ "Soll ich fortfahren?", ENDING_QUESTION },
	};

	assert_endings(replies, nitems(replies));
}
END_TEST

START_TEST(questions_that_are_not_the_agents_own_are_none)
{
	static const struct reply replies[] = {
		{ "The dialog now says \"Do you want to continue?\"",
		    ENDING_PLAIN },
		{ "The dialog now says “Are you sure?”", ENDING_PLAIN },
		{ "Le bouton dit « Continuer ? »", ENDING_PLAIN },
		{ "The prompt is `Proceed? [y/N]`", ENDING_PLAIN },
		{ "It prints this:\n\n```\nShould I proceed?\n```\n",
		    ENDING_PLAIN },
		{ "It prints this:\n\n~~~\nShould I proceed?", ENDING_PLAIN },
		{ "Fixed what the issue asked for:\n\n> Should I use tabs?\n",
		    ENDING_PLAIN },
		{ "Added:\n\n| text | shown |\n|---|---|\n| Go on? | yes |\n",
		    ENDING_PLAIN },
		{ "Updated the [search page](https://example.org/?).",
		    ENDING_PLAIN },
		{ "Should I use a queue? I asked myself that first.\n\nIt is "
		  "a lock now, and the tests pass.",
		    ENDING_PLAIN },
	};

	assert_endings(replies, nitems(replies));
}
END_TEST

START_TEST(refusals_are_found)
{
	static const struct reply replies[] = {
		{ "I can't help with that.", ENDING_REFUSAL },
		{ "I'm sorry, but I can’t assist with this request.",
		    ENDING_REFUSAL },
		{ "I cannot help with creating malware.", ENDING_REFUSAL },
		{ "I'm unable to do this without network access.",
		    ENDING_REFUSAL },
		{ "Unfortunately, I am not able to complete the task.",
		    ENDING_REFUSAL },
		{ "I won't write code that does this.", ENDING_REFUSAL },
		{ "I won't be able to finish this here.", ENDING_REFUSAL },
		{ "I must decline.", ENDING_REFUSAL },
		{ "I don't feel comfortable doing this.", ENDING_REFUSAL },
		{ "This task cannot be done with the tools at hand.",
		    ENDING_REFUSAL },
		{ "I don't have access to the repository.", ENDING_REFUSAL },
		{ "I was unable to find the file that the task names.",
		    ENDING_REFUSAL },
		{ "I added the first half. I'm unable to implement the other "
		  "one, for the library lacks it.",
		    ENDING_REFUSAL },
		{ "I can't help with that. Is there anything else I can do?",
		    ENDING_REFUSAL },
		{ "I can't help with that.\n\nIf you have another task, feel "
		  "free to ask.",
		    ENDING_REFUSAL },
		{ "I stopped because I cannot safely do this.",
		    ENDING_REFUSAL },
	};

	assert_endings(replies, nitems(replies));
}
END_TEST

START_TEST(remarks_within_a_report_are_no_refusals)
{
	static const struct reply replies[] = {
		{ "I removed the helper. I can't see any other usage of it.",
		    ENDING_PLAIN },
		{ "I can't find any other caller of this function.",
		    ENDING_PLAIN },
		{ "The fix is committed. I was unable to run the Windows "
		  "tests here.",
		    ENDING_PLAIN },
		{ "I've updated the script. I don't have access to the server, "
		  "so I tested it locally.",
		    ENDING_PLAIN },
		{ "Done. I won't touch the generated files, as you asked.",
		    ENDING_PLAIN },
		{ "If I can't open the file, the error is reported now.",
		    ENDING_PLAIN },
		{ "I can't think of a simpler way. It is committed.",
		    ENDING_PLAIN },
		{ "Users who can't log in now see why.", ENDING_PLAIN },
		{ "The error used to be `I can't help with that`. Fixed.",
		    ENDING_PLAIN },
		{ "Wifi can't do that, so the wired link was implemented.",
		    ENDING_PLAIN },
	};

	assert_endings(replies, nitems(replies));
}
END_TEST

/* A task without a commit is believed to need none only with a reason. */
START_TEST(what_needs_no_change_says_so)
{
	static const struct {
		const char *words;
		bool explains;
	} replies[] = {
		{ NULL, false },
		{ "", false },
		{ "Done.", false },
		{ "I leave it at that.", false },
		{ "I have looked at everything in the folder.", false },
		{ "Nothing to change.", false },
		{ "No change is needed because the flag is there.", true },
		{ "I looked at it. No changes are needed: main() has it.",
		    true },
		{ "Everything was fine already.", true },
		{ "The option already exists, see the manual.", true },
		{ "The test already fails, and I do not know why.", false },
		{ "It is there already. Should I remove it?", false },
		{ "I can't do this task, it is already late.", false },
	};

	for (size_t i = 0; i < nitems(replies); i++)
		ck_assert_msg(turn_ending_explains(replies[i].words) ==
			replies[i].explains,
		    "%s", replies[i].words);
}
END_TEST

START_TEST(long_and_broken_words_are_read_to_the_end)
{
	cleanup_buf struct buf words = BUF_INIT;

	for (int i = 0; i < 100000; i++)
		buf_adds(&words, "\xe2\x80\x9c`\"*");
	ck_assert_int_eq(turn_ending_read(words.data), ENDING_PLAIN);
	buf_adds(&words, "\n\n\xff Should I proceed?");
	ck_assert_int_eq(turn_ending_read(words.data), ENDING_QUESTION);
	ck_assert_int_eq(turn_ending_read("\xf0\x9f"), ENDING_PLAIN);
	ck_assert_int_eq(turn_ending_read("\f\v\f?\v"), ENDING_PLAIN);
}
END_TEST

START_TEST(any_words_have_an_ending)
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
		ck_assert_int_lt(turn_ending_read(words.data), ENDING_COUNT);
	}
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("turn-ending");

	unit_case(suite, "replies",
	    (const TTest *[]){ statements_are_plain,
		offers_of_more_after_finished_work_are_plain,
		offers_of_the_work_itself_are_questions, questions_are_found,
		questions_that_are_not_the_agents_own_are_none,
		refusals_are_found, remarks_within_a_report_are_no_refusals,
		what_needs_no_change_says_so, NULL });
	unit_case(suite, "bounds",
	    (const TTest *[]){ long_and_broken_words_are_read_to_the_end,
		any_words_have_an_ending, NULL });
	return suite;
}
