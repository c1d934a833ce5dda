/* SPDX-License-Identifier: ISC */

/* llmc report: what a run, or a time, has brought. Only reads. */
#include "base.h"
#include "charts.h"
#include "cli-private.h"
#include "report.h"
#include "view.h"

#define HTML_MODE    0644
#define CHARTS_WIDTH 80 /* where there is no terminal */
#define CHARTS_ROWS  40 /* workers; the JSON has all */

enum {
	FLAG_SINCE,
	FLAG_RUN,
	FLAG_HTML,
	FLAG_CHARTS,
	FLAG_HERE
};

static const struct cli_flag report_flags[] = {
	[FLAG_SINCE] = { "since", "WHEN",
	    "since then: an age such as 12h, a day such as 2026-01-31, or a "
	    "moment" },
	[FLAG_RUN] = { "run", "RUN", "of this run of auto mode, such as r17" },
	[FLAG_HTML] = { "html", "FILE",
	    "write it to FILE, as one page for a browser" },
	[FLAG_CHARTS] = { "charts", NULL,
	    "draw it: the workers' time, tasks and money, the landing queue, "
	    "goals" },
	[FLAG_HERE] = { "here", NULL, CLI_HERE_HELP },
	{ NULL, NULL, NULL },
};

/* Does the last run go on? Also while the overseer starts its next daemon. */
static bool
is_active(struct cli *cli, struct json_object *view, bool live)
{
	cleanup_free char *ended =
	    workspace_path(&cli->workspace, "ended.json");

	if (live)
		return json_bool_or(view_of(view, "head"), "auto", false);
	/* The file: the daemon says that it is over. */
	return access(ended, F_OK) != 0 && overseer_now(cli).active;
}

/* autod makes it (autod/look-private.h). CLI_OK, or the failure is reported. */
static int
make(struct cli *cli, const char *run, int64_t since_ms, int64_t now_ms,
    bool charts, struct json_object **ret_report)
{
	cleanup_json struct json_object *report = NULL, *daemon = NULL;
	struct json_object *params = json_object_new_object();
	struct json_object *view = NULL, *last = NULL;
	struct err err = { 0 };
	bool live = view_source_ask(cli, NULL, &view);

	daemon = live ? NULL : roster_daemon(cli);
	json_set_bool(params, "alive", daemon != NULL);
	json_set_bool(params, "active", is_active(cli, view, live));
	json_set_int(params, "now_ms", now_ms);
	if (since_ms >= 0)
		json_set_int(params, "since_ms", since_ms);
	json_set_string(params, "run", run);
	json_set_bool(params, "charts", charts);
	if (live)
		json_set(params, "view", view);
	if (remote_look(cli, "report", params, &report, &err) < 0)
		return cli_fail_err(cli, "io", &err);
	if (!json_object_object_get_ex(report, "unknown_run", &last)) {
		*ret_report = take_ptr(&report);
		return CLI_OK;
	}
	return last != NULL ?
	    cli_fail(cli, "unknown_run",
		"there is no run %s; the last one: llmc report --run %s", run,
		json_object_get_string(last)) :
	    cli_fail(cli, "unknown_run",
		"there is no run %s; a run begins with: llmc up --auto", run);
}

static int
write_html(struct cli *cli, const char *file, struct json_object *report)
{
	cleanup_buf struct buf html = BUF_INIT;
	struct err err = { 0 };

	report_html(report, &html);
	if (file_replace(file, html.data, html.len, HTML_MODE, &err) < 0)
		return cli_fail(cli, "io",
		    "%s; name a file that can be written, such as: llmc report "
		    "--html report.html",
		    err.msg);
	buf_addf(&cli->text, "The report is in %s\n", file);
	return CLI_OK;
}

static int
report_run(struct cli *cli, const struct cli_args *args)
{
	const char *since = args->flags[FLAG_SINCE];
	const char *run = args->flags[FLAG_RUN], *html = args->flags[FLAG_HTML];
	int64_t now = clock_wall_ms(), from = -1;
	bool charts = args->flags[FLAG_CHARTS] != NULL;
	const struct charts_look look = {
		.width = cli->width > 0 ? cli->width : CHARTS_WIDTH,
		.rows = CHARTS_ROWS,
		.colours = cli->colour,
		.utf8 = cli->utf8,
	};
	int status;

	if (since != NULL && run != NULL)
		return cli_misuse(
		    cli, &cmd_report, "--since and --run: give one of them");
	if (charts && html != NULL)
		return cli_misuse(cli, &cmd_report,
		    "--charts and --html: give one of them; the page has the "
		    "same charts");
	if (since != NULL &&
	    (!since_parse(since, now, &from) || from > now || from < 0))
		return cli_misuse(cli, &cmd_report,
		    "--since %s: expected " SINCE_EXPECTED
		    ", not in the future",
		    since);
	cli->here = args->flags[FLAG_HERE] != NULL;
	progress_begin(cli, "reading the records");
	status =
	    make(cli, run, from, now, charts || html != NULL, &cli->result);
	progress_end();
	if (status != CLI_OK)
		return status;
	if (html != NULL)
		return write_html(cli, html, cli->result);
	if (charts) {
		report_print_head(cli->result, cli->colour, &cli->text);
		charts_print(json_object_object_get(cli->result, "charts"),
		    &look, &cli->text);
		return CLI_OK;
	}
	report_print(cli->result, cli->width, cli->colour, &cli->text);
	return CLI_OK;
}

const struct cli_command cmd_report = {
	.name = "report",
	.group = CLI_WATCH,
	.usage = "[--since WHEN | --run RUN] [--html FILE | --charts] [--here]",
	.summary = "show what a run brought: what needs you, landed, failed, "
		   "cost",
	.help =
	    "Without an option: of the run of auto mode that goes on, or of "
	    "the last one. A run\nbegins with llmc up --auto and goes on when "
	    "the overseer restarts the daemon; one\nthat was killed, or stopped "
	    "less than an hour before with work left, is part of\nthe report of "
	    "the next. A task is in the report of the time in which it ended.\n"
	    "The rows of the workers' time add up to the time of all "
	    "workers.\n--charts draws the same rows with characters, in 80 "
	    "columns: the time of each\nworker with marks where you were asked "
	    "or something failed, tasks that ended and\nwhat they cost over "
	    "time, the landing queue, and open goals with their critical\n"
	    "paths. With --json they are the member \"charts\".\n",
	.example = "report --since 12h --html report.html",
	.flags = report_flags,
	.shape = &report_shape,
	.run = report_run,
};
