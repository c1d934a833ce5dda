/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <ctype.h>
#include <strings.h>

#include "contract.h"
#include "plan-check.h"
#include "plan-markdown.h"
#include "plan.h"

static int plan_draft_fail(struct plan_draft *draft, int line, const char *fmt,
    ...) __attribute__((format(printf, 3, 4)));

static int
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

/* Add the last child of a parent (NULL: a phase). The text is its name, perhaps
 * with its id: "T1.2: name", "T1.2 name", or "name {#id}". Otherwise the id is
 * made of the numbers of the nodes above, and is one that the known plan
 * (source->limits) does not have. */
static int
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

/* The node depends on what these words mean: an id, or the name of one node. */
static void
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
	const struct plan *plan = draft->plan;

	for (size_t i = 0; i < plan->count; i++) {
		struct plan_node *node = plan->nodes[i];

		if (strmap_add(&names, node->name, node))
			continue;
		strmap_remove(&names, node->name);
		strmap_add(&names, node->name, &several);
	}
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

/* Resolve the words, and check the plan. It is the caller's then. */
static int
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

enum label {
	LABEL_NONE,
	LABEL_ACCEPTANCE,
	LABEL_DEPENDS,
	LABEL_CONSTRAINTS,
	LABEL_PRIORITY,
	LABEL_RECOVERY,
	LABEL_OUTCOME,
	LABEL_SUBTASKS,
	LABEL_SCOPE,
	LABEL_TOOLS,
	LABEL_RESULT,
	LABEL_VERIFICATION,
};

static const struct {
	const char *word;
	enum label label;
} labels[] = {
	{ "acceptance criteria", LABEL_ACCEPTANCE },
	{ "acceptance", LABEL_ACCEPTANCE },
	{ "depends on", LABEL_DEPENDS },
	{ "depends", LABEL_DEPENDS },
	{ "constraints", LABEL_CONSTRAINTS },
	{ "priority", LABEL_PRIORITY },
	{ "recovery", LABEL_RECOVERY },
	{ "outcome", LABEL_OUTCOME },
	{ "subtasks", LABEL_SUBTASKS },
	{ "scope paths", LABEL_SCOPE },
	{ "required tools", LABEL_TOOLS },
	{ "result", LABEL_RESULT },
	{ "verification", LABEL_VERIFICATION },
};

struct reader {
	struct plan_draft draft;
	struct plan *plan; /* of the draft */
	struct plan_node *phase, *task, *subtask; /* the current ones */
	int subtask_indent;
	bool titled;
	bool after_name; /* the line before was the subtask's own */
	struct buf prose; /* of the current goal or node */
	char fence; /* inside one: its character */
	bool comment; /* inside one */

	enum label list; /* the entries that come belong to this */
	int list_indent; /* of its label */
	int item_indent; /* of its last entry */
	size_t items;
};

/* At the current line. */
#define fail(r, ...) plan_draft_fail(&(r)->draft, (r)->draft.line, __VA_ARGS__)

/* The node that text and lists belong to; NULL = the goal. */
static struct plan_node *
owner(const struct reader *r)
{
	if (r->subtask != NULL)
		return r->subtask;
	return r->task != NULL ? r->task : r->phase;
}

/* --- text -------------------------------------------------------------- */

static int
end_prose(struct reader *r)
{
	struct plan_node *node = owner(r);
	char **to =
	    node == NULL ? &r->plan->goal->problem_statement : &node->objective;
	char *text = plan_draft_trim(r->prose.data, r->prose.len);

	buf_clear(&r->prose);
	if (*text == '\0') {
		free(text);
		return 0;
	}
	if (*to != NULL) {
		char *both = xasprintf("%s\n\n%s", *to, text);

		free(text);
		text = both;
	}
	free(*to);
	*to = text;
	if (strlen(text) > PLAN_TEXT_MAX)
		return fail(
		    r, "the text above is longer than %d bytes", PLAN_TEXT_MAX);
	return 0;
}

/* Text of a subtask stands further right. */
static void
add_prose(struct reader *r, const char *line)
{
	int most = r->subtask != NULL ? r->subtask_indent + 2 : 0;

	for (int at = 0; at < most && (*line == ' ' || *line == '\t'); line++)
		at += *line == '\t' ? 4 - at % 4 : 1;
	buf_addf(&r->prose, "%s\n", line);
}

/* --- nodes ------------------------------------------------------------- */

static int
read_heading(struct reader *r, int level, const char *text)
{
	int e = end_prose(r);

	if (e < 0)
		return e;
	r->list = LABEL_NONE;
	r->subtask = NULL;
	if (level == 1) {
		if (r->titled || r->phase != NULL)
			return fail(
			    r, "the title (#) comes once, before everything");
		if (strlen(text) > PLAN_NAME_MAX)
			return fail(r, "the title is longer than %d bytes",
			    PLAN_NAME_MAX);
		r->titled = true;
		xstrset(&r->plan->goal->title, text);
		return 0;
	}
	r->task = NULL;
	if (level == 2)
		return plan_draft_add(&r->draft, NULL, text, &r->phase);
	if (level > 3)
		return fail(r,
		    "a plan has phases (##), tasks (###) and subtasks (-), "
		    "nothing below");
	if (r->phase == NULL)
		return fail(r, "a task (###) needs a phase (##) above");
	return plan_draft_add(&r->draft, r->phase, text, &r->task);
}

/* --- lists --------------------------------------------------------------- */

/* The list that entries below this label belong to. */
static char ***
list_of(const struct reader *r, enum label label)
{
	struct plan_node *node = owner(r);
	struct plan_goal *goal = r->plan->goal;

	if (label == LABEL_CONSTRAINTS)
		return &goal->constraints;
	if (node == NULL)
		return &goal->success_criteria;
	return label == LABEL_SCOPE ? &node->scope_paths :
	    label == LABEL_TOOLS    ? &node->required_tools :
				      &node->acceptance;
}

static int
add_entry(struct reader *r, enum label label, const char *text)
{
	struct plan_node *node = owner(r);
	char ***to = list_of(r, label);

	r->items++;
	if (label == LABEL_DEPENDS) {
		plan_draft_wish(&r->draft, node, text, strlen(text));
		return 0;
	}
	if (strv_count(*to) >= PLAN_LIST_MAX)
		return fail(r, "more than %d entries", PLAN_LIST_MAX);
	if (*text == '\\')
		text++;
	if (strlen(text) > PLAN_LINE_MAX)
		return fail(r, "longer than %d bytes", PLAN_LINE_MAX);
	if (*text != '\0')
		strv_add(to, text);
	return 0;
}

/* "Acceptance:", also bold; what follows it on the line. */
static enum label
find_label(const char *text, const char **ret_rest)
{
	const char *bold = strspn(text, "*_") > 0 ? "*_" : "";

	text += strspn(text, "*_");
	for (size_t i = 0; i < nitems(labels); i++) {
		size_t len = strlen(labels[i].word);
		const char *rest = text + len;

		if (strncasecmp(text, labels[i].word, len) != 0)
			continue;
		rest += strspn(rest, bold);
		if (*rest != ':')
			continue;
		rest++;
		rest += strspn(rest, bold);
		rest += strspn(rest, " \t");
		/* With other words behind it, it is text. */
		if ((labels[i].label == LABEL_VERIFICATION && *rest != '{') ||
		    (labels[i].label == LABEL_RESULT &&
			strcasecmp(rest, "report") != 0))
			continue;
		*ret_rest = rest;
		return labels[i].label;
	}
	return LABEL_NONE;
}

static int
read_value(struct reader *r, enum label label, const char *rest)
{
	struct plan_node *node = owner(r);
	enum priority priority;
	unsigned policy;

	switch (label) {
	case LABEL_PRIORITY:
		if (!priority_parse(rest, &priority))
			return fail(r,
			    "the priority is one of urgent, high, normal and "
			    "low");
		if (node == NULL)
			r->plan->goal->priority = priority;
		else
			node->priority = priority;
		return 0;
	case LABEL_RECOVERY:
		if (!word_find(recovery_policy_words, rest, &policy))
			return fail(r,
			    "the recovery is one of retry, replan, reassign, "
			    "escalate, nudge and resend_last");
		if (node == NULL)
			r->plan->goal->recovery_policy =
			    (enum recovery_policy)policy;
		else
			node->recovery_policy = (enum recovery_policy)policy;
		return 0;
	case LABEL_OUTCOME:
		if (node == NULL || *rest == '\0' ||
		    strlen(rest) > PLAN_TEXT_MAX)
			return fail(r,
			    "an outcome is the text of a phase, task or "
			    "subtask, on one line");
		xstrset(&node->expected_outcome, rest);
		return 0;
	case LABEL_VERIFICATION: {
		struct json_object *contract = NULL;
		struct err err = { 0 };

		if (contract_from_text(rest, "verification", &contract, &err) <
		    0)
			return fail(r, "%s", err.msg);
		json_object_put(node->verification);
		node->verification = contract;
		return 0;
	}
	case LABEL_RESULT:
		node->result = NODE_RESULT_REPORT;
		return 0;
	case LABEL_DEPENDS:
		while (*rest != '\0') {
			size_t len = strcspn(rest, ",;");

			plan_draft_wish(&r->draft, node, rest, len);
			rest += len + (rest[len] != '\0');
		}
		return 0;
	default:
		return *rest == '\0' ? 0 : add_entry(r, label, rest);
	}
}

static int
read_label(struct reader *r, enum label label, int indent, const char *rest)
{
	int e = end_prose(r);

	if (e < 0)
		return e;
	if (indent <= r->subtask_indent)
		r->subtask = NULL;
	r->list = LABEL_NONE;
	if (label == LABEL_DEPENDS && owner(r) == NULL)
		return fail(r, "a goal depends on nothing");
	if ((label == LABEL_SCOPE || label == LABEL_VERIFICATION ||
		label == LABEL_TOOLS || label == LABEL_RESULT) &&
	    owner(r) == NULL)
		return fail(r,
		    "scope paths, tools, a result and a verification are those "
		    "of a phase, task or subtask");
	if (label == LABEL_CONSTRAINTS && owner(r) != NULL)
		return fail(r,
		    "constraints are the goal's: put them above the first "
		    "phase");
	if (label == LABEL_SUBTASKS) {
		if (r->task == NULL)
			return fail(r, "subtasks need a task (###) above");
		return 0;
	}
	/* Their lists are text on the line only. */
	if (label != LABEL_PRIORITY && label != LABEL_RECOVERY &&
	    label != LABEL_OUTCOME && *rest == '\0') {
		r->list = label;
		r->list_indent = indent;
		r->items = 0;
	}
	return read_value(r, label, rest);
}

static int
read_bullet(struct reader *r, int indent, const char *line, const char *text)
{
	int e;

	if (r->list != LABEL_NONE && indent >= r->list_indent) {
		r->item_indent = indent;
		return add_entry(r, r->list, text);
	}
	r->list = LABEL_NONE;
	if (r->phase == NULL ||
	    (r->subtask != NULL && indent > r->subtask_indent)) {
		add_prose(r, line);
		return 0;
	}
	if (r->task == NULL)
		return fail(r,
		    "a subtask (-) needs a task (###) above; criteria need "
		    "\"Acceptance:\" above");
	e = end_prose(r);
	if (e < 0)
		return e;
	if (text_begins(text, "[ ] "))
		text += 4;
	r->subtask = NULL;
	r->subtask_indent = indent;
	r->after_name = true;
	return plan_draft_add(&r->draft, r->task, text, &r->subtask);
}

/* --- lines --------------------------------------------------------------- */

/* Text that goes on from the line before: an entry, or a subtask's name. */
static int
append_to(struct reader *r, char **to, const char *text, size_t max)
{
	char *both = xasprintf("%s %s", *to, text);

	free(*to);
	*to = both;
	if (strlen(both) > max)
		return fail(r, "longer than %zu bytes", max);
	return 0;
}

static int
read_text(struct reader *r, int indent, const char *line, const char *text)
{
	char **list;

	if (r->list != LABEL_NONE && r->items > 0 && indent > r->item_indent) {
		if (r->list == LABEL_DEPENDS)
			return r->draft.wish_count == 0 ?
			    0 :
			    append_to(r,
				&r->draft.wishes[r->draft.wish_count - 1].words,
				text, PLAN_NAME_MAX);
		list = *list_of(r, r->list);
		if (strv_count(list) > 0)
			return append_to(r, &list[strv_count(list) - 1], text,
			    PLAN_LINE_MAX);
	}
	r->list = LABEL_NONE;
	if (r->subtask != NULL && indent > r->subtask_indent && r->after_name)
		return append_to(r, &r->subtask->name, text, PLAN_NAME_MAX);
	if (r->subtask != NULL && indent <= r->subtask_indent) {
		int e = end_prose(r);

		r->subtask = NULL;
		if (e < 0)
			return e;
	}
	add_prose(r, line);
	return 0;
}

static bool
is_rule(const char *text)
{
	return strlen(text) >= 3 && strchr("-*_", *text) != NULL &&
	    text[strspn(text, (const char[]){ *text, ' ', '\0' })] == '\0';
}

static bool
is_bullet(const char *text)
{
	return strchr("-*+", *text) != NULL && text[1] == ' ';
}

static bool
is_fence(const char *text)
{
	return text_begins(text, "```") || text_begins(text, "~~~");
}

static bool
is_comment(const char *text)
{
	return text_begins(text, "<!--");
}

bool
plan_markdown_plain(const char *text, bool bullets)
{
	const char *rest;

	return strchr("#\\", *text) == NULL && !is_rule(text) &&
	    (bullets || !is_bullet(text)) && !is_fence(text) &&
	    !is_comment(text) && find_label(text, &rest) == LABEL_NONE;
}

static int
read_shaped(struct reader *r, int indent, const char *line, const char *text)
{
	size_t hashes = strspn(text, "#");
	const char *rest = NULL;
	enum label label;

	if (*text == '\\') {
		cleanup_free char *plain =
		    xasprintf("%.*s%s", (int)(text - line), line, text + 1);

		/* The line without the backslash in front of its text. */
		return read_text(r, indent, plain, text + 1);
	}

	if (hashes > 0 && indent < 4 &&
	    (text[hashes] == ' ' || text[hashes] == '\0'))
		return read_heading(
		    r, (int)hashes, text + hashes + strspn(text + hashes, " "));
	if (is_rule(text))
		return 0;
	if (is_bullet(text)) {
		r->after_name = false;
		return read_bullet(
		    r, indent, line, text + 1 + strspn(text + 1, " "));
	}
	label = find_label(text, &rest);
	if (label != LABEL_NONE) {
		r->after_name = false;
		return read_label(r, label, indent, rest);
	}
	return read_text(r, indent, line, text);
}

static int
read_line(struct reader *r, const char *line)
{
	int indent = 0;
	const char *text = line;

	for (; *text == ' ' || *text == '\t'; text++)
		indent += *text == '\t' ? 4 - indent % 4 : 1;
	if (r->comment || (r->fence == '\0' && is_comment(text))) {
		r->comment = strstr(text, "-->") == NULL;
		return 0;
	}
	if (r->fence != '\0' || is_fence(text)) {
		if (r->fence == '\0')
			r->fence = *text;
		else if (strspn(text, (const char[]){ r->fence, '\0' }) >= 3)
			r->fence = '\0';
		r->list = LABEL_NONE;
		r->after_name = false;
		add_prose(r, line);
		return 0;
	}
	if (*text == '\0') {
		if (r->items > 0)
			r->list = LABEL_NONE;
		r->after_name = false;
		add_prose(r, "");
		return 0;
	}
	return read_shaped(r, indent, line, text);
}

static int
read_lines(struct reader *r, const char *text, size_t len)
{
	size_t at = 0;

	while (at < len) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t size =
		    end == NULL ? len - at : (size_t)(end - (text + at));
		cleanup_free char *line = NULL;
		size_t keep = size;
		int e;

		r->draft.line++;
		if (!text_utf8_valid(text + at, size) ||
		    memchr(text + at, '\0', size) != NULL)
			return fail(r, "not valid UTF-8 text");
		while (keep > 0 && isspace((unsigned char)text[at + keep - 1]))
			keep--;
		line = xstrndup(text + at, keep);
		e = read_line(r, line);
		if (e < 0)
			return e;
		at += size + 1;
	}
	return end_prose(r);
}

int
plan_markdown(const char *text, size_t len, const struct plan_source *source,
    struct plan **ret_plan, struct err *err)
{
	struct reader r = { .prose = BUF_INIT };
	int e;
	struct plan_draft *draft;

	if (len > PLAN_FILE_MAX)
		return err_set(err, -EINVAL, "the plan is longer than %d bytes",
		    PLAN_FILE_MAX);
	r.draft = (struct plan_draft){ .source = source,
		.plan = plan_new(
		    plan_goal_new(source->goal_id, "", source->now_ms)) };
	r.plan = r.draft.plan;
	e = read_lines(&r, text, len);
	if (e == 0)
		e = plan_draft_finish(&r.draft, ret_plan);
	if (e < 0)
		err_set(err, e, "%s", r.draft.err.msg);
	draft = &r.draft;
	for (size_t i = 0; i < draft->wish_count; i++)
		free(draft->wishes[i].words);
	free(draft->wishes);
	free(draft->lines);
	plan_free(draft->plan);
	buf_release(&r.prose);
	return e;
}
