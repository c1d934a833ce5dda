/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <math.h>

#include "agent-report.h"
#include "agent.h"
#include "attempt.h"
#include "auto-private.h"
#include "auto.h"
#include "book-history.h"
#include "core.h"
#include "emit.h"
#include "failure.h"
#include "heartbeat.h"
#include "intake.h"
#include "landing.h"
#include "ledger.h"
#include "life.h"
#include "loop.h"
#include "metrics.h"
#include "outcome.h"
#include "park.h"
#include "persist.h"
#include "person.h"
#include "review.h"
#include "settings-table.h"
#include "settings.h"
#include "source.h"
#include "state.h"
#include "task.h"
#include "turn-policy.h"
#include "worker-op.h"
#include "worker.h"
#include "workspace.h"

/* Claude Code lacks its login, or something else that only a person can give
 * (fleet.h). */
static bool
lacks_login(const struct auto_mode *mode, const struct agent *agent)
{
	return agent->worker->blocked &&
	    agent->worker->status == WORKER_PAUSED && auto_drives(mode, agent);
}

/* The first worker that waits for a login while no other has a task. */
static const struct agent *
find_last(const struct auto_mode *mode)
{
	const struct agent *found = NULL;

	for (size_t i = 0; i < mode->fleet->count; i++) {
		const struct agent *agent = mode->fleet->agents[i];

		if (lacks_login(mode, agent))
			found = found != NULL ? found : agent;
		else if (auto_drives(mode, agent) &&
		    agent->worker->task != NULL)
			return NULL;
	}
	return found;
}

/* A worker has changed. Does one wait for a login, and no other have a task?
 * Then raise the failure. */
static void
login_look(struct auto_mode *mode)
{
	const struct agent *agent = find_last(mode);

	if (agent == NULL || mode->core->failing)
		return;
	RAISE(mode->core, "login", .worker = agent->worker->name,
	    .task = agent->worker->task, .reason = agent->worker->reason);
}

/* --- its task --------------------------------------------------------- */

/* NULL = it is not in the state. */
static struct task *
find_ours(const struct auto_mode *mode, const char *commit)
{
	const struct state *state = &mode->core->state;

	for (size_t i = 0; i < state->task_count; i++)
		if (text_is(state->tasks[i]->commit, commit))
			return state->tasks[i];
	return NULL;
}

/* --- done again ------------------------------------------------------- */

/* Have it wait again where it came from. -EALREADY or -EBUSY: it does, because
 * a person wanted it. */
static int
give_to_source(struct auto_mode *mode, const struct task *old)
{
	struct err err = { 0 };
	const struct source *source;

	if (intake_is_planned(old))
		return 0; /* its take opens the node again */
	source = intake_source(mode, &err);
	if (source == NULL || !intake_owns(mode, old) ||
	    (source_flags(source) & SOURCE_RETRIES) == 0)
		return -ENOTSUP;
	return source_retry(mode->source, old->key, old->commit, &err);
}

static void
do_again(struct auto_mode *mode, struct task *t, const struct task *old,
    const char *why)
{
	struct core *core = mode->core;
	int r = give_to_source(mode, old);

	if (r == -EALREADY || r == -EBUSY) {
		task_free(t);
		return;
	}
	if (r < 0)
		task_take(t, t->created_ms);
	state_add_task(&core->state, t);
	EMIT(core, EVENT_TASK_RETRY, .worker = old->worker, .task = t->id,
	    .reason = why, .attempt = t->attempts);
	persist_changed(core);
	intake_take(mode);
	loop_call_request(mode->look);
}

static void
give_up(struct auto_mode *mode, struct task *t, const char *why)
{
	task_take(t, t->created_ms);
	state_add_task(&mode->core->state, t);
	outcome_settle(mode, t, OUTCOME_DEAD_LETTER, why);
}

static void
act_on_revert(struct auto_mode *mode, const struct task *old, const char *why)
{
	struct core *core = mode->core;
	cleanup_free char *id = state_task_id(&core->state);
	struct task *t = task_new_retry(id, old, clock_wall_ms());

	xstrset(&t->worker, old->worker);
	xstrset(&t->reason, why);
	if (why == NULL) {
		do_again(mode, t, old, "taken back by a person");
		return;
	}
	t->attempts = old->attempts;
	if (old->attempts < settings_int(core->settings, "auto.max_attempts"))
		do_again(mode, t, old, why);
	else
		give_up(mode, t, why);
}

/* --- both ------------------------------------------------------------- */

#define DOCUMENT_MAX ((size_t)256 * 1024)

/* Of the overseer that started this daemon, else of the daemon itself. */
static char *
run_key(const struct core *core)
{
	cleanup_free char *file =
	    workspace_path(core->workspace, "overseer.json");
	cleanup_json struct json_object *overseer = NULL;
	const char *key = NULL;

	if (life_is_overseen(core) &&
	    json_load(file, DOCUMENT_MAX, &overseer, NULL) == 0 &&
	    json_object_is_type(overseer, json_type_object))
		key = json_string_or(overseer, "instance_id", NULL);
	return xstrdup(key != NULL ? key : core->instance);
}

/* The daemon begins, or has ended, its part of a run. */
static void
auto_run_begin(struct auto_mode *mode)
{
	struct core *core = mode->core;
	struct state *state = &core->state;
	cleanup_free char *key = run_key(core);

	if (state->run_id == NULL || !text_is(state->run_key, key)) {
		state->run_ids++;
		xstrset(&state->run_key, key);
		free(state->run_id);
		state->run_id = xasprintf("r%" PRIu64, state->run_ids);
		state->run_ms = clock_wall_ms();
		state->errors = 0;
		counters_run_begins(&state->counters);
		persist_changed(core);
	}
	book_begin_run(
	    core->book, state->run_id, core->instance, clock_wall_ms());
}

static void
auto_run_end(struct auto_mode *mode)
{
	const struct core *core = mode->core;

	if (mode->begun && core->state.run_id != NULL)
		book_end_run(core->book, core->state.run_id, core->instance,
		    clock_wall_ms(), life_is_complete(core));
}

/* --- the floor above ------------------------------------------------- */

void
auto_set_policy(
    struct auto_mode *mode, const struct auto_policy *policy, void *arg)
{
	static const struct auto_policy none;

	mode->policy = policy != NULL ? policy : &none;
	mode->policy_arg = arg;
}

void
auto_set_pulls(
    struct auto_mode *mode, const struct auto_pulls *pulls, void *arg)
{
	mode->pulls = pulls;
	mode->pulls_arg = arg;
}

void
auto_set_hosts(
    struct auto_mode *mode, const struct auto_hosts *hosts, void *arg)
{
	mode->hosts = hosts;
	mode->hosts_arg = arg;
}

void
auto_set_feed(struct auto_mode *mode, bool (*expects)(void *arg),
    const char *(*lost)(void *arg, const char *task), void *arg)
{
	mode->feed = expects;
	mode->feed_lost = lost;
	mode->feed_arg = arg;
}

void
auto_set_watch(
    struct auto_mode *mode, const struct auto_watch *watch, void *arg)
{
	static const struct auto_watch none;

	mode->watch = watch != NULL ? watch : &none;
	mode->watch_arg = arg;
}

void
auto_set_team(struct auto_mode *mode, const struct auto_team *team, void *arg)
{
	static const struct auto_team none;

	mode->team = team != NULL ? team : &none;
	mode->team_arg = arg;
}

struct auto_known
auto_known(const struct auto_mode *mode, const struct task *task)
{
	struct auto_known known = { .percent = NAN };

	if (task != NULL)
		POLICY_TELL(mode, policy, known, task, &known);
	if (task != NULL && isnan(known.percent))
		known.percent = progress_report_percent(task->attempt.progress);
	return known;
}

void
auto_plan_changed(struct auto_mode *mode)
{
	outcome_settle_due(mode);
	if (!mode->begun || mode->core->stopping)
		return;
	if (intake_count(mode, TASK_OFFERED) > 0)
		intake_take(mode);
	loop_call_request(mode->look);
}

/* --- events ---------------------------------------------------------- */

/* An auto worker that cannot continue needs a person or a repair. */
static void
on_error_saved(void *arg)
{
	struct auto_mode *mode = arg;

	for (size_t i = 0; i < mode->fleet->count; i++) {
		struct agent *agent = mode->fleet->agents[i];
		const struct worker *w = agent->worker;
		cleanup_free char *reason = NULL;

		if (w->status != WORKER_ERROR || !auto_drives(mode, agent))
			continue;
		if (agent->spoilt && agent->op == NULL) {
			outcome_tree_failed(mode, agent, w->reason);
			continue;
		}
		if (auto_task(agent) != NULL && review_is(auto_task(agent))) {
			loop_call_request(
			    mode->look); /* another one reviews it */
			continue;
		}
		reason = xasprintf("%s cannot continue: %s", w->name,
		    w->reason != NULL ? w->reason : "no reason given");
		RAISE(mode->core, "worker_error", .worker = w->name,
		    .task = w->task, .reason = reason);
		return;
	}
}

static void
on_moved(struct auto_mode *mode, const struct agent *agent)
{
	enum worker_status status = agent->worker->status;
	struct task *t = auto_task(agent);

	if (t != NULL &&
	    task_attempt_waits(t, status == WORKER_WAITING, clock_wall_ms()))
		persist_changed(mode->core);
	if (status == WORKER_ERROR && auto_drives(mode, agent))
		persist_then(mode->core, mode, on_error_saved, mode);
	/* One that waits leaves room for others. */
	if (status == WORKER_IDLE || status == WORKER_WAITING)
		loop_call_request(mode->look);
	login_look(mode);
}

/* The parent process has solved the problem: try again. */
static void
repair_worker(struct auto_mode *mode, struct agent *agent)
{
	const struct worker *w = agent->worker;

	if (!worker_is_auto(w->name) || agent_is_taken(agent))
		return;
	if (w->status == WORKER_ERROR) {
		outcome_attempt_failed(mode, agent,
		    w->reason != NULL ? w->reason : "worker in error");
	} else if (w->status == WORKER_PAUSED && !w->over_budget &&
	    !w->off_hours && !w->on_hold) {
		outcome_worker_lost(mode, agent, "its worker was paused");
		auto_clear_worker(agent);
	}
}

static void
on_worker_event(
    struct auto_mode *mode, struct agent *agent, const struct event *event)
{
	switch (event->kind) {
	case EVENT_WORKER_MOVED:
		on_moved(mode, agent);
		break;
	case EVENT_ATTEMPT_FAILED:
		outcome_worker_failed(mode, agent, event->reason);
		break;
	case EVENT_LOGIN_NEEDED:
		login_look(mode);
		break;
	case EVENT_PROMPT_SUBMITTED:
		ledger_prompted(mode->ledger, agent);
		break;
	case EVENT_WORKER_LOST:
		outcome_worker_lost(mode, agent, event->reason);
		break;
	case EVENT_WORK_LANDED_ELSEWHERE:
		outcome_landed_elsewhere(mode, agent, event->commit);
		break;
	case EVENT_WORK_FINISHED:
		after_landing_begin(mode, agent);
		break;
	case EVENT_CLEARED:
		if (mode->begun)
			repair_worker(mode, agent);
		break;
	default:
		break;
	}
}

static void
on_event(const struct event *event, void *arg)
{
	struct auto_mode *mode = arg;
	struct agent *agent;

	if (event->kind == EVENT_LANDING_ENDED) {
		if (after_landing_ended(mode, event->landing))
			post_accept_due(mode);
	} else if (event->kind == EVENT_LANDED && event->task != NULL) {
		after_landing_published(mode, event);
	} else if (event->kind == EVENT_REVERTED) {
		static const char what[] = "taken back by commit";
		struct core *core = mode->core;
		struct task *ours = find_ours(mode, event->ref);
		struct task *filed = ours == NULL ?
		    book_find_task_commit(core->book, event->ref) :
		    NULL;
		struct task *t = ours != NULL ? ours : filed;

		/* EVENT_REVERTED: the history of the commit's task says so. If
		 * something had failed, the task is done again by a worker that
		 * learns what, as long as it has attempts left; else it ends as
		 * failed. A task of the floor above is done again also if a
		 * person took it back. */
		if (t == NULL)
			return; /* it was no task */
		task_note(t, what, event->commit, clock_wall_ms());
		persist_changed(core);
		if (filed != NULL)
			book_file_task(core->book, filed);
		if (event->reason != NULL && t->step == TASK_LANDED)
			post_accept_reverted(mode, t);
		else if (event->reason != NULL || intake_is_planned(t))
			act_on_revert(mode, t, event->reason);
		task_free(filed);
	} else if (event->kind == EVENT_SETTINGS_READ && mode->begun) {
		pause_patrol(mode); /* a budget, hours */
		loop_call_request(mode->look);
	} else if (event->kind == EVENT_TASK_ASSIGNED) {
		ledger_assigned(mode->ledger, event);
	} else if (event->kind == EVENT_WORKER_GONE) {
		loop_call_request(mode->look); /* a run may end without it */
	} else if (event->worker != NULL) {
		agent = fleet_find(mode->fleet, event->worker);
		if (agent != NULL)
			on_worker_event(mode, agent, event);
	}
}

/* --- policies -------------------------------------------------------- */

static bool
policy_drives(void *mode, const struct agent *agent)
{
	return auto_drives(mode, agent);
}

static void
policy_progressed(void *arg, struct agent *agent)
{
	const struct auto_mode *mode = arg;

	/* Accepting a prompt is not enough. The stages of a stall go on until a
	 * turn ends: an agent may run a tool and then hang as before. */
	agent->stall_ms = 0;
	if (auto_task(agent) == NULL || !review_is(auto_task(agent)))
		POLICY_TELL(mode, watch, progressed, agent);
	POLICY_TELL(mode, team, progressed, agent);
}

static const char *
policy_answers(void *arg, const struct agent *agent)
{
	const struct auto_mode *mode = arg;

	return POLICY_ASK(mode, team, answers, auto_task(agent));
}

static void
policy_freed(void *arg)
{
	const struct auto_mode *mode = arg;

	POLICY_TELL(mode, watch, freed);
}

static void
policy_tool_used(void *arg, struct agent *agent, const char *tool)
{
	const struct auto_mode *mode = arg;

	if (auto_task(agent) != NULL)
		POLICY_TELL(mode, team, tool_used, agent, tool);
}

static void
policy_guard(void *arg, struct agent *agent, struct guard_policy *policy)
{
	const struct auto_mode *mode = arg;

	POLICY_TELL(mode, team, guard, agent, policy);
}

static void
policy_denied(void *arg, struct agent *agent, struct json_object *denied)
{
	const struct auto_mode *mode = arg;

	POLICY_TELL(mode, team, denied, agent, denied);
}

static bool
policy_fresh(void *arg)
{
	return landings_fresh(((struct auto_mode *)arg)->landings);
}

static const struct fleet_policy fleet_policy = {
	.drives = policy_drives,
	.answers = policy_answers,
	.turn_facts = turn_policy_facts,
	.turn_before = turn_policy_before,
	.turn_seen = turn_policy_seen,
	.turn_test = turn_policy_test,
	.turn_tested = turn_policy_tested,
	.turn_words = turn_policy_words,
	.turn_held = auto_held,
	.preface = turn_policy_preface,
	.turn_judged = turn_policy_judged,
	.turn_asks = turn_policy_asks,
	.turn_error = turn_policy_error,
	.silence = stalls_silence,
	.limited = outage_limited,
	.fresh = policy_fresh,
	.freed = policy_freed,
	.progressed = policy_progressed,
	.tool_ended = turn_policy_tool_ended,
	.tool_used = policy_tool_used,
	.guard = policy_guard,
	.denied = policy_denied,
	.used = ledger_used,
	.left = ledger_left,
};

static bool
policy_may_move(void *arg)
{
	return !post_accept_pending(arg);
}

static void
policy_tried(void *arg)
{
	const struct auto_mode *mode = arg;

	heartbeat_now(mode->core->heartbeat);
	loop_call_request(mode->look);
}

static void
policy_not_reverted(
    void *arg, const struct landing_item *item, const char *words)
{
	struct auto_mode *mode = arg;
	cleanup_free char *reason = NULL;

	if (item->undoes == 0) {
		post_accept_not_reverted(mode, item->head, words);
		return;
	}
	reason = xasprintf(
	    "%s\nTaking commits back does not help: %s", item->why, words);
	RAISE(mode->core, "red_branch", .reason = reason);
}

static const struct landing_policy landing_policy = {
	.may_move = policy_may_move,
	.keeps = after_landing_keeps,
	.ejected = after_landing_ejected,
	.frees = scheduler_frees,
	.rejected = after_landing_rejected,
	.blocked = after_landing_blocked,
	.red = after_landing_red,
	.not_reverted = policy_not_reverted,
	.tried = policy_tried,
	.proposes = after_landing_proposes,
	.propose = after_landing_propose,
	.priority = after_landing_priority,
};

/* --- workers and their tasks ----------------------------------------- */

/* Has it neither a worker, nor an item of the landing queue or a pull request,
 * as it should? */
static bool
is_lost(const struct auto_mode *mode, const struct task *t)
{
	if (t->step == TASK_ASSIGNED)
		return !auto_is_held(mode, t);
	return t->step == TASK_QUEUED && t->pull == NULL &&
	    landing_record_of_task(&mode->core->state.landings, t->id) == NULL;
}

/* Find tasks without a worker, workers whose task is gone, and those whose task
 * was being parked. */
static void
auto_reconcile(struct auto_mode *mode)
{
	struct core *core = mode->core;

	for (size_t i = 0; i < core->state.task_count; i++) {
		struct task *t = core->state.tasks[i];

		if (!is_lost(mode, t))
			continue;
		EMIT(core, EVENT_TASK_ORPHANED, .task = t->id);
		task_give_back(t, "no worker had it", clock_wall_ms());
		persist_changed(core);
	}
	for (size_t i = 0; i < mode->fleet->count; i++) {
		struct agent *agent = mode->fleet->agents[i];
		struct task *t = auto_task(agent);

		if (t != NULL && t->step == TASK_ASSIGNED &&
		    t->ask != ASK_NONE && !agent_is_taken(agent))
			op_park_task_again(mode, agent);
		if (agent->worker->task == NULL || t != NULL)
			continue;
		xstrset(&agent->worker->task, NULL);
		persist_changed(core);
	}
}

static void
ensure_workers(struct auto_mode *mode)
{
	struct state *state = &mode->core->state;

	state_auto_set_workers(state, mode->workers);
	for (size_t i = 0; state->auto_workers[i] != NULL; i++)
		if (state_find(state, state->auto_workers[i]) == NULL)
			op_add(mode->fleet, state->auto_workers[i], NULL);
}

/* --- the floor ------------------------------------------------------- */

static void
begin_active(struct auto_mode *mode)
{
	struct core *core = mode->core;

	mode->workers = (int)settings_int(core->settings, "auto.concurrency");
	pause_hooks_changed(mode);
	auto_run_begin(mode);
	core->state.last_task_completion_unix = 0;
	core->state.last_task_assignment_unix = 0;
	EMIT(core, EVENT_AUTO_BEGINS, .instance = core->instance,
	    .concurrency = mode->workers, .text = source_kind(mode->source));
	ensure_workers(mode);
	auto_reconcile(mode);
	for (size_t i = 0; i < mode->fleet->count; i++)
		repair_worker(mode, mode->fleet->agents[i]);
	intake_begin(mode);
	mode->begun = true;
	mode->worth_asking = true;
	intake_take(mode);
	post_accept_due(mode);
	after_landing_resume(mode);
	pause_try_again(mode);
	loop_call_request(mode->look);
}

static void
floor_begin(void *self)
{
	struct auto_mode *mode = self;
	struct core *core = mode->core;
	const struct state *state;

	core->state.auto_mode = mode->active;
	/* Judged anew, or by nobody. */
	free(take_ptr(&core->state.held));
	core->state.held_until_ms = 0;
	persist_changed(core);
	outcome_settle_due(mode);
	ledger_begin(mode->ledger);
	/* Of all tasks: an earlier daemon may have died before git did it. */
	state = &mode->core->state;
	for (size_t i = 0; i < state->task_count; i++)
		if (state->tasks[i]->from != NULL)
			task_ref_keep(mode, state->tasks[i]);
	if (mode->active)
		begin_active(mode);
	life_floor_begun(core);
}

static void
floor_patrol(void *self, bool all)
{
	struct auto_mode *mode = self;

	(void)all;
	outcome_settle_due(mode);
	ledger_patrol(mode->ledger);
	if (!mode->begun || mode->core->stopping)
		return;
	mode->worth_asking = true;
	auto_reconcile(mode);
	ensure_workers(mode);
	pause_patrol(mode);
	team_workers_dismiss(mode, false);
	if (intake_count(mode, TASK_OFFERED) > 0)
		intake_take(mode);
	post_accept_due(mode);
	after_landing_resume(mode);
	loop_call_request(mode->look);
}

/* A failure has been reported already. */
static void
tell_end(const struct auto_mode *mode)
{
	cleanup_free char *why = xasprintf(
	    "tasks: %d done, %d failed", (int)mode->done, (int)mode->failed);

	if (!mode->core->failing)
		person_tell(mode->core,
		    &(struct notice){ .class = NOTICE_END, .why = why });
}

static void
floor_stop(void *self)
{
	struct auto_mode *mode = self;

	post_accept_stop(mode);
	if (mode->active)
		tell_end(mode);
	if (mode->active)
		EMIT(mode->core, EVENT_AUTO_ENDS,
		    .instance = mode->core->instance,
		    .reason = mode->core->failing ? "failure" : "requested");
}

static bool
floor_is_quiet(const void *self)
{
	const struct auto_mode *mode = self;

	return mode->post == NULL;
}

static void
floor_close(void *self, bool now)
{
	(void)now;
	intake_release(self);
	auto_run_end(self);
}

static const char *
floor_phase(const void *self)
{
	const struct auto_mode *mode = self;

	if (mode->post != NULL)
		return "post_accept";
	if (landings_busy(mode->landings))
		return "landing";
	if (landings_trying(mode->landings))
		return "trial";
	if (mode->source != NULL && source_asking(mode->source))
		return "asking";
	if (mode->core->state.paused != NULL)
		return "paused";
	return intake_count(mode, TASK_ASSIGNED) > 0 ? "working" : "idle";
}

static void
register_floor(struct auto_mode *mode)
{
	struct core *core = mode->core;

	mode->floor = (struct core_floor){
		.self = mode,
		.begin = floor_begin,
		.patrol = floor_patrol,
		.stop = floor_stop,
		.is_quiet = floor_is_quiet,
		.close = floor_close,
		.phase = floor_phase,
		.sign_ms = stalls_sign_ms,
	};
	core_add_floor(core, &mode->floor);
	fleet_set_policy(mode->fleet, &fleet_policy, mode);
	landings_set_policy(mode->landings, &landing_policy, mode);
	emit_subscribe(core, on_event, mode);
	task_commands_register(mode);
	pause_register(mode);
}

struct auto_mode *
auto_new(struct fleet *fleet, struct landings *landings, struct err *err)
{
	struct auto_mode *mode = xcalloc(1, sizeof *mode);
	struct core *core = fleet->core;

	mode->core = core;
	mode->fleet = fleet;
	mode->landings = landings;
	mode->active = core->options->auto_mode;
	mode->until_empty = core->options->until_empty;
	auto_set_policy(mode, NULL, NULL);
	auto_set_watch(mode, NULL, NULL);
	auto_set_team(mode, NULL, NULL);
	/* Without auto mode the source is opened when it is needed: one that
	 * fails to open must not block the other commands. */
	if (mode->active && intake_source(mode, err) == NULL) {
		free(mode);
		return NULL;
	}
	mode->ledger = ledger_new(mode);
	scheduler_init(mode);
	register_floor(mode);
	return mode;
}

void
auto_free(struct auto_mode *mode)
{
	if (mode == NULL)
		return;
	post_accept_drop(mode);
	persist_forget(mode->core, mode);
	emit_unsubscribe(mode->core, on_event, mode);
	landings_set_policy(mode->landings, NULL, NULL);
	fleet_set_policy(mode->fleet, NULL, NULL);
	alike_clear(&mode->alike);
	free(mode->hooks);
	free(mode->tried);
	free(mode->limited_account);
	free(mode->limited_why);
	ledger_free(mode->ledger);
	source_free(mode->source);
	loop_call_free(mode->look);
	loop_timer_free(mode->again);
	free(mode->quarantined);
	free(mode);
}

void
outage_limited(void *arg, struct agent *agent, enum limit_class class,
    const char *text, int64_t until_ms)
{
	struct auto_mode *mode = arg;
	struct core *core = mode->core;
	const struct state *state = &core->state;
	int64_t since = state->outage_since_unix * 1000;

	if (class == LIMIT_USAGE) { /* other hosts may use the same account */
		free(mode->limited_account);
		mode->limited_account = agent_account(agent);
		xstrset(&mode->limited_why, text);
		mode->limited_ms = until_ms;
		return;
	}
	if (mode->active && clock_wall_ms() - since > tuning.outage_limit)
		RAISE(core, class == LIMIT_AUTH ? "login" : "outage",
		    .worker = agent->worker->name, .task = agent->worker->task,
		    .reason = text);
}
