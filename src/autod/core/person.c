/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "buf.h"
#include "core.h"
#include "emit.h"
#include "lock.h"
#include "mem.h"
#include "people.h"
#include "person.h"
#include "worker.h"
#include "workspace.h"

static bool
is_overseen(const struct core *core)
{
	cleanup_free char *lock =
	    workspace_path(core->workspace, "overseer.lock");

	return lock_is_held(lock) == 1;
}

/* Does auto mode drive the worker? */
static bool
is_auto(const struct core *core, const char *worker)
{
	char **name = core->state.auto_workers;

	if (core->state.auto_mode && worker != NULL && worker_is_team(worker))
		return true;
	for (; core->state.auto_mode && name != NULL && *name != NULL; name++)
		if (worker != NULL && strcmp(*name, worker) == 0)
			return true;
	return false;
}

void
person_tell(const struct core *core, const struct notice *notice)
{
	bool ends =
	    notice->class == NOTICE_FAILURE || notice->class == NOTICE_END;

	if (core->people == NULL || core->settings == NULL ||
	    (ends && is_overseen(core)))
		return;
	people_tell(core->people, core->settings, notice);
}

void
person_escalate(const struct core *core, const struct escalation *what,
    enum notice_class class)
{
	if (core->people != NULL && core->settings != NULL)
		people_escalate(core->people, core->settings, what, class);
}

/* The sentence of the event, and its reason if that is not part of it. */
static void
add_why(const struct event *event, struct buf *out)
{
	event_text(event, out);
	if (event->reason != NULL && strstr(out->data, event->reason) == NULL)
		buf_addf(out, ": %s", event->reason);
}

static void
on_event(const struct event *event, void *arg)
{
	const struct core *core = arg;
	const struct event_row *row = event_row(event->kind);
	cleanup_buf struct buf why = BUF_INIT;

	if (row->notice == NOTICE_NONE ||
	    (row->by_hand && is_auto(core, event->worker)))
		return;
	add_why(event, &why);
	person_tell(core,
	    &(struct notice){ .class = row->notice,
		.id = event->receipt,
		.why = why.data,
		.worker = event->worker,
		.task = event->task,
		.goal = event->goal,
		.node = event->node });
}

void
person_begin(const struct core *core)
{
	if (core->people != NULL && core->settings != NULL)
		people_resume(core->people, core->settings);
}

void
person_subscribe(struct core *core)
{
	emit_subscribe(core, on_event, core);
}
