/* SPDX-License-Identifier: ISC */

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "buf.h"
#include "mem.h"
#include "plan-draft.h"
#include "plan-load.h"
#include "plan.h"
#include "strmap.h"
#include "strv.h"

void
plan_draft_init(struct plan_draft *draft, const struct plan_source *source)
{
	*draft = (struct plan_draft){ .source = source };
	draft->plan =
	    plan_new(plan_goal_new(source->goal_id, "", source->now_ms));
}

void
plan_draft_release(struct plan_draft *draft)
{
	for (size_t i = 0; i < draft->wish_count; i++)
		free(draft->wishes[i].words);
	free(draft->wishes);
	free(draft->lines);
	plan_free(draft->plan);
}

int
plan_draft_fail(struct plan_draft *draft, int line, const char *fmt, ...)
{
	cleanup_free char *words = NULL;
	va_list ap;

	va_start(ap, fmt);
	words = xvasprintf(fmt, ap);
	va_end(ap);
	return err_set(&draft->err, -EINVAL, "line %d: %s", line, words);
}

char *
plan_draft_trim(const char *s, size_t len)
{
	while (len > 0 && isspace((unsigned char)*s)) {
		s++;
		len--;
	}
	while (len > 0 && isspace((unsigned char)s[len - 1]))
		len--;
	return xstrndup(s, len);
}

/* "T1.2: name" or "T1.2 name": the length of the id, and where the name
 * begins. Without a colon, only what looks like an id of this kind. */
static size_t
own_id(const char *text, enum node_kind kind, const char **ret_name)
{
	static const char letters[] = "PTS";
	size_t len = 1, dots = 0;
	bool digits = false;

	if (!isupper((unsigned char)text[0]))
		return 0;
	for (; isalnum((unsigned char)text[len]) ||
	     (text[len] == '.' && isdigit((unsigned char)text[len + 1]));
	     len++) {
		digits |= isdigit((unsigned char)text[len]) != 0;
		dots += text[len] == '.';
	}
	if (!digits || len > PLAN_ID_MAX)
		return 0;
	if (text[len] == ':' &&
	    (text[len + 1] == ' ' || text[len + 1] == '\0')) {
		*ret_name = text + len + 1;
		return len;
	}
	if (text[len] != ' ' || text[0] != letters[kind] ||
	    dots != (size_t)kind || strspn(text + 1, "0123456789.") != len - 1)
		return 0;
	*ret_name = text + len;
	return len;
}

/* "name {#id}": where the mark begins; NULL = there is none. */
static const char *
id_mark(const char *text, char **ret_id)
{
	const char *mark = strrchr(text, '{');
	size_t len = strlen(text);
	char *id;

	if (mark == NULL || mark == text || mark[-1] != ' ' || mark[1] != '#' ||
	    text[len - 1] != '}')
		return NULL;
	id = xstrndup(mark + 2, (size_t)(text + len - 1 - (mark + 2)));
	if (!plan_id_valid(id)) {
		free(id);
		return NULL;
	}
	*ret_id = id;
	return mark;
}

void
plan_draft_print(const char *id, const char *name, struct buf *out)
{
	cleanup_free char *usual = xasprintf("%s: %s", id, name);
	cleanup_free char *other = NULL;
	const char *rest;

	if (own_id(usual, NODE_PHASE, &rest) == strlen(id) &&
	    id_mark(usual, &other) == NULL)
		buf_adds(out, usual);
	else
		buf_addf(out, "%s {#%s}", name, id);
}

/* The next id of a child, by its place in the file. */
static char *
numbered(const struct plan_draft *draft, const struct plan_node *parent)
{
	const struct plan *known = draft->source->limits.known;
	const struct plan *plan = draft->plan;
	size_t n = parent == NULL ? plan->phase_count : parent->child_count;

	for (;;) {
		char *id;

		n++;
		if (parent == NULL)
			id = xasprintf("P%zu", n);
		else if (parent->kind == NODE_PHASE)
			id = xasprintf("T%zu.%zu", parent->place + 1, n);
		else
			id = xasprintf("S%zu.%zu.%zu",
			    parent->parent->place + 1, parent->place + 1, n);
		if (plan_find(plan, id) == NULL &&
		    (known == NULL || plan_find(known, id) == NULL))
			return id;
		free(id);
	}
}

int
plan_draft_add(struct plan_draft *draft, struct plan_node *parent,
    const char *text, struct plan_node **ret_node)
{
	enum node_kind kind = parent == NULL ? NODE_PHASE : parent->kind + 1;
	struct plan *plan = draft->plan;
	cleanup_free char *id = NULL, *name = NULL;
	const char *mark = id_mark(text, &id), *rest = text;
	size_t len = mark == NULL ? own_id(text, kind, &rest) : 0;
	struct plan_node *node;
	struct err why = { 0 };

	if (id == NULL)
		id = len > 0 ? xstrndup(text, len) : numbered(draft, parent);
	name = plan_draft_trim(
	    rest, mark != NULL ? (size_t)(mark - rest) : strlen(rest));
	if (*name == '\0' || strlen(name) > PLAN_NAME_MAX)
		return plan_draft_fail(draft, draft->line,
		    "a %s needs a name of 1 to %d bytes", node_kind_name(kind),
		    PLAN_NAME_MAX);
	node = plan_node_new(
	    draft->source->goal_id, kind, id, name, draft->source->now_ms);
	xstrset(&node->parent_id, parent == NULL ? NULL : parent->id);
	node->order =
	    (int)(parent == NULL ? plan->phase_count : parent->child_count);
	if (plan_attach(plan, node, &why) < 0) {
		plan_node_free(node);
		return plan_draft_fail(draft, draft->line, "%s", why.msg);
	}
	if ((plan->count & (plan->count - 1)) == 0)
		draft->lines = xreallocarray(
		    draft->lines, plan->count * 2, sizeof *draft->lines);
	draft->lines[node->slot] = draft->line;
	*ret_node = node;
	return 0;
}

void
plan_draft_wish(struct plan_draft *draft, struct plan_node *node,
    const char *words, size_t len)
{
	char *text = plan_draft_trim(words, len);

	if (*text == '\0' || strcasecmp(text, "none") == 0) {
		free(text);
		return;
	}
	if (draft->wish_count == draft->wish_room) {
		draft->wish_room = draft->wish_room * 2 + 8;
		draft->wishes = xreallocarray(
		    draft->wishes, draft->wish_room, sizeof *draft->wishes);
	}
	draft->wishes[draft->wish_count++] =
	    (struct plan_wish){ node, text, draft->line };
}

/* In a map of names: more than one node has it. */
static char several;

static void
collect_names(const struct plan *plan, struct strmap *names)
{
	for (size_t i = 0; i < plan->count; i++) {
		struct plan_node *node = plan->nodes[i];

		if (strmap_add(names, node->name, node))
			continue;
		strmap_remove(names, node->name);
		strmap_add(names, node->name, &several);
	}
}

static int
fulfil(struct plan_draft *draft, const struct plan_wish *wish,
    const struct strmap *names)
{
	const struct plan_node *on = plan_find(draft->plan, wish->words);
	void *named = strmap_get(names, wish->words);

	if (on == NULL && named != &several)
		on = named;
	if (on == NULL)
		return plan_draft_fail(draft, wish->line,
		    "%s depends on \"%.80s\", which is not the id or the name "
		    "of one node",
		    wish->node->id, wish->words);
	if (plan_has(wish->node->depends_on, on->id))
		return 0;
	if (strv_count(wish->node->depends_on) >= PLAN_LIST_MAX)
		return plan_draft_fail(draft, wish->line,
		    "%s depends on more than %d nodes", wish->node->id,
		    PLAN_LIST_MAX);
	strv_add(&wish->node->depends_on, on->id);
	return 0;
}

static int
fulfil_all(struct plan_draft *draft)
{
	struct strmap names = { 0 };
	int e = 0;

	collect_names(draft->plan, &names);
	for (size_t i = 0; i < draft->wish_count && e == 0; i++)
		e = fulfil(draft, &draft->wishes[i], &names);
	strmap_release(&names);
	return e;
}

static void
tell(void *context, const struct plan_node *node, const char *member,
    const char *words)
{
	struct plan_draft *draft = context;

	(void)member;
	if (draft->err.code == 0)
		plan_draft_fail(draft,
		    node == NULL ? draft->line : draft->lines[node->slot], "%s",
		    words);
}

int
plan_draft_finish(struct plan_draft *draft, struct plan **ret_plan)
{
	struct plan_goal *goal = draft->plan->goal;
	struct plan_limits limits = draft->source->limits;
	int e = fulfil_all(draft);

	if (e < 0)
		return e;
	if (draft->source->title != NULL)
		xstrset(&goal->title, draft->source->title);
	if (*goal->title == '\0')
		return plan_draft_fail(
		    draft, 1, "the plan has no title: begin with # Title");
	plan_link_blocks(draft->plan);
	limits.shared_acceptance = true;
	if (plan_check(draft->plan, &limits, tell, draft) > 0)
		return -EINVAL;
	*ret_plan = take_ptr(&draft->plan);
	return 0;
}
