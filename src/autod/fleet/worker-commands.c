/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent.h"
#include "core.h"
#include "emit.h"
#include "fleet-private.h"
#include "prompt.h"
#include "review.h"
#include "rpc.h"
#include "serve.h"

struct stop {
	struct worker_op op;
	enum worker_status before;
};

/* A turn is interrupted. One that waits for a decision keeps its status: it
 * needs no session for that. */
static void
hold(struct operation *op)
{
	hold_begin(((struct stop *)op)->op.agent, true);
	worker_op_write(op);
}

static struct json_object *
result_of(const struct stop *s)
{
	const struct worker *w = s->op.agent->worker;
	struct json_object *result = json_object_new_object();

	json_set_string(result, "worker", w->name);
	json_set_string(
	    result, "previous_status", worker_status_name(s->before));
	json_set_string(result, "new_status", worker_status_name(w->status));
	return result;
}

static void
end(struct operation *op, const struct err *err)
{
	struct stop *s = (struct stop *)op;

	worker_op_release(&s->op);
	worker_op_answer(&s->op, err, err == NULL ? result_of(s) : NULL);
	free(s);
}

static const struct operation_step steps[] = {
	{ .name = "hold", .run = hold },
	{ .name = "end-session", .run = worker_op_end_session },
};

OPERATION_KIND(kind, "stop", steps, end);

bool
worker_commands_text(struct server_call *call, struct json_object *params,
    const char *key, struct buf *out)
{
	const char *text = json_string_or(params, key, "");

	if (prompt_clean(text, strlen(text), out))
		return true;
	serve_refuse(call, RPC_INVALID_PARAMS, "%s",
	    strlen(text) > PROMPT_MAX ? "the text is longer than 1 MiB" :
					"the text is empty");
	return false;
}

void
worker_commands_wrong_status(
    struct server_call *call, const struct worker *w, const char *wanted)
{
	cleanup_buf struct buf advice = BUF_INIT;

	worker_add_advice(w, &advice);
	serve_refuse(call, API_STATUS, "%s is %s%s%s; %s%s%s", w->name,
	    worker_status_name(w->status), w->reason != NULL ? ": " : "",
	    w->reason != NULL ? w->reason : "", wanted,
	    advice.len > 0 ? "; " : "", advice.data);
}

bool
worker_commands_prompt_under_way(struct agent *agent, struct server_call *call)
{
	if (agent->worker->session.step == PROMPT_NONE)
		return false;
	serve_refuse(call, API_BUSY,
	    "another prompt is on its way to it; try again in a moment");
	return true;
}

/* --- add, remove, reset, stop -----------------------------------------------
 */

struct add {
	struct fleet *fleet;
	char *name;
	struct server_call *call;
};

/* Not before: it may have its own settings, and another caller may have added
 * it. */
static void
on_settings(const struct err *err, void *arg)
{
	cleanup_free struct add *add = arg;
	cleanup_free char *name = add->name;

	if (err != NULL && err->code == -ECANCELED)
		serve_refuse(add->call, API_FAILED, "%s", err->msg);
	else if (state_find(&add->fleet->core->state, name) != NULL)
		serve_refuse(add->call, API_FAILED,
		    "there is a worker %s already", name);
	else
		op_add(add->fleet, name, add->call);
}

static void
on_add(void *arg, struct server_call *call, struct json_object *params)
{
	struct fleet *fleet = arg;
	const char *name = json_string_or(params, "worker", "");
	struct add *add;

	if (!text_is_name(name)) {
		serve_refuse(call, RPC_INVALID_PARAMS,
		    "a worker's name begins with a letter or digit, followed "
		    "by letters, digits, - and _, all lower case, at most 32 "
		    "characters");
	} else if (strncmp(name, "console", 7) == 0 ||
	    strcmp(name, "overseer") == 0) {
		/* Sessions with these names do not belong to workers. */
		serve_refuse(call, RPC_INVALID_PARAMS,
		    "names that begin with \"console\", and \"overseer\", are "
		    "reserved");
	} else if (state_find(&fleet->core->state, name) == NULL &&
	    worker_is_auto(name)) {
		/* It would get a task neither from a person nor from auto
		 * mode, which makes those that it needs. */
		serve_refuse(call, RPC_INVALID_PARAMS,
		    "names that begin with \"auto-\" or \"team-\" are "
		    "reserved: llmc up "
		    "--auto --concurrency N makes auto-1 to auto-N");
	} else {
		add = xcalloc(1, sizeof *add);
		*add = (struct add){ fleet, xstrdup(name), call };
		reload_begin(fleet->core, on_settings, add);
	}
}

static void
on_nuke(void *arg, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	(void)arg;
	(void)params;
	op_nuke(agent, call);
}

static void
on_reset(void *arg, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	const char *failed = json_string_or(params, "failed", NULL);

	(void)arg;
	if (failed != NULL)
		AGENT_EMIT(agent, EVENT_ATTEMPT_FAILED, .reason = failed);
	op_reset(agent, call);
}

static void
on_stop(void *arg, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	struct stop *s;

	(void)arg;
	(void)params;
	s = xcalloc(1, sizeof *s);
	s->before = agent->worker->status;
	worker_op_begin(&s->op, &kind, agent, call);
}

/* --- message, reject -------------------------------------------------- */

/* What is to be said, with comments on lines of the change, and by whom if it
 * is no person. */
static bool
read_words(
    struct server_call *call, struct json_object *params, struct buf *out)
{
	const char *sender = json_string_or(params, "sender", NULL);
	cleanup_json struct json_object *comments = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *list = NULL;
	struct err err = { 0 };

	json_object_object_get_ex(params, "comments", &list);
	if (list != NULL &&
	    comments_read(list, "comments", &comments, &err) < 0) {
		serve_refuse(call, RPC_INVALID_PARAMS, "%s", err.msg);
		return false;
	}
	/* The comments are enough. */
	if ((comments == NULL || json_object_array_length(comments) == 0 ||
		json_string_or(params, "text", NULL) != NULL) &&
	    !worker_commands_text(call, params, "text", &text))
		return false;
	if (comments != NULL && json_object_array_length(comments) > 0) {
		buf_adds(&text, text.len > 0 ? "\n\n" : "");
		comments_text(
		    comments, json_string_or(params, "commit", NULL), &text);
	}
	if (sender != NULL)
		prompt_from_worker(sender, text.data, out);
	else
		buf_adds(out, text.data);
	return true;
}

static void
answer_sent(struct agent *agent, struct server_call *call,
    enum worker_status before, struct json_object *result)
{

	json_set_string(result, "worker", agent->worker->name);
	json_set_bool(result, "message_sent", true);
	json_set_string(result, "previous_status", worker_status_name(before));
	json_set_string(
	    result, "new_status", worker_status_name(agent->worker->status));
	serve_reply(agent->core, call, result);
}

static void
on_message(void *arg, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	const struct worker *w = agent->worker;
	enum worker_status before = w->status;
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *wanted = NULL;

	(void)arg;
	if (!agent_message_fits(agent)) {
		wanted = xasprintf(
		    "give it a task with: llmc start --worker %s", w->name);
		worker_commands_wrong_status(call, w,
		    before == WORKER_IDLE || before == WORKER_OFFLINE ?
			wanted :
			"it cannot take a message now");
		return;
	}
	if (worker_commands_prompt_under_way(agent, call) ||
	    !read_words(call, params, &text))
		return;
	if (agent_message(agent, text.data) < 0) {
		worker_commands_wrong_status(
		    call, w, "it cannot take a message now");
		return;
	}
	answer_sent(agent, call, before, json_object_new_object());
}

static bool
may_reject(struct agent *agent, struct server_call *call)
{
	if (agent->worker->status == WORKER_NEEDS_REVIEW)
		return !worker_commands_prompt_under_way(agent, call);
	worker_commands_wrong_status(
	    call, agent->worker, "only finished work can be rejected");
	return false;
}

static void
reject(void *arg, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	enum worker_status before = agent->worker->status;
	cleanup_buf struct buf feedback = BUF_INIT, text = BUF_INIT;
	struct json_object *result;

	(void)arg;
	if (!may_reject(agent, call) || !read_words(call, params, &feedback))
		return;
	prompt_rejection(feedback.data, &text);
	agent_move(agent, WORKER_REJECTED, NULL);
	agent_prompt(agent, text.data, false, WORKER_REJECTED);
	result = json_object_new_object();
	json_set_string(
	    result, "commit_sha", json_string_or(params, "commit", NULL));
	answer_sent(agent, call, before, result);
}

static void
on_reject(void *arg, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	if (may_reject(agent, call))
		op_inspect(agent, call, params, 0, reject, arg);
}

void
worker_commands_register(struct fleet *fleet)
{
	serve_handle(fleet->core, "worker.add", on_add, fleet);
	fleet_handle(fleet, "worker.nuke", on_nuke, NULL);
	fleet_handle(fleet, "worker.reset", on_reset, NULL);
	fleet_handle(fleet, "worker.stop", on_stop, NULL);
	fleet_handle(fleet, "worker.message", on_message, NULL);
	fleet_handle(fleet, "worker.reject", on_reject, NULL);
}
