/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "excerpt.h"
#include "turn.h"

enum trouble {
	TROUBLE_NONE,
	TROUBLE_BLOCKED,
	TROUBLE_REBASE,
	TROUBLE_UNCOMMITTED,
	TROUBLE_QUESTION,
	TROUBLE_REFUSAL,
	TROUBLE_NO_COMMIT,
	TROUBLE_NO_RESULT,
	TROUBLE_COUNT
};

static const struct {
	const char *message; /* to the worker */
	const char *reason; /* for a person, or of a failed attempt */
	enum ask_kind ask; /* NONE: the attempt fails with its last turn */
	int nudges; /* how often it is sent on before that */
	enum turn_action at_last; /* driven by hand, after it was sent back
				   * often enough */
	const char *to_person; /* the reason for that */
} troubles[] = {
	[TROUBLE_BLOCKED] = { .ask = ASK_BLOCKED, .reason = TURN_BLOCKED },
	[TROUBLE_REBASE] = { .message =
				 "The rebase is not finished. Resolve the conflicts, git add "
				 "the files and run git rebase --continue, until git status "
				 "says that no rebase is in progress.",
	    .reason = "it left a rebase unfinished",
	    .at_last = TURN_PAUSE,
	    .to_person = "the agent could not finish its rebase; resolve it "
			 "in the worktree, or run: llmc reset" },
	[TROUBLE_UNCOMMITTED] = { .message =
				      "Commit what belongs to the task (amend your commit if "
				      "there is one) and remove or restore the rest, until git "
				      "status shows a clean worktree.",
	    .reason = "it left changes that are not committed",
	    .at_last = TURN_COMMIT,
	    .to_person = "" },
	[TROUBLE_QUESTION] = { .ask = ASK_QUESTION,
	    .nudges = TURN_NUDGES_MAX,
	    .message =
		"Nobody can answer you. Decide yourself what serves the task "
		"best, continue without asking, finish the task and commit. If "
		"it is finished, say so in a plain sentence, without a "
		"question or an offer.",
	    .reason = "it asks" },
	[TROUBLE_REFUSAL] = { .ask = ASK_FAILURE,
	    .nudges = TURN_NUDGES_MAX,
	    .message =
		"You said that you cannot or will not continue. Look for "
		"another way to do the task, or do the part of it that is "
		"possible, and commit. If it is finished, say so in a plain "
		"sentence.",
	    .reason = "it says that it cannot go on" },
	[TROUBLE_NO_COMMIT] = { .ask = ASK_FAILURE,
	    .nudges = 1,
	    .message =
		"There is no commit on your branch, and the task is not done "
		"without one. Do what the task asks for and commit it.",
	    .reason = "it made no commit" },
	[TROUBLE_NO_RESULT] = { .ask = ASK_FAILURE,
	    .nudges = 1,
	    .message =
		"There is no commit on your branch. If the task is not done, "
		"do what it asks for and commit it. If it needs no change, say "
		"so in one sentence that begins with \"No change is needed "
		"because\". If something is missing that you cannot get, end "
		"your turn with it in this form:\n\n"
		"```json\n{\"overseerUpdate\": {\"status\": \"blocked\", "
		"\"blockers\": [\"what is missing\"]}}\n```\n",
	    .reason = "it ended without a change" },
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
	bool alone = facts->ahead <= 0 && !facts->resolving;

	/* What it leaves over is kept with its task. */
	if (facts->driven && !facts->waits && facts->said->what == SAID_BLOCKED)
		return TROUBLE_BLOCKED;
	if (facts->rebasing)
		return TROUBLE_REBASE;
	if (facts->uncommitted > 0)
		return TROUBLE_UNCOMMITTED;
	if (!facts->driven || facts->waits)
		return TROUBLE_NONE;
	if (facts->said->what == SAID_QUESTION)
		return TROUBLE_QUESTION;
	if (facts->said->what == SAID_FAILED)
		return TROUBLE_REFUSAL;
	if (alone && facts->commit_wanted)
		return TROUBLE_NO_COMMIT;
	return alone && facts->result_wanted ? TROUBLE_NO_RESULT : TROUBLE_NONE;
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
	/* How many files are affected. */
	if (trouble == TROUBLE_REBASE && facts->conflicts > 0)
		buf_addf(words, "%d file%s still in conflict. ",
		    facts->conflicts, facts->conflicts == 1 ? " is" : "s are");
	if (trouble == TROUBLE_UNCOMMITTED)
		buf_addf(words, "%d file%s changed or untracked. ",
		    facts->uncommitted,
		    facts->uncommitted == 1 ? " is" : "s are");
	add_words(facts, trouble, words);
	/* An unanswered question would only be asked again. */
	if (facts->driven && troubles[trouble].ask == ASK_NONE &&
	    facts->said->what == SAID_QUESTION && !facts->asks_person) {
		buf_addc(words, ' ');
		add_words(facts, TROUBLE_QUESTION, words);
	}
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

enum turn_action
turn_judge(
    const struct turn_facts *facts, struct buf *words, enum ask_kind *ret_ask)
{
	enum trouble trouble = find_trouble(facts);

	if (trouble == TROUBLE_NONE)
		return facts->driven && facts->waits ? TURN_WAIT :
						       judge_untroubled(facts);
	if (!facts->driven) {
		/* A person drives the worker and will see what is left over. */
		if (facts->sent_back < TURN_SENT_BACK_MAX) {
			add_message(facts, trouble, words);
			return TURN_BACK;
		}
		buf_adds(words, troubles[trouble].to_person);
		return troubles[trouble].at_last;
	}
	if (troubles[trouble].ask != ASK_NONE) {
		bool at_once =
		    trouble == TROUBLE_QUESTION && facts->asks_person;

		/* What it said comes first: that is what a person can
		 * answer. */
		if (!at_once && !out_of_turns(facts) &&
		    facts->nudges < troubles[trouble].nudges) {
			add_message(facts, trouble, words);
			return TURN_NUDGE;
		}
		buf_adds(words, troubles[trouble].reason);
		if (facts->said->words != NULL)
			buf_addf(words, ": %s", facts->said->words);
		*ret_ask = troubles[trouble].ask;
		return *ret_ask == ASK_FAILURE && facts->has_parent ?
		    TURN_FAIL :
		    TURN_ASK;
	}
	if (out_of_turns(facts)) {
		buf_addf(words, "%s after %d turn%s", troubles[trouble].reason,
		    facts->turns, facts->turns == 1 ? "" : "s");
		return TURN_FAIL;
	}
	add_message(facts, trouble, words);
	return TURN_BACK;
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
