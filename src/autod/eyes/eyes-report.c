/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auto.h"
#include "child.h"
#include "clock.h"
#include "core.h"
#include "errtext.h"
#include "eyes-floor.h"
#include "eyes-report.h"
#include "json.h"
#include "kept.h"
#include "life.h"
#include "log.h"
#include "mem.h"
#include "settings.h"
#include "strv.h"
#include "workspace.h"
#include "zone.h"

#define OWED_MAX   ((size_t)64 * 1024)
#define DAY_MS     (24 * 3600 * (int64_t)1000)
#define DAY_LEN    10 /* "2026-01-31" */
#define OUTPUT_MAX 4096

/* $1 llmc, $2 root, $3 and $4 the period, $5 the files without their endings,
 * $6 the command. */
static const char script[] =
    "exec >\"$5.log\" 2>&1\n"
    "\"$1\" --root \"$2\" report --json \"$3\" \"$4\" --html \"$5.html\" "
    ">\"$5.json\" || exit\n"
    "LLMC_REPORT_HTML=$5.html\n"
    "export LLMC_REPORT_HTML\n"
    "exec /bin/sh -c \"$6\" <\"$5.json\"\n";

struct sending {
	struct eyes_report *report;
	struct child *child;
	LIST_ENTRY(sending) entry;
};

struct eyes_report {
	struct eyes_floor *eyes;
	bool begun;
	char *run; /* whose report is owed; NULL = of none */
	char *at; /* the time of day that next_ms is for; "" = none */
	int64_t next_ms; /* when the next one is due; 0 = never */
	LIST_HEAD(sendings, sending) sendings;
};

static const struct core *
core_of(const struct eyes_report *r)
{
	return r->eyes->core;
}

static const char *
setting(const struct eyes_report *r, const char *path)
{
	return settings_string(core_of(r)->settings, path);
}

/* --- what is owed ---------------------------------------------------- */

static void
load(struct eyes_report *r)
{
	cleanup_free char *file =
	    workspace_path(core_of(r)->workspace, "report.json");
	cleanup_json struct json_object *json = NULL;

	if (json_load(file, OWED_MAX, &json, NULL) < 0)
		return;
	xstrset(&r->run, json_string_or(json, "run", NULL));
	xstrset(&r->at, json_string_or(json, "at", ""));
	r->next_ms = json_int_or(json, "next_ms", 0);
}

/* False: it cannot be written, and nothing may be sent that would be sent
 * again. */
static bool
save(const struct eyes_report *r)
{
	cleanup_free char *file =
	    workspace_path(core_of(r)->workspace, "report.json");
	cleanup_json struct json_object *json = json_object_new_object();
	struct err err = { 0 };

	json_set_string(json, "run", r->run);
	json_set_string(json, "at", r->at);
	json_set_int(json, "next_ms", r->next_ms);
	if (json_save(file, json, 0600, &err) == 0)
		return true;
	log_info("report.json: %s", err.msg);
	return false;
}

/* --- sending --------------------------------------------------------- */

static void
on_sent(const struct child_result *result, void *arg)
{
	struct sending *sending = arg;
	cleanup_buf struct buf how = BUF_INIT;

	if (!child_succeeded(result)) {
		child_result_describe(result, &how);
		log_info(
		    "people.report_command %s; see .llmc/reports", how.data);
	}
	LIST_REMOVE(sending, entry);
	free(sending);
}

static void
tidy(const char *dir)
{
	DIR *d = opendir(dir);
	int64_t oldest = clock_wall_ms() - EYES_REPORT_KEEP_DAYS * DAY_MS;
	struct dirent *entry;
	struct stat st;

	if (d == NULL)
		return;
	while ((entry = readdir(d)) != NULL)
		if (fstatat(dirfd(d), entry->d_name, &st,
			AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode) &&
		    (int64_t)st.st_mtim.tv_sec * 1000 < oldest)
			unlinkat(dirfd(d), entry->d_name, 0);
	closedir(d);
}

/* name: of its files; option and value: of llmc report. */
static void
send(struct eyes_report *r, const char *name, const char *option,
    const char *value)
{
	const struct core *core = core_of(r);
	cleanup_free char *dir = workspace_path(core->workspace, "reports");
	cleanup_free char *files = xasprintf("%s/%s", dir, name);
	const char *const shell[] = { "/bin/sh", "-c", script, "llmc-report",
		core->llmc, core->workspace->root, option, value, files,
		setting(r, "people.report_command"), NULL };
	cleanup_strv char **argv = kept_argv(shell, KEPT_ALONE);
	const struct child_spec spec = {
		.argv = strv_const(argv),
		.cwd = core->workspace->root,
		.deadline_ms = EYES_REPORT_DEADLINE_MS,
		.output_max = OUTPUT_MAX,
	};
	struct sending *sending;
	struct err err = { 0 };

	if (mkdir(dir, 0700) < 0 && errno != EEXIST) {
		log_info("%s: %s", dir, strerror(errno));
		return;
	}
	tidy(dir);
	sending = xcalloc(1, sizeof *sending);
	sending->report = r;
	if (child_spawn(core->loop, &spec, on_sent, sending, &sending->child,
		&err) < 0) {
		log_info("people.report_command: %s", err.msg);
		free(sending);
		return;
	}
	LIST_INSERT_HEAD(&r->sendings, sending, entry);
}

static bool
is_wanted(const struct eyes_report *r)
{
	return *setting(r, "people.report_command") != '\0';
}

/* The run is over: its report is owed no longer. */
static void
send_run(struct eyes_report *r)
{
	cleanup_free char *run = take_ptr(&r->run);

	if (save(r) && is_wanted(r))
		send(r, run, "--run", run);
}

/* --- at a time of day ------------------------------------------------ */

static void
plan_next(struct eyes_report *r, const char *at, int64_t now_ms)
{
	struct zone_time when = { .zone = "" };

	xstrset(&r->at, at);
	r->next_ms = 0;
	if (strlen(at) == strlen("07:00")) {
		when.hour = (at[0] - '0') * 10 + at[1] - '0';
		when.minute = (at[3] - '0') * 10 + at[4] - '0';
		r->next_ms = zone_next(&when, now_ms);
	}
}

/* Up to now: if no daemon ran when it was due, of more than a day. */
static void
send_day(struct eyes_report *r, int64_t due_ms, int64_t now_ms)
{
	int64_t oldest = now_ms - EYES_REPORT_KEEP_DAYS * DAY_MS;
	int64_t from = due_ms - DAY_MS;
	char since[CLOCK_STAMP_SIZE], day[CLOCK_STAMP_SIZE];

	clock_format_stamp(from > oldest ? from : oldest, since);
	clock_format_stamp(due_ms, day);
	day[DAY_LEN] = '\0';
	send(r, day, "--since", since);
}

void
eyes_report_patrol(struct eyes_report *r)
{
	const char *at = is_wanted(r) ? setting(r, "people.report_at") : "";
	int64_t now = clock_wall_ms(), due = r->next_ms;

	if (!r->begun)
		return;
	if (strcmp(at, r->at) != 0) {
		plan_next(r, at, now);
		save(r);
	} else if (due > 0 && now >= due) {
		plan_next(r, at, now);
		if (save(r))
			send_day(r, due, now);
	}
}

/* --- the life of the floor ------------------------------------------- */

struct eyes_report *
eyes_report_new(struct eyes_floor *eyes)
{
	struct eyes_report *r = xcalloc(1, sizeof *r);

	r->eyes = eyes;
	r->at = xstrdup("");
	LIST_INIT(&r->sendings);
	return r;
}

void
eyes_report_free(struct eyes_report *r)
{
	struct sending *sending;

	if (r == NULL)
		return;
	while ((sending = LIST_FIRST(&r->sendings)) != NULL) {
		child_release(sending->child);
		LIST_REMOVE(sending, entry);
		free(sending);
	}
	free(r->run);
	free(r->at);
	free(r);
}

void
eyes_report_begin(struct eyes_report *r)
{
	const struct core *core = core_of(r);
	const char *run = r->eyes->mode->active ? core->state.run_id : NULL;

	if (core->options->oneshot)
		return;
	load(r);
	if (run != NULL && r->run != NULL && strcmp(r->run, run) != 0)
		send_run(r); /* it was killed */
	if (run != NULL && r->run == NULL && is_wanted(r)) {
		xstrset(&r->run, run);
		save(r);
	}
	r->begun = true;
	eyes_report_patrol(r);
}

/* An overseer goes on with the run, unless it is complete. */
void
eyes_report_close(struct eyes_report *r)
{
	const struct core *core = core_of(r);

	if (r->begun && r->run != NULL && core->state.run_id != NULL &&
	    strcmp(r->run, core->state.run_id) == 0 &&
	    (!core->state.overseer_active || life_is_complete(core)))
		send_run(r);
	r->begun = false;
}
