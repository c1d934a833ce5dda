/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "account.h"
#include "metrics-state.h"
#include "metrics-text.h"
#include "settings.h"
#include "state.h"
#include "worker.h"

#define DAY_MS (24 * 3600 * (int64_t)1000)

static enum metrics_mode
mode_of(const char *name)
{
	if (worker_is_team(name))
		return METRICS_TEAM;
	return worker_is_auto(name) ? METRICS_AUTO : METRICS_HAND;
}

static void
count_worker(const struct worker *w, struct metrics *m)
{
	m->workers[mode_of(w->name)][w->status]++;
	if (w->status == WORKER_LIMITED && w->until_ms > m->limit_until_ms)
		m->limit_until_ms = w->until_ms;
}

/* What a person granted for the day is a part of its limit. */
static int64_t
limit_of(int64_t limit, int64_t granted)
{
	return limit > 0 ? limit + granted : 0;
}

static void
fill_day(const struct budget_day *day, const struct settings *settings,
    int64_t now_ms, struct metrics *m)
{
	struct budget_day today = { .day = now_ms / DAY_MS };

	if (day->day == today.day)
		today = *day;
	m->day_cost = today.cost;
	m->day_cost_limit = limit_of(
	    settings_amount(settings, "budget.day_cost"), today.cost_allowed);
	m->day_tokens = today.tokens;
	m->day_tokens_limit = limit_of(
	    settings_int(settings, "budget.day_tokens"), today.tokens_allowed);
}

void
metrics_state_fill(const struct state *state, const struct settings *settings,
    int64_t now_ms, struct metrics *m)
{
	for (size_t i = 0; i < state->count; i++)
		count_worker(state->workers[i], m);
	for (size_t i = 0; i < state->task_count; i++)
		m->tasks[state->tasks[i]->step]++;
	for (size_t i = 0; i < state->account_count; i++)
		m->cost_open += state->accounts[i]->spent.estimated;
	fill_day(&state->today, settings, now_ms, m);
	m->counters = state->counters;
}
