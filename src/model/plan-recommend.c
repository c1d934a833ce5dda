/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "plan-effort.h"
#include "plan-insights.h"
#include "plan-recommend.h"
#include "plan.h"
#include "schema.h"

const char *const recommend_kind_words[] = { "start", "unblock", "split",
	"merge", "reorder", NULL };

/* What each reason is worth; together at most 100. */
#define CRITICAL_SCORE 30
#define WAITING_SCORE  20 /* at most */
#define AFTER_SCORE    10 /* at most */
#define UNBLOCK_SCORE  10
#define SPLIT_SCORE    20
#define MERGE_SCORE    15
#define REORDER_SCORE  40
#define SHARE_SCORE    40 /* of the critical path, at most */
#define MERGED_MAX     10

static const int priority_scores[PRIORITY_COUNT] = { [PRIORITY_URGENT] = 30,
	[PRIORITY_HIGH] = 20,
	[PRIORITY_NORMAL] = 10,
	[PRIORITY_LOW] = 1 };

struct maker {
	const struct plan *plan;
	const struct plan_insights *all;
	struct recommendations out;
	size_t room;
	/* The best priority of a ready node that is not critical. */
	enum priority easy;
	const struct plan_node *easy_node;
};

static struct recommendation *
add(struct maker *m, enum recommend_kind kind, const struct plan_node *node)
{
	struct recommendation *r;

	if (m->out.count == m->room) {
		m->room = m->room * 2 + 16;
		m->out.list =
		    xreallocarray(m->out.list, m->room, sizeof *m->out.list);
	}
	r = &m->out.list[m->out.count++];
	*r = (struct recommendation){ .kind = kind };
	strv_add(&r->nodes, node->id);
	return r;
}

/* Appends to what its kind and other reasons are worth. */
static void
because(struct recommendation *r, int score, char *words)
{
	r->score += score;
	strv_take(&r->reasons, words);
}

static int
at_most(int64_t score, int most)
{
	return score > most ? most : (int)score;
}

static void
add_urgency(
    struct maker *m, const struct plan_insight *leaf, struct recommendation *r)
{
	enum priority priority = plan_priority(m->plan, leaf->node);

	because(r, priority_scores[priority],
	    xasprintf("its priority is %s", priority_name(priority)));
	if (leaf->slack == 0 && m->all->length > leaf->effort)
		because(
		    r, CRITICAL_SCORE, xstrdup("it is on the critical path"));
	if (leaf->waiting > 0)
		because(r, at_most((int64_t)leaf->waiting * 2, WAITING_SCORE),
		    xasprintf("%zu node%s wait%s for it", leaf->waiting,
			leaf->waiting == 1 ? "" : "s",
			leaf->waiting == 1 ? "s" : ""));
	if (m->all->length > 0)
		r->score += (int)(leaf->after * AFTER_SCORE / m->all->length);
}

static bool
is_untouched(const struct plan_node *node)
{
	return node->assignment == NULL &&
	    (node->status == NODE_TODO || node->status == NODE_QUEUED);
}

static void
look_blocked(struct maker *m, const struct plan_insight *leaf)
{
	struct recommendation *r;

	if (leaf->node->status != NODE_BLOCKED)
		return;
	r = add(m, RECOMMEND_UNBLOCK, leaf->node);
	because(r, UNBLOCK_SCORE,
	    xasprintf("it is blocked: %s",
		leaf->node->blocked_reason != NULL ?
		    leaf->node->blocked_reason :
		    "nobody said why"));
	add_urgency(m, leaf, r);
	r->command = xasprintf("llmc work unblock %s/%s --reason TEXT",
	    m->plan->goal->id, leaf->node->id);
}

static void
look_split(struct maker *m, const struct plan_insight *leaf)
{
	struct recommendation *r;
	bool large = leaf->effort >= RECOMMEND_LARGE;

	if (!is_untouched(leaf->node) || (!large && leaf->node->attempts < 2))
		return;
	r = add(m, RECOMMEND_SPLIT, leaf->node);
	r->score = SPLIT_SCORE;
	if (large)
		because(r, 0,
		    xasprintf("its effort is %" PRId64 " turns", leaf->effort));
	if (leaf->node->attempts >= 2)
		because(r, 10,
		    xasprintf("%d attempts at it have not ended well",
			leaf->node->attempts));
	if (large && leaf->slack == 0 && m->all->length > 0)
		because(r, (int)(leaf->effort * SHARE_SCORE / m->all->length),
		    xasprintf("it is %" PRId64 "%% of the critical path",
			leaf->effort * 100 / m->all->length));
	r->command = xasprintf("llmc work split %s/%s NAME NAME ...",
	    m->plan->goal->id, leaf->node->id);
}

static void
look_order(struct maker *m, const struct plan_insight *leaf)
{
	enum priority own = plan_priority(m->plan, leaf->node);
	struct recommendation *r;

	if (!leaf->ready || leaf->slack > 0 || m->easy_node == NULL ||
	    priority_compare(own, m->easy) <= 0)
		return;
	r = add(m, RECOMMEND_REORDER, leaf->node);
	because(r, REORDER_SCORE,
	    xasprintf("it is on the critical path with priority %s, and %s, "
		      "which is not, comes first with %s",
		priority_name(own), m->easy_node->id, priority_name(m->easy)));
	r->command = xasprintf("llmc work priority %s/%s %s", m->plan->goal->id,
	    leaf->node->id, priority_name(m->easy));
}

/* --- siblings --------------------------------------------------------- */

/* Only what says that it is small. */
static bool
is_small(const struct plan_node *node)
{
	int64_t effort = plan_effort_iterations(node->estimated_effort);

	return plan_node_leaf(node) && is_untouched(node) && effort >= 0 &&
	    effort <= RECOMMEND_SMALL && node->depends_on == NULL &&
	    node->blocks == NULL;
}

static void
look_siblings(struct maker *m, const struct plan_node *parent)
{
	struct recommendation *r = NULL;
	cleanup_buf struct buf words = BUF_INIT;
	size_t count = 0;

	for (size_t i = 0; i < parent->child_count; i++)
		count += is_small(parent->children[i]);
	if (count < 2)
		return;
	for (size_t i = 0; i < parent->child_count; i++) {
		const struct plan_node *node = parent->children[i];

		if (!is_small(node) ||
		    (r != NULL && strv_count(r->nodes) == MERGED_MAX))
			continue;
		if (r == NULL)
			r = add(m, RECOMMEND_MERGE, node);
		else
			strv_add(&r->nodes, node->id);
		buf_addf(&words, " %s/%s", m->plan->goal->id, node->id);
	}
	because(r, MERGE_SCORE + at_most((int64_t)count, 10),
	    xasprintf("%zu nodes of %s are small (at most %d turns), and "
		      "nothing stands between them",
		count, parent->id, RECOMMEND_SMALL));
	r->command = xasprintf("llmc work merge%s", words.data);
}

/* --- all -------------------------------------------------------------- */

static void
find_easy(struct maker *m)
{
	m->easy = PRIORITY_COUNT;
	for (size_t i = 0; i < m->all->open; i++) {
		const struct plan_insight *leaf = &m->all->leaves[i];
		enum priority priority;

		if (!leaf->ready || leaf->slack == 0)
			continue;
		priority = plan_priority(m->plan, leaf->node);
		if (m->easy_node == NULL ||
		    priority_compare(priority, m->easy) < 0) {
			m->easy = priority;
			m->easy_node = leaf->node;
		}
	}
}

static int
by_score(const void *a, const void *b)
{
	const struct recommendation *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return strcmp(x->nodes[0], y->nodes[0]);
}

static void
release(struct recommendation *r)
{
	strv_free(r->nodes);
	strv_free(r->reasons);
	free(r->command);
}

void
plan_recommend(const struct plan *plan, const struct plan_insights *insights,
    struct recommendations *ret_recommendations)
{
	struct maker m = { .plan = plan, .all = insights };

	find_easy(&m);
	for (size_t i = 0; i < insights->open; i++) {
		if (insights->leaves[i].ready)
			add_urgency(&m, &insights->leaves[i],
			    add(&m, RECOMMEND_START, insights->leaves[i].node));
		look_blocked(&m, &insights->leaves[i]);
		look_split(&m, &insights->leaves[i]);
		look_order(&m, &insights->leaves[i]);
	}
	for (size_t i = 0; i < plan->count; i++)
		if (!plan_node_leaf(plan->nodes[i]))
			look_siblings(&m, plan->nodes[i]);
	if (m.out.count > 0)
		qsort(m.out.list, m.out.count, sizeof *m.out.list, by_score);
	while (m.out.count > RECOMMEND_MAX)
		release(&m.out.list[--m.out.count]);
	*ret_recommendations = m.out;
}

void
recommendations_release(struct recommendations *recommendations)
{
	for (size_t i = 0; i < recommendations->count; i++)
		release(&recommendations->list[i]);
	free(recommendations->list);
	*recommendations = (struct recommendations){ 0 };
}

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct recommendation, key, member, ##__VA_ARGS__)

static const struct schema_field fields[] = {
	FIELD("kind", kind, .words = recommend_kind_words),
	FIELD("score", score, .help = "1 to 100"),
	FIELD("nodes", nodes),
	FIELD("reasons", reasons),
	FIELD("command", command, .help = "what to type"),
};

const struct schema recommendation_schema =
    SCHEMA_OF(struct recommendation, fields);

struct json_object *
recommendations_to_json(const struct recommendations *recommendations)
{
	return schema_list(&recommendation_schema, recommendations->list,
	    recommendations->count);
}
