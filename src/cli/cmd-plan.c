/* SPDX-License-Identifier: ISC */

/* llmc goal plan, goal tick, why: the plans of goals, and how work on them
 * goes. */
#include "base.h"
#include "api-work.h"
#include "cli-private.h"
#include "plan-file.h"
#include "plan-insights.h"
#include "plan.h"

int
plan_read(struct cli *cli, struct json_object *answer, struct plan_set *set,
    struct plan **ret_plan)
{
	struct json_object *list = json_member(answer, "assignments");
	struct err err = { 0 };
	int r = plan_from_json(
	    json_member(answer, "record"), "record", ret_plan, &err);

	if (r == 0) {
		r = plan_set_add(set, *ret_plan, &err);
		if (r < 0)
			plan_free(*ret_plan);
	}
	for (size_t i = 0; r == 0 && i < json_object_array_length(list); i++)
		r = plan_set_read_work(set, json_object_array_get_idx(list, i),
		    "assignments", &err);
	return r == 0 ?
	    CLI_OK :
	    cli_fail(cli, "failed",
		"the daemon is of another version of llmc (%s); restart it",
		err.msg);
}

int
plan_fetch(struct cli *cli, const char *goal, struct plan_set *set,
    struct plan **ret_plan)
{
	cleanup_json struct json_object *answer = NULL;
	int status = remote_call(cli, "overseer.goal.show",
	    remote_params("goal", goal, NULL), 0, &answer);

	return status == CLI_OK ? plan_read(cli, answer, set, ret_plan) :
				  status;
}

int
plan_send(struct cli *cli, const char *method, struct json_object *params,
    const char *file)
{
	struct draft draft = DRAFT_INIT;
	const char *code = NULL;
	struct err err = { 0 };
	int status = file != NULL ? draft_read(cli, file, &draft) : CLI_OK;

	if (status != CLI_OK) {
		json_object_put(params);
		return draft_end(cli, &draft, status);
	}
	if (file != NULL)
		json_set_string(params, "plan", draft.text.data);
	if (!remote_try(cli, method, params, 0, &cli->result, &code, &err)) {
		if (file != NULL && text_begins(err.msg, "the plan: ")) {
			cleanup_free char *words = xstrdup(err.msg + 10);

			err_set(&err, err.code, "%s: %s", file, words);
		}
		json_object_put(take_ptr(&cli->result));
		status = cli_fail_err(cli, code, &err);
	}
	return draft_end(cli, &draft, status);
}

void
plan_tell_next(struct cli *cli, enum plan_next what)
{
	static const char *const wanted[] = {
		[PLAN_NEXT_WORK] = "Work on it begins",
		[PLAN_NEXT_PLAN] = "The planner makes its plan",
		[PLAN_NEXT_DRAFT] = "The planner makes the draft",
	};
	cleanup_json struct json_object *daemon = roster_daemon(cli);
	bool is_auto = json_bool_or(daemon, "auto", false);
	const char *goal = json_string_or(cli->result, "goal", "");
	struct state state = { 0 };

	if (roster_load(cli, &state) == CLI_OK && state.paused != NULL)
		buf_addf(&cli->text,
		    "%s when auto mode goes on (%s): llmc resume\n",
		    wanted[what], state.paused);
	else if (daemon == NULL)
		buf_addf(&cli->text,
		    "No daemon is running. %s after: llmc up --auto --detach\n",
		    wanted[what]);
	else if (what == PLAN_NEXT_WORK && !is_auto)
		buf_addf(&cli->text,
		    "The daemon runs without auto mode. %s after: llmc up "
		    "--auto --detach\n",
		    wanted[what]);
	else if (what == PLAN_NEXT_WORK)
		buf_addf(&cli->text,
		    "Auto workers take what is ready; see: llmc goal show %s\n",
		    goal);
	else if (what == PLAN_NEXT_DRAFT)
		buf_addf(&cli->text,
		    "The planner makes a draft now; look at it with: llmc goal plan "
		    "draft %s\n",
		    goal);
	else if (is_auto)
		buf_addf(&cli->text,
		    "The planner makes its plan now, and auto workers begin it "
		    "without asking; see: llmc goal show %s\nTo read it first: "
		    "llmc goal pause %s\n",
		    goal, goal);
	else
		buf_addf(&cli->text,
		    "The planner makes its plan now; see: llmc goal show %s\n"
		    "Work on it begins after: llmc up --auto --detach\n",
		    goal);
	state_release(&state);
}

enum {
	FLAG_PLAN,
	FLAG_VERSION,
	FLAG_REASON
};

#define BIT(flag) (1u << (flag))

static const struct cli_flag plan_flags[] = {
	[FLAG_PLAN] = { "plan", "FILE",
	    "for draft and apply: the phases, tasks and subtasks, as Markdown "
	    "or JSON (- is stdin)" },
	[FLAG_VERSION] = { "version", "N",
	    "for apply: the version of the plan that it replaces" },
	[FLAG_REASON] = { "reason", "TEXT",
	    "for draft and apply: why there is another plan; it is kept" },
	{ NULL, NULL, NULL },
};

/* --- plan, draft and apply ---------------------------------------- */

static int
show_draft(struct cli *cli)
{
	const char *goal = json_string_or(cli->result, "goal", "");
	const char *how = json_string_or(cli->result, "how", NULL);
	int64_t base = json_int_or(cli->result, "base", 0);
	int64_t version = json_int_or(cli->result, "version", 0);
	struct plan *plan = NULL;
	struct err err = { 0 };

	if (plan_from_json(
		json_member(cli->result, "record"), "", &plan, &err) < 0)
		return cli_fail(cli, "failed",
		    "the daemon is of another version of llmc (%s); restart "
		    "it",
		    err.msg);
	plan_print(plan, false, &cli->text);
	plan_free(plan);
	buf_addf(&cli->text, "\nThis is a draft by %s",
	    json_string_or(cli->result, "actor", ""));
	if (how != NULL)
		buf_addf(&cli->text, " (%s)", how);
	buf_addf(&cli->text, ", made for version %" PRId64 ".\n", base);
	if (base == version)
		buf_addf(&cli->text, "Apply it with: llmc goal plan apply %s\n",
		    goal);
	else
		buf_addf(&cli->text,
		    "The plan has version %" PRId64
		    " by now. Make another draft with: llmc goal plan draft %s\n",
		    version, goal);
	return CLI_OK;
}

static int
plan_draft(struct cli *cli, const struct cli_args *args)
{
	struct json_object *params = remote_params("goal", args->list[1], NULL);
	int status;

	flag_text(params, "reason", args, FLAG_REASON);
	status = plan_send(
	    cli, "overseer.plan.draft", params, args->flags[FLAG_PLAN]);
	if (status != CLI_OK)
		return status;
	if (strcmp(json_string_or(cli->result, "state", ""), "ready") == 0)
		return show_draft(cli);
	plan_tell_next(cli, PLAN_NEXT_DRAFT);
	return CLI_OK;
}

static void
tell_changed(struct cli *cli)
{
	buf_addf(&cli->text,
	    "%s: its plan has %" PRId64 " nodes, version %" PRId64 ".\n",
	    json_string_or(cli->result, "goal", ""),
	    json_int_or(cli->result, "nodes", 0),
	    json_int_or(cli->result, "version", 0));
}

static int
plan_apply_draft(struct cli *cli, const struct cli_args *args)
{
	const char *typed = args->flags[FLAG_VERSION];
	struct json_object *params;
	int64_t version = 0;
	int status;

	if (typed != NULL && !text_parse_int(typed, 0, INT64_MAX, &version))
		return cli_misuse(cli, &cmd_plan,
		    "--version %s: use the number that llmc goal show prints",
		    typed);
	params = remote_params("goal", args->list[1], NULL);
	flag_text(params, "reason", args, FLAG_REASON);
	if (typed != NULL)
		json_set_int(params, "version", version);
	status = plan_send(
	    cli, "overseer.plan.apply", params, args->flags[FLAG_PLAN]);
	if (status == CLI_OK) {
		tell_changed(cli);
		plan_tell_next(cli, PLAN_NEXT_WORK);
	}
	return status;
}

/* Draft and apply in one step. */
static int
goal_plan(struct cli *cli, const struct cli_args *args)
{
	struct json_object *params = remote_params("goal", args->list[1], NULL);
	int status;

	flag_text(params, "reason", args, FLAG_REASON);
	status = plan_send(
	    cli, "overseer.goal.plan", params, args->flags[FLAG_PLAN]);
	if (status != CLI_OK)
		return status;
	if (args->flags[FLAG_PLAN] != NULL)
		tell_changed(cli);
	plan_tell_next(cli,
	    args->flags[FLAG_PLAN] != NULL ? PLAN_NEXT_WORK : PLAN_NEXT_PLAN);
	return CLI_OK;
}

static const struct view_column leaf_columns[] = {
	{ "Node", .key = "node" },
	{ "Effort", "effort", VIEW_INT, .right = true },
	{ "Slack", "slack", VIEW_INT, .right = true },
	{ "Waiting", "waiting", VIEW_COUNT, .right = true },
	{ "Status", "status", .cell = VIEW_STATUS },
	{ "Name", "name", .flexible = true },
};

static void
print_insights(struct cli *cli, const struct plan_insights *all)
{
	static const struct {
		const char *key, *title;
	} lists[] = {
		{ "critical_path", "Critical path:" },
		{ "bottlenecks", "Bottlenecks (critical, and others wait):" },
		{ "blockers", "What keeps most others waiting:" },
	};

	if (all->open == 0) {
		buf_adds(&cli->text, "Nothing is open in this plan.\n");
		return;
	}
	buf_addf(&cli->text,
	    "%zu open nodes, %zu ready, %zu blocked; effort %" PRId64
	    " turns, critical path %" PRId64 " turns.\n",
	    all->open, all->ready, all->blocked, all->effort, all->length);
	for (size_t i = 0; i < nitems(lists); i++) {
		struct json_object *rows =
		    json_member(cli->result, lists[i].key);

		if (json_object_array_length(rows) > 0)
			buf_addf(&cli->text, "\n%s\n", lists[i].title);
		CLI_TABLE(cli, leaf_columns, rows, NULL);
	}
}

static int
plan_show_insights(struct cli *cli, const struct cli_args *args)
{
	cleanup_plan_insights struct plan_insights all = { 0 };
	struct plan_set set = { 0 };
	struct plan *plan = NULL;
	int status = plan_fetch(cli, args->list[1], &set, &plan);

	if (status == CLI_OK) {
		plan_insights(plan, &all);
		cli->result = plan_insights_to_json(&all);
		print_insights(cli, &all);
	}
	plan_set_release(&set);
	return status;
}

/* --- recommend -------------------------------------------------------- */

static void
print_recommendation(struct cli *cli, const struct recommendation *r)
{
	buf_addf(
	    &cli->text, "%3d  %s", r->score, recommend_kind_words[r->kind]);
	for (size_t i = 0; r->nodes != NULL && r->nodes[i] != NULL; i++)
		buf_addf(&cli->text, " %s", r->nodes[i]);
	buf_addc(&cli->text, '\n');
	for (size_t i = 0; r->reasons != NULL && r->reasons[i] != NULL; i++) {
		buf_adds(&cli->text, "     - ");
		text_add_visible(
		    &cli->text, r->reasons[i], strlen(r->reasons[i]), false);
		buf_addc(&cli->text, '\n');
	}
	if (r->command != NULL)
		buf_addf(&cli->text, "     %s\n", r->command);
}

static int
plan_show_recommendations(struct cli *cli, const struct cli_args *args)
{
	cleanup_plan_insights struct plan_insights all = { 0 };
	cleanup_recommendations struct recommendations told = { 0 };
	struct plan_set set = { 0 };
	struct plan *plan = NULL;
	int status = plan_fetch(cli, args->list[1], &set, &plan);

	if (status == CLI_OK) {
		plan_insights(plan, &all);
		plan_recommend(plan, &all, &told);
		cli->result = recommendations_to_json(&told);
		for (size_t i = 0; i < told.count; i++)
			print_recommendation(cli, &told.list[i]);
		if (told.count == 0)
			buf_adds(&cli->text,
			    "There is nothing to recommend for this plan.\n");
	}
	plan_set_release(&set);
	return status;
}

static const struct verb plan_verbs[] = {
	{ "draft", 1, 1, BIT(FLAG_PLAN) | BIT(FLAG_REASON),
	    "draft GOAL [--plan FILE]", plan_draft },
	{ "apply", 1, 1, BIT(FLAG_PLAN) | BIT(FLAG_VERSION) | BIT(FLAG_REASON),
	    "apply GOAL [--plan FILE] [--version N]", plan_apply_draft },
	{ "insights", 1, 1, 0, "insights GOAL", plan_show_insights },
	{ "recommend", 1, 1, 0, "recommend GOAL", plan_show_recommendations },
	{ "", 1, 1, BIT(FLAG_PLAN) | BIT(FLAG_REASON), "GOAL [--plan FILE]",
	    goal_plan },
	{ NULL, 0, 0, 0, NULL, NULL },
};

static const struct schema plan_forms =
    SCHEMA_SHAPE(SCHEMA_IS("draft", OBJECT, NULL, .of = &api_plan_drafted),
	SCHEMA_IS("GOAL, apply", OBJECT, NULL, .of = &api_goal_changed),
	SCHEMA_IS("insights", OBJECT, NULL, .of = &plan_insights_schema),
	SCHEMA_IS("recommend", ROWS, NULL, .of = &recommendation_schema));

const struct cli_command cmd_plan = {
	.name = "goal plan",
	.usage = "draft GOAL | apply GOAL | insights GOAL | recommend GOAL | "
		 "GOAL",
	.summary = "draft, apply and examine the plans of goals",
	.help =
	    "With a GOAL alone, gives it a plan, or another one for what has "
	    "not begun: from\n--plan, otherwise the planner makes it. draft "
	    "and apply do that in two steps:\n\n"
	    "draft      have the planner make a plan, or read it from --plan, "
	    "and keep it as a\n           draft; show the draft that there "
	    "is; with --reason, make another one\n"
	    "apply      make the draft, or what --plan says, the plan, as far "
	    "as it has not\n           begun; refused if the plan was changed "
	    "since the draft was made\n"
	    "insights   the critical path, bottlenecks, and what keeps most "
	    "others waiting\n"
	    "recommend  what to start, unblock, split, merge or reorder, with "
	    "scores and reasons\n\n"
	    "Agents may not apply plans.\n",
	.example = "goal plan draft g2",
	.flags = plan_flags,
	.min_args = 1,
	.max_args = 2,
	.shape = CLI_SHAPE(ONE, plan_forms),
	.verbs = plan_verbs,
};

/* --- tick ---------------------------------------------------------------- */

enum {
	FLAG_NOW,
	FLAG_DRY_RUN
};

static const struct cli_flag tick_flags[] = {
	[FLAG_NOW] = { "now", NULL, "step in where work has stalled, now" },
	[FLAG_DRY_RUN] = { "dry-run", NULL,
	    "only show what would be done, and why" },
	{ NULL, NULL, NULL },
};

static void
show(struct cli *cli)
{
	struct json_object *list = json_member(cli->result, "decisions");
	const char *gate = json_string_or(cli->result, "gate", NULL);
	size_t count = json_object_array_length(list);

	JSON_EACH (decision, list) {
		cleanup_buf struct buf line = BUF_INIT;
		const char *worker = json_string_or(decision, "worker", NULL);

		buf_addf(&line, "%s  %s of %s (%s)",
		    json_string_or(decision, "kind", ""),
		    json_string_or(decision, "node", ""),
		    json_string_or(decision, "goal", ""),
		    json_string_or(decision, "assignment", ""));
		if (worker != NULL)
			buf_addf(&line, ", %s", worker);
		buf_addf(&line, ": %s", json_string_or(decision, "reason", ""));
		cli_say(cli, "", line.data, "\n");
	}
	if (text_is(gate, "disabled"))
		buf_adds(&cli->text,
		    "Nothing was decided: goals are off; turn them on with: "
		    "llmc config set plan.enabled true\n");
	else if (gate != NULL)
		buf_addf(&cli->text,
		    "Nothing was decided (%s); it is done later.\n", gate);
	else if (count == 0)
		buf_adds(&cli->text, "Nothing needs to be done.\n");
}

static int
tick_run(struct cli *cli, const struct cli_args *args)
{
	struct json_object *params;
	int status;

	if (args->flags[FLAG_NOW] == NULL && args->flags[FLAG_DRY_RUN] == NULL)
		return cli_misuse(cli, &cmd_tick,
		    "type: llmc goal tick --now, or llmc goal tick --dry-run");
	params = json_object_new_object();
	json_set_bool(params, "dry_run", args->flags[FLAG_DRY_RUN] != NULL);
	status = remote_call(cli, "overseer.tick", params, 0, &cli->result);
	if (status == CLI_OK)
		show(cli);
	return status;
}

const struct cli_command cmd_tick = {
	.name = "goal tick",
	.usage = "--now [--dry-run]",
	.summary = "look after the assignments of goals now",
	.help = "The daemon does this by itself, every 2 minutes. Prints each "
		"decision with\nits reason: nudge, resend, replan, reassign, "
		"escalate and others.\n",
	.example = "goal tick --now --dry-run",
	.flags = tick_flags,
	.method = "overseer.tick",
	.run = tick_run,
};

/* --- why ----------------------------------------------------------------- */

/* "A_1 (T1.2 of goal_x, Ship it), auto-1, t17: stalled" */
static void
add_head(struct cli *cli)
{
	struct json_object *result = cli->result;
	const char *title = json_string_or(result, "goal_title", NULL);
	const char *worker = json_string_or(result, "worker", NULL);
	const char *task = json_string_or(result, "task", NULL);

	cli_say(cli, "",
	    json_string_or(
		result, "assignment", json_string_or(result, "subject", "")),
	    "");
	if (json_string_or(result, "goal", NULL) != NULL) {
		cli_say(cli, " (", json_string_or(result, "node", ""), " of ");
		cli_say(cli, "", json_string_or(result, "goal", ""), "");
		buf_adds(&cli->text, title != NULL ? ", " : "");
		cli_say(cli, "", title != NULL ? title : "", ")");
	}
	if (worker != NULL)
		cli_say(cli, ", ", worker, "");
	if (task != NULL)
		cli_say(cli, ", ", task, "");
	cli_say(
	    cli, ": ", json_string_or(result, "now", "no assignment"), "\n");
}

static void
add_answers(struct cli *cli)
{
	static const struct {
		const char *key, *question;
	} answers[] = {
		{ "stalled", "Stalled?" },
		{ "dispatch", "Last message" },
		{ "backoff", "Back-off" },
		{ "progress", "Progress" },
	};

	for (size_t i = 0; i < nitems(answers); i++) {
		const char *text =
		    json_string_or(cli->result, answers[i].key, NULL);

		if (text == NULL)
			continue;
		buf_addf(&cli->text, "  %-13s ", answers[i].question);
		cli_say(cli, "", text, "\n");
	}
}

static int
why_run(struct cli *cli, const struct cli_args *args)
{
	struct json_object *params = json_object_new_object(), *chain = NULL;
	int status;

	json_set_string(params, "subject", args->list[0]);
	status = remote_call(cli, "overseer.why", params, 0, &cli->result);
	if (status != CLI_OK)
		return status;
	add_head(cli);
	add_answers(cli);
	if (!json_object_object_get_ex(cli->result, "chain", &chain) ||
	    json_object_array_length(chain) == 0) {
		buf_adds(&cli->text, "\nNothing has happened yet.\n");
		return CLI_OK;
	}
	buf_adds(&cli->text, "\nWhat happened:\n");
	JSON_EACH (row, chain)
		cli_say(cli, "  ", json_object_get_string(row), "\n");
	return CLI_OK;
}

const struct cli_command cmd_why = {
	.name = "why",
	.group = CLI_WATCH,
	.usage = "TARGET",
	.summary = "tell why work on a goal is where it is",
	.help =
	    "TARGET is an assignment, a worker, a task, or a node of a plan "
	    "(T1.2, or GOAL/T1.2\nif several goals have it). Tells whether it "
	    "is stalled and why, what was sent last\nand whether it was "
	    "received, which back-off is active, and what shows progress; "
	    "then\nwhat happened, the newest last.\n",
	.example = "why g2/T1.2",
	.min_args = 1,
	.max_args = 1,
	.method = "overseer.why",
	.run = why_run,
};
