/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <strings.h>

#include "agent-card.h"
#include "schema.h"
#include "settings-table.h"
#include "settings-value.h"
#include "settings.h"
#include "work-record.h"

#define BLANKS " \t\r\n"

static const char *
value_of(const struct settings *settings, const char *name, const char *key)
{
	cleanup_free char *path = xasprintf("agents.%s.%s", name, key);

	return settings_string(settings, path);
}

static const char *const *
list_of(const struct settings *settings, const char *name, const char *key)
{
	cleanup_free char *path = xasprintf("agents.%s.%s", name, key);
	const char *const *items;

	settings_list(settings, path, &items);
	return items;
}

/* Lower case, without blanks around it; the caller frees it. */
static char *
plain(const char *text)
{
	size_t len;
	char *copy;

	text += strspn(text, BLANKS);
	len = strlen(text);
	while (len > 0 && strchr(BLANKS, text[len - 1]) != NULL)
		len--;
	copy = xstrndup(text, len);
	for (char *c = copy; *c != '\0'; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c - 'A' + 'a');
	return copy;
}

static char **
tags_of(const char *const *items)
{
	char **tags = NULL;

	for (; *items != NULL; items++) {
		cleanup_free char *tag = plain(*items);

		if (strlen(tag) >= AGENT_TERM_MIN &&
		    !strv_has(strv_const(tags), tag))
			strv_add(&tags, tag);
	}
	return tags;
}

static enum cost_tier
cost_of(const char *word)
{
	for (unsigned i = 0; i < COST_TIER_UNKNOWN; i++)
		if (strcasecmp(word, cost_tier_words[i]) == 0)
			return (enum cost_tier)i;
	return COST_TIER_UNKNOWN;
}

struct agent_card *
agent_card_new(const struct settings *settings, const char *name)
{
	struct agent_card *card;
	const char *const *tools, *const *names;

	settings_agents(settings, &names);
	if (!strv_has(names, name))
		return NULL;
	card = xcalloc(1, sizeof *card);
	card->name = xstrdup(name);
	card->description = xstrdup(value_of(settings, name, "description"));
	card->kind = xstrdup(value_of(settings, name, "agent"));
	card->model = xstrdup(value_of(settings, name, "model"));
	card->thinking = xstrdup(value_of(settings, name, "thinking"));
	card->notes = xstrdup(value_of(settings, name, "notes"));
	card->latency = plain(value_of(settings, name, "typical_latency"));
	card->tags = tags_of(list_of(settings, name, "tags"));
	card->cost = cost_of(value_of(settings, name, "cost_tier"));
	tools = list_of(settings, name, "tools");
	card->tools = strv_copy(tools);
	card->all_tools = strv_has(strv_const(card->tools), "*");
	if (card->all_tools)
		strv_clear(&card->tools);
	return card;
}

void
agent_card_cleanup(struct agent_card **card)
{
	schema_free(&agent_card_schema, *card);
}

struct agent_card *
agent_card_for(
    const struct settings *settings, const char *agent, const char *role)
{
	if (agent != NULL && agent[0] != '\0')
		return agent_card_new(settings, agent);
	return role != NULL ? agent_card_new(settings, role) : NULL;
}

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct agent_card, key, member, ##__VA_ARGS__)

static const struct schema_field fields[] = {
	FIELD("name", name, .flags = SCHEMA_REQUIRED),
	FIELD("description", description),
	FIELD("agent", kind, .help = "null: that of the worker"),
	FIELD("model", model, .help = "null: that of the worker"),
	FIELD("thinking", thinking),
	FIELD("tags", tags),
	FIELD("cost_tier", cost, .words = cost_tier_words,
	    .flags = SCHEMA_NULLABLE),
	FIELD("typical_latency", latency),
	FIELD("notes", notes),
	FIELD("tools", tools, .flags = SCHEMA_NULLABLE,
	    .help = "null: every tool"),
};

const struct schema agent_card_schema = SCHEMA_OF(struct agent_card, fields);

static char *
unless_empty(char *text)
{
	return text[0] != '\0' ? text : NULL;
}

struct json_object *
agent_card_to_json(const struct agent_card *card)
{
	struct agent_card shown = *card;
	struct json_object *json;

	shown.description = unless_empty(card->description);
	shown.model = unless_empty(card->model);
	shown.kind = unless_empty(card->kind);
	shown.thinking = unless_empty(card->thinking);
	shown.latency = unless_empty(card->latency);
	shown.notes = unless_empty(card->notes);
	json = schema_json(&agent_card_schema, &shown);
	if (card->all_tools)
		json_set(json, "tools", NULL);
	return json;
}

void
agent_cards_load(const struct settings *settings, struct agent_cards *ret_cards)
{
	const char *const *names;
	size_t count = settings_agents(settings, &names);

	ret_cards->count = count;
	ret_cards->list = xcalloc(count + 1, sizeof(struct agent_card *));
	for (size_t i = 0; i < count; i++)
		ret_cards->list[i] = agent_card_new(settings, names[i]);
}

void
agent_cards_release(struct agent_cards *cards)
{
	for (size_t i = 0; i < cards->count; i++)
		schema_free(&agent_card_schema, cards->list[i]);
	free(cards->list);
	*cards = (struct agent_cards){ 0 };
}

#define ASKED_SCORE 10 /* a tag that was asked for */
#define TAG_SCORE   5 /* a tag that is in the task */
#define WORD_SCORE  1

/* They are in every description. */
static const char *const filler[] = { "and", "are", "but", "can", "for", "from",
	"has", "have", "into", "its", "not", "that", "the", "this", "use",
	"was", "will", "with", "you", "your", NULL };

static bool
in_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

/* The words in lower case, with one blank before and after each. */
static void
add_words(struct buf *out, const char *text)
{
	buf_addc(out, ' ');
	while (*text != '\0') {
		while (*text != '\0' && !in_word(*text))
			text++;
		if (*text == '\0')
			break;
		for (; in_word(*text); text++)
			buf_addc(out,
			    *text >= 'A' && *text <= 'Z' ?
				(char)(*text - 'A' + 'a') :
				*text);
		buf_addc(out, ' ');
	}
}

static bool
was_asked(const struct agent_hint *hint, const char *words)
{
	for (const char *const *t = hint->tags; t != NULL && *t != NULL; t++) {
		cleanup_buf struct buf asked = BUF_INIT;

		add_words(&asked, *t);
		if (strcmp(asked.data, words) == 0)
			return true;
	}
	return false;
}

/* Every word of the description that is in the task too, once. */
static void
match_words(struct agent_suggestion *s, const char *task, struct buf *matched)
{
	cleanup_buf struct buf words = BUF_INIT, seen = BUF_INIT;
	char *rest, *word;

	add_words(&words, s->card->description);
	buf_addc(&seen, ' ');
	rest = words.data + 1;
	while ((word = strsep(&rest, " ")) != NULL) {
		cleanup_free char *whole = xasprintf(" %s ", word);
		unsigned ignored;

		if (strlen(word) < AGENT_TERM_MIN ||
		    word_find(filler, word, &ignored) ||
		    strstr(task, whole) == NULL ||
		    strstr(seen.data, whole) != NULL)
			continue;
		buf_addf(&seen, "%s ", word);
		buf_addf(matched, "%s%s", matched->len > 0 ? ", " : "", word);
		s->score += WORD_SCORE;
	}
}

static void
add_reasons(struct agent_suggestion *s, const char *words)
{
	cleanup_buf struct buf tags = BUF_INIT;

	for (char **t = s->tags; t != NULL && *t != NULL; t++)
		buf_addf(&tags, "%s%s", tags.len > 0 ? ", " : "", *t);
	if (tags.len > 0)
		strv_take(&s->reasons, xasprintf("tags: %s", tags.data));
	if (words[0] != '\0')
		strv_take(&s->reasons, xasprintf("description: %s", words));
	if (s->score == 0)
		strv_add(&s->reasons, "nothing in its card matches");
	if (s->card->cost != COST_TIER_UNKNOWN)
		strv_take(&s->reasons,
		    xasprintf("cost: %s", cost_tier_words[s->card->cost]));
}

static int
by_fit(const void *a, const void *b)
{
	const struct agent_suggestion *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	if (x->card->cost != y->card->cost)
		return x->card->cost < y->card->cost ? -1 : 1;
	return strcmp(x->card->name, y->card->name);
}

void
agent_suggest(const struct agent_cards *cards, const struct agent_hint *hint,
    struct agent_suggestions *ret_suggestions)
{
	cleanup_buf struct buf task = BUF_INIT;
	struct agent_suggestions all = { 0 };

	add_words(&task, hint->task != NULL ? hint->task : "");
	all.list = xcalloc(cards->count + 1, sizeof *all.list);
	for (size_t i = 0; i < cards->count; i++) {
		struct agent_suggestion *s = &all.list[all.count];
		cleanup_buf struct buf words = BUF_INIT;

		if (hint->max_cost != COST_TIER_UNKNOWN &&
		    cards->list[i]->cost > hint->max_cost)
			continue;
		s->card = cards->list[i];
		for (char **t = s->card->tags; t != NULL && *t != NULL; t++) {
			cleanup_buf struct buf name = BUF_INIT;
			bool asked;

			add_words(&name, *t);
			asked = was_asked(hint, name.data);
			if (!asked &&
			    (name.len == 1 ||
				strstr(task.data, name.data) == NULL))
				continue;
			s->score += asked ? ASKED_SCORE : TAG_SCORE;
			strv_add(&s->tags, *t);
		}
		if (s->tags != NULL)
			qsort(s->tags, strv_count(s->tags), sizeof(char *),
			    strv_order);
		match_words(s, task.data, &words);
		add_reasons(s, words.len > 0 ? words.data : "");
		all.count++;
	}
	qsort(all.list, all.count, sizeof *all.list, by_fit);
	*ret_suggestions = all;
}

void
agent_suggestions_release(struct agent_suggestions *suggestions)
{
	for (size_t i = 0; i < suggestions->count; i++) {
		strv_free(suggestions->list[i].tags);
		strv_free(suggestions->list[i].reasons);
	}
	free(suggestions->list);
	*suggestions = (struct agent_suggestions){ 0 };
}

#define TEXT_MAX 200 /* bytes of a description or a note */

/* In one line, and not too long. */
static void
add_text(struct buf *out, const char *before, const char *text)
{
	size_t len = strlen(text), cut = text_cut(text, len, TEXT_MAX);

	if (len == 0)
		return;
	buf_adds(out, before);
	for (size_t i = 0; i < cut; i++)
		buf_addc(out, (unsigned char)text[i] < ' ' ? ' ' : text[i]);
	if (cut < len)
		buf_adds(out, "...");
}

static void
add_list(struct buf *out, const char *before, char *const *list)
{
	for (; list != NULL && *list != NULL; list++) {
		buf_adds(out, before);
		add_text(out, "", *list);
		before = ", ";
	}
}

static void
add_card(struct buf *out, const struct agent_card *card)
{
	buf_addf(out, "- %s", card->name);
	add_text(out, ": ", card->description);
	add_list(out, "; tags: ", card->tags);
	if (card->cost != COST_TIER_UNKNOWN)
		buf_addf(out, "; cost: %s", cost_tier_words[card->cost]);
	add_text(out, "; takes about ", card->latency);
	add_text(out, "; model: ", card->model);
	if (!card->all_tools)
		add_list(out, "; tools: ", card->tools);
	add_text(out, "; ", card->notes);
	buf_addc(out, '\n');
}

void
fleet_table_add(const struct settings *settings, struct buf *out)
{
	cleanup_agent_cards struct agent_cards cards = { 0 };

	agent_cards_load(settings, &cards);
	if (cards.count == 0)
		return;
	buf_adds(out,
	    "Agents that you can spawn with agent_spawn (its member agent is "
	    "the name; a role of the same name means the same):\n");
	for (size_t i = 0; i < cards.count; i++)
		add_card(out, cards.list[i]);
}

/* --- tools ------------------------------------------------------------ */

#define MCP "mcp__"

static const char *const report_tools[] = { TOOL_REPORT_PROGRESS,
	TOOL_REPORT_COMPLETION, NULL };

/* By which it talks with whom it works for: a card that says what an agent
 * works with does not take them away. */
static const char *const kept_tools[] = { TOOL_REPORT_PROGRESS,
	TOOL_REPORT_COMPLETION, MCP "llmc__mail_inbox", MCP "llmc__mail_send",
	MCP "llmc__mail_ack", MCP "llmc__request_orchestrator",
	MCP "llmc__plan_review_needed", NULL };

static const struct schema_field scope_fields[] = {
	SCHEMA_FIELD(struct tool_scope, "all", all),
	SCHEMA_FIELD(struct tool_scope, "allow", allow),
	SCHEMA_FIELD(struct tool_scope, "deny", deny),
};
static const struct schema schema = { .fields = scope_fields,
	.count = nitems(scope_fields) };

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

	if (len > 0 && rule[len - 1] == '*')
		return strncmp(rule, tool, len - 1) == 0;
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
		    !strv_has(kept_tools, *allow))
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
	for (const char *const *t = allow == NULL ? kept_tools : report_tools;
	     !scope.all && *t != NULL; t++)
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
		    strv_has(kept_tools, *t))
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

/* The names are those of the SDK for 2.1.328; a test with the real program
 * fails when it offers a tool that is in neither list. It warns on its screen
 * of a name that no tool of the login has, but not of a pattern. */
const char *const claude_denied_tools[] = { "Artifact", "ArtifactCheck",
	"ArtifactComments", "ArtifactData", "AskUserQuestion", "ClaudeDesign*",
	"CronCreate", "CronDelete", "CronList", "EndConversation",
	"EnterPlanMode", "EnterWorktree", "ExitPlanMode", "ExitWorktree",
	"ListAgents", "OfferChromeSetup", "ProposeGoal", "Projects",
	"PushNotification", "ReadNotifications", "RemoteTrigger",
	"ReportFindings", "ScheduleWakeup", "SendFeedback", "SendMessage",
	"SendUserFile", "SendUserMessage", "SetGoal", "ShareOnboardingGuide",
	"ShowOnboardingRolePicker", "TeamCreate", "TeamDelete", "Workflow",
	"propose_skills", NULL };

const char *const claude_tools[] = { "Agent", "Bash", "Edit", "Glob", "Grep",
	"LSP", "ListMcpResourcesTool", "Monitor", "NotebookEdit", "PowerShell",
	"Read", "ReadMcpResourceDirTool", "ReadMcpResourceTool", "Skill",
	"SubagentHandback", "Task", "TaskCreate", "TaskGet", "TaskList",
	"TaskStop", "TaskUpdate", "TodoWrite", "ToolSearch",
	"WaitForMcpServers", "WebFetch", "WebSearch", "Write", NULL };

bool
tool_scope_lacks(const struct tool_scope *scope, const char *tool)
{
	return any_covers(strv_const(scope->deny), tool) ||
	    any_covers(claude_denied_tools, tool) ||
	    (!tool_scope_permits(scope, tool) &&
		(any_covers(claude_tools, tool) || text_begins(tool, MCP)));
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
