/* SPDX-License-Identifier: ISC */

/* What people and agents ask of tasks: the methods task.*. */

#include "base.h"
#include "agent-card.h"
#include "agent-kind.h"
#include "asks.h"
#include "attempt.h"
#include "auto-private.h"
#include "auto.h"
#include "book-history.h"
#include "box-plan.h"
#include "emit.h"
#include "intake.h"
#include "landing.h"
#include "loop.h"
#include "outcome.h"
#include "persist.h"
#include "serve.h"
#include "source.h"
#include "state.h"
#include "taskfile.h"

#define MADE_MAX 50 /* open tasks that an agent has added */

/* NULL if it cannot be opened; the call is answered then. */
static struct source *
command_open_source(struct auto_mode *mode, struct server_call *call)
{
	struct err err = { 0 };
	struct source *source = intake_source(mode, &err);

	if (source == NULL)
		serve_refuse(call, API_FAILED, "%s", err.msg);
	return source;
}

static enum api_error
error_of(int code)
{
	switch (code) {
	case -ENOENT:
	case -EINVAL:
		return API_UNKNOWN;
	case -EALREADY:
	case -EBUSY:
		return API_STATUS;
	case -ESTALE:
		return API_CHANGED;
	default:
		return API_FAILED;
	}
}

/* Answer with the source's error. */
static void
refuse(struct server_call *call, const struct err *err)
{
	serve_refuse(call, error_of(err->code), "%s", err->msg);
}

static void
answer(struct auto_mode *mode, struct server_call *call, const char *task,
    const char *what, const char *word)
{
	struct json_object *result = json_object_new_object();

	json_set_string(result, "task", task);
	json_set_string(result, what, word);
	serve_reply(mode->core, call, result);
}

/* --- what a call names
 * ---------------------------------------------------------- */

/* By its id, which is unique; of those with the same name at the source, the
 * newest. */
static struct task *
find_filed(const struct core *core, const char *name)
{
	struct task *t = book_find_task(core->book, name);

	if (t != NULL)
		return t;
	for (int type = 0; t == NULL && type < SOURCE_TYPE_COUNT; type++)
		if (source_type_flags((enum source_type)type) & SOURCE_RETRIES)
			t = book_find_task_key(core->book,
			    source_type_name((enum source_type)type), name);
	return t;
}

/* The task that a call names, for caller_reaches(): the one that the handler
 * will find. */
static int
task_target(void *arg, const char *worker, const struct api_method *method,
    struct json_object *params, struct api_target *ret_target)
{
	struct auto_mode *mode = arg;
	const char *name = json_string_or(params, "task", "");
	const struct task *ours =
	    state_task_named(&mode->core->state, name, NULL);
	struct task *filed =
	    ours == NULL && strcmp(method->name, "task.retry") == 0 ?
	    find_filed(mode->core, name) :
	    NULL;
	const struct task *t = ours != NULL ? ours : filed;
	enum box_mode box = BOX_OFF;
	cleanup_free char *maker = NULL;

	if (t != NULL) {
		maker = task_is_made_by(t, worker) ? xstrdup(worker) : NULL;
		if (t->sandbox != NULL)
			box_mode_parse(t->sandbox, &box);
	} else if (intake_source(mode, NULL) != NULL) {
		maker = source_maker(mode->source, name, &box);
	}
	*ret_target = (struct api_target){ .name = name,
		.kin = text_is(maker, worker) ? API_KIN_SELF : API_KIN_OTHER,
		.box = box,
		.waits = ours != NULL && task_asks(ours) };
	task_free(filed);
	return 0;
}

/* Has the agent that calls as many open tasks as it may? Then the call is
 * answered. */
static bool
has_too_many(struct auto_mode *mode, struct server_call *call,
    struct json_object *params)
{
	const char *sender = json_string_or(params, "sender", NULL);
	const struct state *state = &mode->core->state;
	size_t count = 0;

	if (sender == NULL)
		return false;
	if (intake_source(mode, NULL) != NULL)
		count = source_made(mode->source, sender);
	/* One that is only offered is counted there. */
	for (size_t i = 0; i < state->task_count; i++) {
		const struct task *t = state->tasks[i];

		count += task_is_made_by(t, sender) &&
		    t->step != TASK_OFFERED && t->step != TASK_SETTLING;
	}
	if (count < MADE_MAX)
		return false;
	serve_refuse(call, API_FAILED,
	    "%s has added %zu tasks that are not done, and an agent may have "
	    "%d; wait until some are done, or drop some with: llmc task drop",
	    sender, count, MADE_MAX);
	return true;
}

/* --- add ------------------------------------------------------------- */

static void
on_add(void *arg, struct server_call *call, struct json_object *params)
{
	struct auto_mode *mode = arg;
	struct source *source = command_open_source(mode, call);
	cleanup_free char *key = NULL, *path = NULL;
	cleanup_json struct json_object *contract = NULL;
	struct json_object *result;
	struct err err = { 0 };
	struct task_head head;
	const char *prompt;
	const char *sender, *wants = json_string_or(params, "wants", "");
	cleanup_strv char **words = NULL;

	if (source == NULL || has_too_many(mode, call, params))
		return;
	prompt = task_head_read(json_string_or(params, "text", ""), &head);
	priority_parse(json_string_or(params, "priority", ""), &head.priority);
	if (json_string_or(params, "agent", NULL) != NULL)
		strlcpy(head.agent, json_string_or(params, "agent", ""),
		    sizeof head.agent);
	if (head.agent[0] != '\0' && agent_kind_find(head.agent) == NULL) {
		cleanup_agent_card struct agent_card *card =
		    agent_card_new(mode->core->settings, head.agent);

		if (card == NULL) {
			serve_refuse(call, API_FAILED,
			    "there is no agent %s: name a kind (llmc doctor "
			    "--agents) or one of [agents] in the settings",
			    head.agent);
			return;
		}
	}
	/* What it adds runs in a sandbox at least as strict as its own. */
	if (strlen(wants) >= sizeof head.wants ||
	    !task_wants_read(wants, &words)) {
		serve_refuse(call, API_FAILED,
		    "wants: words of lower case letters, digits and ._:+-, "
		    "with commas between them");
		return;
	}
	if (words != NULL)
		strlcpy(head.wants, wants, sizeof head.wants);
	sender = json_string_or(params, "sender", NULL);
	strlcpy(head.maker, sender != NULL ? sender : "", sizeof head.maker);
	if (sender != NULL)
		head.sandbox = box_mode_of(mode->core->settings, sender);
	if (task_head_contract(&head, &contract, &err) < 0 ||
	    source_add(source, &head, prompt, &key, &path, &err) < 0) {
		serve_refuse(call, API_FAILED, "%s", err.msg);
		return;
	}
	result = json_object_new_object();
	json_set_string(result, "task", key);
	json_set_string(result, "path", path);
	intake_changed(mode);
	serve_reply(mode->core, call, result);
}

/* --- retry ----------------------------------------------------------- */

/* Can a task be tried again in that source? */
static bool
is_in_source(const char *source)
{
	enum source_type type;

	return source_type_parse(source, &type) &&
	    (source_type_flags(type) & SOURCE_RETRIES) != 0;
}

/* --- tasks in work --------------------------------------------------- */

/* Of any origin; *ret_task NULL = the state does not have it. False: the call
 * was refused, because the name is that of several. */
static bool
find_ours(struct auto_mode *mode, struct server_call *call, const char *name,
    struct task **ret_task)
{
	struct err err = { 0 };

	*ret_task = state_task_named(&mode->core->state, name, &err);
	if (*ret_task != NULL || err.code == -ENOENT)
		return true;
	serve_refuse(call, API_UNKNOWN, "%s", err.msg);
	return false;
}

/* A finished task gets a new id and starts over. */
static void
retry_filed(
    struct auto_mode *mode, struct server_call *call, const struct task *old)
{
	struct state *state = &mode->core->state;
	int64_t now = clock_wall_ms();
	cleanup_free char *id = NULL;
	struct task *t;

	id = state_task_id(state);
	t = task_new_retry(id, old, now);
	if (!intake_is_planned(t))
		task_take(t, now);
	task_note(t, "retried by a person", NULL, now);
	state_add_task(state, t);
	persist_changed(mode->core);
	intake_take(mode);
	loop_call_request(mode->look);
	answer(mode, call, id, "status", "waiting");
}

/* Its file is gone: it becomes a new one. */
static int
add_again(struct source *source, const struct task *old, char **ret_key,
    struct err *err)
{
	struct task_head head = { .priority = old->priority };
	const char *commit = task_earlier_commit(old);

	if (commit != NULL)
		strlcpy(head.commit, commit, sizeof head.commit);
	if (old->maker != NULL) {
		strlcpy(head.maker, old->maker, sizeof head.maker);
		head.sandbox = BOX_STRICT;
		if (old->sandbox != NULL)
			box_mode_parse(old->sandbox, &head.sandbox);
	}
	head.report = old->launch.report_only;
	head.recovery = old->launch.recovery;
	if (old->launch.agent != NULL)
		strlcpy(head.agent, old->launch.agent, sizeof head.agent);
	for (char **w = old->launch.wants; w != NULL && *w != NULL; w++) {
		strlcat(head.wants, w != old->launch.wants ? " " : "",
		    sizeof head.wants);
		strlcat(head.wants, *w, sizeof head.wants);
	}
	if (old->launch.contract != NULL &&
	    task_head_set_contract(&head, old->launch.contract, err) < 0)
		return err->code;
	return source_add(source, &head, old->text, ret_key, NULL, err);
}

/* old: its record, NULL = none. */
static void
retry_in_source(struct auto_mode *mode, struct server_call *call,
    const char *name, const struct task *old)
{
	struct source *source = command_open_source(mode, call);
	cleanup_free char *key = xstrdup(old != NULL ? old->key : name);
	bool landed = old != NULL && old->outcome == OUTCOME_LANDED;
	struct err err = { 0 };
	int r;

	if (source == NULL)
		return;
	r = source_retry(
	    source, key, landed && old != NULL ? old->commit : NULL, &err);
	if (r == -ENOENT && old != NULL && old->text != NULL) {
		if ((source_flags(source) & SOURCE_EDITABLE) == 0) {
			retry_filed(mode, call, old);
			return;
		}
		free(take_ptr(&key));
		r = add_again(source, old, &key, &err);
	}
	if (r < 0) {
		refuse(call, &err);
		return;
	}
	intake_changed(mode);
	answer(mode, call, key, "status", "todo");
}

static void
on_retry(void *arg, struct server_call *call, struct json_object *params)
{
	struct auto_mode *mode = arg;
	const char *name = json_string_or(params, "task", "");
	struct err err = { 0 };
	struct task *ours, *old;

	if (!find_ours(mode, call, name, &ours))
		return;
	if (ours != NULL && task_unpark(ours, NULL, clock_wall_ms()) == 0) {
		pause_grant(mode, ours);
		persist_changed(mode->core);
		EMIT(mode->core, EVENT_TASK_RESUMED, .task = ours->id);
		loop_call_request(mode->look);
		answer(mode, call, ours->id, "status", "waiting");
		return;
	}
	if (ours != NULL && task_asks(ours)) { /* it is being put aside */
		task_answer(ours, NULL);
		persist_changed(mode->core);
		answer(mode, call, ours->id, "status", "waiting");
		return;
	}
	if (has_too_many(mode, call, params))
		return;
	old = find_filed(mode->core, name);
	/* Also without a daemon, which knows no plan. */
	if (old != NULL && task_is_child(old) &&
	    old->outcome != OUTCOME_LANDED) {
		serve_refuse(call, API_STATUS,
		    "%s cannot be done again: it was for %s, which was told "
		    "how it ended, and decides",
		    old->id, old->launch.parent);
		task_free(old);
		return;
	}
	if (old != NULL && intake_is_planned(old) &&
	    mode->policy->again != NULL &&
	    mode->policy->again(mode->policy_arg, old, &err) == -ESTALE) {
		serve_refuse(call, API_STATUS, "%s cannot be done again: %s",
		    old->id, err.msg);
		task_free(old);
		return;
	}
	if (old != NULL) {
		cleanup_free char *key = xasprintf("task/%s", old->id);

		asks_resolve(mode->core, key);
	}
	if (old != NULL && !is_in_source(old->source))
		retry_filed(mode, call, old);
	else
		retry_in_source(mode, call, name, old);
	task_free(old);
}

static bool
has_landed(const struct task *t)
{
	return t->step == TASK_LANDED || t->step == TASK_SETTLING;
}

/* --- edit ------------------------------------------------------------ */

static void
on_edit(void *arg, struct server_call *call, struct json_object *params)
{
	struct auto_mode *mode = arg;
	const char *name = json_string_or(params, "task", "");
	struct source *source = command_open_source(mode, call);
	struct json_object *result;
	struct err err = { 0 };
	struct task *t;

	if (source == NULL || !find_ours(mode, call, name, &t))
		return;
	if (t != NULL) {
		serve_refuse(call, API_STATUS,
		    "it is in progress (%s); only a task that is not taken "
		    "can be edited",
		    task_step_name(t->step));
		return;
	}
	if (source_edit(source, name, json_string_or(params, "before", ""),
		json_string_or(params, "text", ""), &err) < 0) {
		refuse(call, &err);
		return;
	}
	result = json_object_new_object();
	json_set_string(result, "task", name);
	intake_changed(mode);
	serve_reply(mode->core, call, result);
}

/* --- priority -------------------------------------------------------- */

/* Also in the source, where possible: it may get the task back. */
static void
prioritize_ours(struct auto_mode *mode, struct server_call *call,
    struct task *t, enum priority priority)
{
	if (has_landed(t)) {
		serve_refuse(call, API_STATUS, "it has landed already");
		return;
	}
	if (t->priority != priority)
		task_note(
		    t, "priority", priority_name(priority), clock_wall_ms());
	t->priority = priority;
	landings_prioritize(
	    mode->landings, t->id, (int)task_landing_priority(t));
	if (intake_source(mode, NULL) != NULL && intake_owns(mode, t))
		source_prioritize(mode->source, t->key, priority, NULL);
	persist_changed(mode->core);
	loop_call_request(mode->look);
	answer(mode, call, t->id, "priority", priority_name(priority));
}

static void
prioritize_in_source(struct auto_mode *mode, struct server_call *call,
    const char *key, enum priority priority)
{
	struct source *source = command_open_source(mode, call);
	struct err err = { 0 };

	if (source == NULL)
		return;
	if (source_prioritize(source, key, priority, &err) < 0)
		refuse(call, &err);
	else
		answer(mode, call, key, "priority", priority_name(priority));
}

static void
on_priority(void *arg, struct server_call *call, struct json_object *params)
{
	struct auto_mode *mode = arg;
	const char *name = json_string_or(params, "task", "");
	enum priority priority = PRIORITY_NORMAL;
	struct task *t;

	priority_parse(json_string_or(params, "priority", ""), &priority);
	if (!find_ours(mode, call, name, &t))
		return;
	if (t != NULL)
		prioritize_ours(mode, call, t, priority);
	else
		prioritize_in_source(mode, call, name, priority);
}

/* --- drop ------------------------------------------------------------ */

static void
drop_ours(struct auto_mode *mode, struct server_call *call, struct task *t,
    struct json_object *params)
{
	cleanup_free char *id = xstrdup(t->id);
	cleanup_free char *why = xasprintf(
	    "dropped by %s", json_string_or(params, "sender", "a person"));
	struct err err = { 0 };
	int r = outcome_drop(mode, t, why, &err);

	if (r < 0) {
		serve_refuse(
		    call, r == -EBUSY ? API_BUSY : API_STATUS, "%s", err.msg);
		return;
	}
	answer(mode, call, id, "status", "aborted");
}

static void
drop_in_source(
    struct auto_mode *mode, struct server_call *call, const char *key)
{
	struct source *source = command_open_source(mode, call);
	struct err err = { 0 };

	if (source == NULL)
		return;
	if (source_drop(source, key, &err) < 0)
		refuse(call, &err);
	else
		answer(mode, call, key, "status", "dropped");
}

static void
on_drop(void *arg, struct server_call *call, struct json_object *params)
{
	struct auto_mode *mode = arg;
	const char *name = json_string_or(params, "task", "");
	struct task *t;

	if (!find_ours(mode, call, name, &t))
		return;
	if (t != NULL)
		drop_ours(mode, call, t, params);
	else
		drop_in_source(mode, call, name);
}

void
task_commands_register(struct auto_mode *mode)
{
	serve_set_target(mode->core, API_REACH_TASK, task_target, mode);
	serve_handle(mode->core, "task.add", on_add, mode);
	serve_handle(mode->core, "task.edit", on_edit, mode);
	serve_handle(mode->core, "task.priority", on_priority, mode);
	serve_handle(mode->core, "task.retry", on_retry, mode);
	serve_handle(mode->core, "task.drop", on_drop, mode);
}
