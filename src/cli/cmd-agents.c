/* SPDX-License-Identifier: ISC */

/* llmc agents: the cards of the agents that can be spawned, and which of them
 * fit a task. Only reads the settings. */
#include <stdlib.h>
#include <string.h>

#include "agent-card.h"
#include "agent-suggest.h"
#include "commands.h"
#include "json.h"
#include "mem.h"
#include "schema.h"
#include "settings.h"
#include "strv.h"
#include "table.h"
#include "verbs.h"
#include "word.h"

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

static void
add_joined(struct buf *out, char *const *list)
{
	for (size_t i = 0; list != NULL && list[i] != NULL; i++)
		buf_addf(out, "%s%s", i > 0 ? ", " : "", list[i]);
}

static int
agents_list(struct cli *cli, const struct cli_args *args)
{
	const struct table_column columns[] = { { .title = "NAME" },
		{ .title = "COST" }, { .title = "MODEL" },
		{ .title = "TAGS", .flexible = true },
		{ .title = "DESCRIPTION", .flexible = true } };
	cleanup_agent_cards struct agent_cards cards = { 0 };
	int status = load(cli, &cards);
	struct table *table;

	(void)args;
	if (status != CLI_OK)
		return status;
	cli->result = json_object_new_array();
	table = table_new(columns, nitems(columns));
	for (size_t i = 0; i < cards.count; i++) {
		const struct agent_card *card = cards.list[i];
		cleanup_buf struct buf tags = BUF_INIT;

		add_joined(&tags, card->tags);
		table_row(table,
		    (const char *[]){ card->name, cost_tier_words[card->cost],
			card->model, tags.data, card->description });
		json_object_array_add(cli->result, agent_card_to_json(card));
	}
	if (cards.count > 0)
		table_print(table, cli->width, cli->colour, &cli->text);
	table_free(table);
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
print(struct cli *cli, const struct agent_suggestions *all)
{
	const struct table_column columns[] = { { .title = "NAME" },
		{ .title = "SCORE", .right = true },
		{ .title = "WHY", .flexible = true } };
	struct table *table = table_new(columns, nitems(columns));

	cli->result = json_object_new_array();
	for (size_t i = 0; i < all->count; i++) {
		const struct agent_suggestion *s = &all->list[i];
		cleanup_free char *score = xasprintf("%d", s->score);
		cleanup_buf struct buf why = BUF_INIT;

		for (size_t k = 0; s->reasons != NULL && s->reasons[k] != NULL;
		     k++)
			buf_addf(
			    &why, "%s%s", k > 0 ? "; " : "", s->reasons[k]);
		table_row(
		    table, (const char *[]){ s->card->name, score, why.data });
		json_object_array_add(cli->result, suggestion_json(s));
	}
	if (all->count > 0)
		table_print(table, cli->width, cli->colour, &cli->text);
	table_free(table);
}

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
	print(cli, &all);
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

static int
agents_run(struct cli *cli, const struct cli_args *args)
{
	return verbs_run(cli, &cmd_agents, agents_verbs, args);
}

static const struct schema suggestion_shape = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("name", STRING, NULL),
	    SCHEMA_IS("score", INT, "0: nothing in its card matches"),
	    SCHEMA_IS("matched_tags", LIST, NULL),
	    SCHEMA_IS("reasons", LIST, "why it is where it is"),
	    SCHEMA_IS("card", OBJECT, NULL, .of = &agent_card_schema),
	    SCHEMA_END,
	},
};

static const struct schema agents_shape = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("list", ROWS, NULL, .of = &agent_card_schema),
	    SCHEMA_IS("suggest", ROWS, NULL, .of = &suggestion_shape),
	    SCHEMA_END,
	},
};

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
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.shape = &(const struct schema_field){ .type = SCHEMA_ONE,
	    .of = &agents_shape },
	.run = agents_run,
};
