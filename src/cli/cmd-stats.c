/* SPDX-License-Identifier: ISC */

/* llmc stats: how the runs of the last 30 days went, added up. Only reads. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "commands.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "perf-stats.h"
#include "remote.h"
#include "schema.h"
#include "since.h"
#include "table.h"
#include "text.h"
#include "word.h"

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
add_all(struct perf_stats *stats, struct json_object *attempts)
{
	for (size_t i = 0; i < json_object_array_length(attempts); i++) {
		struct perf_record facts;

		if (perf_record_read(json_object_array_get_idx(attempts, i),
			&facts, NULL) == 0)
			perf_stats_add(stats, &facts);
	}
}

static void
add_percent(struct buf *out, int64_t part, int64_t all)
{
	if (all > 0)
		buf_addf(out, "%.0f%%", 100.0 * (double)part / (double)all);
}

static void
add_row(struct table *table, const struct perf_group *group)
{
	cleanup_buf struct buf rate = BUF_INIT, half = BUF_INIT,
			       most = BUF_INIT, checks = BUF_INIT;
	cleanup_free char *runs = xasprintf("%" PRId64, group->runs);
	cleanup_free char *retries = xasprintf("%" PRId64, group->retries);
	cleanup_free char *in = xasprintf("%" PRId64, group->tokens_in);
	cleanup_free char *out = xasprintf("%" PRId64, group->tokens_out);
	cleanup_free char *cost = group->costed == 0 ?
	    xstrdup("?") :
	    xasprintf(
		"$%.2f%s", group->cost, group->costed < group->runs ? "+" : "");

	add_percent(&rate, group->outcomes[PERF_SUCCESS], group->runs);
	text_add_duration(&half, group->p50_ms / 1000 * 1000);
	text_add_duration(&most, group->p90_ms / 1000 * 1000);
	add_percent(&checks, group->passed, group->passed + group->failed);
	table_row(table,
	    (const char *[]){ *group->name != '\0' ? group->name : "-", runs,
		rate.data, half.data, most.data, retries, checks.data, in, out,
		cost });
}

static void
show(struct cli *cli, struct perf_stats *stats, enum perf_by by)
{
	static const char *const titles[PERF_BY_COUNT] = { "AGENT", "MODEL",
		"TASK TYPE" };
	const struct table_column columns[] = {
		{ titles[by], false, true },
		{ "RUNS", true, false },
		{ "SUCCESS", true, false },
		{ "P50", true, false },
		{ "P90", true, false },
		{ "RETRIES", true, false },
		{ "VERIFIED", true, false },
		{ "TOKENS IN", true, false },
		{ "OUT", true, false },
		{ "COST", true, false },
	};
	struct table *table = table_new(columns, nitems(columns));

	for (size_t i = 0; i < perf_stats_count(stats); i++) {
		struct perf_group group = perf_stats_group(stats, i);

		add_row(table, &group);
	}
	table_print(table, cli->width, cli->colour, &cli->text);
	table_free(table);
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
		add_all(stats, attempts);
		cli->result = perf_stats_to_json(stats);
		if (perf_stats_count(stats) > 0)
			show(cli, stats, (enum perf_by)by);
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
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.shape = &(const struct schema_field){ .type = SCHEMA_ROWS,
	    .of = &perf_group_schema },
	.run = stats_run,
};
