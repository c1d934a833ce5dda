/* SPDX-License-Identifier: ISC */

/* llmc report: what a run, or a time, has brought. Only reads. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "commands.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "mem.h"
#include "overseer-files.h"
#include "progress.h"
#include "report-files.h"
#include "report-html.h"
#include "report-make.h"
#include "report-period.h"
#include "report-print.h"
#include "report-shape.h"
#include "roster.h"
#include "settings.h"
#include "since.h"
#include "view-doc.h"
#include "view-source.h"

#define DAY_MS    (24 * 3600 * (int64_t)1000)
#define HTML_MODE 0644

enum {
	FLAG_SINCE,
	FLAG_RUN,
	FLAG_HTML
};

static const struct cli_flag report_flags[] = {
	[FLAG_SINCE] = { "since", "WHEN",
	    "since then: an age such as 12h, a day such as 2026-01-31, or a "
	    "moment" },
	[FLAG_RUN] = { "run", "ID", "of this run of auto mode, such as r17" },
	[FLAG_HTML] = { "html", "FILE",
	    "write it to FILE, as one page for a browser" },
	{ NULL, NULL, NULL },
};

/* What it is made of. */
struct making {
	struct cli *cli;
	struct json_object *view;
	bool live; /* a daemon answers */
	struct state state;
	struct report_run run;
	struct report_inputs in;
	struct report_files files;
};

/* Does the last run go on? Also while the overseer starts its next daemon. */
static bool
goes_on(struct making *m)
{
	cleanup_free char *ended =
	    workspace_path(&m->cli->workspace, "ended.json");
	struct overseer_files overseer;
	bool active;

	if (m->live)
		return json_bool_or(view_of(m->view, "head"), "auto", false);
	if (access(ended, F_OK) == 0) /* the daemon says that it is over */
		return false;
	overseer_files_load(m->cli, &overseer);
	active = overseer.active;
	overseer_files_release(&overseer);
	return active;
}

/* The period begins. CLI_OK, or the failure is reported. */
static int
choose(struct making *m, const char *since, const char *run)
{
	m->in.now_ms = clock_wall_ms();
	if (since != NULL) {
		if (!since_parse(since, m->in.now_ms, &m->in.from_ms) ||
		    m->in.from_ms > m->in.now_ms || m->in.from_ms < 0)
			return cli_misuse(m->cli, &cmd_report,
			    "--since %s: expected " SINCE_EXPECTED
			    ", not in the future",
			    since);
		return CLI_OK;
	}
	m->run.wanted = run != NULL ? xstrdup(run) : NULL;
	report_files_run(&m->cli->workspace, &m->run);
	if (run != NULL && !report_run_is_found(&m->run))
		return m->run.last != NULL ?
		    cli_fail(m->cli, "unknown_run",
			"there is no run %s; the last one: llmc report --run "
			"%s",
			run, m->run.last) :
		    cli_fail(m->cli, "unknown_run",
			"there is no run %s; a run begins with: llmc up --auto",
			run);
	m->in.run = m->run.id;
	m->in.first_run = m->run.first;
	m->in.from_ms =
	    m->run.id != NULL ? m->run.from_ms : m->in.now_ms - DAY_MS;
	return CLI_OK;
}

/* ... and ends. */
static void
close_period(struct making *m)
{
	m->in.to_ms = m->in.now_ms;
	m->in.goes_on = true;
	if (m->run.id == NULL)
		return;
	m->in.goes_on = m->run.next_ms == 0 && goes_on(m);
	m->in.to_ms = report_run_end(&m->run, m->files.spans,
	    m->files.span_count, m->in.goes_on, m->in.now_ms);
}

static int
read_all(struct making *m)
{
	struct settings *settings = NULL;
	int status = cli_load_settings(m->cli, &settings);

	if (status != CLI_OK)
		return status;
	report_files_load(&m->cli->workspace, &m->state, m->live, m->in.from_ms,
	    m->in.now_ms, &m->files);
	if (!m->live)
		report_files_check(
		    &m->state, settings, view_of(m->view, "head"));
	if (!m->live)
		report_files_book_repairs(
		    &m->files, &m->state, view_of(m->view, "budget"));
	settings_free(settings);
	m->in.view = m->view;
	m->in.ended = m->files.ended;
	m->in.repairs = m->files.repairs;
	m->in.events = m->files.events;
	m->in.spans = m->files.spans;
	m->in.span_count = m->files.span_count;
	close_period(m);
	return CLI_OK;
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
make(struct making *m, const struct cli_args *args)
{
	const char *html = args->flags[FLAG_HTML];
	int status = choose(m, args->flags[FLAG_SINCE], args->flags[FLAG_RUN]);
	struct json_object *report;

	if (status != CLI_OK)
		return status;
	progress_begin(m->cli, "reading the records");
	status = read_all(m);
	if (status != CLI_OK)
		return status;
	report = report_make(&m->in);
	progress_end();
	report_files_release(&m->files);
	m->cli->result = report;
	if (html != NULL)
		return write_html(m->cli, html, report);
	report_print(report, m->cli->width, m->cli->colour, &m->cli->text);
	return CLI_OK;
}

static int
report_run(struct cli *cli, const struct cli_args *args)
{
	struct making m = { .cli = cli };
	int status;

	if (args->flags[FLAG_SINCE] != NULL && args->flags[FLAG_RUN] != NULL)
		return cli_misuse(
		    cli, &cmd_report, "--since and --run: give one of them");
	status = view_source_once(cli, &m.view, &m.live);
	if (status != CLI_OK)
		return status;
	status = roster_load(cli, &m.state);
	if (status == CLI_OK) {
		status = make(&m, args);
		state_release(&m.state);
	}
	report_run_release(&m.run);
	json_object_put(m.view);
	return status;
}

const struct cli_command cmd_report = {
	.name = "report",
	.usage = "[--since WHEN | --run ID] [--html FILE]",
	.summary = "show what a run brought: what needs you, landed, failed, "
		   "cost",
	.help =
	    "Without an option: of the run of auto mode that goes on, or of "
	    "the last one. A run\nbegins with llmc up --auto and goes on when "
	    "the overseer restarts the daemon; one\nthat was killed, or stopped "
	    "less than an hour before with work left, is part of\nthe report of "
	    "the next. A task is in the report of the time in which it ended.\n"
	    "The rows of the workers' time add up to the time of all "
	    "workers.\n",
	.flags = report_flags,
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.shape = &report_shape,
	.run = report_run,
};
