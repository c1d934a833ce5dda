/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "attempt.h"
#include "auto.h"
#include "contract.h"
#include "emit.h"
#include "failure.h"
#include "intake.h"
#include "loop.h"
#include "persist.h"
#include "source.h"
#include "taskfile.h"

static void
open_source(struct auto_mode *mode, struct err *err)
{
	struct core *core = mode->core;
	cleanup_source_choice struct source_choice choice = { 0 };

	source_choice_init(
	    &choice, core->settings, core->workspace, core->state.root_id);
	choice.options.loop = core->loop;
	if (source_new(&choice.options, &mode->source, err) < 0)
		err_prefix(err, "cannot read the tasks (%s)",
		    source_type_setting(choice.options.type));
}

struct source *
intake_source(struct auto_mode *mode, struct err *err)
{
	if (mode->source == NULL)
		open_source(mode, err);
	return mode->source;
}

bool
intake_owns(const struct auto_mode *mode, const struct task *task)
{
	return strcmp(task->source, source_kind(mode->source)) == 0;
}

bool
intake_is_planned(const struct task *task)
{
	return strcmp(task->source, AUTO_PLAN_SOURCE) == 0;
}

size_t
intake_count(const struct auto_mode *mode, enum task_step step)
{
	const struct state *state = &mode->core->state;
	size_t count = 0;

	for (size_t i = 0; i < state->task_count; i++)
		count += state->tasks[i]->step == step;
	return count;
}

enum intake_kind
intake_kind_of(const struct task *task)
{
	if (task_is_for_team(task))
		return INTAKE_TEAM;
	return intake_is_planned(task) ? INTAKE_PLAN : INTAKE_POOL;
}

size_t
intake_unstarted(const struct auto_mode *mode, enum intake_kind kind)
{
	const struct state *state = &mode->core->state;
	size_t count = 0;

	for (size_t i = 0; i < state->task_count; i++) {
		const struct task *t = state->tasks[i];

		count += intake_kind_of(t) == kind &&
		    (t->step == TASK_OFFERED || t->step == TASK_WAITING);
	}
	return count;
}

void
intake_changed(struct auto_mode *mode)
{
	mode->worth_asking = true;
	loop_call_request(mode->look);
}

/* --- taking tasks ---------------------------------------------------- */

static int
take_from_plan(struct auto_mode *mode, const struct task *t, struct err *err)
{
	if (mode->policy->take == NULL)
		return err_set(err, -ESTALE, "goals are off");
	return mode->policy->take(mode->policy_arg, t, err);
}

/* Returns false if someone else took it. */
static bool
take(struct auto_mode *mode, struct task *t)
{
	struct err err = { 0 };
	int r = 0;

	if (intake_is_planned(t))
		r = take_from_plan(mode, t, &err);
	else if (intake_owns(mode, t))
		r = source_take(mode->source, t->key, "", &err);
	if (r == -EINPROGRESS)
		return true;
	if (r == 0)
		task_take(t, clock_wall_ms());
	else
		EMIT(mode->core,
		    r == -ESTALE ? EVENT_TASK_TAKEN_ELSEWHERE :
				   EVENT_TASK_NOT_TAKEN,
		    .task = t->id, .key = t->key, .reason = err.msg);
	return r != -ESTALE;
}

static void
on_offers_written(void *arg)
{
	struct auto_mode *mode = arg;
	struct state *state = &mode->core->state;

	for (size_t i = state->task_count; i-- > 0;) {
		struct task *t = state->tasks[i];

		if (t->step != TASK_OFFERED)
			continue;
		if (!take(mode, t))
			state_remove_task(state, t->id);
		persist_changed(mode->core);
	}
	loop_call_request(mode->look);
}

void
intake_take(struct auto_mode *mode)
{
	persist_then(mode->core, mode, on_offers_written, mode);
}

/* --- asking the source ----------------------------------------------- */

static void
add_offer(struct auto_mode *mode, const char *source,
    const struct source_offer *offer)
{
	struct state *state = &mode->core->state;
	cleanup_free char *id = state_task_id(state);
	struct task *t = task_new(
	    id, source, offer->key, offer->title, offer->text, clock_wall_ms());

	t->priority = offer->priority;
	task_set_maker(t, offer->maker, offer->sandbox);
	if (offer->launch != NULL)
		schema_copy(&task_launch_schema, offer->launch, &t->launch);
	if (t->launch.contract != NULL)
		t->attempt.verification = VERIFICATION_PENDING;
	xstrset(&t->label, offer->label);
	xstrset(&t->landed_before, offer->landed_before);
	if (t->landed_before != NULL)
		task_note(t, "did this before as commit", t->landed_before,
		    t->created_ms);
	verification_set(t, offer->contract);
	if (offer->report)
		t->launch.report_only = true;
	if (offer->agent != NULL)
		xstrset(&t->launch.agent, offer->agent);
	if (offer->recovery != NULL)
		xstrset(&t->launch.recovery, offer->recovery);
	if (offer->wants != NULL) {
		strv_clear(&t->launch.wants);
		task_wants_read(offer->wants, &t->launch.wants);
	}
	state_add_task(state, t);
	mode->exhausted_reported = false;
	persist_changed(mode->core);
	intake_take(mode);
}

void
auto_add_task(struct auto_mode *mode, struct task *task)
{
	state_add_task(&mode->core->state, task);
	mode->exhausted_reported = false;
	persist_changed(mode->core);
	loop_call_request(mode->look);
}

/* Report only changes, not every time it is seen. */
static void
report_quarantined(struct auto_mode *mode)
{
	const char *const *list = source_quarantined(mode->source);
	cleanup_buf struct buf reason = BUF_INIT;

	for (size_t i = 0; list[i] != NULL; i++)
		buf_addf(&reason, "%s%s", i > 0 ? "; " : "", list[i]);
	if (reason.len == 0 || text_is(mode->quarantined, reason.data))
		return;
	xstrset(&mode->quarantined, reason.data);
	EMIT(mode->core, EVENT_QUARANTINE, .reason = reason.data);
}

static void
on_answer(enum source_answer answer, const struct source_offer *offer,
    const struct source_failure *failure, void *arg)
{
	struct auto_mode *mode = arg;

	report_quarantined(mode);
	switch (answer) {
	case SOURCE_OFFER:
		add_offer(mode, source_kind(mode->source), offer);
		break;
	case SOURCE_EMPTY:
		mode->worth_asking = false;
		loop_call_request(mode->look);
		break;
	case SOURCE_FAILED:
		failure_raise(mode->core,
		    &(struct failure){ .class = failure->class,
			.status = failure->status,
			.reason = failure->words });
		break;
	}
}

void
intake_ask(struct auto_mode *mode)
{
	const struct state *state = &mode->core->state;
	cleanup_free const char **labels =
	    xcalloc(state->task_count + 1, sizeof *labels);
	cleanup_free const char **keys =
	    xcalloc(state->task_count + 1, sizeof *keys);
	size_t label_count = 0;

	/* The labels in use and the keys of our tasks, NULL terminated. */
	for (size_t i = 0; i < state->task_count; i++) {
		const struct task *t = state->tasks[i];

		keys[i] = t->key;
		if (t->label != NULL && t->step != TASK_SETTLING)
			labels[label_count++] = t->label;
	}
	labels[label_count] = NULL;
	keys[state->task_count] = NULL;
	source_ask(mode->source, labels, keys, on_answer, mode);
}

void
intake_ask_plan(struct auto_mode *mode, enum intake_kind kind, size_t wanted)
{
	struct source_offer offer = { 0 };

	if (mode->policy->offer == NULL)
		return;
	for (size_t have = intake_unstarted(mode, kind); have < wanted;
	     have++) {
		if (!mode->policy->offer(
			mode->policy_arg, kind == INTAKE_TEAM, &offer))
			return;
		add_offer(mode, AUTO_PLAN_SOURCE, &offer);
	}
}

/* --- telling the source ---------------------------------------------- */

int
intake_settle(struct auto_mode *mode, const struct task *task, struct err *err)
{
	int r = POLICY_ASK(mode, team, settle, task, err);

	if (r == 0)
		r = POLICY_ASK(mode, policy, settle, task, err);
	if (r < 0 || intake_is_planned(task))
		return r;
	if (intake_source(mode, err) == NULL)
		return err->code;
	if (!intake_owns(mode, task))
		return 0; /* a fix task, or the settings changed */
	return source_settle(
	    mode->source, task->key, task->outcome, task->reason, err);
}

/* --- begin and end of a run ------------------------------------------ */

static void
on_source_changed(void *arg)
{
	intake_changed(arg);
}

void
intake_begin(struct auto_mode *mode)
{
	struct core *core = mode->core;
	cleanup_free const char **keys =
	    xcalloc(core->state.task_count + 1, sizeof *keys);
	struct err err = { 0 };
	int r;

	for (size_t i = 0; i < core->state.task_count; i++)
		keys[i] = core->state.tasks[i]->key;
	r = source_recover(mode->source, keys, &err);
	if (r > 0)
		EMIT(core, EVENT_TASKS_GIVEN_BACK, .count = r);
	if (r >= 0)
		r = source_watch(mode->source, on_source_changed, mode, &err);
	if (r < 0)
		RAISE(core, "task_source", .reason = err.msg);
}

/* A source without claims offers each task only once: keep those tasks. */
void
intake_release(struct auto_mode *mode)
{
	struct state *state = &mode->core->state;

	if (mode->source == NULL ||
	    (source_flags(mode->source) & SOURCE_KEEPS_CLAIMS) == 0)
		return;
	for (size_t i = state->task_count; i-- > 0;) {
		const struct task *t = state->tasks[i];

		if ((t->step != TASK_WAITING && t->step != TASK_OFFERED) ||
		    t->attempts > 0 || !intake_owns(mode, t) ||
		    (mode->hosts != NULL &&
			!mode->hosts->releases(mode->hosts_arg, t)))
			continue;
		if (source_settle(
			mode->source, t->key, OUTCOME_NONE, NULL, NULL) == 0)
			state_remove_task(state, t->id);
	}
}
