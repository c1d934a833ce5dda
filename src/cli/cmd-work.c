/* SPDX-License-Identifier: ISC */

/* llmc goal node: the nodes of plans, one by one. */
#include "base.h"

#include <ctype.h>

#include "api-work.h"
#include "cli-private.h"
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

static int
work_done(struct cli *cli, const struct cli_args *args)
{
	struct json_object *params = node_params(args);
	struct json_object *evidence = json_object_new_object();
	const char *code = NULL;
	struct err err = { 0 };

	flag_list(evidence, "commits", args, FLAG_COMMIT);
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
