/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "asks.h"
#include "book-history.h"
#include "core.h"
#include "emit.h"
#include "lock.h"
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

/* What a message opens, if nothing in the state stands for it. */
static const struct {
	enum notice_class class;
	enum ask_kind kind;
	const char *about;
} opens[] = {
	{ NOTICE_TASK, ASK_FAILURE, "task" },
	{ NOTICE_CHECK, ASK_TOLD, "check" },
	{ NOTICE_BRANCH, ASK_TOLD, "branch-told" },
	{ NOTICE_SETTINGS, ASK_TOLD, "settings" },
	{ NOTICE_STATE, ASK_TOLD, "state" },
	{ NOTICE_END, ASK_TOLD, "end" },
	{ NOTICE_LIMIT, ASK_TOLD, "limit" },
	{ NOTICE_OUTAGE, ASK_TOLD, "outage" },
};

/* Events after which what was told is over. */
static const struct {
	enum event_kind kind;
	const char *key;
} ended_by[] = {
	{ EVENT_STORE_WRITTEN, "state" },
	{ EVENT_BRANCH_CHOSEN, "branch-told" },
	{ EVENT_LANDED, "branch-told" },
};

static void
open_ask(struct core *core, const struct notice *n)
{
	cleanup_buf struct buf signature = BUF_INIT;
	cleanup_free char *key = NULL;
	struct escalation what;
	size_t i = 0;

	while (i < nitems(opens) && opens[i].class != n->class)
		i++;
	if (i == nitems(opens) || core->book == NULL ||
	    (n->class == NOTICE_BRANCH &&
		core->state.landings.red_told != NULL)) /* asks.c has it */
		return;
	escalation_of_notice(n, &signature, &what);
	key = n->task != NULL ? xasprintf("%s/%s", opens[i].about, n->task) :
				xstrdup(opens[i].about);
	/* Nobody need look: what was asked about it is over. */
	if (n->told && state_ask(&core->state, key) != NULL) {
		asks_resolve(core, key);
		return;
	}
	asks_open(core,
	    &(struct ask_draft){ .kind = n->told ? ASK_TOLD : opens[i].kind,
		.level = n->told ? ESCALATION_INFO : what.level,
		.key = key,
		.title = what.title,
		.words = what.text,
		.worker = n->worker,
		.task = n->task,
		.goal = n->goal,
		.node = n->node,
		.stays = true });
}

void
person_tell(struct core *core, const struct notice *notice)
{
	bool ends =
	    notice->class == NOTICE_FAILURE || notice->class == NOTICE_END;

	open_ask(core, notice);
	if (core->people == NULL || core->settings == NULL ||
	    (ends && is_overseen(core)))
		return;
	people_tell(core->people, core->settings, notice);
}

void
person_escalate(
    struct core *core, const struct escalation *what, enum notice_class class)
{
	if (what->event != NULL && !what->asked &&
	    !book_knows_ask(core->book, what->event))
		asks_open(core,
		    &(struct ask_draft){ .kind = ASK_TOLD,
			.level = what->level,
			.key = what->event,
			.title = what->title,
			.words = what->text,
			.worker = what->worker,
			.task = what->task,
			.goal = what->goal,
			.node = what->node,
			.stays = true });
	if (core->people != NULL && core->settings != NULL)
		people_escalate(core->people, core->settings, what, class);
}

/* Events of plans that only a person can go on from, and those after which
 * nobody need. */
static const struct {
	enum event_kind kind;
	enum ask_kind ask; /* NONE: it needs nobody any more */
	const char *about; /* "node": of a goal, else the goal alone */
	const char *command; /* the goal follows; NULL = an answer helps */
} plans[] = {
	{ EVENT_ASSIGNMENT_ESCALATED, ASK_BLOCKED, "node", NULL },
	{ EVENT_PLAN_FAILED, ASK_FAILURE, "plan", "llmc goal plan " },
	{ EVENT_PLAN_REVIEW_NEEDED, ASK_APPROVAL, "plan", "llmc goal show " },
	{ EVENT_NODE_TODO, ASK_NONE, "node", NULL },
	{ EVENT_NODE_QUEUED, ASK_NONE, "node", NULL },
	{ EVENT_NODE_IN_PROGRESS, ASK_NONE, "node", NULL },
	{ EVENT_NODE_DONE, ASK_NONE, "node", NULL },
	{ EVENT_NODE_CANCELLED, ASK_NONE, "node", NULL },
	{ EVENT_PLAN_GENERATED, ASK_NONE, "plan", NULL },
	{ EVENT_PLAN_CREATED, ASK_NONE, "plan", NULL },
	{ EVENT_PLAN_DRAFTED, ASK_NONE, "plan", NULL },
	{ EVENT_GOAL_COMPLETED, ASK_NONE, "plan", NULL },
	{ EVENT_GOAL_CANCELLED, ASK_NONE, "plan", NULL },
	{ EVENT_GOAL_ARCHIVED, ASK_NONE, "plan", NULL },
};

static void
follow_plan(struct core *core, const struct event *event)
{
	cleanup_free char *key = NULL, *command = NULL;
	size_t i = 0;

	while (i < nitems(plans) && plans[i].kind != event->kind)
		i++;
	if (i == nitems(plans) || event->goal == NULL || core->book == NULL)
		return;
	key = strcmp(plans[i].about, "node") == 0 ?
	    xasprintf("node/%s/%s", event->goal,
		event->node != NULL ? event->node : "") :
	    xasprintf("plan/%s", event->goal);
	if (plans[i].ask == ASK_NONE) {
		asks_resolve(core, key);
		return;
	}
	if (plans[i].command != NULL)
		command = xasprintf("%s%s", plans[i].command, event->goal);
	asks_open(core,
	    &(struct ask_draft){ .kind = plans[i].ask,
		.level = ESCALATION_WARNING,
		.key = key,
		.title = "a goal needs a person",
		.words = event->reason,
		.command = command,
		.worker = event->worker,
		.task = event->task,
		.goal = event->goal,
		.node = event->node,
		.stays = true });
}

static void
on_event(const struct event *event, void *arg)
{
	struct core *core = arg;
	const struct event_row *row = event_row(event->kind);
	cleanup_buf struct buf why = BUF_INIT;

	follow_plan(core, event);
	for (size_t i = 0; i < nitems(ended_by); i++)
		if (event->kind == ended_by[i].kind)
			asks_resolve(core, ended_by[i].key);
	if (row->notice == NOTICE_NONE ||
	    (row->by_hand && is_auto(core, event->worker)))
		return;
	event_text(event, &why);
	if (event->reason != NULL && strstr(why.data, event->reason) == NULL)
		buf_addf(&why, ": %s", event->reason);
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
person_subscribe(struct core *core)
{
	emit_subscribe(core, on_event, core);
}
