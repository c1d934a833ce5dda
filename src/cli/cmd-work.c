/* SPDX-License-Identifier: ISC */

/* llmc goal node, goal agents, goal tree, report stats: the nodes of plans, one
 * by one; the agents that can be spawned, those that were, and how their runs
 * went. */
#include "base.h"

#include <ctype.h>

#include "agent-card.h"
#include "api-work.h"
#include "attempt.h"
#include "cli-private.h"
#include "git-ask.h"
#include "work-record.h"

enum {
	FLAG_GOAL,
	FLAG_REASON,
	FLAG_COMMIT,
	FLAG_TEST,
	FLAG_TOUCHED,
	FLAG_REF,
	FLAG_ACCEPTANCE,
	FLAG_DEPENDS,
	FLAG_PRIORITY,
	FLAG_ID,
	FLAG_PLACE,
	FLAG_NAME,
	FLAG_RECOVERY,
	FLAG_ALL
};

#define BIT(flag) (1u << (flag))

static const struct cli_flag work_flags[] = {
	[FLAG_GOAL] = { "goal", "GOAL", "the goal of the node" },
	[FLAG_REASON] = { "reason", "TEXT",
	    "why; it is kept. For done: without evidence" },
	[FLAG_COMMIT] = { "commit", "SHA",
	    "for done: a commit that shows it; repeatable" },
	[FLAG_TEST] = { "test", "TEXT",
	    "for done: a test that was run, with its result" },
	[FLAG_TOUCHED] = { "touched", "FILE",
	    "for done: a file that was changed" },
	[FLAG_REF] = { "ref", "TEXT",
	    "for done: something else that shows it, as an address" },
	[FLAG_ACCEPTANCE] = { "acceptance", "TEXT",
	    "for add: what can be verified when it is done" },
	[FLAG_DEPENDS] = { "depends", "NODE",
	    "for add: a node that must be done before" },
	[FLAG_PRIORITY] = { "priority", "PRIORITY",
	    "for add: urgent, high, normal or low" },
	[FLAG_ID] = { "id", "ID", "for add: its id, not the next free one" },
	[FLAG_PLACE] = { "place", "N",
	    "for add and move: among its siblings, from 1" },
	[FLAG_NAME] = { "name", "NAME", "for merge: the new name" },
	[FLAG_RECOVERY] = { "recovery", "POLICY",
	    "for assign: resend_last, nudge, replan, reassign, escalate" },
	[FLAG_ALL] = { "all", NULL,
	    "for list: what is done or cancelled, and parents, too" },
	{ NULL, NULL, NULL },
};

/* "GOAL/NODE" names both; NULL for the goal if it is not said. */
static void
set_node(struct json_object *params, const char *key, const char *word,
    const struct cli_args *args)
{
	const char *slash = strchr(word, '/');
	cleanup_free char *goal =
	    slash != NULL ? xstrndup(word, (size_t)(slash - word)) : NULL;

	json_set_string(params, key, slash != NULL ? slash + 1 : word);
	if (goal != NULL)
		json_set_string(params, "goal", goal);
	flag_text(params, "goal", args, FLAG_GOAL);
	flag_text(params, "reason", args, FLAG_REASON);
}

static struct json_object *
node_params(const struct cli_args *args)
{
	struct json_object *params = json_object_new_object();

	set_node(params, "node", args->list[1], args);
	return params;
}

/* The words from the n-th on. */
static struct json_object *
words_from(const struct cli_args *args, int n)
{
	struct json_object *list = json_object_new_array();

	for (int i = n; i < args->count; i++)
		json_object_array_add(
		    list, json_object_new_string(args->list[i]));
	return list;
}

static void
join_from(const struct cli_args *args, int n, struct buf *out)
{
	for (int i = n; i < args->count; i++)
		buf_addf(out, "%s%s", i > n ? " " : "", args->list[i]);
}

static int
set_place(
    struct cli *cli, struct json_object *params, const struct cli_args *args)
{
	const char *text = args->flags[FLAG_PLACE], *problem = NULL;
	int64_t place;

	if (text == NULL)
		return CLI_OK;
	place = strtonum(text, 1, 100000, &problem);
	if (problem != NULL)
		return cli_misuse(cli, &cmd_node,
		    "--place %s: expected a number from 1", text);
	json_set_int(params, "place", place);
	return CLI_OK;
}

static void
tell_change(struct cli *cli)
{
	const char *goal_status;

	buf_addf(&cli->text, "%s (version %" PRId64 " of the plan)\n",
	    json_string_or(cli->result, "text", ""),
	    json_int_or(cli->result, "version", 0));
	goal_status = json_string_or(cli->result, "goal_status", "");
	if (strcmp(goal_status, "completed") == 0)
		buf_addf(&cli->text, "%s has ended: llmc goal show %s\n",
		    json_string_or(cli->result, "goal", ""),
		    json_string_or(cli->result, "goal", ""));
}

static int
change(struct cli *cli, const char *method, struct json_object *params)
{
	int status = remote_call(cli, method, params, 0, &cli->result);

	if (status == CLI_OK)
		tell_change(cli);
	return status;
}

static int
work_add(struct cli *cli, const struct cli_args *args)
{
	struct json_object *params = json_object_new_object();
	cleanup_buf struct buf name = BUF_INIT;
	const char *parent = args->list[1];
	const char *priority = args->flags[FLAG_PRIORITY];
	int status = set_place(cli, params, args);

	if (status == CLI_OK)
		status = flag_priority(cli, &cmd_node, priority);
	if (status != CLI_OK) {
		json_object_put(params);
		return status;
	}
	/* A goal as the parent: a phase. */
	if (strchr(parent, '/') == NULL &&
	    (text_begins(parent, "goal_") ||
		(parent[0] == 'g' && isdigit((unsigned char)parent[1])))) {
		json_set_string(params, "goal", parent);
		flag_text(params, "reason", args, FLAG_REASON);
	} else {
		set_node(params, "parent", parent, args);
	}
	join_from(args, 2, &name);
	json_set_string(params, "name", name.data);
	flag_text(params, "priority", args, FLAG_PRIORITY);
	flag_text(params, "id", args, FLAG_ID);
	flag_list(params, "acceptance", args, FLAG_ACCEPTANCE);
	flag_list(params, "depends_on", args, FLAG_DEPENDS);
	return change(cli, "overseer.work.add", params);
}

static int
work_split(struct cli *cli, const struct cli_args *args)
{
	struct json_object *params = node_params(args);

	json_set(params, "names", words_from(args, 2));
	return change(cli, "overseer.work.split", params);
}

static int
work_merge(struct cli *cli, const struct cli_args *args)
{
	struct json_object *params = node_params(args);
	struct json_object *nodes = words_from(args, 2), *all;

	all = json_object_new_array();
	json_object_array_add(
	    all, json_object_new_string(json_string_or(params, "node", "")));
	JSON_EACH (row, nodes)
		json_object_array_add(all, json_object_get(row));
	json_object_put(nodes);
	json_object_object_del(params, "node");
	json_set(params, "nodes", all);
	flag_text(params, "name", args, FLAG_NAME);
	return change(cli, "overseer.work.merge", params);
}

static int
work_move(struct cli *cli, const struct cli_args *args)
{
	struct json_object *params = node_params(args);
	int status = set_place(cli, params, args);

	if (status == CLI_OK && args->count < 3 &&
	    args->flags[FLAG_PLACE] == NULL)
		status = cli_misuse(cli, &cmd_node,
		    "type: llmc goal node move NODE PARENT, or llmc goal node move NODE "
		    "--place N");
	if (status != CLI_OK) {
		json_object_put(params);
		return status;
	}
	if (args->count > 2)
		json_set_string(params, "parent", args->list[2]);
	return change(cli, "overseer.work.move", params);
}

static int
update(struct cli *cli, const struct cli_args *args, const char *status)
{
	struct json_object *params = node_params(args);

	json_set_string(params, "status", status);
	return change(cli, "overseer.work.update", params);
}

static int
work_priority(struct cli *cli, const struct cli_args *args)
{
	struct json_object *params;
	enum priority priority;

	if (strcmp(args->list[2], "inherited") != 0 &&
	    !priority_parse(args->list[2], &priority))
		return cli_misuse(cli, &cmd_node,
		    "\"%s\" is not a priority; use urgent, high, normal, low "
		    "or inherited",
		    args->list[2]);
	params = node_params(args);
	json_set_string(params, "priority", args->list[2]);
	return change(cli, "overseer.work.update", params);
}

/* The commits that show that a node is done, in full. */
static int
add_commits(
    struct cli *cli, const struct cli_args *args, struct json_object *evidence)
{
	struct json_object *list, *full;

	flag_list(evidence, "commits", args, FLAG_COMMIT);
	if (!json_object_object_get_ex(evidence, "commits", &list))
		return CLI_OK;
	full = json_object_new_array();
	JSON_EACH (typed, list) {
		const char *sha = json_object_get_string(typed);
		cleanup_free char *name = xasprintf("%s^{commit}", sha);
		const char *const ask[] = { "rev-parse", "--verify", "--quiet",
			"--end-of-options", name, NULL };
		cleanup_buf struct buf out = BUF_INIT;
		struct err err = { 0 };
		int r = git_ask(cli->workspace.root, ask, &out, &err);

		if (r != 0) {
			json_object_put(full);
			return r < 0 ?
			    cli_fail_err(cli, "git", &err) :
			    cli_fail(cli, "git", "there is no commit %s", sha);
		}
		json_object_array_add(full, json_object_new_string(out.data));
	}
	json_set(evidence, "commits", full);
	return CLI_OK;
}

static int
work_done(struct cli *cli, const struct cli_args *args)
{
	struct json_object *params = node_params(args);
	struct json_object *evidence = json_object_new_object();
	const char *code = NULL;
	struct err err = { 0 };
	int status = add_commits(cli, args, evidence);

	if (status != CLI_OK) {
		json_object_put(params);
		json_object_put(evidence);
		return status;
	}
	flag_list(evidence, "testsRun", args, FLAG_TEST);
	flag_list(evidence, "filesTouched", args, FLAG_TOUCHED);
	flag_list(evidence, "externalRefs", args, FLAG_REF);
	json_set_string(params, "status", "done");
	if (json_object_object_length(evidence) > 0)
		json_set(params, "evidence", evidence);
	else
		json_object_put(evidence);
	if (!remote_try(cli, "overseer.work.update", params, 0, &cli->result,
		&code, &err)) {
		const char *goal;
		cleanup_free char *words = NULL;

		json_object_put(take_ptr(&cli->result));
		/* What is refused without a reason is done with one. */
		goal = args->flags[FLAG_GOAL];
		words = xstrdup(err.msg);
		if (strcmp(code, "E_TRANSITION") == 0 ||
		    strcmp(code, "E_EVIDENCE") == 0 ||
		    strcmp(code, "E_CHILDREN") == 0)
			err_set(&err, err.code,
			    "%s; mark it done all the same with: llmc goal node done %s%s%s "
			    "--reason TEXT",
			    words, goal != NULL ? goal : "",
			    goal != NULL ? "/" : "", args->list[1]);
		return cli_fail_err(cli, code, &err);
	}
	tell_change(cli);
	return CLI_OK;
}

static int
work_block(struct cli *cli, const struct cli_args *args)
{
	cleanup_buf struct buf reason = BUF_INIT;
	struct json_object *params;

	if (args->count < 3 && args->flags[FLAG_REASON] == NULL)
		return cli_misuse(cli, &cmd_node,
		    "say why: llmc goal node block %s --reason TEXT",
		    args->list[1]);
	params = node_params(args);
	join_from(args, 2, &reason);
	if (reason.len > 0)
		json_set_string(params, "reason", reason.data);
	json_set_string(params, "status", "blocked");
	return change(cli, "overseer.work.update", params);
}

/* With words for the next worker, it is an answer, if something is asked and
 * there is a daemon to resume it. */
static int
work_unblock(struct cli *cli, const struct cli_args *args)
{
	const char *goal = args->flags[FLAG_GOAL];
	cleanup_free char *name = goal != NULL ?
	    xasprintf("%s/%s", goal, args->list[1]) :
	    xstrdup(args->list[1]);
	int status;

	return args->flags[FLAG_REASON] != NULL && remote_alive(cli) &&
		answer_open(cli, name, args->flags[FLAG_REASON], &status) ?
	    status :
	    update(cli, args, "queued");
}

static int
work_cancel(struct cli *cli, const struct cli_args *args)
{
	return update(cli, args, "cancelled");
}

static int
work_assign(struct cli *cli, const struct cli_args *args)
{
	const char *recovery = args->flags[FLAG_RECOVERY];
	struct json_object *params;
	unsigned policy;

	if (recovery != NULL &&
	    !word_find(recovery_policy_words, recovery, &policy))
		return cli_misuse(cli, &cmd_node,
		    "\"%s\" is not a recovery policy; use resend_last, nudge, "
		    "replan, reassign or escalate",
		    recovery);
	params = node_params(args);
	json_set_string(params, "worker", args->list[2]);
	flag_text(params, "recovery", args, FLAG_RECOVERY);
	return change(cli, "overseer.work.assign", params);
}

/* --- looking --------------------------------------------------------- */

static int
work_list(struct cli *cli, const struct cli_args *args)
{
	struct json_object *params = json_object_new_object();
	const char *goal =
	    args->count > 1 ? args->list[1] : args->flags[FLAG_GOAL];
	int status;

	if (goal != NULL)
		json_set_string(params, "goal", goal);
	json_set_bool(params, "all", args->flags[FLAG_ALL] != NULL);
	status =
	    remote_call(cli, "overseer.work.list", params, 0, &cli->result);
	if (status == CLI_OK)
		goal_view_nodes(cli, cli->result);
	return status;
}

static int
work_show(struct cli *cli, const struct cli_args *args)
{
	int status = remote_call(
	    cli, "overseer.work.show", node_params(args), 0, &cli->result);

	if (status == CLI_OK)
		goal_view_node(cli, cli->result);
	return status;
}

#define CHANGE (BIT(FLAG_GOAL) | BIT(FLAG_REASON))

static const struct verb work_verbs[] = {
	{ "list", 0, 1, BIT(FLAG_GOAL) | BIT(FLAG_ALL), "list [GOAL]",
	    work_list },
	{ "show", 1, 1, BIT(FLAG_GOAL), "show NODE", work_show },
	{ "add", 2, 1000,
	    CHANGE | BIT(FLAG_ACCEPTANCE) | BIT(FLAG_DEPENDS) |
		BIT(FLAG_PRIORITY) | BIT(FLAG_ID) | BIT(FLAG_PLACE),
	    "add PARENT NAME, where PARENT is a node, or a goal for a phase",
	    work_add },
	{ "split", 3, 1000, CHANGE, "split NODE NAME NAME ...", work_split },
	{ "merge", 2, 1000, CHANGE | BIT(FLAG_NAME), "merge NODE NODE ...",
	    work_merge },
	{ "move", 1, 2, CHANGE | BIT(FLAG_PLACE), "move NODE PARENT",
	    work_move },
	{ "priority", 2, 2, CHANGE, "priority NODE PRIORITY", work_priority },
	{ "done", 1, 1,
	    CHANGE | BIT(FLAG_COMMIT) | BIT(FLAG_TEST) | BIT(FLAG_TOUCHED) |
		BIT(FLAG_REF),
	    "done NODE --commit SHA, or --reason TEXT", work_done },
	{ "block", 1, 1000, CHANGE, "block NODE REASON", work_block },
	{ "unblock", 1, 1, CHANGE, "unblock NODE", work_unblock },
	{ "cancel", 1, 1, CHANGE, "cancel NODE", work_cancel },
	{ "assign", 2, 2, CHANGE | BIT(FLAG_RECOVERY), "assign NODE WORKER",
	    work_assign },
	{ NULL, 0, 0, 0, NULL, NULL },
};

static const struct schema work_forms =
    SCHEMA_SHAPE(SCHEMA_IS("list", OBJECT, NULL, .of = &api_work_listed),
	SCHEMA_IS("show", OBJECT, NULL, .of = &api_work_shown),
	SCHEMA_IS("every change", OBJECT, NULL, .of = &api_work_changed),
	SCHEMA_IS("unblock --reason", OBJECT, NULL, .of = &api_ask_ended));

const struct cli_command cmd_node = {
	.name = "goal node",
	.usage = "list | show NODE | add PARENT NAME ... | split NODE NAME "
		 "NAME ... | merge NODE NODE ... | move NODE PARENT | priority "
		 "NODE PRIORITY | done NODE | block NODE REASON ... | unblock "
		 "NODE | cancel NODE | assign NODE WORKER",
	.summary = "show and change the nodes of plans",
	.help =
	    "list      what is to be done, of all goals or of one; the "
	    "default\n"
	    "show      everything that is known about one node\n"
	    "add       add a node below another one; below a goal, it is a "
	    "phase\n"
	    "split     make several nodes out of one; merge makes one out of "
	    "several\n"
	    "move      put a node below another parent, or at another place\n"
	    "priority  urgent, high, normal, low, or inherited from its "
	    "parent\n"
	    "done      mark it done, with evidence or --reason\n"
	    "block     keep it from workers until unblock; say why\n"
	    "cancel    give up a node and everything below it\n"
	    "assign    give it to a worker that a person drives\n\n"
	    "NODE is an id such as T1.2; if several goals have it, g2/T1.2, "
	    "or use --goal.\n",
	.example = "goal node split T1.2 Parser Printer",
	.flags = work_flags,
	.max_args = 1001,
	.guarded = true,
	.shape = CLI_SHAPE(ONE, work_forms),
	.verbs = work_verbs,
};

enum {
	FLAG_TAGS,
	FLAG_MAX_COST
};

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
		    "goal agents suggest needs the TEXT of a task, or --tags "
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
	    "cost\n\nWithout one of these words: list. It only suggests: the agent that\nspawns another names it.\n",
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
