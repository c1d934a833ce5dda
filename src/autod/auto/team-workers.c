/* SPDX-License-Identifier: ISC */

#include "agent.h"
#include "auto.h"
#include "clock.h"
#include "fleet.h"
#include "mem.h"
#include "op-add.h"
#include "op-nuke.h"
#include "settings.h"
#include "team-workers.h"

#define IDLE_MS (60 * 1000) /* until one is removed */

static size_t
limit(const struct auto_mode *mode)
{
	return (size_t)settings_int(
	    mode->core->settings, "team.max_concurrent");
}

/* Has it nothing to do, now or as soon as its session is ready? */
static bool
is_unused(const struct worker *w)
{
	return w->task == NULL && !w->on_hold &&
	    (w->status == WORKER_IDLE || w->status == WORKER_OFFLINE);
}

struct numbers {
	size_t all, unused, waiting;
};

static struct numbers
count(const struct auto_mode *mode)
{
	const struct state *state = &mode->core->state;
	struct numbers n = { 0 };

	for (size_t i = 0; i < state->count; i++) {
		const struct worker *w = state->workers[i];

		if (!worker_is_team(w->name))
			continue;
		n.all++;
		n.unused += is_unused(w);
		n.waiting += w->status == WORKER_WAITING;
	}
	return n;
}

static void
add_one(struct auto_mode *mode)
{
	for (int i = 1;; i++) {
		cleanup_free char *name = xasprintf("team-%d", i);

		if (state_find(&mode->core->state, name) != NULL)
			continue;
		op_add(mode->fleet, name, NULL);
		return;
	}
}

void
team_workers_ensure(struct auto_mode *mode, size_t waiting)
{
	struct numbers n = count(mode);
	size_t max = limit(mode);

	for (; n.unused < waiting && n.all - n.waiting < max; n.unused++) {
		add_one(mode);
		n.all++;
	}
}

size_t
team_workers_room(const struct auto_mode *mode)
{
	struct numbers n = count(mode);
	size_t busy = n.all - n.waiting - n.unused, max = limit(mode);

	return busy < max ? max - busy : 0;
}

bool
team_workers_full(const struct auto_mode *mode)
{
	struct numbers n = count(mode);

	return n.unused == 0 && n.all - n.waiting >= limit(mode);
}

static bool
is_dismissed(const struct agent *agent, bool now)
{
	const struct worker *w = agent->worker;

	return worker_is_team(w->name) && is_unused(w) && worker_is_quiet(w) &&
	    !agent_is_taken(agent) && !agent->adopting &&
	    (now || clock_wall_ms() - w->since_ms >= IDLE_MS);
}

size_t
team_workers_dismiss(struct auto_mode *mode, bool now)
{
	for (size_t i = mode->fleet->count; i-- > 0;)
		if (is_dismissed(mode->fleet->agents[i], now))
			op_nuke(mode->fleet->agents[i], NULL);
	return count(mode).unused;
}
