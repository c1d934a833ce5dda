/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <string.h>

#include "auto.h"
#include "book-history.h"
#include "clock.h"
#include "emit.h"
#include "errtext.h"
#include "intake.h"
#include "mem.h"
#include "outcome.h"
#include "persist.h"
#include "post-accept.h"
#include "scheduler.h"
#include "settings.h"
#include "source.h"
#include "taken-back.h"

/* --- its task --------------------------------------------------------- */

/* NULL = it is not in the state. */
static struct task *
find_ours(const struct auto_mode *mode, const char *commit)
{
	const struct state *state = &mode->core->state;

	for (size_t i = 0; i < state->task_count; i++)
		if (state->tasks[i]->commit != NULL &&
		    strcmp(state->tasks[i]->commit, commit) == 0)
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
	emit(core,
	    &(struct event){ .kind = EVENT_TASK_RETRY,
		.worker = old->worker,
		.task = t->id,
		.reason = why,
		.attempt = t->attempts });
	persist_changed(core);
	intake_take(mode);
	scheduler_look(mode);
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
	struct task *t = task_again(id, old, clock_wall_ms());

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

void
taken_back(struct auto_mode *mode, const struct event *event)
{
	static const char what[] = "taken back by commit";
	struct core *core = mode->core;
	struct task *ours = find_ours(mode, event->ref);
	struct task *filed =
	    ours == NULL ? book_find_task_commit(core->book, event->ref) : NULL;
	struct task *t = ours != NULL ? ours : filed;

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
}
