/* SPDX-License-Identifier: ISC */

/* What a person is asked about tasks of this host: hosts were lost with one, or
 * none can take it. */

#include "base.h"
#include "emit.h"
#include "hosts-private.h"
#include "persist.h"
#include "person.h"
#include "task.h"

static struct task *
task_of(const struct hosts_floor *floor, const struct share *share)
{
	return state_task(&floor->core->state, share->task);
}

/* --- hosts were lost with it -------------------------------------------------
 */

static void
on_held(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;
	cleanup_free char *id = NULL, *why = NULL;
	cleanup_buf struct buf hosts = BUF_INIT;
	const struct shared_rows *row, *attempts;
	struct share *share;
	struct task *t;

	if (!hosts_answered(floor, answer)) {
		hosts_done(floor);
		return;
	}
	id = xstrdup(floor->held[0]);
	strv_remove(floor->held, id);
	row = &answer->of[0];
	attempts = &answer->of[1];
	share = share_of_id(floor, id);
	t = share != NULL ? task_of(floor, share) : NULL;
	if (t != NULL && row->count > 0 &&
	    strcmp(shared_text(row, 0, "state"), "held") == 0) {
		for (size_t i = 0; i < attempts->count; i++)
			buf_addf(&hosts, "%s%s", i > 0 ? ", " : "",
			    shared_text(attempts, i, "host"));
		why = xasprintf("%d hosts were lost while they had it; it was "
				"on: %s",
		    HOSTS_LOST_MAX, hosts.data);
		if (t->step != TASK_PARKED &&
		    task_park(t, ASK_FAILURE, NULL, why, clock_wall_ms()) == 0)
			EMIT(floor->core, EVENT_TASK_PARKED, .task = t->id,
			    .worker = t->worker, .reason = why);
		share->step = SHARE_NEW; /* once it waits again */
		share->fence = shared_int(row, 0, "fence");
		xstrset(&share->state, "held");
		share_save(floor, share);
		persist_changed(floor->core);
	}
	hosts_done(floor);
}

/* A person says whether it is tried again, and should know where it was. */
bool
asks_held(struct hosts_floor *floor)
{
	if (floor->held == NULL || floor->held[0] == NULL)
		return false;
	hosts_ask(floor,
	    (const struct shared_call[]){
		SHARED_CALL(SHARED_TASK_READ, BOOK_T(floor->held[0])),
		SHARED_CALL(SHARED_ATTEMPTS, BOOK_T(floor->held[0])) },
	    2, on_held);
	return true;
}

/* --- what no host can take ---------------------------------------------------
 */

bool
shares_want(const struct hosts_floor *floor)
{
	for (size_t i = 0; i < floor->share_count; i++) {
		const struct share *share = floor->shares[i];
		const struct task *t = task_of(floor, share);
		cleanup_strv char **wants = NULL;

		if (share->asks)
			return true;
		if (share->step == SHARE_OUT && t != NULL)
			wants = share_wants(t);
		if (wants != NULL)
			return true;
	}
	return false;
}

static bool
is_listed(const struct shared_rows *rows, const char *id)
{
	for (size_t i = 0; i < rows->count; i++)
		if (strcmp(shared_text(rows, i, "task"), id) == 0)
			return true;
	return false;
}

void
shares_nobody(struct hosts_floor *floor, const struct shared_rows *rows)
{
	for (size_t i = 0; i < floor->share_count; i++) {
		struct share *share = floor->shares[i];
		struct task *t = task_of(floor, share);
		cleanup_free char *key = xasprintf("host/%s", share->id);
		cleanup_buf struct buf words = BUF_INIT;
		cleanup_strv char **wants = t != NULL ? share_wants(t) : NULL;
		bool here = wants != NULL;

		if (!is_listed(rows, share->id) || t == NULL) {
			if (share->asks)
				asks_resolve(floor->core, key);
			share->asks = false;
			continue;
		}
		buf_adds(&words, "no host that is up has all that it wants:");
		for (size_t k = 0; wants != NULL && wants[k] != NULL; k++) {
			here &= hosts_can(floor, wants[k]);
			buf_addf(&words, " %s", wants[k]);
		}
		if (here || share->asks)
			continue;
		buf_adds(&words,
		    "; start a host that has it, or add the word to "
		    "fleet.capabilities of one that does");
		share->asks = true;
		share_save(floor, share);
		asks_open(floor->core,
		    &(struct ask_draft){ .kind = ASK_BLOCKED,
			.level = ESCALATION_WARNING,
			.key = key,
			.title = "no host can take a task",
			.words = words.data,
			.command = "llmc fleet hosts",
			.task = t->id,
			.stays = true });
	}
	persist_changed(floor->core);
}
