/* SPDX-License-Identifier: ISC */

/* The floor: its begin and end, its policies, the calls that wait. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "buf.h"
#include "check-book.h"
#include "check-output.h"
#include "clock.h"
#include "check-slot.h"
#include "emit.h"
#include "errtext.h"
#include "git-land.h"
#include "json.h"
#include "landing-commands.h"
#include "landing-item.h"
#include "landing.h"
#include "life.h"
#include "mem.h"
#include "op-enqueue.h"
#include "op-rebase.h"
#include "op-review.h"
#include "persist.h"
#include "person.h"
#include "pick.h"
#include "queue-base.h"
#include "push.h"
#include "queue-move.h"
#include "queue.h"
#include "release.h"
#include "serve.h"
#include "settings.h"
#include "settle.h"
#include "worker-op.h"

#define DAY_MS (24 * 3600 * INT64_C(1000))

struct landing_call {
	TAILQ_ENTRY(landing_call) entry;
	char *item;
	struct server_call *call;
};

/* --- calls ----------------------------------------------------------- */

void
landings_add_call(
    struct landings *landings, const char *item, struct server_call *call)
{
	struct landing_call *c;

	if (call == NULL)
		return;
	c = xcalloc(1, sizeof *c);
	c->item = xstrdup(item);
	c->call = call;
	TAILQ_INSERT_TAIL(&landings->calls, c, entry);
}

static struct landing_call *
find_call(const struct landings *landings, const char *item)
{
	struct landing_call *c = TAILQ_FIRST(&landings->calls);

	while (c != NULL && strcmp(c->item, item) != 0)
		c = TAILQ_NEXT(c, entry);
	return c;
}

struct server_call *
landings_take_call(struct landings *landings, const char *item)
{
	struct landing_call *c = find_call(landings, item);
	struct server_call *call;

	if (c == NULL)
		return NULL;
	call = c->call;
	TAILQ_REMOVE(&landings->calls, c, entry);
	free(c->item);
	free(c);
	return call;
}

/* The work stays in the queue; only nobody waits for it here any more. */
static void
release_calls(struct landings *landings)
{
	struct landing_call *c;

	while ((c = TAILQ_FIRST(&landings->calls)) != NULL) {
		TAILQ_REMOVE(&landings->calls, c, entry);
		serve_fail(landings->core, c->call, API_FAILED,
		    "the daemon is stopping; the next one continues it");
		free(c->item);
		free(c);
	}
}

/* --- policies and events --------------------------------------------- */

bool
landings_may_move(const struct landings *landings)
{
	const struct landing_policy *policy = landings->policy;

	return policy == NULL || policy->may_move == NULL ||
	    policy->may_move(landings->policy_arg);
}

bool
landings_keeps(const struct landings *landings, const char *task)
{
	const struct landing_policy *policy = landings->policy;

	return task != NULL && policy != NULL && policy->keeps != NULL &&
	    policy->keeps(landings->policy_arg, task);
}

void
landings_item_blocked(struct landings *landings,
    const struct landing_item *item, const char *class, const char *reason)
{
	const struct landing_policy *policy = landings->policy;

	if (policy != NULL && policy->blocked != NULL)
		policy->blocked(landings->policy_arg, class,
		    item != NULL ? item->worker : NULL,
		    item != NULL ? item->task : NULL, reason);
}

void
landings_blocked(
    struct landings *landings, const char *class, const char *reason)
{
	const struct landing_record *record = &landings->core->state.landings;
	const struct landing_item *first = NULL;

	for (size_t i = 0; i < record->count && first == NULL; i++)
		if (record->items[i]->step == ITEM_QUEUED)
			first = record->items[i];
	landings_item_blocked(landings, first, class, reason);
}

void
landings_red(struct landings *landings, const char *tree)
{
	const struct landing_policy *policy = landings->policy;
	const struct core *core = landings->core;
	cleanup_buf struct buf how = BUF_INIT, output = BUF_INIT;
	cleanup_free char *words = NULL;

	check_output_read(core, tree, &how, &output);
	words = xasprintf("%s itself fails its check at %.12s: %s %s\n%s",
	    core_branch(core), landings->queue->base_commit,
	    settings_string(core->settings, "auto.check_command"), how.data,
	    output.data);
	emit(landings->core,
	    &(struct event){ .kind = EVENT_BRANCH_RED,
		.branch = core_branch(core),
		.commit = landings->queue->base_commit,
		.reason = words });
	if (policy != NULL && policy->red != NULL)
		policy->red(landings->policy_arg, tree, words);
}

/* The event each time, the person once a day. */
static void
tell_flaky(struct landings *landings, const char *key)
{
	struct core *core = landings->core;
	int percent =
	    check_book_flake_percent(&core->state.landings.checks, key);
	int64_t now = clock_mono_ms();
	cleanup_free char *why = xasprintf(
	    "auto.check_command both passed and failed on %d %% of the trees "
	    "that it judged: %s",
	    percent, settings_string(core->settings, "auto.check_command"));

	emit(core,
	    &(struct event){ .kind = EVENT_CHECK_FLAKY, .count = percent });
	if (landings->flaky_told_ms != 0 &&
	    now - landings->flaky_told_ms < DAY_MS)
		return;
	landings->flaky_told_ms = now;
	person_tell(
	    core, &(struct notice){ .class = NOTICE_CHECK, .why = why });
}

void
landings_checked(
    struct landings *landings, const struct check_end *end, bool flaky)
{
	static const char *const words[] = {
		[CHECK_PASSED] = "passed",
		[CHECK_FAILED] = "failed",
		[CHECK_UNJUDGED] = "not judged",
	};
	struct core *core = landings->core;

	emit(core,
	    &(struct event){ .kind = EVENT_CHECKED,
		.result = words[end->verdict],
		.ref = end->tree,
		.reason = end->verdict == CHECK_PASSED ? NULL : end->how,
		.duration_ms = end->duration_ms });
	if (flaky && check_book_alarm(&core->state.landings.checks, end->key))
		tell_flaky(landings, end->key);
}

const char *
landings_moving(const struct landings *landings)
{
	const struct landing_record *record = &landings->core->state.landings;

	return record->branch != NULL ? record->branch :
					core_branch(landings->core);
}

void
landings_moved(struct landings *landings, const char *from, const char *to)
{
	emit(landings->core,
	    &(struct event){ .kind = EVENT_BRANCH_MOVED,
		.branch = landings_moving(landings),
		.from = from,
		.to = to });
}

void
landings_fail(struct landings *landings, struct server_call *call,
    const char *worker, const char *head, const struct err *err,
    const char *output)
{
	cleanup_free char *words = err->code == -ECANCELED || worker == NULL ?
	    xstrdup(err->msg) :
	    xasprintf("the work of %s%s%.7s has not landed on %s: %s", worker,
		head != NULL ? " at " : "", head != NULL ? head : "",
		core_branch(landings->core), err->msg);

	serve_fail_output(landings->core, call, API_FAILED, words, output);
}

void
landings_ended(struct landings *landings, const struct landing_end *end)
{
	struct core *core = landings->core;
	const char *worker =
	    end->agent != NULL ? end->agent->worker->name : NULL;

	if (end->result != LANDING_END_LANDED &&
	    end->result != LANDING_END_CANCELLED)
		emit(core,
		    &(struct event){ .kind = EVENT_NOT_LANDED,
			.worker = worker,
			.task = end->task,
			.branch = core_branch(core),
			.commit = end->commit,
			.error = end->err->msg });
	emit(core,
	    &(struct event){ .kind = EVENT_LANDING_ENDED,
		.worker = worker,
		.task = end->task,
		.landing = end });
}

/* --- begin ----------------------------------------------------------- */

void
landing_begin(struct landings *landings, struct agent *agent,
    const char *commit, bool approved, struct server_call *call)
{
	struct worker *w = agent->worker;

	w->accepted = true;
	w->approved = approved;
	xstrset(&w->accepted_head, commit);
	w->for_person = false;
	agent_move(agent, WORKER_ACCEPTING, NULL);
	op_enqueue(landings, agent, call);
}

static struct json_object *
rebase_answer(
    const struct agent *agent, enum op_rebase_end end, const char *head)
{
	struct json_object *answer = json_object_new_object();

	json_set_string(answer, "worker", agent->worker->name);
	json_set_string(answer, "commit_sha", head);
	json_set_string(answer, "commit_message", NULL);
	json_set_string(answer, "status",
	    end == OP_REBASE_CONFLICT ? "rebasing" : "needs_review");
	json_set_bool(
	    answer, "needs_conflict_resolution", end == OP_REBASE_CONFLICT);
	json_set_bool(answer, "already_incorporated", false);
	json_set_string(answer, "landing_branch", core_branch(agent->core));
	return answer;
}

static void
on_rebased(struct agent *agent, enum op_rebase_end end, const char *head,
    const struct err *err, struct server_call *call, void *arg)
{
	(void)arg;
	if (err != NULL)
		serve_fail(agent->core, call, API_FAILED, err->msg);
	else
		serve_reply(agent->core, call, rebase_answer(agent, end, head));
}

static void
on_rebased_for_review(struct agent *agent, enum op_rebase_end end,
    const char *head, const struct err *err, struct server_call *call,
    void *arg)
{
	if (end == OP_REBASE_DONE)
		op_review(agent, call, rebase_answer(agent, end, head));
	else
		on_rebased(agent, end, head, err, call, arg);
}

/* Not accepted: it must not land after a restart. */
void
landing_rebase(
    struct landings *landings, struct agent *agent, struct server_call *call)
{
	agent->worker->accepted = false;
	agent_move(agent, WORKER_ACCEPTING, NULL);
	op_rebase(agent, false, call, on_rebased, landings);
}

void
landing_review(
    struct landings *landings, struct agent *agent, struct server_call *call)
{
	agent->worker->accepted = false;
	agent_move(agent, WORKER_ACCEPTING, NULL);
	op_rebase(agent, false, call, on_rebased_for_review, landings);
}

/* After a restart: what was in progress on a worker that is accepting. Items of
 * the queue continue by themselves. */
static void
recover(struct landings *landings, struct agent *agent)
{
	const struct landing_record *record = &landings->core->state.landings;

	if (agent->worker->status != WORKER_ACCEPTING ||
	    agent_is_taken(agent) ||
	    landing_record_of(record, agent->worker->name) != NULL)
		return;
	if (agent->worker->accepted)
		op_enqueue(landings, agent, NULL);
	else
		op_rebase(agent, true, NULL, on_rebased, landings);
}

bool
landings_busy(const struct landings *landings)
{
	return landings->core->state.landings.count > 0;
}

bool
landings_checking(const struct landings *landings)
{
	const struct queue *queue = landings->queue;

	for (int i = 0; i < queue->slot_count; i++)
		if (check_slot_tree(queue->slots[i].slot) != NULL)
			return true;
	return false;
}

size_t
landings_long_waits(const struct landings *landings)
{
	return landings->queue->long_waits;
}

bool
landings_withdraw(struct landings *landings, const char *task)
{
	struct landing_item *item =
	    landing_record_of_task(&landings->core->state.landings, task);

	return item == NULL || settle_withdraw(landings, item);
}

void
landings_prioritize(struct landings *landings, const char *task, int priority)
{
	struct landing_item *item =
	    landing_record_of_task(&landings->core->state.landings, task);

	if (item == NULL)
		return;
	item->priority = (enum priority)priority;
	persist_changed(landings->core);
	landings_kick(landings);
}

void
landings_kick(struct landings *landings)
{
	queue_look(landings->queue);
}

bool
landings_retry(struct landings *landings)
{
	bool pushes = push_retry(landings->queue->push);

	if (!queue_move_waits(landings->queue->move))
		return pushes;
	queue_move_retry(landings->queue->move);
	return true;
}

/* --- the floor ------------------------------------------------------- */

/* A worker loses its task: its item is taken out, unless the branch is moving
 * with it already. */
static void
cancel_of(struct landings *landings, const char *worker, const char *why)
{
	struct landing_record *record = &landings->core->state.landings;
	struct landing_item *item = landing_record_of(record, worker);
	cleanup_free char *reason =
	    xasprintf("the landing is cancelled: %s", why);

	if (item == NULL)
		return;
	if (item->freeing)
		release_done(landings, item);
	else if (item->step == ITEM_QUEUED && item->commit == NULL)
		settle_cancelled(landings, item, reason);
	else
		xstrset(&item->worker, NULL);
	persist_changed(landings->core);
}

/* The conflict of accepted work is resolved. Whoever keeps its task looks at it
 * again, and lets it land. */
static void
resolved(struct landings *landings, struct agent *agent)
{
	const struct worker *w = agent != NULL ? agent->worker : NULL;

	if (w == NULL || !w->accepted || landings_keeps(landings, w->task))
		return;
	landing_begin(
	    landings, agent, w->task != NULL ? w->commit : NULL, false, NULL);
}

static void
on_event(const struct event *event, void *arg)
{
	struct landings *landings = arg;

	if (event->kind == EVENT_WORKER_LOST) {
		cancel_of(landings, event->worker, event->reason);
	} else if (event->kind == EVENT_WORK_FINISHED) {
		resolved(landings, fleet_find(landings->fleet, event->worker));
	} else if (event->kind == EVENT_CLEARED && landings->begun) {
		recover(landings, fleet_find(landings->fleet, event->worker));
	}
}

static void
on_git_settled(const struct err *err, void *arg)
{
	struct landings *landings = arg;
	struct fleet *fleet = landings->fleet;

	if (err != NULL) /* the next landing tries again */
		emit(landings->core,
		    &(struct event){ .kind = EVENT_LANDING_WAITS,
			.branch = core_branch(landings->core),
			.reason = err->msg });
	if (landings->core->stopping)
		return;
	queue_begin(landings->queue); /* first: it removes the refs of ids that
				       * nobody uses */
	for (size_t i = 0; i < fleet->count; i++)
		recover(landings, fleet->agents[i]);
	landings->begun = true;
	life_floor_begun(landings->core);
}

/* First of all remove the locks that a killed daemon left in the user's
 * repository. */
static void
floor_begin(void *self)
{
	struct landings *landings = self;

	git_land_settle(landings->core->git, on_git_settled, landings);
}

/* The branch may have been moved by hand; a worker may be free now. */
static void
floor_patrol(void *self, bool all)
{
	struct landings *landings = self;

	(void)all;
	if (!queue_move_busy(landings->queue->move))
		queue_base_changed(landings->queue);
}

static void
floor_stop(void *self)
{
	struct landings *landings = self;

	queue_stop(landings->queue);
	release_calls(landings);
}

static bool
floor_is_quiet(const void *self)
{
	const struct landings *landings = self;

	return queue_is_quiet(landings->queue);
}

struct landings *
landings_new(struct fleet *fleet)
{
	struct landings *landings = xcalloc(1, sizeof *landings);

	landings->core = fleet->core;
	landings->fleet = fleet;
	TAILQ_INIT(&landings->calls);
	landings->queue = queue_new(landings);
	landings->floor = (struct core_floor){
		.self = landings,
		.begin = floor_begin,
		.patrol = floor_patrol,
		.stop = floor_stop,
		.is_quiet = floor_is_quiet,
	};
	core_add_floor(landings->core, &landings->floor);
	emit_subscribe(landings->core, on_event, landings);
	landing_commands_register(landings, fleet);
	return landings;
}

void
landings_free(struct landings *landings)
{
	const struct fleet *fleet;

	if (landings == NULL)
		return;
	fleet = landings->fleet;
	emit_unsubscribe(landings->core, on_event, landings);
	release_calls(landings);
	/* Git is freed next and will not answer any more. */
	for (size_t i = 0; i < fleet->count; i++)
		if (fleet->agents[i]->op != NULL)
			operation_drop(&fleet->agents[i]->op->op);
	queue_free(landings->queue);
	persist_forget(landings->core, landings);
	free(landings);
}

void
landings_set_policy(
    struct landings *landings, const struct landing_policy *policy, void *arg)
{
	landings->policy = policy;
	landings->policy_arg = arg;
}
