/* SPDX-License-Identifier: ISC */

/* llmc stats: how the runs of the last 30 days went, added up. Only reads. */
#include "base.h"
#include "cli-private.h"
#include "perf-stats.h"

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
	    json_int_or(json_object_object_get(row, "outcomes"), "success", 0),
	    json_int_or(row, "runs", 0));
}

static void
add_verified(struct json_object *row, struct buf *out)
{
	struct json_object *checks =
	    json_object_object_get(row, "verification");
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
		for (size_t i = 0; i < json_object_array_length(attempts);
		     i++) {
			struct perf_record facts;

			if (perf_record_read(
				json_object_array_get_idx(attempts, i), &facts,
				NULL) == 0)
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
	.name = "stats",
	.usage = "[--by GROUP] [--since WHEN]",
	.summary = "show how often runs succeed, how long they take, what they "
		   "cost",
	.help =
	    "A run is one attempt at a task. Runs are added up by the agent "
	    "that was asked for\n(a card in [agents.NAME], or a role), by "
	    "model, or by the type of task (the role\nthat its agent was "
	    "spawned with). They are kept for 30 days.\n",
	.flags = stats_flags,
	.shape = CLI_SHAPE(ROWS, perf_group_schema),
	.run = stats_run,
};
