/* SPDX-License-Identifier: ISC */

/* Agents that were spawned, where hosts share tasks: which begin at home, and
 * those that an attempt on another host has asked for. */

#include "base.h"
#include "attempt.h"
#include "hosts-private.h"
#include "persist.h"
#include "task.h"
#include "worker.h"

static struct task *
task_of(const struct hosts_floor *floor, const struct share *share)
{
	return state_task(&floor->core->state, share->task);
}

/* One that was spawned here begins here while this host is not busy: that is
 * where its parent is. */
bool
kin_at_home(const struct hosts_floor *floor, const struct task *t)
{
	const struct state *state = &floor->core->state;
	size_t busy = 0;

	for (size_t i = 0; i < state->count; i++)
		busy += state->workers[i]->task != NULL &&
		    state->workers[i]->status != WORKER_WAITING;
	return task_is_for_team(t) &&
	    (share_stays(t) || busy < (size_t)floor->mode->workers);
}

int64_t
kin_wait_ms(const struct hosts_floor *floor, int64_t now, int64_t wait)
{
	for (size_t i = 0; i < floor->share_count; i++) {
		const struct share *share = floor->shares[i];
		const struct task *t = task_of(floor, share);
		int64_t due = share->out_ms + HOSTS_HOME_MS - now;

		/* As shares_act() claims it. */
		if (share->step == SHARE_OUT && t != NULL &&
		    t->step == TASK_WAITING && task_is_for_team(t) &&
		    !share->withheld && !floor->doubt && hosts_sure(floor) &&
		    due < wait)
			wait = due;
	}
	return wait;
}

/* --- agents that an earlier attempt has asked for ----------------------------
 */

static void
on_kin(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;
	struct share *share = floor->share;
	struct task *t = share != NULL ? task_of(floor, share) : NULL;

	floor->share = NULL;
	if (hosts_answered(floor, answer) && share != NULL) {
		const struct shared_rows *rows = &answer->of[0];

		share->kin = false;
		if (t != NULL)
			strv_clear(&t->attempt.elsewhere);
		for (size_t i = 0; t != NULL && i < rows->count; i++) {
			const char *title = shared_text(rows, i, "title");
			const char *host = shared_text(rows, i, "host");

			strv_take(&t->attempt.elsewhere,
			    xasprintf("%s (%s, of host %s): %s%s%s",
				shared_text(rows, i, "task"),
				title != NULL ? title : "",
				shared_text(rows, i, "owner"),
				shared_text(rows, i, "state"),
				host != NULL ? " on host " : "",
				host != NULL ? host : ""));
		}
		persist_changed(floor->core);
		auto_plan_changed(floor->mode);
	}
	hosts_done(floor);
}

bool
kin_read(struct hosts_floor *floor)
{
	for (size_t i = 0; i < floor->share_count; i++) {
		struct share *share = floor->shares[i];

		if (share->step != SHARE_HELD || !share->kin)
			continue;
		floor->share = share;
		hosts_ask(floor,
		    &SHARED_CALL(SHARED_CHILDREN, BOOK_T(share->id)), 1,
		    on_kin);
		return true;
	}
	return false;
}
