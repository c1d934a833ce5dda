/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <strings.h>
#include <sys/stat.h>

#include "account.h"
#include "agent.h"
#include "asks.h"
#include "attempt.h"
#include "auto-private.h"
#include "auto.h"
#include "emit.h"
#include "excerpt.h"
#include "git-facts.h"
#include "intake.h"
#include "landing.h"
#include "machine.h"
#include "loop.h"
#include "persist.h"
#include "review.h"
#include "serve.h"
#include "settings-table.h"
#include "settings.h"
#include "task.h"
#include "moment.h"
#include "park.h"
#include "worker-op.h"
#include "worker.h"
#include "workspace.h"

#define CONFIG_MAX (1 << 20)
#define SETTING    "hookspath"
#define MINUTE_MS  (60 * (int64_t)1000)
#define DAY_MS     (24 * 3600 * (int64_t)1000)
#define SAID_MS    (DAY_MS / 4) /* a reason to wait is not said again before */

static int64_t
today(void)
{
	return clock_wall_ms() / DAY_MS;
}

/* --- hooks ----------------------------------------------------------- */

/* The line is enough: only git has to understand it. */
static void
add_setting(const struct workspace *workspace, struct buf *out)
{
	cleanup_free char *path = file_join(workspace->git_dir, "config");
	cleanup_buf struct buf text = BUF_INIT;
	char *rest, *line;

	if (file_read(path, CONFIG_MAX, &text, NULL) < 0)
		return;
	for (rest = text.data; (line = strsep(&rest, "\n")) != NULL;) {
		const char *value;

		line += strspn(line, " \t");
		if (strncasecmp(line, SETTING, strlen(SETTING)) != 0)
			continue;
		value = line + strlen(SETTING);
		value += strspn(value, " \t=");
		buf_addf(out, "core.hooksPath is %s", value);
		return;
	}
}

static int
is_hook(const struct dirent *entry)
{
	return entry->d_name[0] != '.' &&
	    strstr(entry->d_name, ".sample") == NULL;
}

static void
add_files(const struct workspace *workspace, struct buf *out)
{
	cleanup_free char *dir = file_join(workspace->git_dir, "hooks");
	struct dirent **list = NULL;
	const char *before = out->len > 0 ? "; hooks:" : "hooks:";
	int count = scandir(dir, &list, is_hook, alphasort);

	for (int i = 0; i < count; i++) {
		cleanup_free char *path = file_join(dir, list[i]->d_name);
		struct stat st;

		if (stat(path, &st) == 0 && (st.st_mode & 0111) != 0) {
			buf_addf(out, "%s %s", before, list[i]->d_name);
			before = ",";
		}
		free(list[i]);
	}
	free(list);
}

bool
pause_hooks_changed(struct auto_mode *mode)
{
	cleanup_buf struct buf now = BUF_INIT;
	bool changed;

	buf_adds(&now, "");
	add_setting(mode->core->workspace, &now);
	add_files(mode->core->workspace, &now);
	changed = mode->hooks != NULL && strcmp(mode->hooks, now.data) != 0;
	xstrset(&mode->hooks, now.data);
	if (changed)
		EMIT(mode->core, EVENT_HOOKS_CHANGED,
		    .reason = now.len > 0 ? now.data : "it has none now");
	return changed;
}

/* --- failures alike ------------------------------------------------------ */

static void
pause_for_alike(struct auto_mode *mode)
{
	struct core *core = mode->core;
	cleanup_buf struct buf words = BUF_INIT;

	buf_adds(&words, "the same failure on different tasks (");
	for (size_t i = 0; mode->alike.tasks[i] != NULL; i++)
		buf_addf(
		    &words, "%s%s", i > 0 ? ", " : "", mode->alike.tasks[i]);
	buf_addf(&words, "): %s", mode->alike.reason);
	pause_hooks_changed(mode);
	if (mode->hooks[0] != '\0')
		buf_addf(&words, "; in this repository %s", mode->hooks);
	buf_adds(&words,
	    "; no more tasks are given out; find the cause, then: "
	    "llmc resume");
	if (mode->until_empty)
		buf_adds(
		    &words, " (the run waits for that, as tasks are left)");
	xstrset(&core->state.paused, words.data);
	asks_open(core,
	    &(struct ask_draft){ .kind = ASK_FAILURE,
		.level = ESCALATION_CRITICAL,
		.key = ASKS_ALIKE,
		.title = "tasks fail alike",
		.words = words.data,
		.command = "llmc resume" });
	persist_changed(core);
	EMIT(core, EVENT_INTAKE_STOPPED, .reason = words.data);
}

/* Is that why no task is given out? */
static bool
is_for(const struct auto_mode *mode, const char *ask)
{
	const struct state *state = &mode->core->state;

	return state->paused != NULL && state_ask(state, ask) != NULL;
}

bool
pause_task_failed(
    struct auto_mode *mode, const struct task *task, const char *reason)
{
	const struct state *state = &mode->core->state;

	if (reason == NULL ||
	    !alike_add(
		&mode->alike, task, strv_count(state->auto_workers), reason))
		return false;
	if (mode->core->state.paused == NULL)
		pause_for_alike(mode);
	return is_for(mode, ASKS_ALIKE);
}

/* --- the first check ---------------------------------------------------- */

#define TRIAL_LINES 20 /* of its output, for a person */
#define TRIAL_MAX   4000

/* What is tried: the branch and the command as they are. The caller frees. */
static char *
subject_of_trial(const struct core *core)
{
	char tip[GIT_ID_SIZE] = "";

	git_refs_tip(core->git, core_branch(core), tip);
	return xasprintf("%s %s", tip,
	    settings_string(core->settings, "auto.check_command"));
}

void
pause_for_trial(struct auto_mode *mode, const char *words)
{
	struct core *core = mode->core;
	const char *output = strchr(words, '\n');
	size_t len = output != NULL ? (size_t)(output - words) : strlen(words);
	cleanup_free char *why = NULL;
	cleanup_buf struct buf plain = BUF_INIT, all = BUF_INIT;

	if (core->state.paused != NULL)
		return;
	why = xasprintf(
	    "no task is given out before auto.check_command works: %.*s; it is "
	    "tried again when you change the command or the branch",
	    (int)len, words);
	buf_addf(&all, "%s; to go on anyway: llmc resume", why);
	if (output != NULL) {
		excerpt_plain(output, &plain);
		buf_adds(&all, "; it said:\n");
		excerpt_tail(
		    plain.data, plain.len, TRIAL_LINES, TRIAL_MAX, &all);
	}
	free(mode->tried);
	mode->tried = subject_of_trial(core);
	xstrset(&core->state.paused, why);
	asks_open(core,
	    &(struct ask_draft){ .kind = ASK_FAILURE,
		.level = ESCALATION_CRITICAL,
		.key = ASKS_TRIAL,
		.title = "the check fails before any work",
		.words = all.data,
		.command = "llmc resume" });
	persist_changed(core);
	EMIT(core, EVENT_INTAKE_STOPPED, .reason = why);
}

/* --- budgets --------------------------------------------------------- */

/* Of this host, and of the one that has spawned its agent; 0 = none. */
static int64_t
least(int64_t here, int64_t there)
{
	return here == 0 || (there != 0 && there < here) ? there : here;
}

/* own: also what is not shared with those that it has spawned. */
static bool
is_purse_over(
    const struct core *core, const struct task *t, bool own, struct buf *reason)
{
	const struct settings *s = core->settings;
	struct budget budget = {
		.tokens = least(settings_int(s, "budget.task_tokens"),
		    t->launch.budget_tokens),
		.cost = least(settings_amount(s, "budget.task_cost"),
		    t->launch.budget_cost),
		.time_ms = own ? least(settings_duration(s, "budget.task_time"),
				     t->launch.budget_ms) :
				 0,
		.turns = own ? (int)least(settings_int(s, "budget.task_turns"),
				   t->launch.budget_turns) :
			       0,
	};
	struct budget granted = {
		.tokens = t->tokens_allowed,
		.cost = t->cost_allowed,
		.time_ms = t->time_allowed_ms,
		.turns = t->turns_allowed,
	};
	struct budget spent =
	    task_family_spent(core->state.tasks, core->state.task_count, t);

	spent.time_ms = task_attempt_time(t, clock_wall_ms());
	spent.turns = t->turns_before + t->turns;
	return budget_reached(&budget, &granted, &spent, "task", reason);
}

static bool
is_task_over(const struct core *core, const struct task *t, struct buf *reason)
{
	const struct state *state = &core->state;
	const struct task *purse = t;

	if (is_purse_over(core, t, true, reason))
		return true;
	while ((purse = task_purse(state->tasks, state->task_count, purse)) !=
	    NULL)
		if (is_purse_over(core, purse, false, reason)) {
			buf_addf(
			    reason, ", which it shares with %s", purse->id);
			return true;
		}
	return false;
}

void
pause_grant(const struct auto_mode *mode, struct task *t)
{
	const struct state *state = &mode->core->state;

	while (t != NULL) {
		const struct task *purse =
		    task_purse(state->tasks, state->task_count, t);
		struct budget spent =
		    task_family_spent(state->tasks, state->task_count, t);

		t->tokens_allowed = spent.tokens;
		t->cost_allowed = spent.cost;
		t = purse != NULL ? state_task(state, purse->id) : NULL;
	}
}

static bool
is_day_over(const struct core *core, struct buf *reason)
{
	const struct budget_day *day = &core->state.today;
	struct budget budget = {
		.tokens = settings_int(core->settings, "budget.day_tokens"),
		.cost = settings_amount(core->settings, "budget.day_cost"),
	};
	struct budget granted = { .tokens = day->tokens_allowed,
		.cost = day->cost_allowed };
	struct budget spent = budget_spent(day, today());

	return day->day == today() &&
	    budget_reached(&budget, &granted, &spent, "day", reason);
}

/* --- pausing --------------------------------------------------------- */

static void
pause_worker(struct agent *agent, const char *reason)
{
	struct worker *w = agent->worker;
	bool in_turn = w->session.busy;

	if (agent_move(agent, WORKER_PAUSED, reason) < 0)
		return;
	w->over_budget = true;
	w->session.busy = false;
	persist_changed(agent->core);
	EMIT(agent->core, EVENT_BUDGET, .scope = "day", .worker = w->name,
	    .task = w->task, .reason = reason);
	if (in_turn)
		agent_interrupt(agent);
}

static bool
is_at_work(const struct auto_mode *mode, const struct agent *agent)
{
	return auto_drives(mode, agent) && agent->worker->task != NULL &&
	    worker_in_turn(agent->worker->status);
}

/* The worker is free for another task. */
bool
pause_at_task_budget(struct auto_mode *mode, struct agent *agent)
{
	const struct task *t = auto_task(agent);
	cleanup_buf struct buf reason = BUF_INIT;

	/* What a reviewer uses counts for the task that it reviews. */
	if (t == NULL || review_is(t) || !is_at_work(mode, agent) ||
	    !is_task_over(mode->core, t, &reason))
		return false;
	buf_addf(&reason, "; continue with: llmc task retry %s", t->id);
	EMIT(mode->core, EVENT_BUDGET, .scope = "task",
	    .worker = agent->worker->name, .task = t->id,
	    .reason = reason.data);
	op_park_task(mode, agent, ASK_BUDGET, reason.data);
	return true;
}

static void
begin_pause(struct core *core, const char *reason)
{
	xstrset(&core->state.paused, reason);
	persist_changed(core);
	EMIT(core, EVENT_FLEET_PAUSED, .reason = reason);
}

/* A worker that an operation has, or that is starting, is paused as soon as it
 * can be. */
static void
pause_at_day_budget(struct auto_mode *mode)
{
	struct core *core = mode->core;
	cleanup_buf struct buf reason = BUF_INIT;

	if (!is_day_over(core, &reason))
		return;
	buf_adds(&reason, "; continue with: llmc resume, or tomorrow (UTC)");
	if (core->state.paused == NULL)
		begin_pause(core, reason.data);
	for (size_t i = 0; i < mode->fleet->count; i++) {
		struct agent *agent = mode->fleet->agents[i];

		if (is_at_work(mode, agent) && !agent_is_taken(agent) &&
		    !agent->past_budget)
			pause_worker(agent, reason.data);
	}
}

void
pause_at_budgets(struct auto_mode *mode, struct agent *agent)
{
	if (!mode->active)
		return;
	pause_at_day_budget(mode);
	if (agent != NULL && !agent_is_taken(agent))
		pause_at_task_budget(mode, agent);
}

void
auto_spent_elsewhere(
    struct auto_mode *mode, int64_t day, int64_t tokens, int64_t cost)
{
	struct budget_day *own = &mode->core->state.today;

	if (day != today() ||
	    (own->day == day && own->tokens_others == tokens &&
		own->cost_others == cost))
		return;
	budget_spend(own, day, 0, 0);
	own->tokens_others = tokens;
	own->cost_others = cost;
	pause_at_budgets(mode, NULL);
	loop_call_request(mode->look);
}

/* --- not now --------------------------------------------------------- */

static struct hours
hours_of(const struct auto_mode *mode)
{
	struct hours hours = { 0 };

	hours_parse(
	    settings_string(mode->core->settings, "auto.hours"), &hours);
	return hours;
}

/* Who waits for a person, for others or for a limit uses nothing, and may wait
 * for the very task that would be kept back. */
static size_t
count_running(const struct auto_mode *mode)
{
	size_t count = 0;

	for (size_t i = 0; i < mode->fleet->count; i++) {
		const struct agent *agent = mode->fleet->agents[i];
		const struct worker *w = agent->worker;

		count += w->task != NULL && auto_drives(mode, agent) &&
		    (worker_in_turn(w->status) || agent_is_taken(agent) ||
			w->status == WORKER_STARTING ||
			w->status == WORKER_OFFLINE);
	}
	return count;
}

static enum quota_hold
judge_quota(
    const struct auto_mode *mode, int64_t *ret_until_ms, struct buf *why)
{
	const struct core *core = mode->core;
	const struct settings *s = core->settings;
	const struct budget_day *day = &core->state.today;
	struct quota_facts facts = {
		.now_ms = clock_wall_ms(),
		.zone = time_zone_offset,
		.hours = hours_of(mode),
		.reserve = (int)settings_int(s, "budget.reserve"),
		.even = strcmp(settings_string(s, "budget.pace"), "even") == 0,
		.windows = core->state.windows,
		.day = { .tokens = settings_int(s, "budget.day_tokens"),
		    .cost = settings_amount(s, "budget.day_cost") },
		.day_begins_ms = today() * DAY_MS,
		/* A busy machine is no news while nothing waits for it. */
		.running = tuning.admission != 0 &&
			intake_count(mode, TASK_WAITING) > 0 ?
		    count_running(mode) :
		    0,
	};

	if (facts.day.tokens > 0)
		facts.day.tokens += day->tokens_allowed;
	if (facts.day.cost > 0)
		facts.day.cost += day->cost_allowed;
	facts.spent = budget_spent(day, today());
	if (facts.running > 0)
		machine_read(core->workspace->root, &facts.machine);
	return quota_judge(&facts, ret_until_ms, why);
}

bool
pause_holds(struct auto_mode *mode)
{
	struct core *core = mode->core;
	struct state *state = &core->state;
	cleanup_buf struct buf why = BUF_INIT;
	int64_t until;
	enum quota_hold before = mode->hold;

	mode->hold = judge_quota(mode, &until, &why);
	/* The figures in the words change all the time. */
	if (mode->hold != before || (mode->hold == QUOTA_OPEN && state->held) ||
	    llabs(until - state->held_until_ms) >= MINUTE_MS) {
		xstrset(
		    &state->held, mode->hold != QUOTA_OPEN ? why.data : NULL);
		state->held_until_ms = until;
		persist_changed(core);
	}
	if (mode->hold == before)
		return mode->hold != QUOTA_OPEN;
	/* An even pace, and a machine that is busy, stop and go all the time:
	 * that is said once in a while. */
	if (mode->hold != QUOTA_OPEN &&
	    (mode->said_ms[mode->hold] == 0 ||
		clock_mono_ms() - mode->said_ms[mode->hold] >= SAID_MS)) {
		mode->said_ms[mode->hold] = clock_mono_ms();
		mode->hold_said = true;
		EMIT(core, EVENT_WAITING, .reason = why.data,
		    .until_unix = until / 1000);
	} else if (mode->hold == QUOTA_OPEN && mode->hold_said) {
		mode->hold_said = false;
		EMIT(core, EVENT_FLEET_RESUMED);
	}
	return mode->hold != QUOTA_OPEN;
}

bool
pause_at_hours(struct auto_mode *mode, struct agent *agent, const char *words)
{
	struct worker *w = agent->worker;
	struct hours hours = hours_of(mode);
	enum worker_status status = w->status;

	if (!is_at_work(mode, agent) ||
	    hours_open(&hours, time_zone_offset, clock_wall_ms()) ||
	    agent_move(agent, WORKER_PAUSED,
		"its turn is over, and so are auto.hours; it goes on by "
		"itself, or now with: llmc resume") < 0)
		return false;
	w->off_hours = true;
	agent_prompt(agent, words, false, status);
	return true;
}

/* Only if it would be sent back: finished work lands, whatever it cost. */
bool
auto_held(void *arg, struct agent *agent, const char *words)
{
	struct auto_mode *mode = arg;
	const struct task *t = auto_task(agent);

	return ((t == NULL || !review_is(t)) &&
		   POLICY_ASK(mode, watch, held, agent, words)) ||
	    pause_at_task_budget(mode, agent) ||
	    pause_at_hours(mode, agent, words);
}

/* --- continuing ------------------------------------------------------ */

/* For these reasons; true: there was something to resume. */
static bool
resume_worker(const struct auto_mode *mode, struct agent *agent, unsigned may,
    const char *note, struct hold_change *ret_change)
{
	struct task *t = auto_task(agent);
	bool held = hold_resume(agent, may, note, ret_change);

	if (t != NULL && (ret_change->cleared & WORKER_HOLD_BUDGET) != 0) {
		/* Grant the same amount again. */
		pause_grant(mode, t);
		t->turns_allowed = t->turns_before + t->turns;
		t->time_allowed_ms = task_attempt_time(t, clock_wall_ms());
	}
	return held;
}

static void
end_pause(struct auto_mode *mode)
{
	if (is_for(mode, ASKS_TRIAL)) /* from now on, auto.on_red applies */
		landings_trial_over(mode->landings, false);
	for (size_t i = 0; i < mode->fleet->count; i++)
		mode->fleet->agents[i]->past_budget = false;
	alike_clear(&mode->alike);
	free(take_ptr(&mode->core->state.paused));
	persist_changed(mode->core);
}

/* A new day, or a higher budget; what was spent since midnight counts. Other
 * hooks, where every task failed alike. */
static void
resume_if_over(struct auto_mode *mode)
{
	cleanup_buf struct buf reason = BUF_INIT;
	bool changed = pause_hooks_changed(mode);

	if (mode->core->state.paused == NULL || is_for(mode, ASKS_TRIAL) ||
	    (is_for(mode, ASKS_ALIKE) && !changed) ||
	    is_day_over(mode->core, &reason))
		return;
	EMIT(mode->core, EVENT_FLEET_RESUMED);
	end_pause(mode);
	for (size_t i = 0; i < mode->fleet->count; i++) {
		struct agent *agent = mode->fleet->agents[i];
		struct hold_change change;

		if (agent->worker->over_budget)
			resume_worker(
			    mode, agent, WORKER_HOLD_BUDGET, NULL, &change);
	}
	loop_call_request(mode->look);
}

void
pause_try_again(struct auto_mode *mode)
{
	cleanup_free char *subject = NULL;

	if (!is_for(mode, ASKS_TRIAL))
		return;
	subject = subject_of_trial(mode->core);
	if (text_is(mode->tried, subject))
		return;
	landings_trial_over(mode->landings, true);
	EMIT(mode->core, EVENT_FLEET_RESUMED);
	end_pause(mode);
	loop_call_request(mode->look);
}

void
pause_patrol(struct auto_mode *mode)
{
	pause_try_again(mode);
	for (size_t i = 0; i < mode->fleet->count; i++)
		if (!agent_is_taken(mode->fleet->agents[i]))
			pause_at_task_budget(mode, mode->fleet->agents[i]);
	pause_at_day_budget(mode);
	resume_if_over(mode);
	for (size_t i = 0; i < mode->fleet->count; i++) {
		struct agent *agent = mode->fleet->agents[i];
		struct hours hours = hours_of(mode);
		struct hold_change change;

		if (agent->worker->off_hours && !agent_is_taken(agent) &&
		    hours_open(&hours, time_zone_offset, clock_wall_ms()))
			resume_worker(
			    mode, agent, WORKER_HOLD_HOURS, NULL, &change);
	}
}

/* --- auto.resume ----------------------------------------------------- */

/* A person asks for it, and there is nothing to resume. */
static void
tell_nothing(const struct worker *w, bool taken, struct buf *report)
{
	cleanup_buf struct buf advice = BUF_INIT;

	worker_add_advice(w, &advice);
	if (taken)
		buf_addf(report,
		    "\n%s is in the middle of an operation; try again in a "
		    "moment",
		    w->name);
	else if (advice.len > 0)
		buf_addf(report, "\n%s is %s; %s", w->name,
		    worker_status_name(w->status), advice.data);
}

static struct json_object *
change_to_json(const struct worker *w, const struct hold_change *change)
{
	struct json_object *json = json_object_new_object();

	json_set_string(json, "worker", w->name);
	json_set(json, "cleared", worker_holds_to_json(change->cleared));
	json_set(json, "left", worker_holds_to_json(change->left));
	return json;
}

/* named: it goes on past the budget of the day if that was a reason. True: it
 * goes on. */
static bool
resume_one(const struct auto_mode *mode, struct agent *agent, bool named,
    const char *note, struct buf *report, struct json_object *changes)
{
	const struct worker *w = agent->worker;
	struct hold_change change = { 0 };
	bool held;

	if (agent_is_taken(agent)) {
		if (named)
			tell_nothing(w, true, report);
		return false;
	}
	held = resume_worker(mode, agent, HOLD_ANY, note, &change);
	if (w->status == WORKER_LIMITED && change.left == 0) {
		buf_addf(report, "\n%s waits for its limit no longer", w->name);
		turn_failure_over(agent);
		agent_tick_later(agent, 1);
		held = true;
	}
	if (!held && named && change.left == 0)
		tell_nothing(w, false, report);
	agent->past_budget =
	    named && (change.cleared & WORKER_HOLD_BUDGET) != 0;
	/* Which reasons are gone, and what stays. */
	if (change.cleared != 0) {
		buf_addf(report, "\n%s; cleared: ", w->name);
		worker_add_holds(change.cleared, report);
	}
	if ((change.cleared & WORKER_HOLD_BUDGET) != 0)
		buf_adds(report, " (the same amount is granted once more)");
	if (change.left != 0)
		buf_addf(report, "\n%s stays paused: %s", w->name,
		    w->reason != NULL ? w->reason : "it cannot be launched");
	if ((change.cleared | change.left) != 0)
		json_object_array_add(changes, change_to_json(w, &change));
	return held && change.left == 0;
}

static struct json_object *
resume_workers(struct auto_mode *mode, const char *name, const char *note,
    struct buf *report, struct json_object *changes)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < mode->fleet->count; i++) {
		struct agent *agent = mode->fleet->agents[i];
		const char *worker = agent->worker->name;

		if ((name == NULL || strcmp(name, worker) == 0) &&
		    resume_one(
			mode, agent, name != NULL, note, report, changes))
			json_object_array_add(
			    list, json_object_new_string(worker));
	}
	return list;
}

static void
resume_tasks(struct auto_mode *mode, const char *name, const char *note,
    struct json_object *list)
{
	const struct state *state = &mode->core->state;

	for (size_t i = 0; i < state->task_count; i++) {
		struct task *t = state->tasks[i];
		bool asked = t->ask == ASK_QUESTION;

		/* A question needs an answer of its own. */
		if ((name != NULL ? strcmp(name, t->id) != 0 :
				    asked || t->step != TASK_PARKED) ||
		    !task_asks(t))
			continue;
		/* op_park_task() goes on with one that is being parked. */
		if (task_unpark(t, note, clock_wall_ms()) < 0) {
			task_answer(t, note);
		} else {
			pause_grant(mode, t);
			/* What it asked is for the person alone: agents read
			 * events. */
			EMIT(mode->core, EVENT_TASK_RESUMED, .task = t->id,
			    .text = asked ? NULL : note);
		}
		persist_changed(mode->core);
		json_object_array_add(list, json_object_new_string(t->id));
	}
}

static void
on_resume(void *arg, struct server_call *call, struct json_object *params)
{
	struct auto_mode *mode = arg;
	struct core *core = mode->core;
	const char *name = json_string_or(params, "worker", NULL);
	const char *note = json_string_or(params, "note", NULL);
	cleanup_buf struct buf report = BUF_INIT, text = BUF_INIT;
	struct json_object *result, *list, *changes;
	bool fleet = name == NULL && core->state.paused != NULL, landing;
	struct err err = { 0 };

	if (name != NULL && fleet_find(mode->fleet, name) == NULL) {
		const struct task *t =
		    state_task_named(&core->state, name, &err);

		if (t == NULL && err.code == -ENOENT)
			fleet_refuse_unknown(mode->fleet, call, name);
		else if (t == NULL)
			serve_refuse(call, API_UNKNOWN, "%s", err.msg);
		if (t == NULL)
			return;
		name = t->id;
	}
	if (fleet) {
		struct budget_day *day = &mode->core->state.today;

		struct budget spent = budget_spent(day, day->day);

		day->tokens_allowed = spent.tokens;
		day->cost_allowed = spent.cost;
		end_pause(mode);
	}
	mode->limited_ms = 0; /* other hosts need not wait either */
	landing = name == NULL && landings_retry(mode->landings);
	changes = json_object_new_array();
	list = resume_workers(mode, name, note, &report, changes);
	resume_tasks(mode, name, note, list);
	result = json_object_new_object();
	buf_adds(&text,
	    fleet ? "The fleet continues." :
		json_object_array_length(list) > 0 ?
		    "Continuing." :
		landing ?
		    "What waited to land or to be pushed is tried again." :
		report.len > 0 ? "Nothing else is paused." :
				 "Nothing is paused.");
	buf_adds(&text, report.data);
	json_set_string(result, "message", text.data);
	json_set(result, "resumed", list);
	json_set(result, "changes", changes);
	loop_call_request(mode->look);
	serve_reply(core, call, result);
}

void
pause_register(struct auto_mode *mode)
{
	serve_handle(mode->core, "auto.resume", on_resume, mode);
}
