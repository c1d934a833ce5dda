/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "plan-check.h"
#include "plan-progress.h"
#include "plan.h"

static const char *const lists[] = { "phases", "tasks", "subtasks" };

struct check {
	const struct plan *plan;
	const struct plan_limits *limits;
	plan_problem *tell;
	void *context;
	size_t count;
};

void
plan_check_path(
    const struct plan_node *node, const char *member, struct buf *out)
{
	if (node != NULL) {
		if (node->parent != NULL) {
			plan_check_path(node->parent, NULL, out);
			buf_addc(out, '.');
		}
		buf_addf(out, "%s[%zu]", lists[node->kind], node->place);
	}
	if (member != NULL)
		buf_addf(out, "%s%s", node == NULL ? "" : ".", member);
}

static void __attribute__((format(printf, 4, 5))) problem(struct check *c,
    const struct plan_node *node, const char *member, const char *fmt, ...)
{
	cleanup_free char *words = NULL;
	va_list ap;

	if (c->count++ >= PLAN_PROBLEMS_MAX)
		return;
	va_start(ap, fmt);
	words = xvasprintf(fmt, ap);
	va_end(ap);
	c->tell(c->context, node, member, words);
}

static void
check_count(
    struct check *c, const struct plan_node *parent, enum node_kind kind)
{
	const int most[] = { c->limits->max_phases, c->limits->max_tasks,
		c->limits->max_subtasks };
	size_t count;

	(void)plan_children(c->plan, parent, &count);
	if (most[kind] > 0 && count > (size_t)most[kind])
		problem(c, parent, lists[kind],
		    "has %zu entries, at most %d are allowed", count,
		    most[kind]);
}

static bool
needs_acceptance(const struct check *c, const struct plan_node *node)
{
	const struct plan_node *known = c->limits->known == NULL ?
	    NULL :
	    plan_find(c->limits->known, node->id);

	if (known != NULL && strv_count(known->acceptance) == 0)
		return false;
	if (node->kind == NODE_PHASE)
		return c->limits->phase_acceptance;
	return node->kind == NODE_TASK || !c->limits->shared_acceptance ||
	    strv_count(node->parent->acceptance) == 0;
}

static void
check_node(struct check *c, const struct plan_node *node)
{
	const char *fault = plan_id_fault(node->id);

	if (fault != NULL)
		problem(c, node, "id", "%.*s... %s", 8, node->id, fault);
	if (plan_blank(node->name))
		problem(c, node, "name", "is empty");
	if (strv_count(node->acceptance) == 0 && needs_acceptance(c, node))
		problem(c, node, "acceptance",
		    "%s has no acceptance criteria; say what can be verified "
		    "when it is done",
		    node->id);
	for (char **a = node->acceptance; a != NULL && *a != NULL; a++)
		if (plan_blank(*a))
			problem(c, node, "acceptance",
			    "%s has an empty acceptance criterion", node->id);
	for (size_t i = 0; node->depends_on != NULL && node->depends_on[i];
	     i++) {
		cleanup_free char *member = xasprintf("deps[%zu]", i);

		if (plan_find(c->plan, node->depends_on[i]) == NULL)
			problem(c, node, member,
			    "%s depends on %s, which is not in the plan",
			    node->id, node->depends_on[i]);
	}
	if (node->kind != NODE_SUBTASK)
		check_count(c, node, node->kind + 1);
}

size_t
plan_check(const struct plan *plan, const struct plan_limits *limits,
    plan_problem *tell, void *context)
{
	struct check c = { plan, limits, tell, context, 0 };
	struct err err = { 0 };

	if (plan->phase_count == 0 &&
	    (limits->known == NULL || limits->known->phase_count > 0))
		problem(&c, NULL, "phases", "the plan has no phase");
	check_count(&c, NULL, NODE_PHASE);
	for (struct plan_node *n = plan_next(plan, NULL); n != NULL;
	     n = plan_next(plan, n))
		check_node(&c, n);
	if (plan_deps_check(plan, NULL, &err) < 0)
		problem(&c, NULL, "phases", "%s", err.msg);
	return c.count;
}
