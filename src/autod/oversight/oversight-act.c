/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent.h"
#include "auto.h"
#include "behaviour.h"
#include "book-history.h"
#include "emit.h"
#include "error-signature.h"
#include "fleet.h"
#include "iteration.h"
#include "jsonl.h"
#include "ladder.h"
#include "loop.h"
#include "notice.h"
#include "outcome.h"
#include "oversight-floor.h"
#include "oversight-private.h"
#include "park.h"
#include "persist.h"
#include "person.h"
#include "serve.h"
#include "task.h"
#include "watched.h"
#include "worker-op.h"
#include "workspace.h"

/* --- people -------------------------------------------------------------- */

static const char *const titles[STEP_COUNT] = {
	[STEP_NONE] = "oversight has seen something",
	[STEP_LOG] = "oversight has seen something",
	[STEP_WARN] = "oversight has warned a worker",
	[STEP_CHECK] = "oversight has work checked as it is",
	[STEP_REDIRECT] = "oversight has redirected a worker",
	[STEP_RESTART] = "oversight has begun a fresh session",
	[STEP_RETRY] = "oversight has begun a new attempt",
	[STEP_PAUSE] = "oversight has parked a task",
};

/* Words that llmc answer knows as --yes and --no. */
static const char *const choices[] = { "continue", "abort", NULL };

void
oversight_tell(const struct oversight_floor *floor, const struct watched *w,
    const char *worker, const struct detection *d, enum progress_step level,
    const char *text)
{
	cleanup_buf struct buf signature = BUF_INIT;
	cleanup_json struct json_object *detection = detection_to_json(d);
	const struct task *t = state_task(&floor->core->state, w->task);
	cleanup_free char *event =
	    xasprintf("oversight/%s/%" PRId64 "/%s/%s", w->task, w->count,
		detection_type_words[d->type], progress_step_words[level]);
	struct escalation what = { .event = event,
		.asked = level >= STEP_PAUSE,
		.title = titles[level],
		.text = text,
		.worker = worker,
		.task = w->task,
		.task_title = t != NULL ? t->title : NULL,
		.iteration = w->count,
		.intervention = progress_step_words[level],
		.detection = detection,
		.options = level == STEP_PAUSE ? choices : NULL };
	const char *task;
	const char *error;

	if (hand_task_worker(w->task) != NULL ||
	    !escalation_of_intervention(progress_step_words[level],
		severity_words[d->severity], &what.level))
		return;
	/* The same error of several workers is one failure; anything else is
	 * one of its task. */
	task = w->task;
	error = json_string_or(d->evidence, "repeatedError", "");
	buf_addf(&signature, "oversight %s ", detection_type_words[d->type]);
	if (d->type == DETECTION_STUCK && *error != '\0')
		error_signature(error, strlen(error), &signature);
	else
		buf_adds(&signature, task);
	what.signature = signature.data;
	if (level >= STEP_PAUSE)
		what.class = notice_name(NOTICE_TASK);
	person_escalate(floor->core, &what);
}

/* --- several workers -------------------------------------------------- */

static const char all_workers[] = "fleet"; /* not a type of detection */

/* One event, and one message to people, not one for each worker. */
static void
tell_of_fleet(
    const struct oversight_floor *floor, size_t workers, const char *error)
{
	cleanup_buf struct buf signature = BUF_INIT;
	cleanup_free char *reason =
	    xasprintf("%zu workers have the same error: %.200s; look at them "
		      "with: llmc status",
		workers, error);

	EMIT(floor->core, EVENT_OVERSIGHT, .class = all_workers,
	    .action = "log", .reason = reason);
	if (floor->config.mode == OVERSIGHT_OBSERVE)
		return;
	error_signature(error, strlen(error), &signature);
	person_tell(floor->core,
	    &(struct notice){ .class = NOTICE_WORKER,
		.what = "several workers have the same error",
		.why = reason,
		.signature = signature.data });
}

void
oversight_tell_fleet(struct oversight_floor *floor, const char *worker,
    const struct iteration *it)
{
	for (size_t i = 0; i < strv_count(it->errors); i++) {
		uint64_t hash =
		    error_signature_hash(it->errors[i], strlen(it->errors[i]));
		size_t workers = 0;

		if (hash != 0 && fleet_pattern_is_shared(it->errors[i]))
			workers = fleet_pattern_see(
			    &floor->pattern, hash, worker, clock_mono_ms());
		if (workers > 0)
			tell_of_fleet(floor, workers, it->errors[i]);
	}
}

/* --- what is due ---------------------------------------------------------- */

static bool
is_observed(const struct oversight_floor *floor)
{
	return floor->config.mode == OVERSIGHT_OBSERVE;
}

static void
tell(const struct oversight_floor *floor, const char *worker,
    const struct watched *w, const struct detection *d,
    enum progress_step level)
{
	cleanup_free char *observed = is_observed(floor) && level > STEP_LOG ?
	    xasprintf("only observed: %s", d->message) :
	    NULL;

	EMIT(floor->core, EVENT_OVERSIGHT, .worker = worker,
	    .task = hand_task_worker(w->task) == NULL ? w->task : NULL,
	    .class = detection_type_words[d->type],
	    .action = progress_step_words[level],
	    .reason = observed != NULL ? observed : d->message);
}

/* Is the pattern there? Then describe it. */
static bool
describe_any(const struct watched *w, int type, struct detection *ret_detection)
{
	if (behaviour_severity(w->behaviour, (enum detection_type)type) ==
	    SEVERITY_NONE)
		return false;
	behaviour_describe(
	    w->behaviour, (enum detection_type)type, ret_detection);
	return true;
}

/* Is something of this type due, and not being delivered? */
static bool
describe(const struct watched *w, int type, struct detection *ret_detection)
{
	return w->due[type] != STEP_NONE &&
	    w->giving[type].level == STEP_NONE &&
	    describe_any(w, type, ret_detection);
}

static void
deliver(const struct oversight_floor *floor, struct watched *w,
    const char *worker, const struct detection *d)
{
	tell(floor, worker, w, d, w->due[d->type]);
	watched_delivered(w, worker, d, is_observed(floor));
}

/* --- delivered, then recorded ---------------------------------------- */

/* Is it part of a prompt, or of an answer to a hook? */
static bool
is_said(const struct watched_giving *giving)
{
	return giving->level != STEP_NONE && giving->level < STEP_PAUSE &&
	    !giving->context;
}

void
oversight_act_replaced(struct watched *w)
{
	for (int i = 0; i < DETECTION_TYPES; i++)
		if (is_said(&w->giving[i]))
			w->giving[i] = (struct watched_giving){ 0 };
}

void
oversight_act_given(struct oversight_floor *floor, struct watched *w,
    const char *worker, bool parked)
{
	for (int i = 0; i < DETECTION_TYPES; i++) {
		struct detection d;

		/* A pause is recorded when the task is parked. */
		if (w->giving[i].level == STEP_NONE ||
		    w->giving[i].level == STEP_PAUSE ||
		    (parked && is_said(&w->giving[i])))
			continue;
		if (describe_any(w, i, &d)) {
			deliver(floor, w, worker, &d);
			detection_release(&d);
		}
		w->giving[i] = (struct watched_giving){ 0 };
	}
}

/* What waited for the state (answers, too) has been done in this pass. */
static void
on_saved(void *arg)
{
	const struct oversight_floor *floor = arg;

	loop_call_request(floor->given);
}

/* text: NULL = what was found. */
static void
tell_people(const struct oversight_floor *floor, const struct watched *w,
    const char *worker, const struct detection *d, const char *text)
{
	cleanup_buf struct buf reason = BUF_INIT;

	progress_reason(d, &reason);
	oversight_tell(floor, w, worker, d, w->due[d->type],
	    text != NULL ? text : reason.data);
}

/* A daemon that dies before it is recorded does it again. text: for
 * people. */
static void
give(struct oversight_floor *floor, struct watched *w, const char *worker,
    const struct detection *d, const char *text, bool context)
{
	tell_people(floor, w, worker, d, text);
	w->giving[d->type] =
	    (struct watched_giving){ w->due[d->type], context };
	persist_then(floor->core, floor, on_saved, floor);
}

void
oversight_act_log(
    struct oversight_floor *floor, struct watched *w, const struct agent *agent)
{
	for (int i = 0; i < DETECTION_TYPES; i++) {
		struct detection d;

		if ((w->due[i] != STEP_LOG && w->due[i] != STEP_CHECK &&
			!is_observed(floor)) ||
		    !describe(w, i, &d))
			continue;
		if (!is_observed(floor))
			tell_people(floor, w, agent->worker->name, &d, NULL);
		deliver(floor, w, agent->worker->name, &d);
		detection_release(&d);
	}
}

static void
add_text(const struct agent *agent, const struct detection *d,
    enum progress_step level, struct buf *out)
{
	const struct task *t = auto_task(agent);

	if (out->len > 0)
		buf_adds(out, "\n\n");
	if (level == STEP_REDIRECT)
		progress_redirection(d, t != NULL ? t->text : NULL, out);
	else
		progress_warning(d, out);
}

static void
add_texts(struct oversight_floor *floor, struct watched *w,
    const struct agent *agent, enum progress_step level, bool context,
    struct buf *out)
{
	for (int i = 0; i < DETECTION_TYPES; i++) {
		struct detection d;

		if (w->due[i] != level || !describe(w, i, &d))
			continue;
		add_text(agent, &d, level, out);
		give(floor, w, agent->worker->name, &d, NULL, context);
		detection_release(&d);
	}
}

void
oversight_act_add(struct oversight_floor *floor, struct watched *w,
    const struct agent *agent, bool context, struct buf *out)
{
	add_texts(floor, w, agent, STEP_REDIRECT, context, out);
	add_texts(floor, w, agent, STEP_WARN, context, out);
}

void
oversight_act_again(const struct oversight_floor *floor,
    const struct watched *w, const struct agent *agent, struct buf *out)
{
	for (int i = 0; i < DETECTION_TYPES; i++) {
		struct detection d;

		if (!watched_is_vain(w, (enum detection_type)i) ||
		    !describe_any(w, i, &d))
			continue;
		add_text(agent, &d, STEP_REDIRECT, out);
		tell(floor, agent->worker->name, w, &d, STEP_REDIRECT);
		detection_release(&d);
	}
}

/* --- pause ----------------------------------------------------------- */

/* As at a budget: the task waits for a person, and its worker does another
 * one. */
static void
park(struct oversight_floor *floor, struct watched *w, struct agent *agent,
    const struct detection *d)
{
	cleanup_buf struct buf reason = BUF_INIT;
	const struct task *t = auto_task(agent);

	buf_adds(&reason, "stopped by oversight: ");
	progress_reason(d, &reason);
	buf_addf(&reason,
	    "; look at it with: llmc task iterations %s, continue with: llmc resume "
	    "%s --note TEXT",
	    t->id, t->id);
	give(floor, w, agent->worker->name, d, reason.data, false);
	op_park_task(floor->mode, agent, ASK_FAILURE, reason.data);
}

static const struct task *
parked_task(const struct oversight_floor *floor, const struct watched *w)
{
	const struct task *t = state_task(&floor->core->state, w->task);

	return t != NULL && t->step == TASK_PARKED ? t : NULL;
}

static void
on_parked(void *arg)
{
	struct oversight_floor *floor = arg;
	struct watched *w = NULL;

	LIST_FOREACH (w, &floor->watched, entry) {
		const struct task *t = parked_task(floor, w);

		for (int i = 0; t != NULL && i < DETECTION_TYPES; i++) {
			struct detection d;

			if (w->due[i] != STEP_PAUSE || !describe_any(w, i, &d))
				continue;
			deliver(floor, w, t->worker, &d);
			detection_release(&d);
		}
	}
}

/* It is not about to be parked any more: it is due again. */
static void
give_up(const struct oversight_floor *floor, struct watched *w)
{
	const struct task *t = state_task(&floor->core->state, w->task);
	const struct agent *agent = t != NULL && t->worker != NULL ?
	    fleet_find(floor->fleet, t->worker) :
	    NULL;

	if (agent != NULL && auto_task(agent) == t && agent_is_taken(agent))
		return;
	for (int i = 0; i < DETECTION_TYPES; i++)
		if (w->giving[i].level == STEP_PAUSE)
			w->giving[i] = (struct watched_giving){ 0 };
}

void
oversight_act_parked(struct oversight_floor *floor)
{
	struct watched *w = NULL;
	bool any = false;

	LIST_FOREACH (w, &floor->watched, entry) {
		if (!watched_waits(w))
			continue;
		if (parked_task(floor, w) != NULL)
			any = true;
		else
			give_up(floor, w);
	}
	if (any)
		persist_then(floor->core, floor, on_parked, floor);
}

/* --- a fresh session, a new attempt ----------------------------------- */

/* What the next worker of the task must know. words: what this worker would get
 * now; NULL = what the check printed last. */
static void
add_learned(const struct watched *w, const struct detection *d,
    const char *last_words, const char *words, struct buf *out)
{
	progress_learned(
	    d, last_words, words != NULL ? words : w->failure, out);
}

bool
oversight_act_stop(struct oversight_floor *floor, struct watched *w,
    struct agent *agent, const char *words)
{
	enum detection_type type = DETECTION_STUCK;
	enum progress_step step = watched_due(w, &type);
	const struct task *t = auto_task(agent);
	struct detection d;
	bool on;

	if (step < STEP_RESTART || agent_is_taken(agent) ||
	    floor->core->stopping || t == NULL || t->step != TASK_ASSIGNED ||
	    !auto_drives(floor->mode, agent) ||
	    !worker_in_turn(agent->worker->status) ||
	    !describe(w, (int)type, &d))
		return false;
	on = step == STEP_PAUSE && outcome_is_handed_on(floor->mode, t);
	if (step == STEP_RESTART) {
		cleanup_buf struct buf text = BUF_INIT;

		agent_task_text(agent, &text);
		buf_adds(&text, "\n\n");
		add_learned(w, &d, auto_task(agent)->last_words, words, &text);
		buf_adds(&text,
		    "\nThe worktree has the work so far: keep what is right.\n");
		give(floor, w, agent->worker->name, &d, NULL, false);
		if (agent->worker->session.busy)
			agent_interrupt(agent);
		agent_prompt(agent, text.data, true, agent->worker->status);
	} else if (step == STEP_RETRY || on) {
		cleanup_buf struct buf reason = BUF_INIT;

		w->due[type] = STEP_RETRY;
		/* The watched task may be gone then. Its prompt has the last
		 * words. on: no attempt is to follow, but what the plan says.
		 */
		add_learned(w, &d, NULL, words, &reason);
		tell_people(floor, w, agent->worker->name, &d, NULL);
		deliver(floor, w, agent->worker->name, &d);
		if (on)
			outcome_hand_on(floor->mode, agent, reason.data);
		else
			outcome_attempt_stuck(floor->mode, agent, reason.data);
	} else {
		park(floor, w, agent, &d);
	}
	detection_release(&d);
	return true;
}

#define EVIDENCE_MAX ((size_t)8 * 1024 * 1024)
#define TASKS_MAX    200 /* that there is evidence of */
#define CHECKS_MAX   50 /* of all workers that are looked at */

/* --- evidence -------------------------------------------------------- */

static bool
on_turn(const char *task, int64_t seq, struct json_object *record, void *arg)
{
	struct buf *text = arg;

	(void)task;
	(void)seq;
	json_print(record, false, text);
	buf_addc(text, '\n');
	return text->len < EVIDENCE_MAX;
}

static int
newest_first(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*b)->d_name, (*a)->d_name);
}

static void
prune(const struct oversight_floor *floor)
{
	cleanup_free char *dir =
	    workspace_path(floor->core->workspace, "aborted");
	struct dirent **list = NULL;
	int count = scandir(dir, &list, NULL, newest_first), kept = 0;

	for (int i = 0; i < count; i++) {
		cleanup_free char *path = file_join(dir, list[i]->d_name);

		if (list[i]->d_name[0] != '.' && kept++ >= TASKS_MAX)
			remove_tree(path);
		free(list[i]);
	}
	free(list);
}

/* Before the worker forgets its session. */
static struct json_object *
evidence(const struct oversight_floor *floor, const struct task *t,
    const char *user, const char *why)
{
	struct json_object *json = json_object_new_object();
	const struct agent *agent =
	    t->worker != NULL ? fleet_find(floor->fleet, t->worker) : NULL;

	json_set_string(json, "task", t->id);
	json_set_string(json, "title", t->title);
	json_set_string(json, "worker", t->worker);
	json_set_string(json, "actor", "a person");
	json_set_string(json, "user", user);
	json_set_string(json, "reason", why);
	json_set_int(json, "at_ms", clock_wall_ms());
	if (agent != NULL && auto_task(agent) == t)
		json_set_string(
		    json, "transcript", agent->worker->session.transcript);
	return json;
}

/* Its last checks in its worktree. */
struct checks {
	const char *task;
	struct buf text;
};

static bool
on_check(struct json_object *record, void *arg)
{
	struct checks *checks = arg;

	if (strcmp(json_string_or(record, "task", ""), checks->task) == 0) {
		buf_adds(&checks->text,
		    json_object_to_json_string_ext(
			record, JSON_C_TO_STRING_PLAIN));
		buf_addc(&checks->text, '\n');
	}
	return true;
}

/* What cannot be written is missing. */
static void
keep(const char *dir, const char *name, const struct buf *text)
{
	cleanup_free char *file = file_join(dir, name);
	struct err err = { 0 };

	if (text->len > 0 &&
	    file_replace(file, text->data, text->len, 0600, &err) < 0)
		log_debug("%s", err.msg);
}

static void
keep_evidence(const struct oversight_floor *floor, const char *task,
    struct json_object *json)
{
	const struct workspace *workspace = floor->core->workspace;
	cleanup_free char *name = xasprintf("aborted/%s", task);
	cleanup_free char *dir = workspace_path(workspace, name);
	cleanup_free char *file = file_join(dir, "abort.json");
	cleanup_free char *log = workspace_path(workspace, "logs/check.log");
	cleanup_buf struct buf turns = BUF_INIT;
	struct checks checks = { .task = task };
	struct err err = { 0 };

	if (file_mkdirs(dir, 0700, &err) < 0 ||
	    json_save(file, json, 0600, &err) < 0)
		log_debug("%s", err.msg);
	if (book_read_turns(floor->core->book, task, 0, on_turn, &turns, &err) <
	    0)
		log_debug("%s", err.msg);
	else
		keep(dir, "iterations.jsonl", &turns);
	buf_init(&checks.text);
	jsonl_last(log, CHECKS_MAX, on_check, &checks, NULL);
	keep(dir, "checks.jsonl", &checks.text);
	buf_release(&checks.text);
	prune(floor);
}

/* As outcome_drop(). The task may be gone on success. */
static int
abort_task(struct oversight_floor *floor, struct task *t, const char *user,
    const char *why, struct err *err)
{
	cleanup_json struct json_object *json = evidence(floor, t, user, why);
	cleanup_free char *id = xstrdup(t->id);
	cleanup_buf struct buf reason = BUF_INIT;
	int r;

	buf_adds(&reason, "aborted by a person");
	if (user != NULL)
		buf_addf(&reason, " (%s)", user);
	if (why != NULL)
		buf_addf(&reason, ": %s", why);
	buf_addf(&reason, "; the evidence is in .llmc/aborted/%s", id);
	r = outcome_drop(floor->mode, t, reason.data, err);
	if (r == 0)
		keep_evidence(floor, id, json);
	return r;
}

/* --- task.abort ------------------------------------------------------ */

/* The task knows that it is to be aborted; this is who waits for it. */
struct abort_wait {
	LIST_ENTRY(abort_wait) entry;
	struct server_call *call;
	char *task;
};

static void
wait_free(struct abort_wait *wait)
{
	LIST_REMOVE(wait, entry);
	free(wait->task);
	free(wait);
}

static void
refuse_unknown(const struct oversight_floor *floor, struct server_call *call,
    const char *name)
{
	struct task *filed;

	if (fleet_find(floor->fleet, name) != NULL) {
		serve_refuse(call, API_STATUS,
		    "%s has no task of auto mode; to free it, type: llmc reset "
		    "%s",
		    name, name);
		return;
	}
	filed = book_find_task(floor->core->book, name);
	if (filed != NULL)
		serve_refuse(call, API_STATUS, "%s has ended already: %s", name,
		    task_outcome_name(filed->outcome));
	else
		serve_refuse(call, API_UNKNOWN,
		    "%s is neither a worker nor a task that is in progress; "
		    "type: llmc task list; one that is not taken is "
		    "removed with: llmc task drop %s",
		    name, name);
	task_free(filed);
}

/* Answer those who wait for this task. err: NULL = it is aborted. */
static void
answer(struct oversight_floor *floor, const char *task, const struct err *err)
{
	struct abort_wait *wait, *next;
	struct json_object *result;

	for (wait = LIST_FIRST(&floor->aborts); wait != NULL; wait = next) {
		next = LIST_NEXT(wait, entry);
		if (strcmp(wait->task, task) != 0)
			continue;
		if (err != NULL) {
			serve_refuse(wait->call, API_STATUS,
			    "%s is not aborted: %s", task, err->msg);
		} else {
			result = json_object_new_object();
			json_set_string(result, "task", task);
			json_set_string(result, "status", "aborted");
			serve_reply(floor->core, wait->call, result);
		}
		wait_free(wait);
	}
}

static void
settle_one(struct oversight_floor *floor, struct task *t)
{
	cleanup_free char *id = xstrdup(t->id);
	cleanup_free char *why = xstrdup(t->abort_why);
	cleanup_free char *user =
	    t->abort_user != NULL ? xstrdup(t->abort_user) : NULL;
	struct err err = { 0 };
	int r = abort_task(floor, t, user, why[0] != '\0' ? why : NULL, &err);

	if (r == -EBUSY) {
		struct agent *agent = t->worker != NULL ?
		    fleet_find(floor->fleet, t->worker) :
		    NULL;

		/* What may last long is not waited for. */
		if (agent != NULL && auto_task(agent) == t &&
		    agent->op != NULL && agent->op->op.kind->yields &&
		    !agent->op->op.cancelled)
			operation_cancel(&agent->op->op, "its task is aborted");
		return;
	}
	t = state_task(&floor->core->state, id);
	if (t != NULL) {
		xstrset(&t->abort_why, NULL);
		xstrset(&t->abort_user, NULL);
		persist_changed(floor->core);
	}
	answer(floor, id, r < 0 ? &err : NULL);
}

void
oversight_abort_settle(struct oversight_floor *floor)
{
	const struct state *state = &floor->core->state;
	cleanup_strv char **ids = NULL;
	struct abort_wait *wait, *next;

	for (size_t i = 0; i < state->task_count; i++)
		if (state->tasks[i]->abort_why != NULL)
			strv_add(&ids, state->tasks[i]->id);
	for (char **id = ids; id != NULL && *id != NULL; id++) {
		struct task *t = state_task(state, *id);

		if (t != NULL && t->abort_why != NULL)
			settle_one(floor, t);
	}
	for (wait = LIST_FIRST(&floor->aborts); wait != NULL; wait = next) {
		next = LIST_NEXT(wait, entry);
		if (state_task(state, wait->task) != NULL)
			continue;
		refuse_unknown(floor, wait->call, wait->task);
		wait_free(wait);
	}
}

static void
on_abort(void *arg, struct server_call *call, struct json_object *params)
{
	struct oversight_floor *floor = arg;
	const char *name = json_string_or(params, "task", "");
	const char *why = json_string_or(params, "reason", NULL);
	const char *user = json_string_or(params, "user", NULL);
	struct task *t;
	struct abort_wait *wait;
	const struct agent *agent = fleet_find(floor->fleet, name);

	/* By whatever names it, or that of a worker. */
	t = agent != NULL ? auto_task(agent) :
			    state_task_named(&floor->core->state, name, NULL);
	if (t == NULL) {
		refuse_unknown(floor, call, name);
		return;
	}
	xstrset(&t->abort_why, why != NULL ? why : "");
	xstrset(&t->abort_user, user);
	persist_changed(floor->core);
	wait = xcalloc(1, sizeof *wait);
	wait->call = call;
	wait->task = xstrdup(t->id);
	LIST_INSERT_HEAD(&floor->aborts, wait, entry);
	oversight_abort_settle(floor);
}

void
oversight_abort_stop(struct oversight_floor *floor)
{
	struct abort_wait *wait;

	while ((wait = LIST_FIRST(&floor->aborts)) != NULL) {
		serve_refuse(wait->call, API_STATUS,
		    "%s is not aborted yet: the daemon is stopping; the next "
		    "one does it",
		    wait->task);
		wait_free(wait);
	}
}

void
oversight_abort_register(struct oversight_floor *floor)
{
	serve_handle(floor->core, "task.abort", on_abort, floor);
}
