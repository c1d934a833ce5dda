/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "nudge-text.h"
#include "plan-crystal.h"
#include "plan-prompt.h"
#include "plan.h"

/* How useful a part is; the last ones go first. */
enum rank {
	RANK_LAST, /* stays, and comes last */
	RANK_MUST, /* stays */
	RANK_OWN, /* what is known about the node itself */
	RANK_CONSTRAINTS,
	RANK_PARENT,
	RANK_NEAR, /* of what it depends on itself */
	RANK_PROBLEM,
	RANK_FAR, /* of what the nodes above depend on */
	RANK_SUCCESS,
	RANK_BACKGROUND,
	RANK_COUNT
};

#define CUT_MARK      "\n[cut]\n"
#define CUT_OBJECTIVE 3000 /* bytes that stay of what must stay */
#define CUT_CRITERIA  8000
#define PARTS_MAX     64
#define REPORT_MAX    3000 /* bytes of one crystallization */

struct part {
	enum rank rank;
	char *text; /* NULL = left out */
};

struct prompt {
	struct part parts[PARTS_MAX];
	size_t count;
};

/* Take what was written to the buf as one part. */
static void
take(struct prompt *p, enum rank rank, struct buf *text)
{
	if (text->len > 0 && p->count < PARTS_MAX)
		p->parts[p->count++] = (struct part){ rank, buf_take(text) };
	buf_clear(text);
}

static void
add_text(struct buf *out, const char *title, const char *text)
{
	if (text != NULL && *text != '\0')
		buf_addf(out, "%s%s\n", title, text);
}

static void
add_list(struct buf *out, const char *title, char *const *list)
{
	if (strv_count(list) == 0)
		return;
	buf_addf(out, "%s\n", title);
	for (; *list != NULL; list++)
		buf_addf(out, "- %s\n", *list);
}

static void
cut(struct buf *text, size_t max)
{
	if (text->len <= max)
		return;
	buf_truncate(text, text_cut(text->data, text->len, max));
	buf_adds(text, CUT_MARK);
}

/* --- the parts --------------------------------------------------------- */

static void
add_criteria(struct prompt *p, const struct plan_node *node, bool whole)
{
	cleanup_buf struct buf text = BUF_INIT;
	char *const *list = node->acceptance;

	/* A subtask may have those of its task. */
	if (strv_count(list) == 0 && node->parent != NULL)
		list = node->parent->acceptance;
	add_list(
	    &text, "\nAcceptance criteria, all of which must be met:", list);
	if (!whole)
		cut(&text, CUT_CRITERIA);
	take(p, RANK_MUST, &text);
}

static void
add_report(struct prompt *p, enum rank rank, const char *title,
    const struct plan_node *node)
{
	cleanup_buf struct buf text = BUF_INIT;
	const struct plan_crystal *c = node->crystal;

	if (c == NULL)
		return;
	buf_addf(&text, "\n%s %s (%s):\n", title, node->id, node->name);
	add_text(&text, "", c->summary);
	add_text(&text, "Now: ", c->current_state);
	for (size_t i = 0; i < c->decision_count; i++) {
		buf_addf(&text, "Decided: %s", c->decisions[i].decision);
		if (c->decisions[i].rationale != NULL)
			buf_addf(&text, " (%s)", c->decisions[i].rationale);
		buf_addc(&text, '\n');
	}
	add_list(&text, "Next:", c->next_actions);
	add_list(&text, "Open questions:", c->open_questions);
	add_list(&text, "Commits:", c->evidence.commits);
	add_list(&text, "Files:", c->evidence.files_touched);
	cut(&text, REPORT_MAX);
	take(p, rank, &text);
}

static void
add_context(
    struct prompt *p, const struct plan *plan, const struct plan_node *node)
{
	cleanup_buf struct buf text = BUF_INIT;
	const struct plan_goal *goal = plan->goal;

	add_list(&text, "\nConstraints:", goal->constraints);
	take(p, RANK_CONSTRAINTS, &text);
	for (const struct plan_node *up = node->parent; up != NULL;
	     up = up->parent) {
		buf_addf(&text, "\nIt is a part of %s %s: %s\n",
		    node_kind_name(up->kind), up->id, up->name);
		add_text(&text, "", up->objective);
		if (up == node->parent && strv_count(node->acceptance) > 0)
			add_list(
			    &text, "which is accepted by:", up->acceptance);
		take(p, RANK_PARENT, &text);
	}
	add_text(&text, "\nThe goal: ", goal->problem_statement);
	take(p, RANK_PROBLEM, &text);
	add_list(&text, "\nThe goal is reached when:", goal->success_criteria);
	add_list(&text, "\nNot a part of the goal:", goal->non_goals);
	take(p, RANK_SUCCESS, &text);
	add_list(&text, "\nAssumptions:", goal->assumptions);
	take(p, RANK_BACKGROUND, &text);
}

static void
add_contract(
    struct prompt *p, const struct plan *plan, const struct plan_node *node)
{
	const struct nudge_facts facts = { plan->goal->id, plan->goal->title,
		node->id, node->name };
	cleanup_buf struct buf text = BUF_INIT;

	/* One that another agent spawned reports with a tool. */
	if (node->spawn != NULL)
		return;
	buf_addc(&text, '\n');
	nudge_text_contract(&facts, &text);
	take(p, RANK_LAST, &text);
}

/* --- the whole --------------------------------------------------------- */

static void
build(struct prompt *p, const struct plan *plan, const struct plan_node *node,
    bool whole)
{
	enum rank rank = RANK_NEAR;
	cleanup_buf struct buf text = BUF_INIT;

	buf_addf(&text, "%s\n", node->name);
	add_text(&text, "\n", node->objective);
	add_text(&text, "\nExpected outcome: ", node->expected_outcome);
	add_text(&text, "\nIt is done when: ", node->definition_of_done);
	if (!whole)
		cut(&text, CUT_OBJECTIVE);
	buf_addf(&text, "\nThis is %s %s of the goal \"%s\".\n",
	    node_kind_name(node->kind), node->id, plan->goal->title);
	take(p, RANK_MUST, &text);
	add_criteria(p, node, whole);
	add_context(p, plan, node);
	/* The last part must have room. */
	add_contract(p, plan, node);
	/* What it depends on, and what those above it depend on. */
	add_report(p, RANK_OWN, "What was reported before about", node);
	for (; node != NULL; node = node->parent, rank = RANK_FAR)
		for (char **d = node->depends_on; d != NULL && *d != NULL;
		     d++) {
			const struct plan_node *on = plan_find(plan, *d);

			if (on != NULL)
				add_report(
				    p, rank, "What was reported about", on);
		}
}

static size_t
size_of(const struct prompt *p)
{
	size_t size = 0;

	for (size_t i = 0; i < p->count; i++)
		if (p->parts[i].text != NULL)
			size += strlen(p->parts[i].text);
	return size;
}

/* Leave out the least useful part that is left; of equals, the last one. */
static bool
leave_out(struct prompt *p)
{
	size_t worst = 0;

	for (size_t i = 0; i < p->count; i++)
		if (p->parts[i].text != NULL &&
		    p->parts[i].rank >= p->parts[worst].rank)
			worst = i;
	if (p->parts[worst].rank <= RANK_MUST)
		return false;
	free(p->parts[worst].text);
	p->parts[worst] = (struct part){ RANK_MUST, NULL };
	return true;
}

static bool
fit(struct prompt *p)
{
	while (size_of(p) > PLAN_INSTRUCTION_MAX)
		if (!leave_out(p))
			return false;
	return true;
}

static void
release(struct prompt *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->parts[i].text);
	p->count = 0;
}

void
plan_prompt(
    const struct plan *plan, const struct plan_node *node, struct buf *out)
{
	struct prompt p = { .count = 0 };
	const char *contract = NULL;

	build(&p, plan, node, true);
	if (!fit(&p)) {
		release(&p);
		build(&p, plan, node, false);
		fit(&p);
	}
	for (size_t i = 0; i < p.count; i++)
		if (p.parts[i].rank == RANK_LAST)
			contract = p.parts[i].text;
		else if (p.parts[i].text != NULL)
			buf_adds(out, p.parts[i].text);
	if (contract != NULL)
		buf_adds(out, contract);
	release(&p);
}
