/* SPDX-License-Identifier: ISC */

#include "settings-world.h"
#include "agent-card.h"
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
