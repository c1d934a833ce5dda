/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "plan-markdown.h"
#include "plan-print.h"
#include "plan-revise.h"
#include "plan.h"

static const char help[] =
    "<!--\n"
    "Change, add, move and remove what you like, then save and close the "
    "editor.\n"
    "A new phase (##), task (###) or subtask (-) needs no id; it gets one. "
    "Leave the\n"
    "ids of the others as they are: a node is known by its id. Lists are "
    "Acceptance:,\n"
    "Scope paths:, Required tools: and Constraints:; Depends:, Priority:, "
    "Recovery:,\n"
    "Result:, Outcome: and Verification: have one line.\n"
    "-->\n";

struct printer {
	struct buf *out;
	struct strmap kept; /* ids of nodes that stay as they are */
	bool notes;
};

/* On one line, without blanks at its ends. The caller frees it. */
static char *
one_line(const char *text)
{
	char *line = plan_draft_trim(text, strlen(text));
	char *to = line;

	for (const char *s = line; *s != '\0'; s++)
		if (strchr("\r\n", *s) == NULL)
			*to++ = *s;
		else if (to[-1] != ' ')
			*to++ = ' ';
	*to = '\0';
	return line;
}

/* --- text -------------------------------------------------------------- */

/* The next line without the blanks at its end; returns what follows it. */
static const char *
next_line(const char *text, char **ret_line)
{
	size_t len = strcspn(text, "\n"), keep = len;

	while (keep > 0 && strchr(" \t\r\v\f", text[keep - 1]) != NULL)
		keep--;
	*ret_line = xstrndup(text, keep);
	return text[len] == '\n' ? text + len + 1 : text + len;
}

/* Are all fences of this text closed? Follow them as plan-markdown.c does. */
static char
next_fence(char fence, const char *line)
{
	line += strspn(line, " \t");
	if (fence == '\0')
		return text_begins(line, "```") || text_begins(line, "~~~") ?
		    *line :
		    '\0';
	return strspn(line, (const char[]){ fence, '\0' }) >= 3 ? '\0' : fence;
}

static bool
are_fences_closed(const char *text)
{
	char fence = '\0';

	while (*text != '\0') {
		cleanup_free char *line = NULL;

		text = next_line(text, &line);
		fence = next_fence(fence, line);
	}
	return fence == '\0';
}

/* bullets: they are text here. */
static void
add_text(struct printer *p, const char *indent, const char *text, bool bullets)
{
	bool fences;
	char fence = '\0';

	if (plan_blank(text))
		return;
	fences = are_fences_closed(text);
	buf_addc(p->out, '\n');
	while (*text != '\0') {
		cleanup_free char *line = NULL;
		size_t blanks;
		bool raw;

		text = next_line(text, &line);
		blanks = strspn(line, " \t");
		raw = fence != '\0';
		if (fences) {
			fence = next_fence(fence, line);
			raw |= fence != '\0';
		}
		raw |= plan_markdown_plain(line + blanks, bullets);
		if (line[0] != '\0')
			buf_addf(p->out, "%s%.*s%s%s", indent, (int)blanks,
			    line, raw ? "" : "\\", line + blanks);
		buf_addc(p->out, '\n');
	}
}

/* --- lines ------------------------------------------------------------- */

static void
add_list(
    struct printer *p, const char *indent, const char *label, char *const *list)
{
	if (list == NULL || *list == NULL)
		return;
	buf_addf(p->out, "\n%s%s:\n", indent, label);
	for (; *list != NULL; list++) {
		cleanup_free char *line = one_line(*list);
		bool escape =
		    line[0] == '\\' || line[strspn(line, "- ")] == '\0';

		buf_addf(
		    p->out, "%s- %s%s\n", indent, escape ? "\\" : "", line);
	}
}

static void
add_line(struct printer *p, bool *first, const char *indent, const char *label,
    const char *value)
{
	cleanup_free char *line = value != NULL ? one_line(value) : NULL;

	if (line == NULL || *line == '\0')
		return;
	buf_addf(
	    p->out, "%s%s%s: %s\n", *first ? "\n" : "", indent, label, line);
	*first = false;
}

/* --- nodes ------------------------------------------------------------- */

static void
add_node(struct printer *p, const struct plan_node *node)
{
	static const char *const marks[] = { "## ", "### ", "- " };
	bool subtask = node->kind == NODE_SUBTASK;
	const char *indent = subtask ? "  " : "";
	cleanup_free char *name = one_line(node->name);
	cleanup_buf struct buf head = BUF_INIT;
	cleanup_buf struct buf ids = BUF_INIT, contract = BUF_INIT;
	bool first = true;

	buf_addf(p->out, "%s%s", subtask && node->place > 0 ? "" : "\n",
	    subtask && node->place == 0 ? "Subtasks:\n" : "");
	plan_draft_print(node->id, name, &head);
	/* A box to tick is no part of a name. */
	buf_addf(p->out, "%s%s%s\n", marks[node->kind],
	    subtask && text_begins(head.data, "[ ] ") ? "[ ] " : "", head.data);
	if (p->notes && strmap_get(&p->kept, node->id) != NULL)
		buf_addf(p->out, "%s<!-- %s: it stays as it is -->\n", indent,
		    node_status_name(node->status));
	add_text(p, indent, node->objective, subtask);
	add_list(p, indent, "Acceptance", node->acceptance);
	add_list(p, indent, "Scope paths", node->scope_paths);
	add_list(p, indent, "Required tools", node->required_tools);
	for (char **d = node->depends_on; d != NULL && *d != NULL; d++)
		buf_addf(&ids, "%s%s", ids.len > 0 ? ", " : "", *d);
	add_line(p, &first, indent, "Outcome", node->expected_outcome);
	add_line(p, &first, indent, "Depends", ids.data);
	if (node->priority != PRIORITY_COUNT)
		add_line(p, &first, indent, "Priority",
		    priority_name(node->priority));
	if (node->recovery_policy != RECOVERY_UNSET)
		add_line(p, &first, indent, "Recovery",
		    recovery_policy_words[node->recovery_policy]);
	if (node->result != NODE_RESULT_UNSET)
		add_line(p, &first, indent, "Result",
		    node_result_words[node->result]);
	if (node->verification != NULL)
		json_print(node->verification, false, &contract);
	add_line(p, &first, indent, "Verification", contract.data);
}

void
plan_print(const struct plan *plan, bool notes, struct buf *out)
{
	struct printer p = { .out = out, .notes = notes };
	cleanup_free char *title = NULL;
	bool first = true;
	const struct plan_goal *goal;

	if (notes) {
		plan_replan_kept(plan, &p.kept);
		buf_adds(out, help);
	}
	goal = plan->goal;
	title = one_line(goal->title);
	buf_addf(p.out, "# %s\n", title);
	add_text(&p, "", goal->problem_statement, true);
	add_list(&p, "", "Acceptance", goal->success_criteria);
	add_list(&p, "", "Constraints", goal->constraints);
	if (goal->priority != PRIORITY_NORMAL)
		add_line(
		    &p, &first, "", "Priority", priority_name(goal->priority));
	if (goal->recovery_policy != RECOVERY_UNSET)
		add_line(&p, &first, "", "Recovery",
		    recovery_policy_words[goal->recovery_policy]);
	for (const struct plan_node *n = plan_next(plan, NULL); n != NULL;
	     n = plan_next(plan, n))
		add_node(&p, n);
	strmap_release(&p.kept);
}
