/* SPDX-License-Identifier: ISC */

#include "agent.h"
#include "auto.h"
#include "clock.h"
#include "failure.h"
#include "outage.h"
#include "persist.h"
#include "settings.h"

void
outage_limited(void *arg, struct agent *agent, bool outage, const char *text,
    int64_t until_ms)
{
	struct auto_mode *mode = arg;
	struct core *core = mode->core;
	struct state *state = &core->state;
	int64_t now = clock_wall_ms() / 1000;

	(void)until_ms;
	if (!outage)
		return;
	if (state->outage_since_unix == 0) {
		state->outage_since_unix = now;
		persist_changed(core);
	}
	if (mode->active &&
	    (now - state->outage_since_unix) * 1000 >
		settings_duration(core->settings, "auto.outage_limit"))
		failure_raise(core,
		    &(struct failure){ .class = "outage",
			.worker = agent->worker->name,
			.task = agent->worker->task,
			.status = -1,
			.reason = text });
}
