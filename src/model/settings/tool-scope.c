/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent-card.h"
#include "launch.h"
#include "plan-text.h"
#include "schema.h"
#include "settings-value.h"
#include "settings-names.h"
#include "settings.h"
#include "tool-scope.h"
#include "word.h"

#define MCP "mcp__"

static const char *const report_tools[] = { TOOL_REPORT_PROGRESS,
	TOOL_REPORT_COMPLETION, NULL };

static const struct schema_field fields[] = {
	SCHEMA_FIELD(struct tool_scope, "all", all),
	SCHEMA_FIELD(struct tool_scope, "allow", allow),
	SCHEMA_FIELD(struct tool_scope, "deny", deny),
};
static const struct schema schema = { .fields = fields,
	.count = nitems(fields) };

void
tool_scope_release(struct tool_scope *scope)
{
	strv_clear(&scope->allow);
	strv_clear(&scope->deny);
}

/* Does what a rule names include this tool, or this form of it? */
static bool
covers(const char *rule, const char *tool)
{
	size_t len = strlen(rule);

	if (strncmp(rule, tool, len) != 0)
		return false;
	if (tool[len] == '\0' || tool[len] == '(')
		return true;
	/* "mcp__github" is a server: there is no other "__" in it. */
	return text_begins(rule, MCP) &&
	    strstr(rule + strlen(MCP), "__") == NULL &&
	    text_begins(tool + len, "__");
}

static bool
any_covers(const char *const *rules, const char *tool)
{
	for (; *rules != NULL; rules++)
		if (covers(*rules, tool))
			return true;
	return false;
}

/* "Bash", or "Bash(rm *)" where forms count. */
static bool
is_rule(const char *text, bool forms)
{
	size_t len = strlen(text), name = strcspn(text, "(");
	cleanup_free char *tool = xstrndup(text, name);

	if (strcmp(tool, "*") == 0 || !settings_form_fits(FORM_TOOL, tool))
		return false;
	if (name == len)
		return true;
	/* It becomes a word of a command line and a line of a file. */
	for (const char *c = text; *c != '\0'; c++)
		if ((unsigned char)*c < ' ')
			return false;
	return forms && text[len - 1] == ')';
}

static int
bad_rule(const char *text, bool forms, struct err *err)
{
	cleanup_buf struct buf shown = BUF_INIT;

	text_add_visible(
	    &shown, text, text_cut(text, strlen(text), 100), false);
	if (!forms && is_rule(text, true))
		return err_set(err, -EINVAL,
		    "%s: a tool is allowed as a whole or not at all; allow "
		    "%.*s, or deny forms of it",
		    shown.data, (int)strcspn(shown.data, "("), shown.data);
	return err_set(err, -EINVAL,
	    "%s: not the name of a tool; use names such as Read or "
	    "mcp__github__get_issue",
	    shown.data);
}

static int
check_rules(const char *const *list, bool forms, struct err *err)
{
	for (; list != NULL && *list != NULL; list++)
		if (!is_rule(*list, forms))
			return bad_rule(*list, forms, err);
	return 0;
}

static int
widens(const struct agent_card *card, const char *tool, struct err *err)
{
	cleanup_buf struct buf has = BUF_INIT;

	for (char **t = card->tools; t != NULL && *t != NULL; t++)
		buf_addf(&has, "%s%s", has.len > 0 ? ", " : "", *t);
	return err_set(err, -EINVAL,
	    "%s is not a tool of the agent %s, and a spawn can only take tools "
	    "away; it has: %s",
	    tool, card->name, has.len > 0 ? has.data : "none");
}

/* Those of the agent that are allowed too. */
static int
intersect(const struct agent_card *card, const char *const *allow,
    struct tool_scope *scope, struct err *err)
{
	const char *const *own = strv_const(card != NULL ? card->tools : NULL);
	bool all = card == NULL || card->all_tools;

	if (allow == NULL) {
		scope->all = all;
		strv_add_all(&scope->allow, own);
		return 0;
	}
	for (; *allow != NULL; allow++) {
		if (!all && !any_covers(own, *allow) &&
		    !strv_has(report_tools, *allow))
			return widens(card, *allow, err);
		strv_add(&scope->allow, *allow);
	}
	return 0;
}

int
tool_scope_make(const struct agent_card *card, const char *const *allow,
    const char *const *deny, struct tool_scope *ret_scope, struct err *err)
{
	cleanup_tool_scope struct tool_scope scope = { 0 };
	int r;
	cleanup_strv char **left = NULL;

	*ret_scope = (struct tool_scope){ 0 };
	/* To allow everything is to say nothing. */
	if (allow != NULL && strv_has(allow, "*")) {
		if (card != NULL && !card->all_tools)
			return widens(card, "*", err);
		allow = NULL;
	}
	if ((r = check_rules(allow, false, err)) < 0 ||
	    (r = check_rules(deny, true, err)) < 0 ||
	    (r = intersect(card, allow, &scope, err)) < 0)
		return r;
	if (deny != NULL)
		strv_add_all(&scope.deny, deny);
	for (char **t = scope.allow; t != NULL && *t != NULL; t++)
		if (!any_covers(strv_const(scope.deny), *t) &&
		    !strv_has(strv_const(left), *t))
			strv_add(&left, *t);
	for (const char *const *t = report_tools; !scope.all && *t != NULL; t++)
		if (!any_covers(strv_const(scope.deny), *t) &&
		    !any_covers(strv_const(left), *t))
			strv_add(&left, *t);
	strv_free(scope.allow);
	scope.allow = take_ptr(&left);
	*ret_scope = scope;
	scope = (struct tool_scope){ 0 };
	return 0;
}

/* Those that the card, which may have changed, still has. */
static char **
still_allowed(const struct agent_card *card, const struct task_launch *launch)
{
	const char *const *own = strv_const(card != NULL ? card->tools : NULL);
	char **left = NULL;

	for (char **t = launch->tools_allow; t != NULL && *t != NULL; t++)
		if (card == NULL || card->all_tools || any_covers(own, *t) ||
		    strv_has(report_tools, *t))
			strv_add(&left, *t);
	return left;
}

int
tool_scope_of_run(const struct agent_card *card,
    const struct task_launch *launch, struct tool_scope *ret_scope,
    struct err *err)
{
	cleanup_strv char **allow = NULL;

	if (launch == NULL)
		return tool_scope_make(card, NULL, NULL, ret_scope, err);
	allow = still_allowed(card, launch);
	return tool_scope_make(card,
	    launch->tools_scoped ? strv_const(allow) : NULL,
	    strv_const(launch->tools_deny), ret_scope, err);
}

bool
tool_scope_permits(const struct tool_scope *scope, const char *tool)
{
	if (any_covers(strv_const(scope->deny), tool))
		return false;
	return scope->all || any_covers(strv_const(scope->allow), tool);
}

bool
tool_scope_lacks(const struct tool_scope *scope, const char *tool)
{
	static const char *const known[] = { "Agent", "AskUserQuestion", "Bash",
		"BashOutput", "Edit", "ExitPlanMode", "Glob", "Grep",
		"KillShell", "LS", "MultiEdit", "NotebookEdit", "NotebookRead",
		"Read", "Skill", "SlashCommand", "Task", "TodoWrite",
		"WebFetch", "WebSearch", "Write", NULL };

	return any_covers(strv_const(scope->deny), tool) ||
	    (!tool_scope_permits(scope, tool) &&
		(any_covers(known, tool) || text_begins(tool, MCP)));
}

bool
tool_scope_is_limited(const struct tool_scope *scope)
{
	return !scope->all || strv_count(scope->deny) > 0;
}

char *
tool_scope_tools(const struct tool_scope *scope)
{
	cleanup_buf struct buf joined = BUF_INIT;

	if (scope->all)
		return NULL;
	for (char **t = scope->allow; t != NULL && *t != NULL; t++)
		if (!text_begins(*t, MCP))
			buf_addf(
			    &joined, "%s%s", joined.len > 0 ? "," : "", *t);
	return xstrdup(joined.len > 0 ? joined.data : "");
}

struct json_object *
tool_scope_to_json(const struct tool_scope *scope)
{
	return schema_json(&schema, scope);
}

int
tool_scope_from_json(struct json_object *json, const char *at,
    struct tool_scope *ret_scope, struct err *err)
{
	cleanup_tool_scope struct tool_scope scope = { 0 };
	int r;

	*ret_scope = (struct tool_scope){ 0 };
	if (!json_object_is_type(json, json_type_object))
		return err_set(err, -EINVAL, "%s: expected an object", at);
	r = schema_read(&schema, json, at, &scope, err);
	if (r < 0)
		return r;
	*ret_scope = scope;
	scope = (struct tool_scope){ 0 };
	return 0;
}

static bool
is_set(const char *text)
{
	return text != NULL && text[0] != '\0';
}

/* What the spawn says, or else the card; NULL = neither. */
static char *
choose(const char *spawn, const char *card)
{
	if (is_set(spawn))
		return xstrdup(spawn);
	return is_set(card) ? xstrdup(card) : NULL;
}

const char *const thinking_words[] = { "off", "minimal", "low", "medium",
	"high", "xhigh", "max", NULL };

/* The word that Claude Code knows for it; NULL = none, then it decides
 * itself. */
static const char *
effort(const char *thinking)
{
	unsigned word;

	if (!is_set(thinking) || !word_find(thinking_words, thinking, &word))
		return NULL;
	return strcmp(thinking, "minimal") == 0 ? "low" : thinking_words[word];
}

/* From the one that permits most. */
static size_t
strictness(const char *mode)
{
	static const char *const modes[] = { "bypassPermissions", "auto",
		"acceptEdits", "default", "dontAsk", "plan" };
	size_t i = 0;

	while (i < nitems(modes) && strcmp(modes[i], mode) != 0)
		i++;
	return i;
}

const char *
launch_choice_mode(const struct launch_choice *choice, const char *setting)
{
	return choice->permission_mode != NULL &&
		strictness(choice->permission_mode) > strictness(setting) ?
	    choice->permission_mode :
	    setting;
}

/* As those above it are. */
static void
confine(const struct settings *settings, const char *worker,
    struct launch_choice *choice)
{
	cleanup_buf struct buf mode = BUF_INIT, tools = BUF_INIT;
	const char *const *denied;
	const char *text;

	settings_worker_path(settings, worker, "permission_mode", &mode);
	settings_worker_path(settings, worker, "disallowed_tools", &tools);
	text = settings_string(settings, mode.data);
	if (launch_choice_mode(choice, text) == text)
		xstrset(&choice->permission_mode, text);
	settings_list(settings, tools.data, &denied);
	for (; *denied != NULL; denied++)
		if (!plan_has(choice->deny, *denied))
			strv_add(&choice->deny, *denied);
}

static bool
is_kind(const char *name)
{
	for (size_t i = 0; name != NULL && agent_kind_words[i] != NULL; i++)
		if (strcmp(agent_kind_words[i], name) == 0)
			return true;
	return false;
}

void
launch_choice_make(const struct settings *settings,
    const struct task_launch *launch, struct launch_choice *ret_choice)
{
	cleanup_agent_card struct agent_card *card = NULL;
	cleanup_tool_scope struct tool_scope scope = { 0 };

	*ret_choice = (struct launch_choice){ 0 };
	if (launch == NULL)
		return;
	card = agent_card_for(settings, launch->agent, launch->role);
	/* The name of a kind is that of an agent without a card. */
	ret_choice->agent = choose(
	    card == NULL && is_kind(launch->agent) ? launch->agent : NULL,
	    card != NULL ? card->kind : NULL);
	ret_choice->model =
	    choose(launch->model, card != NULL ? card->model : NULL);
	ret_choice->thinking = choose(effort(launch->thinking),
	    effort(card != NULL ? card->thinking : NULL));
	xstrset(&ret_choice->permission_mode, launch->permission_mode);
	ret_choice->read_only = launch->read_only;
	for (char **w = launch->confined_by; w != NULL && *w != NULL; w++)
		confine(settings, *w, ret_choice);
	if (tool_scope_of_run(card, launch, &scope, NULL) < 0) {
		ret_choice->tools = xstrdup("");
		ret_choice->limited = true;
		return;
	}
	ret_choice->limited =
	    launch->scope_paths != NULL || tool_scope_is_limited(&scope);
	ret_choice->tools = tool_scope_tools(&scope);
	for (char **t = scope.deny; t != NULL && *t != NULL; t++)
		strv_add(&ret_choice->deny, *t);
}

/* The lesser one; 0 = there is none. */
static int64_t
lesser(int64_t a, int64_t b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

void
launch_travels(const struct settings *settings, struct task_launch *launch)
{
	cleanup_launch_choice struct launch_choice choice = { 0 };
	cleanup_agent_card struct agent_card *card =
	    agent_card_for(settings, launch->agent, launch->role);
	cleanup_tool_scope struct tool_scope scope = { 0 };

	launch_choice_make(settings, launch, &choice);
	if (launch->model == NULL)
		xstrset(&launch->model, choice.model);
	if (launch->thinking == NULL)
		xstrset(&launch->thinking, choice.thinking);
	xstrset(&launch->permission_mode, choice.permission_mode);
	/* A card that was changed leaves it no tools: nowhere. */
	if (tool_scope_of_run(card, launch, &scope, NULL) < 0 || !scope.all) {
		launch->tools_scoped = true;
		strv_free(launch->tools_allow);
		launch->tools_allow = take_ptr(&scope.allow);
	}
	strv_free(launch->tools_deny);
	launch->tools_deny = take_ptr(&choice.deny);
	strv_clear(&launch->confined_by);
	launch->budget_tokens = lesser(launch->budget_tokens,
	    settings_int(settings, "budget.task_tokens"));
	launch->budget_cost = lesser(
	    launch->budget_cost, settings_amount(settings, "budget.task_cost"));
	launch->budget_ms = lesser(
	    launch->budget_ms, settings_duration(settings, "budget.task_time"));
	launch->budget_turns = (int)lesser(
	    launch->budget_turns, settings_int(settings, "budget.task_turns"));
}

void
launch_choice_release(struct launch_choice *choice)
{
	free(choice->agent);
	free(choice->model);
	free(choice->thinking);
	free(choice->tools);
	strv_free(choice->deny);
	free(choice->permission_mode);
	*choice = (struct launch_choice){ 0 };
}

static void
add(const char *text, struct buf *out)
{
	buf_addf(
	    out, "%s%s\n", text != NULL ? "=" : "", text != NULL ? text : "");
}

void
launch_choice_print(const struct launch_choice *choice, struct buf *out)
{
	add(choice->agent, out);
	add(choice->model, out);
	add(choice->thinking, out);
	add(choice->tools, out);
	add(choice->permission_mode, out);
	add(choice->limited ? "limited" : NULL, out);
	add(choice->read_only ? "read-only" : NULL, out);
	for (char **t = choice->deny; t != NULL && *t != NULL; t++)
		add(*t, out);
}
