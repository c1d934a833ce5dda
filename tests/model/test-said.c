/* SPDX-License-Identifier: ISC */

/* What agents say at the end of a turn, in each of the ways they have. */

#include "unit.h"

#include <math.h>

#include "said.h"
#include "update.h"

#define DONE "I've fixed the parser and committed it.\n\n"

struct reply {
	const char *words;
	enum said_what said;
};

static enum said_what
said_in(const char *text)
{
	cleanup_said struct said said = { 0 };

	said_read(&(struct said_sources){ .text = text }, &said);
	return said.what;
}

/* Neither asks, refuses nor is blocked. */
static bool
is_plain(enum said_what said)
{
	return said < SAID_BLOCKED;
}

static void
assert_said(const struct reply *replies, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		enum said_what said = said_in(replies[i].words);

		ck_assert_msg(said == replies[i].said ||
			(is_plain(said) && replies[i].said == SAID_NOTHING),
		    "%s instead of %s: %s", said_names[said],
		    said_names[replies[i].said], replies[i].words);
	}
}

TEST(statements_are_plain)
{
	static const struct reply replies[] = {
		{ NULL, SAID_NOTHING },
		{ "", SAID_NOTHING },
		{ " \n\t\n", SAID_NOTHING },
		{ "Done.", SAID_NOTHING },
		{ "All 214 tests pass and the change is committed as 3f2a91c.",
		    SAID_NOTHING },
		{ "The bug is fixed. The cause was an off-by-one error in the "
		  "ring buffer.",
		    SAID_NOTHING },
		{ "Summary:\n\n- Added `--dry-run`\n- Updated the manual\n- "
		  "Extended the tests",
		    SAID_NOTHING },
		{ "What changed?\n\n- The index is rebuilt.\n- The cache is "
		  "gone.\n",
		    SAID_NOTHING },
		{ "## Why did it fail?\n\nThe lock was taken twice. I removed "
		  "the second one.",
		    SAID_NOTHING },
		{ "Why was it slow? The query had no index. I added one.",
		    SAID_NOTHING },
		{ "I looked at the whole module and everything is already in "
		  "place, so no change was needed.",
		    SAID_NOTHING },
		{ "The link is https://example.org/search?q=1 and it works "
		  "now.",
		    SAID_NOTHING },
		{ "I replaced the `?` operator with a match. ✅", SAID_NOTHING },
		{ "Finished! 🎉", SAID_NOTHING },
		{ "To run it, please install libfoo first. The change is "
		  "committed.",
		    SAID_NOTHING },
		{ "Please review the commit when you have time.",
		    SAID_NOTHING },
		{ "Once you run the migration, the table has the new column.",
		    SAID_NOTHING },
	};

	assert_said(replies, nitems(replies));
}

TEST(offers_of_more_after_finished_work_are_plain)
{
	static const struct reply replies[] = {
		{ DONE "Let me know if you would like any changes.",
		    SAID_NOTHING },
		{ DONE "Would you like me to also add a benchmark?",
		    SAID_NOTHING },
		{ DONE "Would you like me to update the changelog?",
		    SAID_NOTHING },
		{ DONE "Do you want me to add more tests as well?",
		    SAID_NOTHING },
		{ DONE "Want me to tackle the other warnings too?",
		    SAID_NOTHING },
		{ DONE "Is there anything else I can help with?",
		    SAID_NOTHING },
		{ DONE "Anything else?", SAID_NOTHING },
		{ DONE "Feel free to ask if something is unclear.",
		    SAID_NOTHING },
		{ DONE "If you'd like, I can also split the file.",
		    SAID_NOTHING },
		{ DONE "I’m happy to adjust the wording. Let me know if "
		       "you’d like that.",
		    SAID_NOTHING },
		{ "The tests pass. Let me know what you think!", SAID_NOTHING },
		{ "Let me know if you have any questions.", SAID_NOTHING },
		{ "I've renamed the function everywhere. Should I also rename "
		  "the file?",
		    SAID_NOTHING },
		{ DONE "Would you like me to also implement the CLI flag?",
		    SAID_NOTHING },
	};

	assert_said(replies, nitems(replies));
}

TEST(offers_of_the_work_itself_are_questions)
{
	static const struct reply replies[] = {
		{ "Would you like me to proceed?", SAID_QUESTION },
		{ DONE "Would you like me to continue with the remaining "
		       "files?",
		    SAID_QUESTION },
		{ "I've completed my analysis. Would you like me to implement "
		  "the fix?",
		    SAID_QUESTION },
		{ "There are two ways to do this. Do you want me to use a "
		  "queue or a lock?",
		    SAID_QUESTION },
		{ DONE "Do you want me to keep the old name or drop it?",
		    SAID_QUESTION },
		{ "I have a plan. Let me know if you'd like me to go ahead.",
		    SAID_QUESTION },
		{ "If you want, I can make these changes.", SAID_QUESTION },
		{ "Let me know if I should use tabs.", SAID_QUESTION },
		{ "Would you like me to add the tests?", SAID_QUESTION },
		{ "Nothing has been committed. Would you like me to write "
		  "the parser?",
		    SAID_QUESTION },
		{ "Once that is done, the build is faster. Do you want me to "
		  "try?",
		    SAID_QUESTION },
	};

	assert_said(replies, nitems(replies));
}

TEST(questions_are_found)
{
	static const struct reply replies[] = {
		{ "Which database should I use?", SAID_QUESTION },
		{ "Should I go ahead?", SAID_QUESTION },
		{ "Should I proceed?", SAID_QUESTION },
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
		{ "What should the name be?\n\n- alpha\n- beta\n\nLet me know "
		  "if you have any other idea.",
		    SAID_QUESTION },
		{ "Please confirm.", SAID_QUESTION },
		{ "Please confirm that I may delete the table.",
		    SAID_QUESTION },
		{ "I need more information about the format.", SAID_QUESTION },
		{ "I'll wait for your decision.", SAID_QUESTION },
		{ "I can do this in two ways. Let me know which one you "
		  "prefer.",
		    SAID_QUESTION },
		{ "Let me know how you'd like to proceed.", SAID_QUESTION },
		{ "Could you share the log?", SAID_QUESTION },
		{ "I have a few questions before I start.", SAID_QUESTION },
		{ "Please provide the API key so that I can go on.",
		    SAID_QUESTION },
		{ "The plan is ready and waiting for your approval.",
		    SAID_QUESTION },
		{ "May I install a package?", SAID_QUESTION },
		{ "Should the name be \"foo\"?", SAID_QUESTION },
		{ "Should I call `rm -rf build`?", SAID_QUESTION },
		{ "Shall I go on? 🙂", SAID_QUESTION },
		{ "What do you mean by this?!", SAID_QUESTION },
		{ "Should I run this?\n\n```sh\nmake install\n```\n",
		    SAID_QUESTION },
		{ "我应该使用哪个数据库？", SAID_QUESTION },
		{ "هل أتابع؟", SAID_QUESTION },
		{ "¿Qué base de datos debo usar?", SAID_QUESTION },
		{ "Soll ich fortfahren?", SAID_QUESTION },
	};

	assert_said(replies, nitems(replies));
}

TEST(questions_that_are_not_the_agents_own_are_none)
{
	static const struct reply replies[] = {
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
		{ "Should I use a queue? I asked myself that first.\n\nIt is "
		  "a lock now, and the tests pass.",
		    SAID_NOTHING },
	};

	assert_said(replies, nitems(replies));
}

TEST(refusals_are_found)
{
	static const struct reply replies[] = {
		{ "I can't help with that.", SAID_FAILED },
		{ "I'm sorry, but I can’t assist with this request.",
		    SAID_FAILED },
		{ "I cannot help with creating malware.", SAID_FAILED },
		{ "I'm unable to do this without network access.",
		    SAID_FAILED },
		{ "Unfortunately, I am not able to complete the task.",
		    SAID_FAILED },
		{ "I won't write code that does this.", SAID_FAILED },
		{ "I won't be able to finish this here.", SAID_FAILED },
		{ "I must decline.", SAID_FAILED },
		{ "This task cannot be done with the tools at hand.",
		    SAID_FAILED },
		{ "I don't have access to the repository.", SAID_BLOCKED },
		{ "I am blocked: the token is missing.", SAID_BLOCKED },
		{ "I was unable to find the file that the task names.",
		    SAID_FAILED },
		{ "I added the first half. I'm unable to implement the other "
		  "one, for the library lacks it.",
		    SAID_FAILED },
		{ "I can't help with that. Is there anything else I can do?",
		    SAID_FAILED },
		{ "I can't help with that.\n\nIf you have another task, feel "
		  "free to ask.",
		    SAID_FAILED },
		{ "I stopped because I cannot safely do this.", SAID_FAILED },
	};

	assert_said(replies, nitems(replies));
}

TEST(remarks_within_a_report_are_no_refusals)
{
	static const struct reply replies[] = {
		{ "I removed the helper. I can't see any other usage of it.",
		    SAID_NOTHING },
		{ "I can't find any other caller of this function.",
		    SAID_NOTHING },
		{ "The fix is committed. I was unable to run the Windows "
		  "tests here.",
		    SAID_NOTHING },
		{ "I've updated the script. I don't have access to the server, "
		  "so I tested it locally.",
		    SAID_NOTHING },
		{ "Done. I won't touch the generated files, as you asked.",
		    SAID_NOTHING },
		{ "If I can't open the file, the error is reported now.",
		    SAID_NOTHING },
		{ "I can't think of a simpler way. It is committed.",
		    SAID_NOTHING },
		{ "Users who can't log in now see why.", SAID_NOTHING },
		{ "The error used to be `I can't help with that`. Fixed.",
		    SAID_NOTHING },
		{ "Wifi can't do that, so the wired link was implemented.",
		    SAID_NOTHING },
	};

	assert_said(replies, nitems(replies));
}

/* A task without a commit is believed to need none only with a reason. */
TEST(what_needs_no_change_says_so)
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
		ck_assert_msg((said_in(replies[i].words) == SAID_NO_CHANGE) ==
			replies[i].explains,
		    "%s", replies[i].words);
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
