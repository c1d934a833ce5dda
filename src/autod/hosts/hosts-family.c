/* SPDX-License-Identifier: ISC */

/* Agents that were spawned, where hosts share tasks: which begin at home, and
 * those that an attempt on another host has asked for. */

#include "base.h"
#include "attempt.h"
#include "hosts-private.h"
#include "persist.h"
#include "task.h"
#include "word.h"
#include "worker.h"

/* One that was spawned here begins here while this host is not busy: that is
 * where its parent is. */
bool
family_at_home(const struct hosts_floor *floor, const struct task *t)
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
kin_due_ms(const struct hosts_floor *floor, const struct share *share)
{
	const struct task *t =
	    share->step == SHARE_OUT ? share_task(floor, share) : NULL;

	return t != NULL && t->step == TASK_WAITING && task_is_for_team(t) &&
		!share->withheld && !floor->doubt && hosts_sure(floor) ?
	    share->out_ms + HOSTS_HOME_MS - clock_boot_ms() :
	    INT64_MAX;
}

/* --- agents that an earlier attempt has asked for ----------------------------
 */

/* The row is ours now: its result is for this attempt, and it ends with it. One
 * that another host works on stays there. */
static void
take_over(struct hosts_floor *floor, struct task *parent,
    const struct shared_rows *rows, size_t n)
{
	const char *id = shared_text(rows, n, "task");
	struct share *share = share_of_id(floor, id);
	struct task *t = share != NULL ? share_task(floor, share) :
					 share_add_task(floor, id, floor->host,
					     shared_text(rows, n, "body"));
	cleanup_free char *actor = task_actor(parent);

	if (t == NULL)
		return;
	if (share == NULL) {
		share = share_add(floor, id, id, floor->host, SHARE_OUT);
		share->out_ms = clock_boot_ms();
		share->prio = (int)t->priority;
		share->fence = shared_int(rows, n, "fence");
	}
	xstrset(&share->owner, floor->host);
	share_save(floor, share);
	xstrset(&t->source, HOSTS_CHILD_SOURCE);
	xstrset(&t->launch.parent, parent->id);
	xstrset(&t->launch.parent_actor, actor);
	parent->attempt.has_spawned = true;
	floor->since_ms = 0; /* who has it is read */
	floor->poll = true;
}

static void
on_family(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;
	struct share *share = floor->share;
	struct task *t = share != NULL ? share_task(floor, share) : NULL;
	const struct shared_rows *rows;

	floor->share = NULL;
	if (!hosts_answered(floor, answer) || share == NULL) {
		hosts_done(floor);
		return;
	}
	share->family = false;
	rows = &answer->of[1];
	if (t != NULL)
		strv_clear(&t->attempt.elsewhere);
	for (size_t i = 0; t != NULL && i < rows->count; i++) {
		const char *title = shared_text(rows, i, "title");
		const char *host = shared_text(rows, i, "host");
		const char *owner = shared_text(rows, i, "owner");
		unsigned state = ROW_STATE_COUNT;

		word_find(
		    row_state_words, shared_text(rows, i, "state"), &state);
		if (strcmp(owner, floor->host) == 0) {
			if (state < ROW_LANDED || state == ROW_HELD)
				take_over(floor, t, rows, i);
			continue;
		}
		strv_take(&t->attempt.elsewhere,
		    xasprintf("%s (%s, of host %s): %s%s%s",
			shared_text(rows, i, "task"),
			title != NULL ? title : "", owner,
			shared_text(rows, i, "state"),
			host != NULL ? " on host " : "",
			host != NULL ? host : ""));
	}
	persist_changed(floor->core);
	auto_plan_changed(floor->mode);
	hosts_done(floor);
}

bool
family_read(struct hosts_floor *floor)
{
	for (size_t i = 0; i < floor->share_count; i++) {
		struct share *share = floor->shares[i];

		if (share->step != SHARE_HELD || !share->family)
			continue;
		floor->share = share;
		hosts_ask(floor,
		    (const struct shared_call[]){
			SHARED_CALL(SHARED_INHERIT, BOOK_T(share->id),
			    BOOK_T(floor->boot)),
			SHARED_CALL(SHARED_CHILDREN, BOOK_T(share->id)) },
		    2, on_family);
		return true;
	}
	return false;
}

void
kin_check(struct hosts_floor *floor, const char *parent)
{
	for (size_t i = 0; i < floor->share_count; i++) {
		const struct share *share = floor->shares[i];
		const struct task *t = share_task(floor, share);

		if (strcmp(share->owner, floor->host) == 0 && t != NULL &&
		    task_is_child(t) &&
		    (parent == NULL || strcmp(t->launch.parent, parent) == 0) &&
		    !strv_has(strv_const(floor->adopt), share->id))
			strv_add(&floor->adopt, share->id);
	}
}
