/* SPDX-License-Identifier: ISC */

#include "settings-world.h"
#include "agent-card.h"
#include "attempt.h"
#include "settings-table.h"

#define HEAD "[agents.x]\n"

TEST(a_card_has_what_the_file_says)
{
	cleanup_settings_world struct settings_world w = settings_world_parse(
	    HEAD "description = \"Finds bugs\"\nmodel = \"opus\"\n"
		 "thinking = \"high\"\ntags = [\"bugs\", \"C code\"]\n"
		 "cost_tier = \"expensive\"\ntypical_latency = \"5m\"\n"
		 "notes = \"Slow.\"\ntools = [\"Read\", \"mcp__a__b\"]\n");
	cleanup_agent_card struct agent_card *card =
	    agent_card_new(w.settings, "x");

	ck_assert_uint_eq(w.problems.count, 0);
	ck_assert_str_eq(card->name, "x");
	ck_assert_str_eq(card->description, "Finds bugs");
	ck_assert_str_eq(card->model, "opus");
	ck_assert_str_eq(card->thinking, "high");
	ck_assert_str_eq(card->tags[1], "c code");
	ck_assert_int_eq(card->cost, COST_EXPENSIVE);
	ck_assert_str_eq(card->latency, "5m");
	ck_assert_str_eq(card->notes, "Slow.");
	ck_assert(!card->all_tools);
	ck_assert_uint_eq(strv_count(card->tools), 2);
}

TEST(an_empty_table_is_a_card_with_every_tool)
{
	cleanup_settings_world struct settings_world w =
	    settings_world_parse(HEAD);
	cleanup_agent_card struct agent_card *card =
	    agent_card_new(w.settings, "x");

	ck_assert_uint_eq(w.problems.count, 0);
	ck_assert_str_eq(card->description, "");
	ck_assert_str_eq(card->model, "");
	ck_assert_ptr_null(card->tags);
	ck_assert_int_eq(card->cost, COST_TIER_UNKNOWN);
	ck_assert(card->all_tools);
}

TEST(an_empty_list_of_tools_is_none)
{
	cleanup_settings_world struct settings_world w =
	    settings_world_parse(HEAD "tools = []\n");
	cleanup_agent_card struct agent_card *card =
	    agent_card_new(w.settings, "x");

	ck_assert(!card->all_tools);
	ck_assert_uint_eq(strv_count(card->tools), 0);
}

#define ROW                                                          \
	"{\"in\":{\"tags\":[\" Research \",\"synthesis\",\"re\","    \
	"\"SYNTHESIS\"],\"costTier\":\"CHEAP\",\"typicalLatency\":"  \
	"\" 90S \"},\"out\":{\"tags\":[\"research\",\"synthesis\"]," \
	"\"costTier\":\"cheap\",\"typicalLatency\":\"90s\"}}"

/* The names and the spelling of the vector; ROW without one. */
static struct json_object *
normalise_row(void)
{
	cleanup_free char *path = NULL;
	cleanup_json struct json_object *root = NULL;
	struct json_object *row = NULL;

	if (unit_vectors() == NULL) {
		ck_assert_int_eq(
		    json_parse(ROW, strlen(ROW), strlen(ROW), &row, NULL), 0);
		return row;
	}
	path =
	    xasprintf("%s/openclaw_progress_perf_routing.json", unit_vectors());
	ck_assert_int_eq(json_load(path, 1048576, &root, NULL), 0);
	row = json_object_object_get(
	    json_object_object_get(root, "routing"), "normalise");
	ck_assert_ptr_nonnull(row);
	return json_object_get(row);
}

TEST(values_are_normalised_and_other_names_count)
{
	cleanup_json struct json_object *row = normalise_row();
	struct json_object *in = json_object_object_get(row, "in");
	struct json_object *out = json_object_object_get(row, "out");
	struct json_object *tags = json_object_object_get(out, "tags");
	cleanup_free char *text = xasprintf(HEAD
	    "tags = %s\ncostTier = \"%s\"\ntypicalLatency = \"%s\"\n",
	    json_object_to_json_string(json_object_object_get(in, "tags")),
	    json_string_or(in, "costTier", ""),
	    json_string_or(in, "typicalLatency", ""));
	cleanup_settings_world struct settings_world w =
	    settings_world_parse(text);
	cleanup_agent_card struct agent_card *card =
	    agent_card_new(w.settings, "x");

	ck_assert_uint_eq(w.problems.count, 0);
	ck_assert_uint_eq(
	    strv_count(card->tags), json_object_array_length(tags));
	for (size_t i = 0; i < json_object_array_length(tags); i++)
		ck_assert_str_eq(card->tags[i],
		    json_object_get_string(json_object_array_get_idx(tags, i)));
	ck_assert_str_eq(
	    cost_tier_words[card->cost], json_string_or(out, "costTier", ""));
	ck_assert_str_eq(
	    card->latency, json_string_or(out, "typicalLatency", ""));
}

TEST(a_role_without_an_agent_finds_the_card_of_its_name)
{
	static const struct {
		const char *agent, *role, *expect;
	} cases[] = {
		{ NULL, "coder", "coder" },
		{ "", "coder", "coder" },
		{ "tester", "coder", "tester" },
		{ "none", "coder", NULL },
		{ NULL, "none", NULL },
		{ NULL, "Not A Name.x", NULL },
		{ NULL, NULL, NULL },
	};
	cleanup_settings_world struct settings_world w =
	    settings_world_parse("[agents.coder]\n[agents.tester]\n");

	for (size_t i = 0; i < nitems(cases); i++) {
		cleanup_agent_card struct agent_card *card =
		    agent_card_for(w.settings, cases[i].agent, cases[i].role);

		if (cases[i].expect == NULL)
			ck_assert_ptr_null(card);
		else
			ck_assert_str_eq(card->name, cases[i].expect);
	}
}

TEST(cards_are_in_the_order_of_the_file)
{
	cleanup_settings_world struct settings_world w =
	    settings_world_parse("[agents.b]\n[agents.a]\n");
	cleanup_agent_cards struct agent_cards cards = { 0 };

	agent_cards_load(w.settings, &cards);
	ck_assert_uint_eq(cards.count, 2);
	ck_assert_str_eq(cards.list[0]->name, "b");
	ck_assert_str_eq(cards.list[1]->name, "a");
}

static const struct {
	const char *text, *words;
	bool fatal;
} wrong[] = {
	{ HEAD "cost_tier = \"huge\"\n",
	    "agents.x.cost_tier: expected one of free, cheap", true },
	{ HEAD "thinking = \"much\"\n",
	    "agents.x.thinking: expected one of off, minimal, low, medium",
	    true },
	{ HEAD "tools = [\"Bash(git *)\"]\n",
	    "agents.x.tools: expected a list of names of tools", true },
	{ HEAD "tags = \"a\"\n", "agents.x.tags: expected a list", true },
	{ HEAD "modle = \"opus\"\n",
	    "agents.x.modle: no such setting; did you mean "
	    "\"agents.x.model\"?",
	    false },
	{ "[agents.\"X Y\"]\n", "not a valid name for an agent", true },
	{ "[agents]\nx = 1\n", "agents.x: expected a table", true },
	{ "agents = 1\n", "agents: expected a table", true },
};

TEST_ROWS(what_is_wrong_is_named, nitems(wrong))
{
	cleanup_settings_world struct settings_world w =
	    settings_world_parse(wrong[_i].text);

	ck_assert_uint_eq(w.problems.count, 1);
	ck_assert_int_eq(w.problems.fatal, wrong[_i].fatal);
	ck_assert_msg(strstr(w.problems.list[0].text, wrong[_i].words) != NULL,
	    "%s", w.problems.list[0].text);
	ck_assert_uint_gt(w.problems.list[0].line, 0);
}

TEST(every_key_can_be_asked_for)
{
	cleanup_settings_world struct settings_world w =
	    settings_world_parse(HEAD "model = \"opus\"\n");

	for (size_t i = 0; i < settings_agent_key_count; i++) {
		const struct setting *row = &settings_agent_keys[i];
		cleanup_free char *path = xasprintf(
		    "agents.x.%s", row->path + strlen(SETTINGS_AGENT));
		cleanup_json struct json_object *value = NULL;
		unsigned line = 0;

		ck_assert_ptr_eq(settings_find(path, NULL), row);
		ck_assert(settings_value(w.settings, path, &value, &line));
		ck_assert_uint_eq(
		    line > 0, strcmp(path, "agents.x.model") == 0);
	}
	ck_assert_ptr_null(settings_find("agents.NAME.model", NULL));
	ck_assert_ptr_null(settings_find("agents.x", NULL));
	ck_assert_ptr_null(settings_find("agents.x.sandbox", NULL));
}

/* --- tools ----------------------------------------------------------- */

#define REPORTS TOOL_REPORT_PROGRESS "," TOOL_REPORT_COMPLETION

/* "Read,Bash" as a list; NULL stays NULL, "" is an empty list. Kept until the
 * process ends. */
static char **
words(const char *text)
{
	char **list = NULL, *copy, *word, *rest;

	if (text == NULL)
		return NULL;
	list = strv_copy((const char *const[]){ NULL });
	rest = copy = xstrdup(text);
	while ((word = strsep(&rest, ",")) != NULL)
		if (word[0] != '\0')
			strv_add(&list, word);
	free(copy);
	return list;
}

static char *
joined(char *const *list)
{
	char *text = xstrdup("");

	for (; list != NULL && *list != NULL; list++) {
		char *more = xasprintf(
		    "%s%s%s", text, text[0] != '\0' ? "," : "", *list);

		free(text);
		text = more;
	}
	return text;
}

/* config: the agent's tools, NULL = no card, "*" = all of them. */
static int
make(const char *config, const char *allow, const char *deny,
    struct tool_scope *ret_scope, struct err *err)
{
	cleanup_strv char **own = words(config), **a = words(allow),
			  **d = words(deny);
	char name[] = "coder";
	struct agent_card card = { .name = name, .tools = own };

	if (config != NULL && strcmp(config, "*") == 0) {
		card.all_tools = true;
		card.tools = NULL;
	}
	return tool_scope_make(config != NULL ? &card : NULL,
	    allow != NULL ? strv_const(a) : NULL,
	    deny != NULL ? strv_const(d) : NULL, ret_scope, err);
}

static const struct {
	const char *config, *allow, *deny;
	const char *expect; /* NULL = all */
	const char *denied;
	const char *flag; /* --tools */
} cases[] = {
	/* nothing said */
	{ NULL, NULL, NULL, NULL, "", NULL },
	{ "*", NULL, NULL, NULL, "", NULL },
	{ "Read,Bash", NULL, NULL, "Read,Bash," REPORTS, "", "Read,Bash" },
	{ "", NULL, NULL, REPORTS, "", "" },
	/* allow only */
	{ NULL, "Read", NULL, "Read," REPORTS, "", "Read" },
	{ NULL, "*", NULL, NULL, "", NULL },
	{ "Read,Bash,Edit", "Read,Edit", NULL, "Read,Edit," REPORTS, "",
	    "Read,Edit" },
	{ "mcp__git", "mcp__git__log", NULL, "mcp__git__log," REPORTS, "", "" },
	{ "Read", TOOL_REPORT_PROGRESS, NULL, REPORTS, "", "" },
	{ NULL, "Read,Read", NULL, "Read," REPORTS, "", "Read" },
	/* deny only */
	{ NULL, NULL, "Bash", NULL, "Bash", NULL },
	{ "Read,Bash", NULL, "Bash", "Read," REPORTS, "Bash", "Read" },
	{ "Read,Bash", NULL, "Bash(rm *)", "Read,Bash," REPORTS, "Bash(rm *)",
	    "Read,Bash" },
	/* A tool that it has not got can be denied. */
	{ "Read", NULL, "Bash", "Read," REPORTS, "Bash", "Read" },
	/* both */
	{ "Read,Bash,Edit", "Read,Bash", "Bash", "Read," REPORTS, "Bash",
	    "Read" },
	{ NULL, "Read,Bash", "Bash,Write", "Read," REPORTS, "Bash,Write",
	    "Read" },
	/* empty */
	{ NULL, "", NULL, REPORTS, "", "" },
	{ "Read", "", "", REPORTS, "", "" },
	{ NULL, NULL, "", NULL, "", NULL },
	/* The report tools stay, unless they are denied. */
	{ NULL, "Read", TOOL_REPORT_PROGRESS, "Read," TOOL_REPORT_COMPLETION,
	    TOOL_REPORT_PROGRESS, "Read" },
	{ NULL, "Read", "mcp__llmc", "Read", "mcp__llmc", "Read" },
};

TEST_ROWS(tools_are_those_of_the_card_and_the_allowed_without_the_denied,
    nitems(cases))
{
	cleanup_tool_scope struct tool_scope scope = { 0 };
	cleanup_free char *allow = NULL, *deny = NULL, *flag = NULL;
	struct err err = { 0 };

	ck_assert_msg(make(cases[_i].config, cases[_i].allow, cases[_i].deny,
			  &scope, &err) == 0,
	    "%s", err.msg);
	allow = joined(scope.allow);
	deny = joined(scope.deny);
	flag = tool_scope_tools(&scope);
	ck_assert_int_eq(scope.all, cases[_i].expect == NULL);
	ck_assert_str_eq(
	    allow, cases[_i].expect != NULL ? cases[_i].expect : "");
	ck_assert_str_eq(deny, cases[_i].denied);
	if (cases[_i].flag == NULL)
		ck_assert_ptr_null(flag);
	else
		ck_assert_str_eq(flag, cases[_i].flag);
	ck_assert_int_eq(tool_scope_is_limited(&scope),
	    !scope.all || cases[_i].denied[0] != '\0');
}

static const struct {
	const char *config, *allow, *deny, *words;
} refused[] = {
	{ "Read", "Read,Bash", NULL,
	    "Bash is not a tool of the agent coder, and a spawn can only take "
	    "tools away; it has: Read" },
	{ "", "Read", NULL, "it has: none" },
	{ "Read", "*", NULL, "* is not a tool of the agent coder" },
	{ "mcp__git__log", "mcp__git", NULL, "mcp__git is not a tool" },
	{ "mcp__git", "mcp__github__x", NULL, "mcp__github__x is not a tool" },
	{ "Read", "read", NULL, "read is not a tool" },
	{ "Bash", "Bash(git *)", NULL,
	    "Bash(git *): a tool is allowed as a whole or not at all; allow "
	    "Bash" },
	{ NULL, "Bash(git *)", NULL, "allowed as a whole" },
	{ NULL, "a b", NULL, "a b: not the name of a tool" },
	{ NULL, "Read\n", NULL, "not the name of a tool" },
	{ NULL, NULL, "Bash(x", "not the name of a tool" },
	{ NULL, NULL, "Bash(a\nb)", "not the name of a tool" },
	{ NULL, NULL, "*", "not the name of a tool" },
	{ NULL, NULL, "--model", "--model: not the name of a tool" },
	{ NULL, "--model", NULL, "--model: not the name of a tool" },
};

TEST_ROWS(a_spawn_that_widens_is_refused_and_the_tool_is_named, nitems(refused))
{
	cleanup_tool_scope struct tool_scope scope = { 0 };
	struct err err = { 0 };

	ck_assert_int_eq(make(refused[_i].config, refused[_i].allow,
			     refused[_i].deny, &scope, &err),
	    -EINVAL);
	ck_assert_msg(
	    strstr(err.msg, refused[_i].words) != NULL, "%s", err.msg);
	ck_assert(!scope.all);
	ck_assert_ptr_null(scope.allow);
}

static const struct {
	const char *allow, *deny, *tool;
	bool permits;
} uses[] = {
	{ NULL, NULL, "Bash", true },
	{ NULL, "Bash", "Bash", false },
	{ NULL, "Bash", "Bash(git *)", false },
	{ NULL, "Bash", "BashOutput", true },
	{ NULL, "Bash(rm *)", "Bash", true },
	{ NULL, "mcp__git", "mcp__git__log", false },
	{ NULL, "mcp__git", "mcp__github__log", true },
	{ NULL, "mcp__git__log", "mcp__git__log__x", true },
	{ "Read", NULL, "Read", true },
	{ "Read", NULL, "ReadAll", false },
	{ "Read", NULL, "read", false },
	{ "Read", NULL, "", false },
	{ "Read", NULL, "mcp__other__x", false },
	{ "Read", NULL, "mcp__llmc__mail_send", false },
	{ "Read", NULL, TOOL_REPORT_COMPLETION, true },
	{ "Read", TOOL_REPORT_COMPLETION, TOOL_REPORT_COMPLETION, false },
	{ "Read,mcp__llmc", NULL, "mcp__llmc__mail_send", true },
	{ "", NULL, "Read", false },
};

TEST_ROWS(a_hook_is_told_by_the_exact_name, nitems(uses))
{
	cleanup_tool_scope struct tool_scope scope = { 0 }, back = { 0 };
	cleanup_json struct json_object *json = NULL;

	ck_assert_int_eq(
	    make(NULL, uses[_i].allow, uses[_i].deny, &scope, NULL), 0);
	ck_assert_int_eq(
	    tool_scope_permits(&scope, uses[_i].tool), uses[_i].permits);
	/* The same from a policy file. */
	json = tool_scope_to_json(&scope);
	ck_assert_int_eq(tool_scope_from_json(json, "tools", &back, NULL), 0);
	ck_assert_int_eq(
	    tool_scope_permits(&back, uses[_i].tool), uses[_i].permits);
}

TEST(a_broken_policy_permits_nothing)
{
	cleanup_tool_scope struct tool_scope scope = { 0 };
	cleanup_json struct json_object *json = json_object_new_object(),
					*list = json_object_new_array();

	ck_assert_int_eq(tool_scope_from_json(json, "tools", &scope, NULL), 0);
	ck_assert(!tool_scope_permits(&scope, "Read"));
	ck_assert_int_eq(
	    tool_scope_from_json(list, "tools", &scope, NULL), -EINVAL);
	ck_assert(!tool_scope_permits(&scope, "Read"));
	json_set_string(json, "allow", "Read");
	json_set_bool(json, "all", true);
	ck_assert_int_eq(
	    tool_scope_from_json(json, "tools", &scope, NULL), -EINVAL);
	ck_assert(!tool_scope_permits(&scope, "Read"));
}

/* An empty list that counts, and one that was not given. */
TEST(a_run_keeps_an_empty_list_of_tools)
{
	cleanup_tool_scope struct tool_scope none = { 0 }, all = { 0 },
					     nobody = { 0 };
	struct task_launch run = { .tools_scoped = true };

	ck_assert_int_eq(tool_scope_of_run(NULL, &run, &none, NULL), 0);
	ck_assert(!tool_scope_permits(&none, "Read"));
	run.tools_scoped = false;
	ck_assert_int_eq(tool_scope_of_run(NULL, &run, &all, NULL), 0);
	ck_assert(tool_scope_permits(&all, "Read"));
	ck_assert_int_eq(tool_scope_of_run(NULL, NULL, &nobody, NULL), 0);
	ck_assert(!tool_scope_is_limited(&nobody));
}

TEST(a_card_that_changes_gives_a_run_nothing_and_may_take)
{
	char name[] = "fox";
	char *tools[] = { (char[]){ "Read" }, NULL };
	const struct agent_card less = { .name = name, .tools = tools };
	const struct agent_card more = { .name = name, .all_tools = true };
	cleanup_strv char **allow = NULL;
	struct task_launch run = { .tools_scoped = true };

	strv_add(&allow, "Read");
	strv_add(&allow, "Edit");
	run.tools_allow = allow;
	for (int i = 0; i < 3; i++) {
		cleanup_tool_scope struct tool_scope scope = { 0 };

		ck_assert_int_eq(tool_scope_of_run(i == 0 ? NULL :
					 i == 1           ? &more :
							    &less,
				     &run, &scope, NULL),
		    0);
		ck_assert(tool_scope_permits(&scope, "Read"));
		ck_assert_int_eq(tool_scope_permits(&scope, "Edit"), i < 2);
		ck_assert(!tool_scope_permits(&scope, "Bash"));
		ck_assert(tool_scope_permits(&scope, TOOL_REPORT_PROGRESS));
	}
}
