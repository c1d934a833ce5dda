/* SPDX-License-Identifier: ISC */

/* llmc doctor: checks the overseer. */
#include <string.h>

#include "cli.h"
#include "doctor-overseer.h"
#include "doctor.h"
#include "errtext.h"
#include "history.h"
#include "json.h"
#include "mem.h"
#include "overseer-files.h"
#include "settings.h"
#include "text.h"

/* The first line of a text; the caller frees it. */
static char *
first_line(const char *words)
{
	return xstrndup(words, strcspn(words, "\n"));
}

static void
check_prompt(struct doctor *d)
{
	bool is_set = settings_string(d->settings,
			  "overseer.remediation_prompt")[0] != '\0';

	doctor_note(d, VERDICT_OK, "remediation",
	    is_set ? "overseer.remediation_prompt is set" :
		     "a repair has built-in instructions; add your own in "
		     "overseer.remediation_prompt",
	    NULL);
}

static void
check_run(struct doctor *d, const struct overseer_files *overseer)
{
	const char *state = json_string_or(overseer->json, "state", "");
	cleanup_free char *detail = NULL;

	if (overseer->registered) {
		detail = xasprintf("running (pid %lld): %s",
		    (long long)overseer_files_pid(overseer), state);
		doctor_note(d, VERDICT_OK, "oversight", detail, NULL);
	} else if (overseer->active) {
		doctor_note(d, VERDICT_OK, "oversight",
		    "running, but not registered yet", NULL);
	} else if (overseer->json != NULL && strcmp(state, "Terminated") != 0) {
		detail = xasprintf(
		    "overseer.json says \"%s\", but it is not running: it "
		    "crashed or was killed",
		    state);
		doctor_note(d, VERDICT_WARN, "oversight", detail,
		    "start it again, and it takes over the daemon: llmc "
		    "overseer");
	}
}

static void
check_manual(struct doctor *d)
{
	cleanup_free char *file = history_manual_file(&d->cli->workspace);
	cleanup_free char *detail = NULL;

	if (file == NULL)
		return;
	detail = xasprintf("a remediation asks for a person: %s", file);
	doctor_note(d, VERDICT_FAIL, "manual", detail,
	    "do what the file says, remove it, and start: llmc overseer");
}

static void
check_failures(struct doctor *d)
{
	cleanup_buf struct buf words = BUF_INIT;
	cleanup_free char *line = NULL, *detail = NULL;
	struct history history;
	struct err err = { 0 };

	if (history_load(&d->cli->workspace, &history, &err) < 0) {
		doctor_note(d, VERDICT_FAIL, "failures", err.msg,
		    "make failures.jsonl readable for your user, or move it "
		    "away");
		return;
	}
	if (spiral_is_over(history.events, history.count, &words)) {
		line = first_line(words.data);
		detail =
		    xasprintf("the overseer will not start again: %s", line);
		doctor_note(d, VERDICT_FAIL, "failures", detail,
		    "see llmc failures, fix the cause, then: llmc overseer "
		    "--clear \"what was done\"");
	}
	history_release(&history);
}

void
doctor_overseer_check(struct doctor *d)
{
	struct overseer_files overseer;

	if (!workspace_initialised(&d->cli->workspace))
		return;
	overseer_files_load(d->cli, &overseer);
	if (d->settings != NULL)
		check_prompt(d);
	check_run(d, &overseer);
	overseer_files_release(&overseer);
	check_manual(d);
	check_failures(d);
}
