/* SPDX-License-Identifier: ISC */

/* llmc agents: the cards of the agents that can be spawned, and which of them
 * fit a task. Only reads the settings. */
#include "base.h"
#include "agent-card.h"
#include "agent-suggest.h"
#include "cli-private.h"

enum {
	FLAG_TAGS,
	FLAG_MAX_COST
};

#define BIT(flag) (1u << (flag))

static const struct cli_flag agents_flags[] = {
	[FLAG_TAGS] = { "tags", "TAG,...",
	    "for suggest: tags that count more than the words of the task" },
	[FLAG_MAX_COST] = { "max-cost", "TIER",
	    "for suggest: free, cheap, medium or expensive; leave out agents "
	    "above it, and those whose cost_tier is not set" },
	{ NULL, NULL, NULL },
};

static int
load(struct cli *cli, struct agent_cards *ret_cards)
{
	struct settings *settings = NULL;
	int status = cli_load_settings(cli, &settings);

	if (status != CLI_OK)
		return status;
	agent_cards_load(settings, ret_cards);
	settings_free(settings);
	if (ret_cards->count == 0)
		buf_adds(&cli->text,
		    "There are no agents; describe one in [agents.NAME] of "
		    ".llmc/config.toml (see llmc.conf(5)).\n");
	return CLI_OK;
}

static const struct view_column list_columns[] = {
	{ "Name", .key = "name" },
	{ "Cost", .key = "cost_tier" },
	{ "Model", .key = "model" },
	{ "Tags", "tags", VIEW_WORDS, .flexible = true },
	{ "Description", "description", .flexible = true },
};

static int
agents_list(struct cli *cli, const struct cli_args *args)
{
	cleanup_agent_cards struct agent_cards cards = { 0 };
	int status = load(cli, &cards);

	(void)args;
	if (status != CLI_OK)
		return status;
	cli->result = json_object_new_array();
	for (size_t i = 0; i < cards.count; i++)
		json_object_array_add(
		    cli->result, agent_card_to_json(cards.list[i]));
	CLI_TABLE(cli, list_columns, cli->result, NULL);
	return CLI_OK;
}

/* "a, b" as a list; the caller frees it. */
static char **
split(const char *text)
{
	cleanup_free char *copy = xstrdup(text != NULL ? text : "");
	char **list = NULL, *rest = copy, *word;

	while ((word = strsep(&rest, ",")) != NULL)
		if (word[strspn(word, " ")] != '\0')
			strv_add(&list, word);
	return list;
}

static struct json_object *
suggestion_json(const struct agent_suggestion *s)
{
	struct json_object *json = json_object_new_object();

	json_set_string(json, "name", s->card->name);
	json_set_int(json, "score", s->score);
	json_set(json, "matched_tags", strv_to_json(s->tags));
	json_set(json, "reasons", strv_to_json(s->reasons));
	json_set(json, "card", agent_card_to_json(s->card));
	return json;
}

static void
add_why(struct json_object *row, struct buf *out)
{
	struct json_object *list = json_object_object_get(row, "reasons");

	for (size_t i = 0; i < json_object_array_length(list); i++)
		buf_addf(out, "%s%s", i > 0 ? "; " : "",
		    json_object_get_string(json_object_array_get_idx(list, i)));
}

static const struct view_column suggest_columns[] = {
	{ "Name", .key = "name" },
	{ "Score", "score", VIEW_INT, .right = true },
	{ "Why", .add = add_why, .flexible = true },
};

static int
agents_suggest(struct cli *cli, const struct cli_args *args)
{
	const char *tier = args->flags[FLAG_MAX_COST];
	cleanup_agent_cards struct agent_cards cards = { 0 };
	cleanup_agent_suggestions struct agent_suggestions all = { 0 };
	cleanup_strv char **tags = split(args->flags[FLAG_TAGS]);
	cleanup_buf struct buf task = BUF_INIT;
	unsigned cost = COST_TIER_UNKNOWN;
	int status;

	if (tier != NULL && !word_find(cost_tier_words, tier, &cost))
		return cli_misuse(cli, &cmd_agents,
		    "--max-cost %s: use free, cheap, medium or expensive",
		    tier);
	if (args->count < 2 && tags == NULL)
		return cli_misuse(cli, &cmd_agents,
		    "agents suggest needs the TEXT of a task, or --tags "
		    "TAG,...");
	status = load(cli, &cards);
	if (status != CLI_OK)
		return status;
	for (int i = 1; i < args->count; i++)
		buf_addf(&task, "%s%s", i > 1 ? " " : "", args->list[i]);
	agent_suggest(&cards,
	    &(struct agent_hint){ .task = task.data,
		.tags = strv_const(tags),
		.max_cost = (enum cost_tier)cost },
	    &all);
	cli->result = json_object_new_array();
	for (size_t i = 0; i < all.count; i++)
		json_object_array_add(
		    cli->result, suggestion_json(&all.list[i]));
	CLI_TABLE(cli, suggest_columns, cli->result, NULL);
	if (cards.count > 0 && all.count == 0)
		buf_addf(&cli->text, "No agent is known to cost %s or less.\n",
		    tier);
	return CLI_OK;
}

static const struct verb agents_verbs[] = {
	{ "list", 0, 0, 0, "list", agents_list },
	{ "suggest", 0, 1000, BIT(FLAG_TAGS) | BIT(FLAG_MAX_COST),
	    "suggest TEXT ... [--tags TAG,...] [--max-cost TIER]",
	    agents_suggest },
	{ NULL, 0, 0, 0, NULL, NULL },
};

static const struct schema suggestion_shape =
    CLI_FIELDS(SCHEMA_IS("name", STRING, NULL),
	SCHEMA_IS("score", INT, "0: nothing in its card matches"),
	SCHEMA_IS("matched_tags", LIST, NULL),
	SCHEMA_IS("reasons", LIST, "why it is where it is"),
	SCHEMA_IS("card", OBJECT, NULL, .of = &agent_card_schema));

static const struct schema agents_shape =
    CLI_FIELDS(SCHEMA_IS("list", ROWS, NULL, .of = &agent_card_schema),
	SCHEMA_IS("suggest", ROWS, NULL, .of = &suggestion_shape));

const struct cli_command cmd_agents = {
	.name = "agents",
	.usage = "list | suggest TEXT ...",
	.summary = "show the agents that can be spawned, and which fit a task",
	.help =
	    "list     the cards in [agents.NAME] of .llmc/config.toml\n"
	    "suggest  which of them fit a task, the best first, and why: by "
	    "their tags, the\n         words of their description, and their "
	    "cost\n\nWithout one of these words: list. It only suggests: whoever spawns an agent names it.\n",
	.flags = agents_flags,
	.min_args = 0,
	.max_args = 1001,
	.shape = CLI_SHAPE(ONE, agents_shape),
	.verbs = agents_verbs,
};
