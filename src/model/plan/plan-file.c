/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "contract.h"
#include "plan-file.h"
#include "plan-markdown.h"
#include "plan-progress.h"
#include "plan.h"
#include "schema.h"

/* --- loading --------------------------------------------------------- */

#define NODE(key, member, ...) \
	SCHEMA_FIELD(struct plan_node, key, member, ##__VA_ARGS__)
#define GOAL(key, member, ...) \
	SCHEMA_FIELD(struct plan_goal, key, member, ##__VA_ARGS__)
#define LIST .max = PLAN_LIST_MAX, .size = PLAN_LINE_MAX

static const struct schema_field node_fields[] = {
	NODE("id", id, .flags = SCHEMA_REQUIRED, .size = PLAN_ID_MAX),
	NODE("name", name, .flags = SCHEMA_REQUIRED, .size = PLAN_NAME_MAX),
	NODE("objective", objective, .size = PLAN_TEXT_MAX),
	NODE("outcome", expected_outcome, .size = PLAN_TEXT_MAX),
	NODE("acceptance", acceptance, LIST),
	NODE("definitionOfDone", definition_of_done, .size = PLAN_TEXT_MAX),
	NODE("deps", depends_on, .max = PLAN_LIST_MAX, .size = PLAN_ID_MAX),
	NODE("suggestedAgentId", suggested_agent_id, .size = PLAN_NAME_MAX),
	NODE("requiredTools", required_tools, LIST),
	NODE("estimatedEffort", estimated_effort, .size = PLAN_NAME_MAX),
	NODE("priority", priority, .words = priority_words),
	NODE("recoveryPolicy", recovery_policy, .words = recovery_policy_words),
	NODE("result", result, .words = node_result_words),
	NODE("scopePaths", scope_paths, LIST),
	NODE("verification", verification),
};
static const struct schema node_schema = { .fields = node_fields,
	.count = nitems(node_fields) };

struct json_object *
plan_load_words(const struct plan_node *node)
{
	struct json_object *all = schema_json(&node_schema, node);
	struct json_object *json = json_object_new_object();

	json_object_object_foreach(all, key, value)
	{
		if (value != NULL &&
		    (!json_object_is_type(value, json_type_array) ||
			json_object_array_length(value) > 0))
			json_set(json, key, json_object_get(value));
	}
	json_object_put(all);
	return json;
}

void
plan_load_changed(
    struct json_object *before, const struct plan_node *node, struct buf *out)
{
	cleanup_json struct json_object *after = plan_load_words(node);

	for (size_t i = 0; i < nitems(node_fields); i++) {
		const char *key = node_fields[i].name;

		if (!json_object_equal(
			json_member(before, key), json_member(after, key)))
			buf_addf(out, "%s%s", out->len > 0 ? ", " : "", key);
	}
}

static const struct schema_field goal_fields[] = {
	GOAL("title", title, .size = PLAN_NAME_MAX),
	GOAL("problemStatement", problem_statement, .size = PLAN_TEXT_MAX),
	GOAL("successCriteria", success_criteria, LIST),
	GOAL("nonGoals", non_goals, LIST),
	GOAL("constraints", constraints, LIST),
	GOAL("assumptions", assumptions, LIST),
	GOAL("tags", tags, LIST),
	GOAL("priority", priority, .words = priority_words),
	GOAL("recoveryPolicy", recovery_policy, .words = recovery_policy_words),
	GOAL("owner", owner, .size = PLAN_NAME_MAX),
};
static const struct schema goal_schema = { .fields = goal_fields,
	.count = nitems(goal_fields) };

static const char *const goal_others[] = { "risks", NULL };
static const char *const root_keys[] = { "planVersion", "goal", "phases",
	NULL };

/* The key of a node's children, and where they may be. */
static const char *const phase_keys[] = { "tasks", NULL };
static const char *const task_keys[] = { "subtasks", NULL };
static const char *const *const child_keys[] = { phase_keys, task_keys, NULL };

struct loader {
	const struct plan_source *source;
	struct plan *plan;
	char **problems;
	size_t count;
	struct err first;
};

static void
note(struct loader *loader, const char *words)
{
	if (loader->count++ == 0)
		err_set(&loader->first, -EINVAL, "%s", words);
	if (loader->count <= PLAN_PROBLEMS_MAX)
		strv_add(&loader->problems, words);
}

static void
note_id(struct loader *loader, const char *at, const char *words)
{
	cleanup_free char *text = xasprintf("%s.id: %s", at, words);

	note(loader, text);
}

static void
tell(void *context, const struct plan_node *node, const char *member,
    const char *words)
{
	cleanup_buf struct buf text = BUF_INIT;

	plan_check_path(node, member, &text);
	buf_addf(&text, ": %s", words);
	note(context, text.data);
}

static int
check_contract(const struct plan_node *node, const char *at, struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT;

	if (node->verification == NULL)
		return 0;
	json_path_key(&path, at, "verification");
	return contract_validate(node->verification, path.data, err);
}

/* Read a node and put it into the plan; NULL if that fails. */
static struct plan_node *
load_node(struct loader *loader, struct json_object *json, const char *at,
    struct plan_node *parent, size_t place)
{
	enum node_kind kind = parent == NULL ? NODE_PHASE : parent->kind + 1;
	struct plan_node *node = plan_node_new(
	    loader->source->goal_id, kind, "", "", loader->source->now_ms);
	struct err err = { 0 };
	int r;

	r = schema_known(&node_schema, child_keys[kind], json, at, &err);
	if (r == 0)
		r = schema_read(&node_schema, json, at, node, &err);
	if (r == 0)
		r = check_contract(node, at, &err);
	if (r < 0) {
		note(loader, err.msg);
	} else if (plan_id_fault(node->id) != NULL) {
		note_id(loader, at, plan_id_fault(node->id));
		r = -EINVAL;
	} else {
		xstrset(&node->parent_id, parent == NULL ? NULL : parent->id);
		node->order = (int)place;
		r = plan_attach(loader->plan, node, &err);
		if (r < 0)
			note_id(loader, at, err.msg);
	}
	if (r < 0) {
		plan_node_free(node);
		return NULL;
	}
	return node;
}

/* The three levels, each below the one before. */
static void
load_list(struct loader *loader, struct json_object *json, const char *at,
    const char *key, struct plan_node *parent)
{
	cleanup_buf struct buf path = BUF_INIT, item = BUF_INIT;
	struct json_object *list = NULL, *entry;
	struct err err = { 0 };
	int r = json_get_array(json, at, key, &list, &err);

	if (r == -ENOENT && parent != NULL)
		return;
	if (r < 0) {
		note(loader, err.msg);
		return;
	}
	json_path_key(&path, at, key);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct plan_node *node;

		buf_clear(&item);
		json_path_index(&item, path.data, i);
		entry = json_object_array_get_idx(list, i);
		node = load_node(loader, entry, item.data, parent, i);
		if (node != NULL && node->kind != NODE_SUBTASK)
			load_list(loader, entry, item.data,
			    child_keys[node->kind][0], node);
		if (loader->count >= PLAN_PROBLEMS_MAX)
			return;
	}
}

static void
load_goal(struct loader *loader, struct json_object *json)
{
	struct plan_goal *goal = loader->plan->goal;
	struct json_object *member = NULL;
	struct err err = { 0 };
	int r = json_get_object(json, "", "goal", &member, &err);

	if (r == 0)
		r = schema_known(
		    &goal_schema, goal_others, member, "goal", &err);
	if (r == 0)
		r = schema_read(&goal_schema, member, "goal", goal, &err);
	if (r == 0)
		r = plan_goal_read_risks(member, "goal", goal, &err);
	if (r < 0 && r != -ENOENT)
		note(loader, err.msg);
	if (loader->source->title != NULL)
		xstrset(&goal->title, loader->source->title);
	if (*goal->title == '\0')
		note(loader, "goal.title: missing");
}

static void
load_version(struct loader *loader, struct json_object *json)
{
	struct err err = { 0 };
	int64_t version = 0;
	int r = json_get_int(json, "", "planVersion", 1, 1, &version, &err);

	if (r < 0 && (r != -ENOENT || loader->source->planner))
		note(loader, err.msg);
}

static void
load_all(struct loader *loader, struct json_object *json)
{
	struct plan_limits limits = loader->source->limits;
	struct err err = { 0 };

	if (schema_known(
		&(const struct schema){ 0 }, root_keys, json, "", &err) < 0)
		note(loader, err.msg);
	if (!json_object_is_type(json, json_type_object))
		return;
	load_version(loader, json);
	load_goal(loader, json);
	load_list(loader, json, "", "phases", NULL);
	if (loader->count > 0)
		return;
	limits.phase_acceptance |= loader->source->planner;
	plan_link_blocks(loader->plan);
	plan_check(loader->plan, &limits, tell, loader);
}

int
plan_load(struct json_object *json, const struct plan_source *source,
    struct plan **ret_plan, char ***ret_problems, struct err *err)
{
	struct loader loader = { .source = source };

	loader.plan =
	    plan_new(plan_goal_new(source->goal_id, "", source->now_ms));
	load_all(&loader, json);
	if (loader.count == 0) {
		if (source->planner)
			loader.plan->goal->planner_output =
			    json_object_get(json);
		*ret_plan = loader.plan;
		return 0;
	}
	plan_free(loader.plan);
	if (ret_problems != NULL)
		*ret_problems = loader.problems;
	else
		strv_free(loader.problems);
	if (loader.count == 1)
		return err_set(err, -EINVAL, "%s", loader.first.msg);
	return err_set(err, -EINVAL, "%s (the first of %zu problems)",
	    loader.first.msg, loader.count);
}

int
plan_load_text(const char *text, size_t len, const struct plan_source *source,
    struct plan **ret_plan, struct err *err)
{
	cleanup_json struct json_object *json = NULL;
	size_t blank = 0;
	int r;

	while (blank < len && strchr(" \t\r\n", text[blank]) != NULL &&
	    text[blank] != '\0')
		blank++;
	if (blank == len || text[blank] != '{')
		return plan_markdown(text, len, source, ret_plan, err);
	r = json_parse(text, len, PLAN_FILE_MAX, &json, err);
	if (r < 0)
		return -EINVAL;
	return plan_load(json, source, ret_plan, NULL, err);
}

/* --- as text ------------------------------------------------------------- */

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
