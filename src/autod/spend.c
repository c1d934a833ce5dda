/* SPDX-License-Identifier: ISC */

/* What the workers use up, from their transcripts; pauses at the budgets, and
 * the way on. */
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "budget.h"
#include "buf.h"
#include "clock.h"
#include "json.h"
#include "log.h"
#include "mem.h"
#include "methods.h"
#include "pilot.h"
#include "server.h"
#include "settings.h"
#include "tmux.h"
#include "transcript.h"

#define DAY_MS   (24 * 3600 * (int64_t)1000)
#define MILLIONS 1000000

static const char budget_over[] =
    "You were paused because a budget was used up; it has been raised. Go on "
    "with the task from where it stopped.";

static int64_t
today(void)
{
	return clock_wall_ms() / DAY_MS;
}

/* --- budgets --------------------------------------------------------- */

static bool
task_reached(const struct agent *agent, const struct task *t, struct buf *words)
{
	const struct settings *s = agent->daemon->settings;
	struct budget budget = {
		.tokens = settings_int(s, "budget.task_tokens"),
		.cost = settings_amount(s, "budget.task_cost"),
		.time_ms = settings_duration(s, "budget.task_time"),
		.turns = (int)settings_int(s, "budget.task_turns"),
	};
	struct budget granted = {
		.tokens = t->tokens_allowed,
		.cost = t->cost_allowed,
		.time_ms = t->time_allowed_ms,
		.turns = t->turns_allowed,
	};
	struct budget spent = {
		.tokens = t->tokens,
		.cost = t->cost,
		.time_ms = clock_wall_ms() - t->assigned_ms,
		.turns = t->turns_before + t->turns,
	};

	return budget_reached(&budget, &granted, &spent, "task", words);
}

static bool
day_reached(const struct daemon *d, struct buf *words)
{
	const struct budget_day *day = &d->state.today;
	struct budget budget = {
		.tokens = settings_int(d->settings, "budget.day_tokens"),
		.cost = settings_amount(d->settings, "budget.day_cost"),
	};
	struct budget granted = { .tokens = day->tokens_allowed,
		.cost = day->cost_allowed };
	struct budget spent = { .tokens = day->tokens, .cost = day->cost };

	return day->day == today() &&
	    budget_reached(&budget, &granted, &spent, "day", words);
}

/* --- pausing --------------------------------------------------------- */

static void
interrupted(const struct err *err, void *arg)
{
	(void)err;
	(void)arg;
}

static void
interrupt_now(void *arg)
{
	struct agent *agent = arg;
	const char *const keys[] = { "Escape", NULL };

	tmux_keys(
	    agent->daemon->tmux, agent->session_name, keys, interrupted, agent);
}

static void
pause_worker(struct agent *agent, const char *scope, const char *words)
{
	struct worker *w = agent->worker;
	bool in_turn = w->session.busy;

	if (agent_move(agent, WORKER_PAUSED, words) < 0)
		return;
	w->over_budget = true;
	w->session.busy = false;
	log_fields(LOG_LEVEL_INFO, "paused at its budget", "worker", w->name,
	    "task", w->task, "reason", words, NULL);
	record(agent->daemon, LOG_LEVEL_INFO, "budget", "scope", scope,
	    "worker_name", w->name, "task", w->task, "reason", words, NULL);
	if (in_turn)
		daemon_then(agent->daemon, agent, interrupt_now, agent);
}

static bool
can_pause(const struct agent *agent)
{
	return pilot_drives(agent) && agent->worker->task != NULL &&
	    !agent->operating && worker_in_turn(agent->worker->status);
}

static bool
check_task(struct agent *agent)
{
	const struct task *t = pilot_task(agent);
	cleanup_buf struct buf words = BUF_INIT;

	if (t == NULL || !can_pause(agent) || !task_reached(agent, t, &words))
		return false;
	buf_addf(&words, "; go on with: llmc resume %s", agent->worker->name);
	pause_worker(agent, "task", words.data);
	return true;
}

static bool
check_day(struct pilot *p)
{
	struct daemon *d = p->daemon;
	cleanup_buf struct buf words = BUF_INIT;

	if (d->state.paused != NULL || !day_reached(d, &words))
		return false;
	buf_adds(&words, "; go on with: llmc resume, or tomorrow (UTC)");
	xstrset(&d->state.paused, words.data);
	daemon_changed(d);
	log_info("everybody pauses: %s", words.data);
	for (size_t i = 0; i < d->agent_count; i++)
		if (can_pause(d->agents[i]))
			pause_worker(d->agents[i], "day", words.data);
	return true;
}

/* --- counting -------------------------------------------------------- */

/* Saved with the next change: a crash counts these again from the file. */
void
spend_update(struct agent *agent)
{
	struct daemon *d = agent->daemon;
	struct worker *w = agent->worker;
	struct task *t = pilot_task(agent);
	const struct transcript_totals *totals;
	int64_t tokens, cost;

	/* One that was set back still has the file, but not its name. */
	if (agent->transcript == NULL || w->session.transcript == NULL ||
	    !worker_is_auto(w->name))
		return;
	if (w->usage_transcript == NULL ||
	    strcmp(w->usage_transcript, w->session.transcript) != 0) {
		xstrset(&w->usage_transcript, w->session.transcript);
		w->usage_tokens = w->usage_cost = 0;
	}
	totals =
	    transcript_parser_totals(transcript_parser_of(agent->transcript));
	tokens = totals->input_tokens + totals->output_tokens +
	    totals->cache_write_tokens;
	cost = (int64_t)(totals->cost_usd * MILLIONS);
	if (tokens <= w->usage_tokens && cost <= w->usage_cost)
		return; /* counted before a restart */
	budget_spend(&d->state.today, today(),
	    tokens > w->usage_tokens ? tokens - w->usage_tokens : 0,
	    cost > w->usage_cost ? cost - w->usage_cost : 0);
	if (t != NULL) {
		t->tokens +=
		    tokens > w->usage_tokens ? tokens - w->usage_tokens : 0;
		t->cost += cost > w->usage_cost ? cost - w->usage_cost : 0;
	}
	w->usage_tokens = tokens > w->usage_tokens ? tokens : w->usage_tokens;
	w->usage_cost = cost > w->usage_cost ? cost : w->usage_cost;
	d->dirty = true;
	if (d->pilot->active && !check_day(d->pilot))
		check_task(agent);
}

bool
spend_turn_ended(struct agent *agent)
{
	return agent->daemon->pilot->active && check_task(agent);
}

static void go_on(struct agent *agent);

void
spend_patrol(struct pilot *p)
{
	struct daemon *d = p->daemon;

	for (size_t i = 0; i < d->agent_count; i++)
		check_task(d->agents[i]);
	if (d->state.paused == NULL || d->state.today.day == today())
		return;
	log_info("a new day: going on");
	free(take_ptr(&d->state.paused));
	for (size_t i = 0; i < d->agent_count; i++)
		if (d->agents[i]->worker->over_budget)
			go_on(d->agents[i]);
	pilot_look(d);
}

/* --- resume ---------------------------------------------------------- */

/* As much again as the budget had. */
static void
grant(struct task *t)
{
	t->tokens_allowed = t->tokens;
	t->cost_allowed = t->cost;
	t->turns_allowed = t->turns_before + t->turns;
	t->time_allowed_ms = clock_wall_ms() - t->assigned_ms;
}

static void
go_on(struct agent *agent)
{
	struct worker *w = agent->worker;
	enum worker_status before = w->before;
	struct task *t = pilot_task(agent);

	if (t != NULL)
		grant(t);
	if (agent_move(agent, WORKER_STARTING, NULL) < 0)
		return;
	w->over_budget = false;
	agent_prompt(agent, budget_over, false,
	    before == WORKER_STARTING || before == WORKER_OFFLINE ?
		WORKER_WORKING :
		before);
	agent_tick_later(agent, 1);
}

static void
resume_fleet(struct daemon *d)
{
	struct budget_day *day = &d->state.today;

	day->tokens_allowed = day->tokens;
	day->cost_allowed = day->cost;
	free(take_ptr(&d->state.paused));
	daemon_changed(d);
}

void
spend_resume(
    struct daemon *d, struct server_call *call, struct json_object *params)
{
	const char *name = json_string_or(params, "worker", NULL);
	struct json_object *result, *list;
	bool fleet = name == NULL && d->state.paused != NULL;

	if (name != NULL && agent_find(d, name) == NULL) {
		methods_unknown_worker(d, call, name);
		return;
	}
	if (fleet)
		resume_fleet(d);
	list = json_object_new_array();
	for (size_t i = 0; i < d->agent_count; i++) {
		struct agent *agent = d->agents[i];

		if (!agent->worker->over_budget || agent->operating ||
		    (name != NULL && strcmp(name, agent->worker->name) != 0))
			continue;
		go_on(agent);
		json_object_array_add(
		    list, json_object_new_string(agent->worker->name));
	}
	result = json_object_new_object();
	json_set_string(result, "message",
	    fleet ? "The fleet goes on." :
		json_object_array_length(list) > 0 ?
		    "Going on." :
		    "Nothing is paused at a budget.");
	json_set(result, "resumed", list);
	pilot_look(d);
	daemon_reply(d, call, result);
}
