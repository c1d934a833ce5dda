/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "nudge-text.h"

#define NAME_MAX_BYTES 200

/* One line, and not too much of it. */
static void
add_name(struct buf *out, const char *name)
{
	size_t len = strlen(name);

	text_add_visible(out, name, text_cut(name, len, NAME_MAX_BYTES), false);
}

static void
add_node(const struct nudge_facts *facts, struct buf *out)
{
	if (facts->node_id != NULL) {
		buf_addc(out, ' ');
		add_name(out, facts->node_id);
	}
	if (facts->node_name != NULL) {
		buf_adds(out, " (");
		add_name(out, facts->node_name);
		buf_addc(out, ')');
	}
	if (facts->goal_title != NULL) {
		buf_adds(out, " of the goal \"");
		add_name(out, facts->goal_title);
		buf_addc(out, '"');
	}
}

static void
add_string(struct buf *out, const char *key, const char *value)
{
	if (value == NULL)
		return;
	buf_addf(out, "    \"%s\": ", key);
	text_add_json(out, value, strlen(value));
	buf_adds(out, ",\n");
}

void
nudge_text_contract(const struct nudge_facts *facts, struct buf *out)
{
	buf_adds(out,
	    "End your message with exactly one fenced block that is marked "
	    "json and has this form:\n\n```json\n{\n  \"overseerUpdate\": {\n");
	add_string(out, "goalId", facts->goal_id);
	add_string(out, "workNodeId", facts->node_id);
	buf_adds(out,
	    "    \"status\": \"in_progress\",\n"
	    "    \"summary\": \"what you did since the last message\",\n"
	    "    \"next\": \"what you do next\",\n"
	    "    \"blockers\": [],\n"
	    "    \"evidence\": {\"filesTouched\": [], \"testsRun\": [], "
	    "\"commits\": []}\n"
	    "  }\n}\n```\n\n"
	    "status is in_progress, blocked or done; blocked needs blockers, "
	    "done needs evidence. You may add \"decisions\" (objects with "
	    "\"decision\" and \"rationale\") and \"openQuestions\" (strings). "
	    "Leave out what you have nothing to say about; other keys are "
	    "refused.\n");
}

void
nudge_text_status(const struct nudge_facts *facts, struct buf *out)
{
	buf_adds(out, "Nothing was heard about the work on");
	add_node(facts, out);
	buf_adds(out,
	    " for a while. Nobody reads this session, so do not ask and do "
	    "not wait for an answer. Report, then continue the work:\n\n"
	    "- Status: what has changed since the last instruction\n"
	    "- Next: the next step that you will take\n"
	    "- Blockers: what you need and cannot get yourself\n\n"
	    "If the work is finished, write DONE instead, with a short "
	    "summary and the evidence: commits, files and test results.\n\n");
	nudge_text_contract(facts, out);
}

void
nudge_text_follow_up(
    const struct nudge_facts *facts, const char *why, struct buf *out)
{
	if (why == NULL) {
		buf_adds(out,
		    "Your last message has no update about the work "
		    "on");
		add_node(facts, out);
		buf_adds(out, ". Send it now.\n\n");
	} else {
		buf_adds(
		    out, "The update in your last message cannot be used: ");
		text_add_visible(out, why, strlen(why), false);
		buf_adds(out, "\nSend it again, corrected.\n\n");
	}
	nudge_text_contract(facts, out);
}

void
nudge_text_unblocked(const char *words, struct buf *out)
{
	buf_adds(out, "What blocked this work is settled");
	if (words != NULL) {
		buf_adds(out, ": ");
		text_add_utf8(out, words, strlen(words));
		buf_adds(out, "\n\nGo on");
	} else {
		buf_adds(out, "; go on");
	}
	buf_adds(out, " with it. The instruction, once more:\n\n");
}

void
nudge_text_escalation(
    const struct nudge_facts *facts, const char *reason, struct buf *out)
{
	buf_adds(out, "A person is needed for");
	add_node(facts, out);
	buf_adds(out, ": ");
	text_add_visible(out, reason, strlen(reason), false);
	if (facts->node_id == NULL)
		return;
	buf_adds(out, ". When it can go on: llmc goal node unblock ");
	if (facts->goal_id != NULL) {
		text_add_shell(out, facts->goal_id);
		buf_addc(out, '/');
	}
	text_add_shell(out, facts->node_id);
}
