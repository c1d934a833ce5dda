/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "excerpt.h"
#include "issue-row.h"
#include "schema.h"

static const char *const step_words[] = { "working", "ended", "told", "marked",
	"kept", NULL };

#define ROW(name, member, ...) \
	SCHEMA_FIELD(struct forge_row, name, member, ##__VA_ARGS__)

static const struct schema_field row_fields[] = {
	ROW("number", number, .flags = SCHEMA_REQUIRED, .min = 1),
	ROW("url", url),
	ROW("title", title),
	ROW("text", text),
	ROW("task", task),
	ROW("claim", claim),
	ROW("epoch", epoch),
	ROW("renewedMs", renewed_ms),
	ROW("comment", comment, .min = -1),
	ROW("step", step, .words = step_words),
	ROW("good", good),
	ROW("commitId", commit),
	ROW("words", words),
	ROW("hand", hand),
	ROW("changed", changed),
	ROW("held", held),
	ROW("lost", lost),
	ROW("unmarked", unmarked),
};

const struct schema forge_row_schema = SCHEMA_OF(struct forge_row, row_fields);

/* How long a time that passes by this clock has still to go. One that was
 * turned back must not stop what is due. */
static int64_t
left_ms(int64_t since_ms, int64_t ms, int64_t now_ms)
{
	return since_ms > now_ms || since_ms + ms <= now_ms ?
	    0 :
	    since_ms + ms - now_ms;
}

int64_t
forge_row_wait_ms(const struct forge_row *row, int64_t now_ms)
{
	return row->lost || (row->step != FORGE_WORKING && !row->waits) ?
	    INT64_MAX :
	    left_ms(row->renewed_ms, FORGE_RENEW_MS, now_ms);
}

int64_t
forge_row_watch_ms(const struct forge_row *row, int64_t now_ms)
{
	return row->lost || row->step != FORGE_WORKING || !row->hand ?
	    INT64_MAX :
	    left_ms(row->looked_ms, FORGE_POLL_MS, now_ms);
}

enum forge_duty
forge_row_duty(const struct forge_row *row, int64_t now_ms)
{
	if (row->lost)
		return row->step == FORGE_WORKING ? FORGE_REST : FORGE_FORGET;
	if (row->step == FORGE_KEPT)
		return FORGE_REST;
	/* First, since others count the minutes. */
	if (forge_row_wait_ms(row, now_ms) == 0)
		return FORGE_RENEW;
	if (row->waits)
		return FORGE_REST;
	if (row->step == FORGE_MARKED)
		return FORGE_RELEASE;
	if (row->comment == 0)
		return row->comment_unknown ? FORGE_MAKE_COMMENT :
					      FORGE_FIND_COMMENT;
	if (row->comment > 0 && (row->step == FORGE_ENDED || row->stale))
		return FORGE_TELL_COMMENT;
	if (row->step == FORGE_ENDED || row->step == FORGE_TOLD)
		return FORGE_MARK;
	return forge_row_watch_ms(row, now_ms) == 0 ? FORGE_WATCH : FORGE_REST;
}

void
forge_row_marker(const struct forge_row *row, struct buf *out)
{
	buf_addf(out, "<!-- llmc issue %" PRId64 " -->", row->number);
}

void
forge_row_comment(const struct forge_row *row, struct buf *out)
{
	/* Everybody can read it. */
	cleanup_free char *known = row->words != NULL ?
	    remedy_mask_copy(row->words, FORGE_WORDS_MAX) :
	    NULL;
	cleanup_free char *words =
	    known != NULL ? forge_line(known, FORGE_WORDS_MAX) : NULL;

	forge_row_marker(row, out);
	if (row->step == FORGE_WORKING)
		buf_addf(out,
		    "\nllmc is working on this (task %s). This comment will "
		    "say how it ends.",
		    row->task);
	else if (row->good && row->commit != NULL)
		buf_addf(out, "\nDone (task %s), in commit %s.", row->task,
		    row->commit);
	else if (row->good)
		buf_addf(out, "\nDone (task %s); nothing had to be changed.",
		    row->task);
	else
		buf_addf(out,
		    "\nllmc could not do this (task %s).\n\n> %s\n\n"
		    "Remove the label " FORGE_FAILED " to have it tried again.",
		    row->task, words != NULL ? words : "No reason is known.");
	buf_adds(out, "\n");
}

void
forge_issue_text(const struct forge_issue *issue, struct buf *out)
{
	buf_addf(out, "%s\n\n%s", issue->title, issue->text);
}

bool
forge_row_is_edited(
    const struct forge_row *row, const struct forge_issue *issue)
{
	cleanup_buf struct buf text = BUF_INIT;

	forge_issue_text(issue, &text);
	return !text_is(row->text, text.data);
}

const char *
forge_row_differs(const struct forge_row *row, const struct forge_issue *issue)
{
	if (!issue->open)
		return "it was closed";
	if (!issue->labelled)
		return "the label " FORGE_LABEL " was removed";
	return forge_row_is_edited(row, issue) ? "its text was changed" : NULL;
}
