/* SPDX-License-Identifier: ISC */

/* --json with every command, and schemas that leave nothing out. */
#include "e2e.h"
#include "json-short.h"

/* Objects that may have other members, on purpose. */
static const char *const open_values[] = {
	"doctor channel.detection", /* evidence of each kind of detection */
	"log.event", /* the file may be of another version */
	"why.events.event", /* the same */
	"log daemon", /* a record has what belongs to its message */
	/* What belongs to each kind of check, or report. */
	"task.record.verification_result", "task.tasks.verification_result",
	"goal tree.progress",
	/* What a planner or a channel says, kept as it came. */
	"goal.record.plannerInputs", "goal.record.rawPlannerOutputJson",
	"goal plan.record.plannerInputs",
	"goal plan.record.rawPlannerOutputJson",
	"mail.body", /* what a part of the daemon tells */
	"top", /* the view: view.h */
};

/* Values that may be anything. */
static const char *const free_values[] = {
	/* How an agent was asked for: the run of its task to be. */
	"goal.record.nodes.spawn", "goal plan.record.nodes.spawn",
	"goal node.record.spawn", "config.before",
	"config.value", /* of any type that a setting has */
	"doctor schema", /* a schema, or one of each command */
	"doctor store.rows", /* what the query of a person gives */
	"hook", /* the answer that Claude Code expects, or nothing */
	"mcp", /* the messages of that protocol */
	"verify", /* it talks to autod */
	"pane", "stream", /* they become other programs, or show them */
	"errand", "inside", "proxy", /* it prints nothing */
};

static bool
is_among(const char *at, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i], at) == 0)
			return true;
	return false;
}

static bool
has_type(struct json_object *schema, const char *type)
{
	struct json_object *types = NULL;

	json_object_object_get_ex(schema, "type", &types);
	if (json_object_is_type(types, json_type_string))
		return strcmp(json_object_get_string(types), type) == 0;
	JSON_EACH (row, types)
		if (strcmp(json_object_get_string(row), type) == 0)
			return true;
	return false;
}

static void walk(struct json_object *schema, const char *at, struct buf *holes);

static void
walk_object(struct json_object *schema, const char *at, struct buf *holes)
{
	struct json_object *members = NULL, *others = NULL;
	struct json_object_iter it;

	json_object_object_get_ex(schema, "additionalProperties", &others);
	if (json_object_is_type(others, json_type_object))
		walk(others, at, holes);
	else if ((others == NULL || json_object_get_boolean(others)) &&
	    !is_among(at, open_values, nitems(open_values)))
		buf_addf(holes, "%s: other members are allowed\n", at);
	if (!json_object_object_get_ex(schema, "properties", &members))
		return;
	json_object_object_foreachC(members, it)
	{
		cleanup_free char *below = xasprintf("%s.%s", at, it.key);

		walk(it.val, below, holes);
	}
}

static void
walk(struct json_object *schema, const char *at, struct buf *holes)
{
	struct json_object *part = NULL;

	if (is_among(at, free_values, nitems(free_values)))
		return;
	if (json_object_object_get_ex(schema, "anyOf", &part)) {
		JSON_EACH (item, part)
			walk(item, at, holes);
		return;
	}
	if (!json_object_object_get_ex(schema, "type", NULL))
		buf_addf(holes, "%s: no type\n", at);
	if (has_type(schema, "object"))
		walk_object(schema, at, holes);
	if (!has_type(schema, "array"))
		return;
	if (json_object_object_get_ex(schema, "items", &part))
		walk(part, at, holes);
	else
		buf_addf(holes, "%s: no items\n", at);
}

TEST(schemas_leave_nothing_out)
{
	struct json_object *schemas =
	    e2e_json(e2e_llmc(NULL, "doctor", "schema", NULL), 0);
	cleanup_buf struct buf holes = BUF_INIT;
	struct json_object_iter it;

	json_object_object_foreachC(schemas, it) walk(it.val, it.key, &holes);
	ck_assert_msg(holes.len == 0, "%s", e2e_shown(holes.data));
}

/* What each command needs so that it ends by itself; the others need nothing,
 * or fail, which is said in JSON too. */
static const struct {
	const char *command;
	const char *args[3];
} needs[] = {
	{ "completion", { "bash" } },
	{ "config", { "list" } },
	{ "errand", { "none" } },
	{ "goal", { "list" } },
	{ "mail", { "inbox" } },
	{ "message", { "adam", "text" } },
	{ "pane", { "none" } },
	{ "peek", { "adam" } },
	{ "pick", { "adam" } },
	{ "reset", { "adam", "--yes" } },
	{ "landing salvage", { "list" } },
	{ "start", { "--prompt", "x" } },
	{ "stream", { "none" } },
	{ "task", { "list" } },
	{ "goal tick", { "--now" } },
	{ "up", { "--check" } },
	{ "wait", { "adam", "--until=idle" } },
	{ "goal node", { "list" } },
};

static void
run_json(const char *dir, const char *command)
{
	const char *args[8] = { "--json", command };
	struct e2e_run *run;
	size_t row = 0;

	while (row < nitems(needs) && strcmp(needs[row].command, command) != 0)
		row++;
	for (size_t i = 0; row < nitems(needs) && i < 3; i++)
		args[2 + i] = needs[row].args[i];
	run = e2e_llmcv(dir, args);
	e2e_json(run, run->status);
}

/* e2e_json() compares each with its schema. */
TEST(every_command_prints_json)
{
	const char *dir = e2e_workspace("r");
	struct json_object *table =
	    e2e_json(e2e_llmc(NULL, "--json", "help", NULL), 0);

	JSON_EACH (item, table) {
		const char *name = json_string_or(item, "name", "");

		/* It prints what Claude Code expects, or nothing. */
		if (strcmp(name, "hook") != 0)
			run_json(dir, name);
	}
	/* llmc attach console has started it. */
	e2e_expect(e2e_sh(dir,
		       "tmux -L \"$(\"$LLMC\" config get tmux.socket)\" "
		       "kill-server"),
	    0, NULL);
}

TEST(completion_prints_its_words)
{
	const char *dir = e2e_workspace("c");
	struct json_object *json, *lines;

	e2e_expect(e2e_llmc(dir, "add", "adam", NULL), 0, NULL);
	json =
	    e2e_json(e2e_llmc(dir, "--json", "completion", "workers", NULL), 0);
	lines = json_object_object_get(json, "lines");
	ck_assert_uint_eq(json_object_array_length(lines), 1);
	ck_assert_str_eq(
	    json_object_get_string(json_object_array_get_idx(lines, 0)),
	    "adam");
}

TEST(the_overseer_prints_json)
{
	const char *dir = e2e_workspace("o");
	struct json_object *json;

	json = e2e_json(
	    e2e_llmc(dir, "--json", "overseer", "--clear", "fixed", NULL), 0);
	e2e_has(json_string_or(json, "message", ""), "Cleared");
	e2e_json_error(
	    e2e_llmc(dir, "--json", "overseer", NULL), 6, "failed", "");
}
