/* SPDX-License-Identifier: ISC */

/*
 * The end of a turn on a task: sent back, checked, landed, or failed. What git
 * says is answered at once, by the Stop hook's own answer; check_command takes
 * its time and speaks by the next prompt.
 */
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "buf.h"
#include "child.h"
#include "clock.h"
#include "errtext.h"
#include "finish.h"
#include "git-work.h"
#include "json.h"
#include "jsonl.h"
#include "log.h"
#include "mem.h"
#include "pilot.h"
#include "settings.h"
#include "transcript.h"
#include "turn.h"
#include "workspace.h"

#define CHECK_LOG_SIZE (20 * 1024 * 1024)
#define CHECK_LOG_KEEP 2

static const char error_nudge[] =
    "The last turn ended with an error. Go on with the task from where it "
    "stopped; nobody is here to help.";

/* --- check_command --------------------------------------------------- */

struct check {
	struct agent *agent;
	struct child *child;
	char head[GIT_ID_SIZE];
	bool passed;
	struct buf words; /* what the worker is told when not */
};

static void
check_free(struct check *check)
{
	check->agent->check = NULL;
	buf_release(&check->words);
	free(check);
}

void
verdict_stop(struct agent *agent)
{
	if (agent->check != NULL && agent->check->child != NULL)
		child_cancel(agent->check->child);
}

void
verdict_release(struct agent *agent)
{
	if (agent->check == NULL)
		return;
	if (agent->check->child != NULL)
		child_abandon(agent->check->child);
	check_free(agent->check);
}

static void
check_log(const struct agent *agent, const struct child_result *result,
    const char *command, const char *how, const char *output)
{
	cleanup_free char *file =
	    workspace_path(agent->daemon->workspace, "logs/check.log");
	cleanup_json struct json_object *json = json_object_new_object();
	char stamp[CLOCK_STAMP_SIZE];

	clock_format_stamp(clock_wall_ms(), stamp);
	json_set_string(json, "timestamp", stamp);
	json_set_string(
	    json, "level", child_succeeded(result) ? "INFO" : "NOTICE");
	json_set_string(json, "worker_name", agent->worker->name);
	json_set_string(json, "task", agent->worker->task);
	json_set_string(json, "command", command);
	json_set_string(json, "result", how);
	json_set_int(json, "duration_ms", result->duration_ms);
	json_set_string(json, "output", output);
	jsonl_append(file, json, CHECK_LOG_SIZE, CHECK_LOG_KEEP, NULL);
}

static void
send_on(struct agent *agent, const char *words)
{
	log_fields(LOG_LEVEL_INFO, "sent back", "worker", agent->worker->name,
	    "task", agent->worker->task, "reason", words, NULL);
	record(agent->daemon, LOG_LEVEL_INFO, "sent_back", "worker_name",
	    agent->worker->name, "task", agent->worker->task, "reason", words,
	    NULL);
}

/* The tree was clean before the check, so what it left behind goes. */
static void
check_tidied(const struct err *err, void *arg)
{
	struct check *check = arg;
	struct agent *agent = check->agent;
	struct task *t = pilot_task(agent);

	agent->operating = false;
	if (err != NULL) {
		agent_move(agent, WORKER_ERROR, err->msg);
	} else if (t == NULL || agent->daemon->stopping) {
		/* Taken away meanwhile, or to be checked by the next one. */
	} else if (check->passed) {
		finish_with(agent, check->head);
	} else if (t->turns >=
	    settings_int(agent->daemon->settings, "auto.max_turns")) {
		pilot_attempt_failed(agent, check->words.data);
	} else {
		send_on(agent, check->words.data);
		agent_prompt(
		    agent, check->words.data, false, agent->worker->status);
	}
	agent_tick_later(agent, 1);
	check_free(check);
}

static void
check_done(const struct child_result *result, void *arg)
{
	struct check *check = arg;
	struct agent *agent = check->agent;
	struct daemon *d = agent->daemon;
	const struct worker *w = agent->worker;
	const char *command =
	    settings_string(d->settings, "auto.check_command");
	cleanup_buf struct buf how = BUF_INIT, output = BUF_INIT;

	check->child = NULL;
	child_result_describe(result, &how);
	child_output_text(&result->out, &output);
	check->passed = child_succeeded(result);
	check_log(agent, result, command, how.data, output.data);
	if (!check->passed)
		turn_check_words(command, how.data, output.data, &check->words);
	git_work_reset(
	    d->git, w->worktree, w->branch, check->head, check_tidied, check);
}

static void
check_begin(struct agent *agent, const char *head)
{
	struct daemon *d = agent->daemon;
	struct check *check = xcalloc(1, sizeof *check);
	cleanup_free char *task =
	    xasprintf("LLMC_TASK=%s", agent->worker->task);
	const char *const env[] = { task, NULL };
	struct child_spec spec = {
		.shell = settings_string(d->settings, "auto.check_command"),
		.cwd = agent->worker->worktree,
		.env = env,
		.deadline_ms =
		    settings_duration(d->settings, "auto.check_timeout"),
		.merge_stderr = true,
	};
	struct err err = { 0 };

	check->agent = agent;
	check->words = (struct buf)BUF_INIT;
	memcpy(check->head, head, sizeof check->head);
	agent->operating = true;
	agent->check = check;
	if (child_spawn(
		d->loop, &spec, check_done, check, &check->child, &err) == 0)
		return;
	agent->operating = false;
	agent_move(agent, WORKER_ERROR, err.msg);
	check_free(check);
}

/* --- the verdict ----------------------------------------------------- */

static void
note_words(struct task *t, const struct agent *agent, const char *words)
{
	if (words == NULL && agent->transcript != NULL)
		words = transcript_parser_last_text(
		    transcript_parser_of(agent->transcript));
	xstrset(&t->last_words, words);
}

static void
collect(const struct agent *agent, const struct git_facts *git,
    const struct task *t, struct turn_facts *out)
{
	const struct settings *settings = agent->daemon->settings;

	*out = (struct turn_facts){
		.dirt = git->changed + git->untracked,
		.rebasing = git->rebasing,
		.conflicts = git->conflicts,
		.ahead = git->ahead,
		.resolving = agent->worker->status == WORKER_REBASING,
		.reviewing = agent->worker->status == WORKER_REVIEWING,
		.driven = true,
		.commit_wanted = settings_bool(settings, "auto.require_commit"),
		.check_wanted =
		    settings_string(settings, "auto.check_command")[0] != '\0',
		.ending = turn_read_ending(t->last_words),
		.words = t->last_words,
		.turns = t->turns,
		.turns_max = (int)settings_int(settings, "auto.max_turns"),
		.nudges = t->nudges,
	};
}

void
verdict_judge(struct finish *finish, const struct git_facts *facts)
{
	struct agent *agent = finish->agent;
	struct task *t = pilot_task(agent);
	cleanup_buf struct buf words = BUF_INIT;
	struct turn_facts turn;
	enum turn_action action;

	t->turns++;
	agent->daemon->state.outage_since_unix = 0;
	note_words(t, agent, finish->words);
	collect(agent, facts, t, &turn);
	action = turn_judge(&turn, &words);
	daemon_changed(agent->daemon);
	/* What is finished lands, whatever it took. */
	if ((action == TURN_BACK || action == TURN_NUDGE) &&
	    spend_turn_ended(agent)) {
		finish_end(finish);
		return;
	}
	switch (action) {
	case TURN_NUDGE:
	case TURN_BACK:
		t->nudges += action == TURN_NUDGE;
		send_on(agent, words.data);
		finish_send_back(finish, words.data);
		return;
	case TURN_FINISHED:
		finish_with(agent, facts->head);
		break;
	case TURN_NO_CHANGES:
		agent_move(agent, WORKER_NO_CHANGES, NULL);
		harvest_begin(agent);
		break;
	case TURN_CHECK:
		check_begin(agent, facts->head);
		break;
	default:
		pilot_attempt_failed(agent, words.data);
		break;
	}
	finish_end(finish);
}

void
verdict_error(struct agent *agent, const char *text)
{
	struct task *t = pilot_task(agent);

	xstrset(&t->last_words, text);
	if (t->nudges >= TURN_NUDGES_MAX) {
		pilot_attempt_failed(agent, text);
		return;
	}
	t->nudges++;
	send_on(agent, text);
	agent_prompt(agent, error_nudge, false, agent->worker->status);
}
