/* SPDX-License-Identifier: ISC */

/* What a person does with a worker: give it a task, talk to it, judge it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "buf.h"
#include "errtext.h"
#include "git-work.h"
#include "json.h"
#include "log.h"
#include "mem.h"
#include "methods.h"
#include "prompt.h"
#include "rpc.h"
#include "server.h"
#include "settings.h"
#include "workspace.h"

static bool
worker_flag(const struct agent *agent, const char *key)
{
	cleanup_buf struct buf path = BUF_INIT;

	settings_worker_path(
	    agent->daemon->settings, agent->worker->name, key, &path);
	return settings_bool(agent->daemon->settings, path.data);
}

/* The text of a request, cleaned; false (and the call answered) when there is
 * none worth sending. */
static bool
request_text(struct server_call *call, struct json_object *params,
    const char *key, struct buf *out)
{
	const char *text = json_string_or(params, key, "");

	if (prompt_clean(text, strlen(text), out))
		return true;
	server_fail(call, RPC_INVALID_PARAMS,
	    strlen(text) > PROMPT_MAX ? "the text is longer than 1 MiB" :
					"the text is empty",
	    NULL);
	return false;
}

static void
wrong_status(
    struct server_call *call, const struct worker *w, const char *wanted)
{
	cleanup_free char *words = xasprintf("%s is %s%s%s; %s", w->name,
	    worker_status_name(w->status), w->reason != NULL ? ": " : "",
	    w->reason != NULL ? w->reason : "", wanted);

	server_fail(call, METHOD_STATUS, words, NULL);
}

/* Two prompts at once would become one in the box. */
static bool
prompt_under_way(struct agent *agent, struct server_call *call)
{
	if (agent->worker->session.step == PROMPT_NONE)
		return false;
	server_fail(call, METHOD_BUSY,
	    "another prompt is on its way to it; try again in a moment", NULL);
	return true;
}

/* --- start ----------------------------------------------------------- */

struct start {
	struct agent *agent;
	struct server_call *call; /* NULL after a restart of the daemon */
};

static void
start_failed(struct start *start, const struct err *err)
{
	agent_move(start->agent, WORKER_ERROR, err->msg);
	daemon_fail(start->agent->daemon, start->call, METHOD_FAILED, err->msg);
	start->agent->operating = false;
	free(start);
}

static void
start_answer(void *arg)
{
	struct start *start = arg;
	const struct worker *w = start->agent->worker;
	struct json_object *result;

	if (start->call != NULL) {
		result = json_object_new_object();
		json_set_string(result, "worker", w->name);
		json_set_string(result, "status", "starting");
		json_set_bool(result, "self_review_enabled", w->self_review);
		json_set_string(result, "worktree_path", w->worktree);
		json_set_string(result, "branch", w->branch);
		daemon_reply(start->agent->daemon, start->call, result);
	}
	free(start);
}

void
agent_task_text(const struct agent *agent, struct buf *out)
{
	const struct daemon *d = agent->daemon;
	const struct worker *w = agent->worker;
	cleanup_buf struct buf role = BUF_INIT;
	struct prompt_facts facts = {
		.worktree = w->worktree,
		.root = d->workspace->root,
		.branch = w->branch,
		.default_branch = daemon_branch(d),
		.task = w->prompt,
	};

	settings_worker_path(d->settings, w->name, "role_prompt", &role);
	facts.role = settings_string(d->settings, role.data);
	prompt_task(&facts, out);
}

/* The worktree is fresh: park the prompt, save, and only then say yes. */
static void
start_reset(const struct err *err, void *arg)
{
	struct start *start = arg;
	struct agent *agent = start->agent;
	struct daemon *d = agent->daemon;
	cleanup_buf struct buf text = BUF_INIT;

	if (err != NULL) {
		start_failed(start, err);
		return;
	}
	agent_task_text(agent, &text);
	agent->operating = false;
	agent_prompt(agent, text.data, true, WORKER_WORKING);
	daemon_then(d, NULL, start_answer, start);
}

static void
start_salvaged(const char *ref, const struct err *err, void *arg)
{
	struct start *start = arg;
	struct daemon *d = start->agent->daemon;
	const struct worker *w = start->agent->worker;

	if (err != NULL) {
		start_failed(start, err);
		return;
	}
	if (ref[0] != '\0')
		log_fields(LOG_LEVEL_INFO, "stale work salvaged", "worker",
		    w->name, "ref", ref, NULL);
	git_work_reset(d->git, w->worktree, w->branch, daemon_branch(d),
	    start_reset, start);
}

static void
start_prepare(void *arg)
{
	struct start *start = arg;

	agent_salvage(start->agent, start_salvaged, start);
}

static void
start_begin(struct agent *agent, struct server_call *call)
{
	struct start *start = xcalloc(1, sizeof *start);

	start->agent = agent;
	start->call = call;
	agent->operating = true;
	daemon_then(agent->daemon, agent, start_prepare, start);
}

void
tasks_start_again(struct agent *agent)
{
	start_begin(agent, NULL);
}

static bool
is_free(const struct agent *agent)
{
	const struct worker *w = agent->worker;

	return worker_is_free(w) && !agent->operating &&
	    !worker_is_auto(w->name);
}

/* The first free worker by name that is in the pool. */
static struct agent *
pick_free(const struct daemon *d, const char *prefix)
{
	for (size_t i = 0; i < d->state.count; i++) {
		struct agent *agent = agent_find(d, d->state.workers[i]->name);

		if (agent != NULL && is_free(agent) &&
		    strncmp(agent->worker->name, prefix, strlen(prefix)) == 0 &&
		    !worker_flag(agent, "excluded_from_pool"))
			return agent;
	}
	return NULL;
}

/* Why each that could have been meant was not taken. */
static void
nobody_free(
    const struct daemon *d, struct server_call *call, const char *prefix)
{
	cleanup_buf struct buf words = BUF_INIT;
	size_t count = 0;

	buf_adds(&words, "no worker is free: ");
	for (size_t i = 0; i < d->state.count; i++) {
		const struct worker *w = d->state.workers[i];
		struct agent *agent = agent_find(d, w->name);

		if (strncmp(w->name, prefix, strlen(prefix)) != 0)
			continue;
		buf_addf(&words, "%s%s is %s", count++ > 0 ? ", " : "", w->name,
		    is_free(agent) ? "taken by name only" :
				     worker_status_name(w->status));
	}
	if (count == 0)
		buf_adds(&words, "there is none; add one with: llmc add NAME");
	server_fail(call, METHOD_STATUS, words.data, NULL);
}

void
tasks_start(
    struct daemon *d, struct server_call *call, struct json_object *params)
{
	const char *name = json_string_or(params, "worker", NULL);
	const char *source = json_string_or(params, "prompt_command", NULL);
	const char *prefix = json_string_or(params, "prefix", "");
	cleanup_buf struct buf task = BUF_INIT;
	struct agent *agent;

	agent = name != NULL ? agent_find(d, name) : pick_free(d, prefix);
	if (agent == NULL) {
		if (name != NULL)
			methods_unknown_worker(d, call, name);
		else
			nobody_free(d, call, prefix);
		return;
	}
	if (worker_is_auto(agent->worker->name)) {
		wrong_status(call, agent->worker,
		    "auto workers get their tasks from the daemon");
		return;
	}
	if (!is_free(agent)) {
		wrong_status(call, agent->worker,
		    "only an idle worker can be given a task");
		return;
	}
	if (!request_text(call, params, "prompt", &task))
		return;
	xstrset(&agent->worker->prompt, task.data);
	xstrset(&agent->worker->prompt_command, source);
	agent->worker->self_review = json_bool_or(
	    params, "self_review", worker_flag(agent, "self_review"));
	agent->worker->self_reviewed = false;
	if (agent_move(agent, WORKER_STARTING, NULL) < 0) {
		wrong_status(call, agent->worker, "it cannot start now");
		return;
	}
	start_begin(agent, call);
}

/* --- message, reject ------------------------------------------------- */

static void
answer_status(
    struct agent *agent, struct server_call *call, enum worker_status before)
{
	struct json_object *result = json_object_new_object();

	json_set_string(result, "worker", agent->worker->name);
	json_set_bool(result, "message_sent", true);
	json_set_string(result, "previous_status", worker_status_name(before));
	json_set_string(
	    result, "new_status", worker_status_name(agent->worker->status));
	daemon_reply(agent->daemon, call, result);
}

void
tasks_message(
    struct agent *agent, struct server_call *call, struct json_object *params)
{
	/* Where a message takes a worker; COUNT = it stays. */
	static const enum worker_status leads_to[WORKER_STATUS_COUNT] = {
		[WORKER_IDLE] = WORKER_IDLE,
		[WORKER_OFFLINE] = WORKER_OFFLINE,
		[WORKER_STARTING] = WORKER_STARTING,
		[WORKER_ACCEPTING] = WORKER_ACCEPTING,
		[WORKER_WORKING] = WORKER_STATUS_COUNT,
		[WORKER_REVIEWING] = WORKER_STATUS_COUNT,
		[WORKER_REJECTED] = WORKER_STATUS_COUNT,
		[WORKER_REBASING] = WORKER_STATUS_COUNT,
		[WORKER_NEEDS_REVIEW] = WORKER_REJECTED,
		[WORKER_NO_CHANGES] = WORKER_WORKING,
		[WORKER_PAUSED] = WORKER_STARTING,
		[WORKER_LIMITED] = WORKER_STARTING,
		[WORKER_ERROR] = WORKER_STARTING,
	};
	struct worker *w = agent->worker;
	enum worker_status before = w->status, to = leads_to[before], after;
	cleanup_buf struct buf text = BUF_INIT;

	if (to == before) {
		wrong_status(call, w, "a message needs a task that it is on");
		return;
	}
	if (prompt_under_way(agent, call) ||
	    !request_text(call, params, "text", &text))
		return;
	after = to == WORKER_STATUS_COUNT ? before : to;
	if (to == WORKER_STARTING)
		after = before != WORKER_ERROR &&
			(w->before == WORKER_REJECTED ||
			    w->before == WORKER_REBASING ||
			    w->before == WORKER_REVIEWING) ?
		    w->before :
		    WORKER_WORKING;
	if (to != WORKER_STATUS_COUNT && agent_move(agent, to, NULL) < 0) {
		wrong_status(call, w, "it cannot take a message now");
		return;
	}
	agent_prompt(agent, text.data, false, after);
	answer_status(agent, call, before);
}

void
tasks_reject(
    struct agent *agent, struct server_call *call, struct json_object *params)
{
	struct worker *w = agent->worker;
	enum worker_status before = w->status;
	cleanup_buf struct buf feedback = BUF_INIT, text = BUF_INIT;

	if (before != WORKER_NEEDS_REVIEW) {
		wrong_status(call, w, "only finished work can be rejected");
		return;
	}
	if (prompt_under_way(agent, call) ||
	    !request_text(call, params, "text", &feedback))
		return;
	prompt_rejection(feedback.data, &text);
	agent_move(agent, WORKER_REJECTED, NULL);
	agent_prompt(agent, text.data, false, WORKER_REJECTED);
	answer_status(agent, call, before);
}

/* --- accept, rebase, review ------------------------------------------ */

static void
landing_answer(struct agent *agent, const struct err *err,
    struct json_object *result, void *call)
{
	if (err != NULL)
		daemon_fail(agent->daemon, call, METHOD_FAILED, err->msg);
	else
		daemon_reply(agent->daemon, call, result);
}

void
tasks_accept(
    struct agent *agent, struct server_call *call, struct json_object *params)
{
	struct worker *w = agent->worker;
	bool force = json_bool_or(params, "force", false);

	if (w->status != WORKER_NEEDS_REVIEW &&
	    !(force && w->status == WORKER_NO_CHANGES) &&
	    !(force && w->status == WORKER_PAUSED)) {
		wrong_status(call, w, "only finished work can be accepted");
		return;
	}
	if (prompt_under_way(agent, call))
		return;
	w->accept = ACCEPT_NONE;
	landing_begin(agent, landing_answer, call);
}

void
tasks_rebase(
    struct agent *agent, struct server_call *call, struct json_object *params)
{
	(void)params;
	if (agent->worker->status != WORKER_NEEDS_REVIEW) {
		wrong_status(
		    call, agent->worker, "only finished work can be rebased");
		return;
	}
	landing_rebase(agent, landing_answer, call);
}

void
tasks_review(
    struct agent *agent, struct server_call *call, struct json_object *params)
{
	struct worker *w = agent->worker;

	if (w->status != WORKER_NEEDS_REVIEW &&
	    !json_bool_or(params, "force", false)) {
		wrong_status(call, w, "it has nothing to review yet");
		return;
	}
	xstrset(&agent->daemon->state.last_reviewed, w->name);
	daemon_changed(agent->daemon);
	if (w->status == WORKER_NEEDS_REVIEW)
		landing_rebase(agent, landing_answer, call);
	else
		answer_status(agent, call, w->status);
}
