/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "progress-text.h"

#include "detection.h"
#include "excerpt.h"

#define QUOTE_MAX 300 /* bytes */

static const char *const guidance[DETECTION_TYPES] = {
	[DETECTION_STUCK] =
	    "The last attempts ended with the same error. Doing the same once "
	    "more will not help: find its cause first, then change the "
	    "approach.",
	[DETECTION_OSCILLATION] =
	    "Files return to contents that they had before. Compare the two "
	    "versions, choose one, and keep it.",
	[DETECTION_DEVIATION] =
	    "The latest work is not what the task asks for. Read the task "
	    "again, and leave out what it does not need.",
	[DETECTION_RESOURCE_BURN] =
	    "That may be right: if the task needs it, go on. If something is in "
	    "the way, say what it is.",
	[DETECTION_REGRESSION] =
	    "Something that worked does not work any more. Repair it before "
	    "anything else, and leave the tests as they are.",
};

static const char *const strategies[DETECTION_TYPES] = {
	[DETECTION_STUCK] =
	    "Stop what you are doing now: it has failed in the same way "
	    "several times.\n"
	    "1. Write down in two sentences what causes the error. If you do "
	    "not know, find out by reading and by small experiments, not by "
	    "another attempt.\n"
	    "2. Name one approach that does not run into it.\n"
	    "3. Take that approach, in a step that you can check at once.\n",
	[DETECTION_OSCILLATION] =
	    "Stop changing these files back and forth.\n"
	    "1. List what speaks for each of the versions, and which check "
	    "each one fails.\n"
	    "2. Choose one, and say why.\n"
	    "3. Solve what it fails in another way than by going back to the "
	    "other version.\n",
	[DETECTION_DEVIATION] = "Return to the task.\n"
				"1. Name the part of it that is not done yet.\n"
				"2. Undo or leave what does not belong to it.\n"
				"3. Do that part next, and nothing else.\n",
	[DETECTION_RESOURCE_BURN] =
	    "The budget of this task is used up.\n"
	    "1. Save what works: a state that passes its checks.\n"
	    "2. List what is missing, each with what it would take.\n"
	    "3. Do only what can be finished in this turn, and report the "
	    "rest as open.\n",
	[DETECTION_REGRESSION] =
	    "Restore what worked before you go on.\n"
	    "1. Find the change that broke it: compare with the last state "
	    "that passed.\n"
	    "2. Repair or undo that change. Do not weaken, skip or delete "
	    "tests.\n"
	    "3. Run the tests, and continue only when they pass.\n",
};

static void
quote(struct buf *out, const char *before, const char *text, const char *after)
{
	size_t len = text_cut(text, strlen(text), QUOTE_MAX);

	buf_adds(out, before);
	text_add_words(out, text, len);
	buf_addf(out, "%s%s", text[len] != '\0' ? " ..." : "", after);
}

static void
add_error(const struct detection *detection, struct buf *out)
{
	const char *error =
	    json_string_or(detection->evidence, "repeatedError", "");

	if (error[0] != '\0')
		quote(out, "The error: ", error, "\n");
}

void
progress_reason(const struct detection *detection, struct buf *out)
{
	quote(
	    out, "", detection->message != NULL ? detection->message : "", "");
}

void
progress_warning(const struct detection *detection, struct buf *out)
{
	int number = 0;

	buf_adds(out, "OVERSIGHT WARNING: ");
	progress_reason(detection, out);
	buf_adds(out, "\n\n");
	/* Those about costs are for people. */
	if (detection->type != DETECTION_RESOURCE_BURN)
		buf_adds(out, "Recommended actions:\n");
	for (const char *const *r = detection->recommendations;
	     *r != NULL && detection->type != DETECTION_RESOURCE_BURN; r++)
		buf_addf(out, "%d. %s\n", ++number, *r);
	if (number > 0)
		buf_adds(out, "\n");
	add_error(detection, out);
	buf_addf(out, "%s\n", guidance[detection->type]);
}

void
progress_redirection(
    const struct detection *detection, const char *objective, struct buf *out)
{
	buf_adds(out, "OVERSIGHT: CHANGE THE APPROACH. ");
	progress_reason(detection, out);
	buf_adds(out, "\n");
	add_error(detection, out);
	if (objective != NULL && objective[0] != '\0')
		quote(out, "The task: ", objective, "\n");
	buf_addf(out, "\n%s", strategies[detection->type]);
}

static void
add_block(const char *title, const char *text, struct buf *out)
{
	if (text == NULL || text[0] == '\0')
		return;
	buf_addf(out, "\n%s\n", title);
	excerpt_plain(text, out);
	buf_adds(out, "\n");
}

void
progress_learned(const struct detection *detection, const char *last_words,
    const char *failure, struct buf *out)
{
	buf_adds(out,
	    "Another session has worked on this task before, and did not get "
	    "further. ");
	progress_reason(detection, out);
	buf_adds(out, "\n");
	add_error(detection, out);
	add_block("What it said last:", last_words, out);
	add_block("How its work failed:", failure, out);
	buf_addf(out, "\n%s", strategies[detection->type]);
}
