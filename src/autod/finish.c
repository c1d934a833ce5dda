/* SPDX-License-Identifier: ISC */

/*
 * The end of a turn: Stop is judged by git's facts, at once; a StopFailure by
 * what it says. Uncommitted work is sent back by the Stop gate a few times,
 * then committed for the worker.
 */
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "buf.h"
#include "clock.h"
#include "errtext.h"
#include "finish.h"
#include "git-work.h"
#include "json.h"
#include "limit.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "pilot.h"
#include "server.h"
#include "settings.h"
#include "turn.h"
#include "zone.h"

const char agent_leftover_message[] = "Work of an unfinished commit";

static const char limit_over_text[] =
    "The interruption is over. Go on with the task from where it stopped.";

static bool
has_background(struct json_object *data)
{
	struct json_object *tasks = NULL;

	return json_object_object_get_ex(data, "background_tasks", &tasks) &&
	    json_object_is_type(tasks, json_type_array) &&
	    json_object_array_length(tasks) > 0;
}

void
finish_end(struct finish *finish)
{
	daemon_reply(finish->agent->daemon, finish->call, NULL);
	free(finish->words);
	free(finish);
}

void
finish_send_back(struct finish *finish, const char *reason)
{
	struct agent *agent = finish->agent;
	struct json_object *result;
	int gates = agent->gates;

	log_fields(LOG_LEVEL_INFO, "sent back at the end of its turn", "worker",
	    agent->worker->name, "reason", reason, NULL);
	if (finish->call == NULL) {
		agent_prompt(agent, reason, false, agent->worker->status);
	} else {
		result = json_object_new_object();
		json_set_string(result, "decision", "block");
		json_set_string(result, "reason", reason);
		daemon_reply(agent->daemon, take_ptr(&finish->call), result);
		agent->worker->session.busy = true;
		daemon_changed(agent->daemon);
	}
	agent->gates = gates + 1;
	finish_end(finish);
}

void
finish_with(struct agent *agent, const char *head)
{
	struct worker *w = agent->worker;
	cleanup_buf struct buf path = BUF_INIT;
	const struct settings *settings = agent->daemon->settings;

	if (agent_move(agent, WORKER_NEEDS_REVIEW, NULL) < 0)
		return;
	xstrset(&w->commit, head);
	if (w->accept != ACCEPT_NONE) {
		landing_begin(agent, NULL, NULL); /* the conflict is resolved */
		return;
	}
	if (!w->self_review || w->self_reviewed) {
		harvest_begin(agent);
		return;
	}
	w->self_reviewed = true;
	settings_worker_path(settings, w->name, "self_review_prompt", &path);
	agent_move(agent, WORKER_REVIEWING, NULL);
	agent_prompt(agent, settings_string(settings, path.data), false,
	    WORKER_REVIEWING);
}

static void
finish_committed_facts(
    const struct git_facts *facts, const struct err *err, void *arg)
{
	struct finish *finish = arg;
	struct agent *agent = finish->agent;

	agent->operating = false;
	if (err != NULL) {
		log_errorx("%s: git: %s", agent->worker->name, err->msg);
		agent_move(agent, WORKER_ERROR, err->msg);
	} else {
		finish_with(agent, facts->head);
	}
	agent_tick_later(agent, 1);
	finish_end(finish);
}

static void
finish_committed(const struct err *err, void *arg)
{
	struct finish *finish = arg;
	struct agent *agent = finish->agent;
	struct daemon *d = agent->daemon;

	if (err != NULL) {
		agent->operating = false;
		agent_move(agent, WORKER_ERROR, err->msg);
		log_warnx("%s: leftovers cannot be committed: %s",
		    agent->worker->name, err->msg);
		finish_end(finish);
		return;
	}
	git_work_facts(d->git, agent->worker->worktree, daemon_branch(d),
	    finish_committed_facts, finish);
}

/* Leftovers are committed before the Stop is answered: should we die over it,
 * the hook keeps its event for the next daemon. */
static void
judge(struct finish *finish, const struct git_facts *git)
{
	struct agent *agent = finish->agent;
	struct worker *w = agent->worker;
	cleanup_buf struct buf words = BUF_INIT;
	struct turn_facts facts = {
		.dirt = git->changed + git->untracked,
		.rebasing = git->rebasing,
		.conflicts = git->conflicts,
		.ahead = git->ahead,
		.resolving = w->status == WORKER_REBASING,
		.reviewing = w->status == WORKER_REVIEWING,
		.sent_back = agent->gates,
	};

	switch (turn_judge(&facts, &words)) {
	case TURN_BACK:
		finish_send_back(finish, words.data);
		return;
	case TURN_COMMIT:
		agent->operating = true;
		git_work_commit_leftovers(agent->daemon->git, w->worktree,
		    daemon_branch(agent->daemon), agent_leftover_message,
		    finish_committed, finish);
		return;
	case TURN_PAUSE:
		agent_move(agent, WORKER_PAUSED, words.data);
		break;
	case TURN_NO_CHANGES:
		agent_move(agent, WORKER_NO_CHANGES, NULL);
		break;
	default:
		finish_with(agent, git->head);
		break;
	}
	finish_end(finish);
}

static void
finish_facts(const struct git_facts *facts, const struct err *err, void *arg)
{
	struct finish *finish = arg;
	struct agent *agent = finish->agent;

	agent->operating = false;
	agent_tick_later(agent, 1);
	if (err != NULL) {
		log_warnx("%s: git: %s", agent->worker->name, err->msg);
		agent_move(agent, WORKER_ERROR, err->msg);
		finish_end(finish);
	} else if (pilot_task(agent) != NULL) {
		verdict_judge(finish, facts);
	} else {
		judge(finish, facts);
	}
}

/* The turn has ended and nobody has judged it: something else was being done to
 * the worktree just then, or the daemon died over it. */
bool
finish_is_due(const struct agent *agent)
{
	const struct worker *w = agent->worker;

	return worker_in_turn(w->status) && !w->session.busy &&
	    w->session.step == PROMPT_NONE && !agent->operating &&
	    agent->phase == AGENT_UP;
}

void
finish_turn(
    struct agent *agent, struct server_call *call, struct json_object *data)
{
	struct worker *w = agent->worker;
	struct finish *finish;

	w->session.open_tools = 0;
	agent->background = has_background(data);
	if (agent->compacting || agent->background) {
		daemon_reply(agent->daemon, call, NULL);
		return;
	}
	/* A turn that ends had begun: its hook may have been lost. */
	if (w->status == WORKER_STARTING)
		deliver_confirm(agent);
	w->session.busy = false;
	daemon_changed(agent->daemon);
	if (agent->operating || !worker_in_turn(w->status)) {
		daemon_reply(agent->daemon, call, NULL);
		return;
	}
	finish = xcalloc(1, sizeof *finish);
	finish->agent = agent;
	finish->call = call;
	xstrset(&finish->words,
	    json_string_or(data, "last_assistant_message", NULL));
	agent->operating = true;
	git_work_facts(agent->daemon->git, w->worktree,
	    daemon_branch(agent->daemon), finish_facts, finish);
}

/* --- failures -------------------------------------------------------- */

static int64_t
limit_until(enum limit_class class, const char *text, int tries)
{
	int64_t now = clock_wall_ms(), named = 0;
	struct limit_reset reset = { 0 };

	if (limit_parse_reset(text, &reset)) {
		named = reset.at_ms;
		if (named == 0 && reset.hour >= 0)
			named = zone_next(
			    &(struct zone_time){ reset.month, reset.day,
				reset.hour, reset.minute, reset.zone },
			    now);
	}
	return limit_look_again_ms(
	    class, named, reset.at_ms > 0 || reset.month > 0, tries, now);
}

static void
limit_worker(struct agent *agent, const char *text, int64_t until)
{
	struct worker *w = agent->worker;

	w->session.busy = false;
	if (w->status != WORKER_LIMITED &&
	    agent_move(agent, WORKER_LIMITED, text) < 0)
		return;
	w->until_ms = until;
	w->limit_tries++;
	daemon_changed(agent->daemon);
	agent_tick_later(agent, 1);
}

/* The account's limit is everybody's: those that would run into it next wait
 * as well. Who is in a turn hears of it from the agent itself. */
static void
limit_everybody(struct daemon *d, const char *text, int64_t until)
{
	for (size_t i = 0; i < d->agent_count; i++) {
		enum worker_status status = d->agents[i]->worker->status;

		if (status == WORKER_STARTING || status == WORKER_LIMITED ||
		    status == WORKER_IDLE)
			limit_worker(d->agents[i], text, until);
	}
}

void
finish_failed(struct agent *agent, const char *error, const char *text)
{
	struct daemon *d = agent->daemon;
	struct worker *w = agent->worker;
	enum limit_class class = limit_classify(error, text);
	cleanup_free char *words = NULL;
	int64_t until;

	w->session.open_tools = 0;
	log_fields(LOG_LEVEL_INFO, "a turn failed", "worker", w->name, "error",
	    error, "class", limit_class_name(class), "text", text, NULL);
	if (class == LIMIT_USAGE || class == LIMIT_OUTAGE) {
		until = limit_until(class, text, w->limit_tries);
		limit_worker(agent, text, until);
		harvest_weather(agent, class == LIMIT_OUTAGE, text, until);
		if (class == LIMIT_USAGE)
			limit_everybody(d, text, until);
		return;
	}
	w->session.busy = false;
	if (class != LIMIT_AUTH && pilot_drives(agent) &&
	    pilot_task(agent) != NULL) {
		verdict_error(agent, text);
		return;
	}
	words = xasprintf("%s%s",
	    text[0] != '\0' ? text : "the turn failed without a word",
	    class == LIMIT_AUTH ? "; see to it, then: llmc message WORKER "
				  "continue" :
				  "");
	agent_move(agent, WORKER_PAUSED, words);
	log_fields(LOG_LEVEL_WARN, "a worker waits for a person", "worker",
	    w->name, "reason", words, NULL);
}

void
finish_limit_over(struct agent *agent)
{
	struct worker *w = agent->worker;
	enum worker_status before = w->before;

	log_fields(
	    LOG_LEVEL_INFO, "the limit is over", "worker", w->name, NULL);
	w->until_ms = 0;
	if (before == WORKER_IDLE || before == WORKER_NEEDS_REVIEW ||
	    before == WORKER_NO_CHANGES || before == WORKER_OFFLINE) {
		agent_move(agent, before, NULL);
		return;
	}
	agent_move(agent, WORKER_STARTING, NULL);
	if (w->session.step == PROMPT_NONE)
		agent_prompt(agent, limit_over_text, false,
		    before == WORKER_STARTING ? w->after : before);
}
