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

static struct json_object *
normalise_row(void)
{
	cleanup_free char *path = NULL;
	cleanup_json struct json_object *root = NULL;
	struct json_object *row = NULL;

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
/* By which it talks with whom it works for. */
#define KEPT                                                           \
	REPORTS ",mcp__llmc__mail_inbox,mcp__llmc__mail_send,"         \
		"mcp__llmc__mail_ack,mcp__llmc__request_orchestrator," \
		"mcp__llmc__plan_review_needed"

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
	{ "Read,Bash", NULL, NULL, "Read,Bash," KEPT, "", "Read,Bash" },
	{ "", NULL, NULL, KEPT, "", "" },
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
	{ "Read,Bash", NULL, "Bash", "Read," KEPT, "Bash", "Read" },
	{ "Read,Bash", NULL, "Bash(rm *)", "Read,Bash," KEPT, "Bash(rm *)",
	    "Read,Bash" },
	/* A tool that it has not got can be denied. */
	{ "Read", NULL, "Bash", "Read," KEPT, "Bash", "Read" },
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

/* --- suggestions ----------------------------------------------------- */

static void
add_list(struct buf *out, const char *key, struct json_object *list)
{
	buf_addf(out, "%s = ", key);
	json_print(list, false, out);
	buf_addc(out, '\n');
}

/* The fleet of a vector, as a config file. */
static void
add_fleet(struct buf *out, struct json_object *fleet)
{
	for (size_t i = 0; i < json_object_array_length(fleet); i++) {
		struct json_object *agent = json_object_array_get_idx(fleet, i);
		struct json_object *tags =
		    json_object_object_get(agent, "tags");

		buf_addf(out, "[agents.%s]\ndescription = \"%s\"\n",
		    json_string_or(agent, "id", ""),
		    json_string_or(agent, "description", ""));
		buf_addf(out, "cost_tier = \"%s\"\n",
		    json_string_or(agent, "cost", ""));
		if (tags != NULL)
			add_list(out, "tags", tags);
	}
}

static void
check_vector(struct json_object *row)
{
	struct json_object *order = json_object_object_get(row, "expect_order");
	struct json_object *tags = json_object_object_get(row, "matched_tags");
	cleanup_agent_suggestions struct agent_suggestions all = { 0 };
	cleanup_agent_cards struct agent_cards cards = { 0 };
	cleanup_buf struct buf text = BUF_INIT;
	struct settings_world w;

	add_fleet(&text, json_object_object_get(row, "fleet"));
	w = settings_world_parse(text.data);
	ck_assert_uint_eq(w.problems.count, 0);
	agent_cards_load(w.settings, &cards);
	agent_suggest(&cards,
	    &(struct agent_hint){ .task = json_string_or(row, "task", ""),
		.max_cost = COST_TIER_UNKNOWN },
	    &all);
	ck_assert_uint_eq(all.count, json_object_array_length(order));
	for (size_t i = 0; i < all.count; i++) {
		ck_assert_str_eq(all.list[i].card->name,
		    json_object_get_string(
			json_object_array_get_idx(order, i)));
		ck_assert_ptr_nonnull(all.list[i].reasons);
	}
	if (tags != NULL) {
		cleanup_json struct json_object *found =
		    strv_to_json(all.list[0].tags);

		ck_assert(json_object_equal(found, tags));
	}
	settings_world_cleanup(&w);
}

TEST(the_vectors_hold)
{
	cleanup_free char *path = NULL;
	cleanup_json struct json_object *root = NULL;
	struct json_object *routing, *rows;
	struct err err = { 0 };

	path =
	    xasprintf("%s/openclaw_progress_perf_routing.json", unit_vectors());
	ck_assert_msg(
	    json_load(path, 1048576, &root, &err) == 0, "%s", err.msg);
	routing = json_object_object_get(root, "routing");
	ck_assert_int_eq(
	    json_int_or(routing, "min_term_len", 0), AGENT_TERM_MIN);
	rows = json_object_object_get(routing, "cost_order");
	for (unsigned i = 0; i < COST_TIER_UNKNOWN; i++)
		ck_assert_str_eq(cost_tier_words[i],
		    json_object_get_string(json_object_array_get_idx(rows, i)));
	rows = json_object_object_get(routing, "vectors");
	ck_assert_uint_ge(json_object_array_length(rows), 3);
	for (size_t i = 0; i < json_object_array_length(rows); i++)
		check_vector(json_object_array_get_idx(rows, i));
}

#define FLEET                                                             \
	"[agents.coder]\ntags = [\"code\", \"c code\"]\ncost_tier = "     \
	"\"medium\"\ndescription = \"Writes the code for you\"\n"         \
	"[agents.reader]\ntags = [\"code-review\"]\ncost_tier = "         \
	"\"cheap\"\ndescription = \"Reads code and finds the bugs\"\n"    \
	"[agents.sage]\ntags = [\"design\"]\ncost_tier = \"expensive\"\n" \
	"[agents.other]\ndescription = \"Anything\"\n"

static const struct {
	const char *task, *tags;
	enum cost_tier max_cost;
	const char *order; /* the names, best first */
	const char *reason; /* the first one of the best */
} suggestions[] = {
	{ "write some code", NULL, COST_TIER_UNKNOWN, "coder reader sage other",
	    "tags: code" },
	/* A tag is found as a whole, its words in any spelling. */
	{ "a Code review, please", NULL, COST_TIER_UNKNOWN,
	    "reader coder sage other", "tags: code-review" },
	{ "encode the decoder", NULL, COST_TIER_UNKNOWN,
	    "reader coder sage other", "nothing in its card matches" },
	/* Words that are everywhere count for nothing. */
	{ "for the you and", NULL, COST_TIER_UNKNOWN, "reader coder sage other",
	    "nothing in its card matches" },
	/* What was asked for counts more than the task. */
	{ "write some code", "Design", COST_TIER_UNKNOWN,
	    "sage coder reader other", "tags: design" },
	{ "", "none", COST_TIER_UNKNOWN, "reader coder sage other",
	    "nothing in its card matches" },
	/* Who may cost more than that, is left out. */
	{ "design", NULL, COST_MEDIUM, "reader coder",
	    "nothing in its card matches" },
	{ "code", NULL, COST_CHEAP, "reader", "description: code" },
	{ "code", NULL, COST_FREE, "", NULL },
	{ "find bugs, bugs, bugs", NULL, COST_TIER_UNKNOWN,
	    "reader coder sage other", "description: bugs" },
};

TEST_ROWS(agents_are_ranked_with_reasons, nitems(suggestions))
{
	const char *const tags[] = { suggestions[_i].tags, NULL };
	cleanup_agent_suggestions struct agent_suggestions all = { 0 };
	cleanup_agent_cards struct agent_cards cards = { 0 };
	cleanup_settings_world struct settings_world w =
	    settings_world_parse(FLEET);
	cleanup_buf struct buf order = BUF_INIT;

	agent_cards_load(w.settings, &cards);
	agent_suggest(&cards,
	    &(struct agent_hint){ .task = suggestions[_i].task,
		.tags = tags,
		.max_cost = suggestions[_i].max_cost },
	    &all);
	for (size_t i = 0; i < all.count; i++)
		buf_addf(
		    &order, "%s%s", i > 0 ? " " : "", all.list[i].card->name);
	ck_assert_str_eq(order.data, suggestions[_i].order);
	if (suggestions[_i].reason != NULL)
		ck_assert_str_eq(
		    all.list[0].reasons[0], suggestions[_i].reason);
}

TEST(the_fleet_table_has_a_line_for_each_card)
{
	cleanup_settings_world struct settings_world
	    none = settings_world_parse(""),
	    w = settings_world_parse("[agents.coder]\n"
				     "description = \"Writes\\ncode\"\n"
				     "tags = [\"code\"]\ncost_tier = "
				     "\"cheap\"\ntypical_latency = \"5m\"\n"
				     "model = \"opus\"\ntools = "
				     "[\"Read\", \"Edit\"]\n"
				     "[agents.sage]\n");
	cleanup_buf struct buf text = BUF_INIT;

	fleet_table_add(none.settings, &text);
	ck_assert_uint_eq(text.len, 0);
	fleet_table_add(w.settings, &text);
	ck_assert_ptr_nonnull(strstr(text.data,
	    "\n- coder: Writes code; tags: code; cost: cheap; takes about 5m; "
	    "model: opus; tools: Read, Edit\n- sage\n"));
}

/* --- how a run is started -------------------------------------------- */

static const char cards[] =
    "[agents.coder]\nmodel = \"opus\"\nthinking = \"high\"\n"
    "tools = [\"Read\", \"Edit\", \"Bash\"]\n[agents.plain]\n";

/* What a run with this agent, model and word for thinking is started with. */
static struct launch_choice
choice(const char *agent, const char *model, const char *thinking)
{
	cleanup_settings_world struct settings_world w =
	    settings_world_parse(cards);
	struct task_launch *run = schema_new(&task_launch_schema);
	struct launch_choice out;

	xstrset(&run->agent, agent);
	xstrset(&run->model, model);
	xstrset(&run->thinking, thinking);
	launch_choice_make(w.settings, run, &out);
	schema_free(&task_launch_schema, run);
	return out;
}

TEST(what_the_spawn_says_goes_before_the_card)
{
	cleanup_launch_choice struct launch_choice own =
	    choice("coder", "haiku", "low");
	cleanup_launch_choice struct launch_choice card =
	    choice("coder", NULL, NULL);

	ck_assert_str_eq(own.model, "haiku");
	ck_assert_str_eq(own.thinking, "low");
	ck_assert_str_eq(card.model, "opus");
	ck_assert_str_eq(card.thinking, "high");
}

TEST(what_neither_says_is_left_to_the_settings_of_the_worker)
{
	cleanup_launch_choice struct launch_choice plain =
	    choice("plain", NULL, NULL);
	cleanup_launch_choice struct launch_choice none = { 0 };

	launch_choice_make(NULL, NULL, &none);
	ck_assert_ptr_null(none.model);
	ck_assert_ptr_null(none.tools);
	ck_assert_ptr_null(plain.model);
	ck_assert_ptr_null(plain.thinking);
	ck_assert_ptr_null(plain.tools);
	ck_assert_ptr_null(plain.deny);
	ck_assert(!plain.limited);
}

TEST(only_words_that_claude_code_knows_are_passed_on)
{
	static const struct {
		const char *said, *passed;
	} rows[] = {
		{ "off", "off" },
		{ "none", NULL },
		{ "minimal", "low" },
		{ "medium", "medium" },
		{ "xhigh", "xhigh" },
		{ "max", "max" },
		{ "--danger", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_launch_choice struct launch_choice c =
		    choice(NULL, NULL, rows[i].said);

		ck_assert_pstr_eq(c.thinking, rows[i].passed);
	}
}

TEST(tools_are_those_of_the_card_that_the_spawn_leaves)
{
	cleanup_settings_world struct settings_world w =
	    settings_world_parse(cards);
	cleanup_launch_choice struct launch_choice some = { 0 }, more = { 0 };
	struct task_launch *run = schema_new(&task_launch_schema);

	xstrset(&run->agent, "coder");
	run->tools_scoped = true;
	strv_add(&run->tools_allow, "Read");
	strv_add(&run->tools_deny, "Bash");
	launch_choice_make(w.settings, run, &some);
	ck_assert_str_eq(some.tools, "Read");
	ck_assert_str_eq(some.deny[0], "Bash");
	ck_assert(some.limited);
	/* The card has lost it since then: nothing is given back. */
	strv_add(&run->tools_allow, "Write");
	launch_choice_make(w.settings, run, &more);
	ck_assert_str_eq(more.tools, "Read");
	schema_free(&task_launch_schema, run);
}

TEST(a_scope_limits_it_too)
{
	cleanup_settings_world struct settings_world w =
	    settings_world_parse(cards);
	cleanup_launch_choice struct launch_choice c = { 0 };
	struct task_launch *run = schema_new(&task_launch_schema);

	strv_add(&run->scope_paths, "src");
	launch_choice_make(w.settings, run, &c);
	ck_assert(c.limited);
	schema_free(&task_launch_schema, run);
}

TEST(what_those_above_may_not_do_it_may_not_either)
{
	cleanup_settings_world struct settings_world w = settings_world_parse(
	    "[workers.auto-1]\npermission_mode = \"plan\"\n"
	    "disallowed_tools = [\"Bash(rm *)\"]\n"
	    "[workers.team-1]\npermission_mode = \"default\"\n"
	    "disallowed_tools = [\"Bash(rm *)\", \"Write\"]\n");
	cleanup_launch_choice struct launch_choice c = { 0 }, none = { 0 };
	struct task_launch *run = schema_new(&task_launch_schema);

	strv_add(&run->tools_deny, "Edit");
	strv_add(&run->confined_by, "auto-1");
	strv_add(&run->confined_by, "team-1");
	launch_choice_make(w.settings, run, &c);
	ck_assert_str_eq(c.permission_mode, "plan");
	ck_assert_str_eq(launch_choice_mode(&c, "bypassPermissions"), "plan");
	ck_assert_str_eq(c.deny[0], "Bash(rm *)");
	ck_assert_str_eq(c.deny[1], "Write");
	ck_assert_str_eq(c.deny[2], "Edit");
	ck_assert_ptr_null(c.deny[3]);
	/* A worker's own may be stricter. */
	xstrset(&c.permission_mode, "acceptEdits");
	ck_assert_str_eq(launch_choice_mode(&c, "dontAsk"), "dontAsk");
	ck_assert_str_eq(launch_choice_mode(&none, "auto"), "auto");
	schema_free(&task_launch_schema, run);
}

TEST(every_difference_is_seen)
{
	cleanup_launch_choice struct launch_choice one =
	    choice(NULL, "high", NULL);
	cleanup_launch_choice struct launch_choice two =
	    choice(NULL, NULL, "high");
	cleanup_buf struct buf a = BUF_INIT, b = BUF_INIT;

	launch_choice_print(&one, &a);
	launch_choice_print(&two, &b);
	ck_assert_str_ne(a.data, b.data);
}
