/* SPDX-License-Identifier: ISC */

/* llmc goal agents, goal tree, report stats: the agents that can be spawned,
 * those that were, and how their runs went. */
#include "base.h"
#include "agent-card.h"
#include "attempt.h"
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
	struct json_object *list = json_member(row, "reasons");

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
	cleanup_strv char **tags = NULL;
	cleanup_buf struct buf task = BUF_INIT;
	unsigned cost = COST_TIER_UNKNOWN;
	int status;
	const char *text = args->flags[FLAG_TAGS];
	cleanup_free char *copy = xstrdup(text != NULL ? text : "");
	char *rest = copy, *word;

	while ((word = strsep(&rest, ",")) != NULL)
		if (word[strspn(word, " ")] != '\0')
			strv_add(&tags, word);
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
    SCHEMA_SHAPE(SCHEMA_IS("name", STRING, NULL),
	SCHEMA_IS("score", INT, "0: nothing in its card matches"),
	SCHEMA_IS("matched_tags", LIST, NULL),
	SCHEMA_IS("reasons", LIST, "why it is where it is"),
	SCHEMA_IS("card", OBJECT, NULL, .of = &agent_card_schema));

static const struct schema agents_shape =
    SCHEMA_SHAPE(SCHEMA_IS("list", ROWS, NULL, .of = &agent_card_schema),
	SCHEMA_IS("suggest", ROWS, NULL, .of = &suggestion_shape));

const struct cli_command cmd_agents = {
	.name = "goal agents",
	.usage = "list | suggest TEXT ...",
	.summary = "show the agents that can be spawned, and which fit a task",
	.help =
	    "list     the cards in [agents.NAME] of .llmc/config.toml\n"
	    "suggest  which of them fit a task, the best first, and why: by "
	    "their tags, the\n         words of their description, and their "
	    "cost\n\nWithout one of these words: list. It only suggests: the agent that spawns another names it.\n",
	.example = "goal agents suggest Write the manual page",
	.flags = agents_flags,
	.max_args = 1001,
	.shape = CLI_SHAPE(ONE, agents_shape),
	.verbs = agents_verbs,
};

/* --- tree ---------------------------------------------------------------- */

/* "40% writing tests" */
static void
add_progress(struct json_object *row, struct buf *out)
{
	struct json_object *progress = NULL, *percent = NULL;

	if (!json_object_object_get_ex(row, "progress", &progress))
		return;
	if (json_object_object_get_ex(progress, "percentComplete", &percent))
		buf_addf(out, "%.0f%% ", json_object_get_double(percent));
	buf_adds(out, json_string_or(progress, "phase", ""));
}

/* "complete (high), verification passed" */
static void
add_result(struct json_object *row, struct buf *out)
{
	struct json_object *completion = NULL;
	const char *sure, *checked = json_string_or(row, "verification", NULL);

	if (json_object_object_get_ex(row, "completion", &completion)) {
		buf_adds(out, json_string_or(completion, "status", "reported"));
		sure = json_string_or(completion, "confidence", NULL);
		if (sure != NULL)
			buf_addf(out, " (%s)", sure);
	}
	if (checked != NULL)
		buf_addf(out, "%sverification %s", out->len > 0 ? ", " : "",
		    checked);
}

/* How many of those above it are shown: its parent may have ended long ago, and
 * then it must not stand below another agent. */
static int
levels_above(const struct json_object *rows, struct json_object *row)
{
	const char *parent = json_string_or(row, "parent_actor_id", "");

	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *other = json_object_array_get_idx(rows, i);

		if (other == row)
			return 0; /* those above it come before it */
		if (strcmp(json_string_or(other, "actor_id", ""), parent) == 0)
			return levels_above(rows, other) + 1;
	}
	return 0;
}

/* arg: all rows. */
static void
add_agent(struct json_object *row, const void *arg, struct buf *out)
{
	buf_addf(out, "%*s%s", levels_above(arg, row) * 2, "",
	    json_string_or(row, "actor_id", ""));
}

static void
add_node(struct json_object *row, struct buf *out)
{
	buf_adds(
	    out, json_string_or(row, "node", json_string_or(row, "task", "")));
}

static void
add_work(struct json_object *row, struct buf *out)
{
	buf_adds(out,
	    json_string_or(row, "label", json_string_or(row, "title", "")));
}

static const struct view_column tree_columns[] = {
	{ "Agent", .add_with = add_agent },
	{ "Depth", "depth", VIEW_INT, .right = true },
	{ "Status", .key = "runStatus" },
	{ "Questions", "pendingRequestCount", VIEW_INT, .right = true },
	{ "Worker", .key = "worker" },
	{ "Node", .add = add_node },
	{ "Progress", .add = add_progress, .flexible = true },
	{ "Result", .add = add_result, .flexible = true },
	{ "Work", .add = add_work, .flexible = true },
};

static int
tree_run(struct cli *cli, const struct cli_args *args)
{
	int status;
	bool any = false;

	(void)args;
	status = remote_call(
	    cli, "team.tree", json_object_new_object(), 0, &cli->result);
	if (status != CLI_OK)
		return status;
	cli_table(cli, tree_columns, nitems(tree_columns), cli->result,
	    cli->result, "No agent is at work.");
	/* Why some do not go on. */
	JSON_EACH (row, cli->result) {
		const char *reason = json_string_or(row, "blockedReason", NULL);
		const char *name = json_string_or(row, "actor_id", "");

		if (reason == NULL)
			continue;
		buf_adds(&cli->text, any ? "" : "\n");
		any = true;
		cli_say(cli, "", name, "");
		buf_addf(
		    &cli->text, ": %s: ", json_string_or(row, "runStatus", ""));
		cli_say(cli, "", reason, "\n");
	}
	return CLI_OK;
}

const struct cli_command cmd_tree = {
	.name = "goal tree",
	.usage = "",
	.summary = "show which agent spawned which, and how they are doing",
	.help =
	    "Each agent stands below the one that spawned it. STATUS is "
	    "queued, running,\nwaiting (for agents that it spawned), blocked, "
	    "verifying, landing, done, failed or\ncancelled; QUESTIONS counts "
	    "those of its questions that are not answered. Agents\nof "
	    "open goals that have ended are shown for a day. Without goals "
	    "(plan.enabled)\nthere are only workers with their tasks.\n",
	.example = "goal tree",
	.method = "team.tree",
	.run = tree_run,
};

/* --- stats --------------------------------------------------------------- */

enum {
	FLAG_BY,
	FLAG_SINCE
};

static const struct cli_flag stats_flags[] = {
	[FLAG_BY] = { "by", "GROUP",
	    "agent, model or task-type (default: agent)" },
	[FLAG_SINCE] = { "since", "WHEN",
	    "only runs that ended since then: an age such as 7d, or a day such "
	    "as 2026-01-31" },
	{ NULL, NULL, NULL },
};

static void
add_name(struct json_object *row, const void *arg, struct buf *out)
{
	buf_adds(out, json_string_or(row, arg, "-"));
}

static void
add_percent(struct buf *out, int64_t part, int64_t all)
{
	if (all > 0)
		buf_addf(out, "%.0f%%", 100.0 * (double)part / (double)all);
}

static void
add_success(struct json_object *row, struct buf *out)
{
	add_percent(out,
	    json_int_or(json_member(row, "outcomes"), "success", 0),
	    json_int_or(row, "runs", 0));
}

static void
add_verified(struct json_object *row, struct buf *out)
{
	struct json_object *checks = json_member(row, "verification");
	int64_t passed = json_int_or(checks, "passed", 0);

	add_percent(out, passed, passed + json_int_or(checks, "failed", 0));
}

static void
add_cost(struct json_object *row, struct buf *out)
{
	double cost = 0;

	if (json_get_double(row, "", "cost_usd", &cost, NULL) < 0)
		buf_addc(out, '?');
	else
		buf_addf(out, "$%.2f%s", cost,
		    json_int_or(row, "runs_without_cost", 0) > 0 ? "+" : "");
}

static void
show(struct cli *cli, enum perf_by by)
{
	static const char *const titles[PERF_BY_COUNT] = { "Agent", "Model",
		"Task type" };
	static const char *const keys[PERF_BY_COUNT] = { "agent", "model",
		"task_type" };
	const struct view_column columns[] = {
		{ titles[by], .add_with = add_name, .flexible = true },
		{ "Runs", "runs", VIEW_INT, .right = true },
		{ "Success", .add = add_success, .right = true },
		{ "P50", "runtime_ms.p50", VIEW_DURATION, .right = true },
		{ "P90", "runtime_ms.p90", VIEW_DURATION, .right = true },
		{ "Retries", "retries", VIEW_INT, .right = true },
		{ "Verified", .add = add_verified, .right = true },
		{ "Tokens in", "tokens.input", VIEW_INT, .right = true },
		{ "Out", "tokens.output", VIEW_INT, .right = true },
		{ "Cost", .add = add_cost, .right = true },
	};

	cli_table(cli, columns, nitems(columns), cli->result, keys[by], NULL);
}

static int
stats_run(struct cli *cli, const struct cli_args *args)
{
	const char *by_word = args->flags[FLAG_BY];
	const char *since_word = args->flags[FLAG_SINCE];
	int64_t now = clock_wall_ms(), since = 0;
	unsigned by = PERF_BY_AGENT;
	cleanup_json struct json_object *attempts = NULL;
	struct json_object *params;
	struct perf_stats *stats;
	struct err err = { 0 };
	int status = CLI_OK;

	if (by_word != NULL && !word_find(perf_by_words, by_word, &by))
		return cli_misuse(cli, &cmd_stats,
		    "--by %s: expected agent, model or task-type", by_word);
	if (since_word != NULL && !since_parse(since_word, now, &since))
		return cli_misuse(cli, &cmd_stats,
		    "--since %s: expected " SINCE_EXPECTED, since_word);
	params = json_object_new_object();
	json_set_int(params, "since_ms", since);
	json_set_int(params, "now_ms", now);
	stats = perf_stats_new((enum perf_by)by);
	if (remote_look(cli, "attempts", params, &attempts, &err) < 0) {
		status = cli_fail_err(cli, "io", &err);
	} else {
		JSON_EACH (row, attempts) {
			struct perf_record facts;

			if (perf_record_read(row, &facts, NULL) == 0)
				perf_stats_add(stats, &facts);
		}
		cli->result = perf_stats_to_json(stats);
		if (perf_stats_count(stats) > 0)
			show(cli, (enum perf_by)by);
		else
			buf_addf(&cli->text,
			    "No run has ended %s; when a worker has finished "
			    "or failed a task, it is counted here.\n",
			    since_word != NULL ? "since then" :
						 "in the last 30 days");
	}
	perf_stats_free(stats);
	return status;
}

const struct cli_command cmd_stats = {
	.name = "report stats",
	.usage = "[--by GROUP] [--since WHEN]",
	.summary = "show how often runs succeed, how long they take, what they "
		   "cost",
	.help =
	    "A run is one attempt at a task. Runs are added up by the agent "
	    "that was asked for\n(a card in [agents.NAME], or a role), by "
	    "model, or by the type of task (the role\nthat its agent was "
	    "spawned with). They are kept for 30 days.\n",
	.example = "report stats --by model --since 7d",
	.flags = stats_flags,
	.shape = CLI_SHAPE(ROWS, perf_group_schema),
	.run = stats_run,
};
