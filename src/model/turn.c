/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "buf.h"
#include "excerpt.h"
#include "mem.h"
#include "text.h"
#include "turn.h"

#define WORDS_MAX 600 /* bytes of the agent's message in a reason */

enum trouble {
	TROUBLE_NONE,
	TROUBLE_REBASE,
	TROUBLE_DIRT,
	TROUBLE_QUESTION,
	TROUBLE_REFUSAL,
	TROUBLE_NO_COMMIT,
	TROUBLE_NO_REASON,
	TROUBLE_COUNT
};

/* Sent back to do something (TURN_BACK), or told to continue (TURN_NUDGE). */
static const struct {
	enum turn_action action;
	const char *message; /* to the worker */
	const char *reason; /* the reason of its failure */
	enum turn_action at_last; /* driven by hand, after it was sent back
				   * often enough */
	const char *to_person; /* the reason for that */
} troubles[] = {
	[TROUBLE_REBASE] = { .action = TURN_BACK,
	    .message =
		"The rebase is not finished. Resolve the conflicts, git add "
		"the files and run git rebase --continue, until git status "
		"says that no rebase is in progress.",
	    .reason = "it left a rebase unfinished",
	    .at_last = TURN_PAUSE,
	    .to_person = "the agent could not finish its rebase; resolve it "
			 "in the worktree, or run: llmc reset" },
	[TROUBLE_DIRT] = { .action = TURN_BACK,
	    .message =
		"Commit what belongs to the task (amend your commit if "
		"there is one) and remove or restore the rest, until git "
		"status shows a clean worktree.",
	    .reason = "it left changes that are not committed",
	    .at_last = TURN_COMMIT,
	    .to_person = "" },
	[TROUBLE_QUESTION] = { .action = TURN_NUDGE,
	    .message =
		"Nobody can answer you. Decide yourself what serves the task "
		"best, continue without asking, finish the task and commit. If "
		"it is finished, say so in a plain sentence, without a "
		"question or an offer.",
	    .reason = "it ended with a question" },
	[TROUBLE_REFUSAL] = { .action = TURN_NUDGE,
	    .message =
		"You said that you cannot or will not continue. Look for "
		"another way to do the task, or do the part of it that is "
		"possible, and commit. If it is finished, say so in a plain "
		"sentence.",
	    .reason = "it refused" },
	[TROUBLE_NO_COMMIT] = { .action = TURN_BACK,
	    .message =
		"There is no commit on your branch, and the task is not done "
		"without one. Do what the task asks for and commit it.",
	    .reason = "it made no commit" },
	[TROUBLE_NO_REASON] = { .action = TURN_NUDGE,
	    .message =
		"There is no commit on your branch. If the task is not done, "
		"do what it asks for and commit it. If it needs no change, say "
		"so in one sentence that begins with \"No change is needed "
		"because\".",
	    .reason = "it made no commit and did not say why" },
};

_Static_assert(
    nitems(troubles) == TROUBLE_COUNT, "words for every kind of trouble");

static bool
out_of_turns(const struct turn_facts *facts)
{
	return facts->turns_max > 0 && facts->turns >= facts->turns_max;
}

static enum trouble
find_trouble(const struct turn_facts *facts)
{
	static const enum trouble by_ending[ENDING_COUNT] = {
		[ENDING_QUESTION] = TROUBLE_QUESTION,
		[ENDING_REFUSAL] = TROUBLE_REFUSAL,
	};

	if (facts->rebasing)
		return TROUBLE_REBASE;
	if (facts->dirt > 0)
		return TROUBLE_DIRT;
	if (!facts->driven)
		return TROUBLE_NONE;
	if (by_ending[facts->ending] != TROUBLE_NONE)
		return by_ending[facts->ending];
	if (facts->ahead <= 0 && facts->commit_wanted && !facts->resolving)
		return TROUBLE_NO_COMMIT;
	if (facts->ahead <= 0 && facts->reason_wanted && !facts->resolving &&
	    facts->nudges == 0 && !out_of_turns(facts))
		return TROUBLE_NO_REASON;
	return TROUBLE_NONE;
}

/* Must it be put right before anybody else's work comes into the worktree? */
static bool
in_the_way(enum trouble trouble)
{
	return trouble == TROUBLE_REBASE || trouble == TROUBLE_DIRT;
}

/* How many files are affected. */
static void
add_count(const struct turn_facts *facts, enum trouble trouble, struct buf *out)
{
	if (trouble == TROUBLE_REBASE && facts->conflicts > 0)
		buf_addf(out, "%d file%s still in conflict. ", facts->conflicts,
		    facts->conflicts == 1 ? " is" : "s are");
	if (trouble == TROUBLE_DIRT)
		buf_addf(out, "%d file%s changed or untracked. ", facts->dirt,
		    facts->dirt == 1 ? " is" : "s are");
}

static void
add_words(
    const struct turn_facts *facts, enum trouble trouble, struct buf *words)
{
	if (trouble == TROUBLE_QUESTION && facts->answers != NULL)
		buf_addf(words,
		    "Do not end your turn with a question. If you cannot "
		    "decide it yourself, ask %s with the tool "
		    "request_orchestrator, which waits for the answer. "
		    "Otherwise continue without asking, finish the task and "
		    "commit. If it is finished, say so in a plain sentence, "
		    "without a question or an offer.",
		    facts->answers);
	else
		buf_adds(words, troubles[trouble].message);
}

static void
add_message(
    const struct turn_facts *facts, enum trouble trouble, struct buf *words)
{
	add_count(facts, trouble, words);
	add_words(facts, trouble, words);
	/* An unanswered question would only be asked again. */
	if (facts->driven && troubles[trouble].action == TURN_BACK &&
	    facts->ending == ENDING_QUESTION && !facts->asks_person) {
		buf_addc(words, ' ');
		add_words(facts, TROUBLE_QUESTION, words);
	}
}

/* Append the end of the agent's message, starting at a whole character. */
static void
add_last_words(const char *said, struct buf *out)
{
	size_t len = strlen(said);

	while (len > 0 && strchr(" \t\n", said[len - 1]) != NULL)
		len--;
	if (len == 0)
		return;
	buf_adds(out, ": ");
	if (len > WORDS_MAX) {
		said += len - WORDS_MAX;
		len = WORDS_MAX;
		while (len > 0 && ((unsigned char)*said & 0xc0) == 0x80) {
			said++;
			len--;
		}
		buf_adds(out, "... ");
	}
	text_add_utf8(out, said, len);
}

static void
add_reason(
    const struct turn_facts *facts, enum trouble trouble, struct buf *words)
{
	buf_adds(words, troubles[trouble].reason);
	if (out_of_turns(facts))
		buf_addf(words, " after %d turn%s", facts->turns,
		    facts->turns == 1 ? "" : "s");
	else
		buf_addf(words, " after it was told %d times to continue",
		    facts->nudges);
	if (troubles[trouble].action == TURN_NUDGE && facts->words != NULL)
		add_last_words(facts->words, words);
}

static enum turn_action
judge_untroubled(const struct turn_facts *facts)
{
	bool needs_no_commit = facts->reviewing || facts->resolving;

	if (facts->ahead <= 0 && (facts->driven || !needs_no_commit))
		return TURN_NO_CHANGES;
	return facts->driven && facts->check_wanted ? TURN_CHECK :
						      TURN_FINISHED;
}

/* A person drives the worker and will see what is left over. */
static enum turn_action
judge_by_hand(
    const struct turn_facts *facts, enum trouble trouble, struct buf *words)
{
	if (facts->sent_back < TURN_SENT_BACK_MAX) {
		add_message(facts, trouble, words);
		return TURN_BACK;
	}
	buf_adds(words, troubles[trouble].to_person);
	return troubles[trouble].at_last;
}

enum turn_action
turn_judge(const struct turn_facts *facts, struct buf *words)
{
	enum trouble trouble = find_trouble(facts);

	if (facts->driven && facts->waits && !in_the_way(trouble))
		return TURN_WAIT;
	if (trouble == TROUBLE_NONE)
		return judge_untroubled(facts);
	if (!facts->driven)
		return judge_by_hand(facts, trouble, words);
	if (trouble == TROUBLE_QUESTION && facts->asks_person) {
		buf_adds(words, "it asks");
		if (facts->words != NULL)
			add_last_words(facts->words, words);
		return TURN_PAUSE;
	}
	if (out_of_turns(facts) ||
	    (troubles[trouble].action == TURN_NUDGE &&
		facts->nudges >= TURN_NUDGES_MAX)) {
		add_reason(facts, trouble, words);
		return TURN_FAIL;
	}
	add_message(facts, trouble, words);
	return troubles[trouble].action;
}

void
turn_check_words(
    const char *command, const char *how, const char *output, struct buf *out)
{
	buf_addf(out, "The check of your work failed: %s %s.\n", command, how);
	excerpt_add(output, out);
	buf_adds(out,
	    "Find the cause, fix it and commit (amend your commit). Do not "
	    "make the check less strict.\n");
}
